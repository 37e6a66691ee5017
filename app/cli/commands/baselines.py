"""`topoloom compare baselines`: times and schedules of NCCL's algorithms on a fabric."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from topoloom.app.cli.output.formatting import seconds
from topoloom.app.cli.output.text_table import Column, Table
from topoloom.app.requests.schedules import SimulationRequest
from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.model.schedule import Collective
from topoloom.synth.topology.assumptions import assumed_members

if TYPE_CHECKING:
    from topoloom.schedules.baselines.nccl import NcclRuns
    from topoloom.synth.topology.topology import Topology


def baselines_on(topology: "Topology", collective: str, request: SimulationRequest) -> "NcclRuns":
    """Return the baselines that run on a topology, fastest first.

    Raises:
        UnknownCollective, TooLarge: As `schedules.baselines.nccl.nccl_runs`.
    """
    from topoloom.schedules.baselines.nccl import nccl_runs

    network = request.network(topology)
    return nccl_runs(topology, Collective.of(collective), network, request.bytes)


def document_of(
    topology: "Topology",
    collective: str,
    request: SimulationRequest,
    baselines: "NcclRuns",
) -> dict[str, Any]:
    """Return the opponents/1 document."""
    return {
        "schema": "opponents/1",
        "topology_digest": topology.digest,
        "collective": collective,
        "bytes": request.bytes,
        **assumed_members(request.speed_assumptions(topology)),
        "opponents": [
            {
                "name": entry.name,
                "seconds": float(entry.seconds),
                "algbw": float(request.bytes / entry.seconds / 10**9) if entry.seconds else None,
                "chunks": entry.chunks,
                "judged_by": entry.judged_by,
            }
            for entry in baselines.runs
        ],
        "left_out": [
            {"name": name, "reason": error.rule} for name, error in baselines.left_out.items()
        ],
    }


def table_of(document: dict[str, Any]) -> Table:
    """Return the table of an opponents/1 document."""
    columns = (
        Column("baseline", "name", left=True),
        Column("chunks", "chunks"),
        Column("time", "seconds", seconds),
        Column("algbw GB/s", "algbw", "{:.4g}".format),
    )
    return Table(columns, document["opponents"])


def schedule_text(baselines: "NcclRuns", name: str) -> Iterator[str]:
    """Return the schedule of a baseline as a schedule/1 document.

    Raises:
        NoSchedule: No baseline has this name, or it does not run on the topology.
    """
    from topoloom.schedules.formats.schedule.write import write

    by_name = {entry.name: entry for entry in baselines.runs}
    if name in baselines.left_out:
        raise NoSchedule("/opponent", f"{name} {baselines.left_out[name].rule}")
    if name not in by_name:
        names = ", ".join((*by_name, *baselines.left_out))
        raise NoSchedule("/opponent", f"must be one of these: {names}; not {name!r}")
    return write(by_name[name].schedule)
