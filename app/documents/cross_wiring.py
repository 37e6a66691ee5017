"""cross-wiring/1: which receive fibres of a plant to exchange once."""

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from topoloom.app.documents.base import Document, Presented, omitted

if TYPE_CHECKING:
    from topoloom.synth.wiring.plant import Plant
    from topoloom.synth.wiring.plant.cross_wiring import CrossWiring


class FibreDocument(Document):
    """A receive fibre that is cabled to another port of panels."""

    host: str = Field(description="the host")
    port: str = Field(description="its port")
    before: str = Field(description="the port of a panel where the fibre is, panel/port")
    after: str = Field(description="the port of a panel where it goes")


class CrossWiringDocument(Document):
    """cross-wiring/1."""

    schema_: Literal["cross-wiring/1"] = Field(alias="schema", description="cross-wiring/1")
    exchanges: int = Field(description="pairs of ports whose receive fibres change places", ge=0)
    fibres: list[FibreDocument] = Field(
        description="every fibre that moves; none where no exchange helps"
    )
    plant: dict[str, Any] = omitted("the plant as it is afterwards, plant/1")


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
