"""The command that says what a library would take on a fabric, and hands out its schedules."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from topoloom.app.cli.output.formatting import seconds
from topoloom.app.cli.output.text_table import Column, Table
from topoloom.app.requests.schedules import SimulationRequest
from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.model.schedule import Collective

if TYPE_CHECKING:
    from topoloom.schedules.baselines.nccl import OnFabric
    from topoloom.synth.topology.topology import Topology

__all__ = ["document_of", "found_on", "schedule_text", "table_of"]


def found_on(
    topology: "Topology", collective: str, request: SimulationRequest
) -> "tuple[OnFabric, ...]":
    """Return what runs there, the fastest first.

    Raises
    ------
    UnknownCollective, TooLarge
        As `schedules.baselines.nccl.on_fabric`.
    """
    from topoloom.schedules.baselines.nccl import on_fabric

    network = request.network(topology)
    return on_fabric(topology, Collective.of(collective), network, request.bytes)


def document_of(
    topology: "Topology", collective: str, request: SimulationRequest, found: "tuple[OnFabric, ...]"
) -> dict[str, Any]:
    """Return the opponents/1 document."""
    return {
        "schema": "opponents/1",
        "topology_digest": topology.digest,
        "collective": collective,
        "bytes": request.bytes,
        "opponents": [
            {
                "name": one.name,
                "seconds": float(one.seconds),
                "algbw": float(request.bytes / one.seconds / 10**9) if one.seconds else None,
                "chunks": one.chunks,
            }
            for one in found
        ],
    }


def table_of(document: dict[str, Any]) -> Table:
    """Return what an opponents/1 document says, for people."""
    columns = (
        Column("baseline", "name", left=True),
        Column("pieces", "chunks"),
        Column("time", "seconds", seconds),
        Column("algbw GB/s", "algbw", "{:.4g}".format),
    )
    return Table(columns, document["opponents"])


def schedule_text(found: "tuple[OnFabric, ...]", name: str) -> Iterator[str]:
    """Return the schedule of one of them as a schedule/1 document.

    Raises
    ------
    NoSchedule
        None of that name runs there.
    """
    from topoloom.schedules.formats.schedule.write import write

    by_name = {one.name: one for one in found}
    if name not in by_name:
        names = ", ".join(by_name) or "none runs there"
        raise NoSchedule("/opponent", f"must be one of these: {names}; not {name!r}")
    return write(by_name[name].schedule)
