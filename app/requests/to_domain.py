"""Questions: from requests to the values that the packages take, and to the keys of answers."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from topoloom.app.requests.designs import DesignRequest
from topoloom.app.requests.schedules import ForestRequest, ScheduleRequest, SimulationRequest
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.options import Options
from topoloom.schedules.workloads.presets import preset
from topoloom.schedules.workloads.tasks import Task, Workload, merged
from topoloom.synth.topology.topology import NodeId, Topology

if TYPE_CHECKING:
    from topoloom.schedules.design import Speed
    from topoloom.schedules.simulate import Network

__all__ = [
    "asked_of",
    "network_of",
    "options_of",
    "speed_of",
    "workload_of",
]


def speed_of(request: DesignRequest) -> "Speed":
    """Return how fast the hosts of a request are."""
    from topoloom.schedules.design import Speed

    return Speed(
        request.bytes_per_second,
        request.alpha_seconds,
        request.overhead_seconds,
        request.chunk_seconds,
    )


def workload_of(request: DesignRequest) -> Workload:
    """Return what a request runs, equal tasks counted together.

    Raises
    ------
    UnknownPreset
        There is no preset of that name.
    """
    if request.preset is not None:
        return preset(request.preset).workload
    if request.workload is not None:
        tasks = (
            Task(Collective.of(task.collective), task.bytes, task.count)
            for task in request.workload
        )
        return Workload(merged(tasks))
    return Workload((Task(Collective.of(request.collective), request.bytes),), single=True)


def options_of(request: ForestRequest, nodes: Iterable[NodeId]) -> Options:
    """Return what a request asks of an algorithm, with the ids of ``nodes`` as they are.

    A text stands for an integer id of the same digits, since topologies have no two such
    ids; names of no node are left as they are.
    """
    members, shards, root = request.participants, request.shards, request.root
    ids = {str(node): node for node in nodes}
    return Options(
        trees_per_root=request.trees_per_root,
        max_gap=request.max_gap,
        root=None if root is None else ids.get(str(root), root),
        shards=None
        if shards is None
        else {ids.get(str(one.rank), one.rank): one.size for one in shards},
        participants=None
        if members is None
        else tuple(ids.get(str(name), name) for name in members),
        max_chunks=request.max_chunks if isinstance(request, ScheduleRequest) else None,
        steps=request.steps if isinstance(request, ScheduleRequest) else None,
        max_height=request.max_height if isinstance(request, ScheduleRequest) else None,
    )


def asked_of(options: Options) -> dict[str, Any]:
    """Return what was asked of an algorithm as plain JSON, the key of its answer.

    >>> asked_of(Options(max_gap=Fraction(1, 10), root="a"))
    {'max_gap': '1/10', 'root': 'a'}
    """
    shards: Mapping[Any, int] | None = options.shards
    asked = {
        "trees_per_root": options.trees_per_root,
        "max_gap": None if options.max_gap is None else str(options.max_gap),
        "root": options.root,
        "shards": None
        if shards is None
        else [{"rank": rank, "size": size} for rank, size in shards.items()],
        "participants": None if options.participants is None else list(options.participants),
        "max_chunks": options.max_chunks,
        "steps": options.steps,
        "max_height": options.max_height,
    }
    return {name: value for name, value in asked.items() if value is not None}


def network_of(request: SimulationRequest, topology: Topology) -> "Network":
    """Return how fast the fabric of a simulation is."""
    from topoloom.schedules.simulate import Network
    from topoloom.schedules.verify.costs import unit_bytes_per_second

    if request.link_gbps is not None:
        rate = Fraction(request.link_gbps) * 10**9 / 8
    else:
        node = request.node_gbps
        rate = unit_bytes_per_second(topology, None if node is None else Fraction(node))
    return Network(
        Fraction(request.alpha_us) / 10**6,
        rate,
        Fraction(request.overhead_us) / 10**6,
        request.channels,
        Fraction(request.chunk_us or 0) / 10**6,
    )
