"""Topoloom for people who program: topologies, schedules and their time, as values.

>>> import topoloom
>>> best = topoloom.frontier(nodes=12, degree=4).points[0]
>>> print(best.recipe, best.cost.steps, best.cost.bandwidth)
Circulant(12, 2, 3) 2 11/12
>>> gather = topoloom.schedule(best.recipe, "allgather")
>>> topoloom.verify(gather, best.recipe)
[]

Only what ``__all__`` names is promised to stay; the packages behind it may change.  A *source*
is a `Topology`, a recipe as text or as a value, or the name of a fabric such as
``"dgx-a100-2"``.  Sizes are bytes or texts such as ``"1MiB"``; rates and latencies have their
units in their names.  What is returned are the exact values of the packages, never JSON.  Wrong
input raises a ``ValueError`` that names the argument and the rule.

Importing this module loads nothing else: numpy, numba and the rest come with the first call.
"""

from collections.abc import Collection, Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    import networkx as nx

    from app.client import Client
    from app.remote_tuner import RemoteTuner
    from schedules.design import Design
    from schedules.execute import Execution
    from schedules.execute.runner import Runner, Served
    from schedules.model import Schedule
    from schedules.optima import CollectiveOptimum
    from schedules.simulate import Simulation
    from schedules.transcript import Transcript
    from schedules.verify import Violation
    from synth.cost import Cost
    from synth.recipe import Recipe
    from synth.search import Frontier
    from synth.topology import NodeId, Topology
    from synth.wiring import PatchPlan, Plant, Present

    Source: TypeAlias = "Topology | Recipe | str"

__all__ = [
    "Client",
    "RemoteTuner",
    "Runner",
    "Topology",
    "build",
    "design",
    "execute",
    "from_networkx",
    "frontier",
    "measure",
    "optimum",
    "plan_moves",
    "plot",
    "runnable",
    "schedule",
    "simulate",
    "to_networkx",
    "verify",
]

Rate: TypeAlias = int | float | str | Decimal | Fraction

_CLASSES = {
    "Topology": "synth.topology",
    "Client": "app.client",
    "RemoteTuner": "app.remote_tuner",
    "Runner": "schedules.execute.runner",
}


def __getattr__(name: str) -> Any:
    """Load a class that this module only passes on, when it is first asked for."""
    if name not in _CLASSES:
        raise AttributeError(f"module 'topoloom' has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(_CLASSES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__


def frontier(
    nodes: int,
    degree: int,
    *,
    links: str = "unidirectional",
    parallel_links: bool = False,
    vertex_transitive: bool = False,
    families: Collection[str] | None = None,
    max_steps: int | None = None,
    schedule: Literal["bfb", "best"] = "best",
) -> "Frontier":
    """Return the best topologies for so many hosts of so many ports: no other known is better.

    ``points`` are sorted by steps, each with its recipe and its exact, measured cost;
    ``bounds`` is what no topology of these hosts can undercut.  ``links`` is
    ``"unidirectional"`` or ``"bidirectional"``; for the rest see `synth.search.frontier`.

    Raises
    ------
    ImpossibleRequest
        No such graph exists or is known.

    Examples
    --------
    >>> found = frontier(64, 4, links="bidirectional")
    >>> found.bounds.steps, min(point.cost.steps for point in found.points)
    (4, 4)
    """
    from synth.search import frontier as search

    return search(
        nodes,
        degree,
        _links(links),
        parallel_links=parallel_links,
        vertex_transitive=vertex_transitive,
        families=families,
        max_steps=max_steps,
        schedule=schedule,
    )


def build(source: "Source") -> "Topology":
    """Return the topology of a recipe or of the name of a fabric; a topology is returned as is.

    Raises
    ------
    InvalidRecipe, OutOfDomain
        It is no recipe, or no fabric has this name.

    Examples
    --------
    >>> build("LineGraph(2, Circulant(8, 1, 3))").node_count
    128
    >>> build("dgx-a100-2").compute_nodes[0]
    '0.gpu0'
    """
    return _topology_of(source)


def measure(source: "Source", collective: str = "allgather") -> "Cost":
    """Return what a collective by breadth-first broadcast costs on a topology, exactly.

    ``steps`` is a number of hops; ``bandwidth`` is in units of M / B, M being the bytes of the
    data and B what one host sends.  ``collective`` is allgather, reduce-scatter (the allgather
    of the transpose) or allreduce (both).

    Raises
    ------
    NotMeasurable
        The topology has switches or unequal links.
    UnknownCollective
        It is another collective.

    Examples
    --------
    >>> measure("Kautz(2, 3)")
    Cost(steps=3, bandwidth=Fraction(7, 6))
    >>> measure("Kautz(2, 3)", "allreduce").steps
    6
    """
    from schedules.design import collective_cost
    from schedules.errors import UnknownCollective
    from schedules.model import Collective
    from synth.measure import measure_both

    known = (Collective.ALLGATHER, Collective.REDUCE_SCATTER, Collective.ALLREDUCE)
    if Collective.of(collective) not in known:
        raise UnknownCollective("/collective", f"must be one of {', '.join(known)} to be measured")
    return collective_cost(*measure_both(_topology_of(source)), Collective.of(collective))


def optimum(
    source: "Source",
    collective: str = "allgather",
    *,
    trees_per_root: int | None = None,
    max_gap: Fraction | int | None = None,
    root: "NodeId | None" = None,
    shards: "Mapping[NodeId, int] | None" = None,
    participants: "Collection[NodeId] | None" = None,
) -> "CollectiveOptimum":
    """Return the best throughput that any schedule can have, with the cut that proves it.

    ``algbw`` is in the bandwidth unit of the topology, ``inverse_rate`` its reverse, per byte of
    one shard.  For any fabric, switched ones included; all collectives but all-to-all.

    Raises
    ------
    NoSchedule, Unreachable, TooLarge
        As `schedules.optima.collective_optimum`.

    Examples
    --------
    >>> best = optimum("dgx-a100-2")
    >>> best.algbw, best.passes[0].bottleneck.compute_inside
    (Fraction(1040, 3), 15)
    """
    from schedules.collectives import Options
    from schedules.model import Collective
    from schedules.optima import collective_optimum

    options = Options(trees_per_root, max_gap, root, shards, participants)
    return collective_optimum(_topology_of(source), Collective.of(collective), options)


def schedule(
    source: "Source",
    collective: str,
    *,
    algorithm: str | None = None,
    trees_per_root: int | None = None,
    max_gap: Fraction | int | None = None,
    root: "NodeId | None" = None,
    shards: "Mapping[NodeId, int] | None" = None,
    participants: "Collection[NodeId] | None" = None,
    max_chunks: int | None = None,
) -> "Schedule":
    """Return a schedule that the independent checker has found valid, at the cost promised.

    ``algorithm`` is bfb, forestcoll, lifted, or for all-to-all mcf or shortest-paths; left out,
    the one that fits the topology.  The other options are those of
    `schedules.collectives.make`.

    Raises
    ------
    NoSchedule, UnknownCollective, TooLarge
        As `schedules.collectives.make`.

    Examples
    --------
    >>> reduce = schedule("dgx-a100-2", "reduce", root="0.gpu3")
    >>> {tree.root for tree in reduce.trees}
    {'0.gpu3'}
    """
    from schedules.collectives import Options, require_fitting
    from schedules.model import Collective
    from schedules.verified import fitting_algorithm, verified

    topology, asked = _topology_of(source), Collective.of(collective)
    options = Options(trees_per_root, max_gap, root, shards, participants, max_chunks)
    chosen = algorithm or fitting_algorithm(topology, asked, options)
    require_fitting(chosen, options)
    return verified(topology, asked, chosen, options).schedule


def verify(schedule: "Schedule", source: "Source", *, limit: int = 100) -> "list[Violation]":
    """Return what is wrong with a schedule on a topology, at most ``limit`` things; none if valid.

    The checker follows every chunk and knows nothing of how schedules are made.

    Examples
    --------
    >>> gather = schedule("UniRing(3)", "allgather")
    >>> print(verify(gather, "BiRing(3)", limit=1)[0])
    /topology: must be the digest of the given topology
    """
    from schedules.verify import violations

    return violations(schedule, _topology_of(source), limit=limit)


def simulate(
    schedule: "Schedule | Transcript",
    source: "Source",
    *,
    size: int | str,
    alpha_us: Rate = 10,
    node_gbps: Rate | None = None,
    link_gbps: Rate | None = None,
    overhead_us: Rate = 0,
    channels: int | None = None,
    chunks: int | None = None,
    synchronous: bool = False,
) -> "Simulation":
    """Return how long a schedule takes, message by message, on an exact clock.

    Parameters
    ----------
    schedule : Schedule
        A valid one; or what an exported program sends, from
        `schedules.formats.checking.transcript_of`.
    size : int or str
        M, bytes: the output of an allgather, the input of a reduce-scatter, else the buffer.
    alpha_us, overhead_us : number
        Latency of a hop, and how long a message keeps its link busy beside its bytes,
        microseconds.
    node_gbps, link_gbps : number, optional
        What a host sends at most, all ports together, or what one unit of capacity carries,
        Gbit/s; one of them.  Left out, the topology's own unit, and 100 a host where that counts
        links.
    channels, chunks, synchronous
        As `schedules.simulate.simulate`.

    Raises
    ------
    NoSchedule, InvalidSchedule, TooLarge
        As `schedules.simulate.simulate`.
    ValueError
        Both rates are given, or a number is none.

    Examples
    --------
    >>> gather = schedule("Torus(4, 4)", "allgather")
    >>> simulate(gather, "Torus(4, 4)", size="1MiB", alpha_us=10, node_gbps=100).seconds
    Fraction(9269, 78125000)
    """
    from schedules.simulate import Network
    from schedules.simulate import simulate as run
    from schedules.verify.costs import unit_bytes_per_second

    if node_gbps is not None and link_gbps is not None:
        raise ValueError("node_gbps, link_gbps: must not both be given")
    topology = _topology_of(source)
    if link_gbps is not None:
        unit = _number(link_gbps, "link_gbps") * 10**9 / 8
    else:
        per_node = None if node_gbps is None else _number(node_gbps, "node_gbps")
        unit = unit_bytes_per_second(topology, per_node)
    alpha, overhead = _number(alpha_us, "alpha_us"), _number(overhead_us, "overhead_us")
    return run(
        schedule,
        topology,
        Network(alpha / 10**6, unit, overhead / 10**6, channels),
        size_bytes=_bytes(size),
        chunks=chunks,
        synchronous=synchronous,
    )


def execute(
    schedule: "Schedule | Transcript",
    *,
    size: int | str = "1MiB",
    repeat: int = 1,
    pipeline_chunks: int = 4,
    timeout_seconds: float = 60.0,
) -> "Execution":
    """Run a schedule between processes on this machine; every bit of the result is compared.

    Needs PyTorch: ``pip install 'topoloom[execute]'``.  The times are those of this machine and
    say nothing of a cluster.  ``size`` is a multiple of 4 bytes.

    Raises
    ------
    ExecutionFailed
        PyTorch is missing, a process ended, or a message did not arrive in time.
    TooLarge, InvalidSchedule, InvalidProgram
        As `schedules.execute.execute`.

    Examples
    --------
    >>> execute(schedule("UniRing(3)", "allreduce"), size="3KiB").exact  # doctest: +SKIP
    True
    """
    from schedules.execute import execute as run

    return run(
        schedule,
        size_bytes=_bytes(size),
        repeat=repeat,
        pipeline_chunks=pipeline_chunks,
        timeout_seconds=timeout_seconds,
    )


def design(
    nodes: int,
    degree: int,
    collective: str = "allreduce",
    size: int | str = "1MiB",
    *,
    links: str = "unidirectional",
    node_gbps: Rate = 100,
    alpha_us: Rate = 10,
    max_scheduled_nodes: int = 2048,
    max_routed_nodes: int = 256,
) -> "Design":
    """Return the best topology for a collective, with its schedule, frontier and baselines.

    Parameters
    ----------
    nodes, degree : int
        N hosts of d ports each.
    collective, size
        What is run, on how many bytes.
    node_gbps, alpha_us : number
        What a host sends at most, all ports together, Gbit/s; latency of a hop, microseconds.
    max_scheduled_nodes, max_routed_nodes : int
        For more hosts than these the schedule of the best point is left out, and it is said why.

    Raises
    ------
    ImpossibleRequest
        No such graph exists or is known.
    UnknownCollective, TooLarge
        As `schedules.design.design`.

    Examples
    --------
    >>> found = design(nodes=12, degree=4, collective="allreduce", size="1MB")
    >>> str(found.best.measured.recipe), float(found.best_seconds)
    ('Circulant(12, 2, 3)', 0.00018666666666666666)
    """
    from schedules.design import Generators, Hosts, Limits, Speed, Task, Workload
    from schedules.design import design as made
    from schedules.model import Collective

    task = Task(Collective.of(collective), _bytes(size))
    return made(
        Hosts(nodes, degree, _links(links)),
        Speed(_number(node_gbps, "node_gbps") * 10**9 / 8, _number(alpha_us, "alpha_us") / 10**6),
        Workload((task,), single=True),
        Generators(),
        Limits(max_scheduled_nodes, max_routed_nodes),
    )


def runnable(design: "Design") -> "tuple[Served, ...]":
    """Return the schedules of a design for a `Runner`, each with the sizes it is the fastest at.

    Those of the topology in ``design.co_design``, for every collective of its workload.

    Raises
    ------
    TooLarge
        The topology is beyond what schedules are generated for.

    Examples
    --------
    >>> for one in runnable(design(8, 2, "allreduce", "1MiB", links="bidirectional")):
    ...     print(one.schedule.collective, one.first_bytes)
    allreduce 0
    allreduce 95239
    """
    from schedules.design.running import served

    return served(design)


def plan_moves(
    source: "Source",
    *,
    panels: str = "per-port",
    hosts: int | None = None,
    ports: int | None = None,
    plant: "Plant | None" = None,
    present: "Present | PatchPlan | None" = None,
) -> "PatchPlan":
    """Return which port to plug where, with few moves from today's wiring.

    ``panels`` is ``"per-port"`` (one for each port of the hosts) or ``"single"``; ``hosts`` and
    ``ports`` are those cabled to them, by default what the topology needs.  ``plant`` instead is
    what `synth.wiring.plant.read_plant_text` reads of your own.  ``present`` is the
    wiring of today, or the plan that led to it; left out, nothing is plugged.

    Raises
    ------
    DoesNotFit
        The topology has switches, or too many nodes or ports.

    Examples
    --------
    >>> first = plan_moves("UniRing(4)")
    >>> first.moves, plan_moves("UniRing(4)", present=first).moves
    (4, 0)
    """
    from synth.wiring import Layout, PatchPlan, uniform
    from synth.wiring import plan_moves as plan

    topology = _topology_of(source)
    if isinstance(present, PatchPlan):
        present = present.final
    if plant is not None:
        return plan(topology, plant, present)
    if panels not in list(Layout):
        raise ValueError(f"panels: must be one of {', '.join(Layout)}; not {panels!r}")
    cabled = uniform(
        panels,
        topology.node_count if hosts is None else hosts,
        max(1, topology.degree) if ports is None else ports,
    )
    return plan(topology, cabled, present)


def plot(
    what: "Frontier | Schedule",
    out: str | Path,
    source: "Source | None" = None,
    *,
    root: "NodeId | None" = None,
) -> Path:
    """Draw a frontier, or a schedule on its topology, to a ``.png`` or ``.svg`` file.

    Of a schedule it is how busy every link is, or with ``root`` the heaviest tree of this rank.
    Needs matplotlib: ``pip install 'topoloom[plots]'``.  Returns the path.

    Raises
    ------
    MissingExtra
        matplotlib is not installed.
    ValueError
        The suffix is another one, or a schedule is given without its topology.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> plot(frontier(12, 4), f"{mkdtemp()}/frontier.svg").name  # doctest: +SKIP
    'frontier.svg'
    """
    from app.plots import values
    from synth.search import Frontier

    path = Path(out)
    if isinstance(what, Frontier):
        values.draw_frontier(what, path)
    elif source is None:
        raise ValueError("source: must be given to draw a schedule, which is on a topology")
    else:
        values.draw_schedule(what, _topology_of(source), path, root)
    return path


def from_networkx(
    graph: "nx.Graph[Any]",
    *,
    capacity: str = "capacity",
    kind: str = "kind",
    name: str | None = None,
    bandwidth_unit: str | None = None,
) -> "Topology":
    """Return the topology of a networkx graph; undirected edges become links both ways.

    ``capacity`` is the attribute of edges that holds their capacity (1 where it is missing),
    ``kind`` the one of nodes that says ``"compute"`` or ``"switch"``.

    Raises
    ------
    InvalidTopology
        Naming the node or edge and the rule it breaks.

    Examples
    --------
    >>> import networkx as nx
    >>> measure(from_networkx(nx.petersen_graph()))
    Cost(steps=2, bandwidth=Fraction(9, 10))
    """
    from synth.networkx_graphs import from_networkx as read

    return read(graph, capacity=capacity, kind=kind, name=name, bandwidth_unit=bandwidth_unit)


def to_networkx(
    source: "Source", *, capacity: str = "capacity", kind: str = "kind"
) -> "nx.MultiDiGraph[NodeId]":
    """Return a networkx multigraph; nodes carry ``kind``, links ``capacity``, or other names.

    Examples
    --------
    >>> to_networkx("UniRing(3)", capacity="weight").edges[0, 1, 0]
    {'weight': 1}
    """
    from synth.networkx_graphs import to_networkx as written

    return written(_topology_of(source), capacity=capacity, kind=kind)


def _topology_of(source: "Source") -> "Topology":
    from synth.topology import Topology

    if isinstance(source, Topology):
        return source
    if isinstance(source, str):
        # Fabrics have no brackets in their names, and every recipe has.
        if "(" not in source:
            from synth.fabrics import fabric

            return fabric(source)
        from synth.recipe import parse

        source = parse(source)
    from synth.build import build as built

    return built(source)


def _links(links: str) -> Any:
    from synth.cost import Links

    if links not in list(Links):
        raise ValueError(f"links: must be one of {', '.join(Links)}; not {links!r}")
    return Links(links)


def _bytes(size: int | str) -> int:
    from app.quantities import parse_bytes

    try:
        return parse_bytes(size)
    except ValueError as error:
        raise ValueError(f"size: {error}; not {size!r}") from None


def _number(value: Rate, name: str) -> Fraction:
    """Return a number as it was written: 0.1 is one tenth."""
    try:
        if isinstance(value, bool):
            raise ValueError
        exact = Fraction(repr(value) if isinstance(value, float) else value)
    except (TypeError, ValueError, ZeroDivisionError):
        raise ValueError(f"{name}: must be a number, not {value!r}") from None
    if exact < 0:
        raise ValueError(f"{name}: must not be negative, not {value!r}")
    return exact
