"""cross-wiring/1: receive fibers of a plant to exchange once."""

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from topoloom.app.documents.base import Document, Presented, omitted

if TYPE_CHECKING:
    from topoloom.synth.wiring.plant import Plant
    from topoloom.synth.wiring.plant.cross_wiring import CrossWiring


class FibreDocument(Document):
    """A receive fiber that moves to another panel port."""

    host: str = Field(description="host")
    port: str = Field(description="port of the host")
    before: str = Field(description="present panel port of the fiber, panel/port")
    after: str = Field(description="new panel port of the fiber")


class CrossWiringDocument(Document):
    """cross-wiring/1."""

    schema_: Literal["cross-wiring/1"] = Field(alias="schema", description="cross-wiring/1")
    exchanges: int = Field(description="pairs of ports with exchanged receive fibers", ge=0)
    fibres: list[FibreDocument] = Field(description="all moved fibers; empty if no exchange helps")
    plant: dict[str, Any] = omitted("plant/1 after the exchange")


def of(plant: "Plant", found: "CrossWiring | None") -> Presented:
    """Return the cross-wiring/1 document of a plant."""
    from topoloom.synth.wiring.plant import plant_document

    if found is None:
        return {"schema": "cross-wiring/1", "exchanges": 0, "fibres": []}
    rows = [
        {
            "host": plant.hosts[fibre.host].id,
            "port": plant.hosts[fibre.host].ports[fibre.port].id,
            "before": plant.full_name(fibre.before),
            "after": plant.full_name(fibre.after),
        }
        for fibre in found.fibres(plant)
    ]
    return {
        "schema": "cross-wiring/1",
        "exchanges": len(found.exchanges),
        "fibres": rows,
        "plant": plant_document(found.plant),
    }
