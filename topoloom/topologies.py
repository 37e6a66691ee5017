"""Topologies, their costs, and conversion from and to networkx graphs."""

from collections.abc import Collection, Mapping, Sequence, Set
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, overload

from topoloom.arguments import (
    bytes_of,
    is_file_name,
    links_of,
    number,
    optional_whole,
    require_collections,
    require_type,
    topology_of,
    whole,
)

if TYPE_CHECKING:
    from pathlib import Path

    import networkx as nx

    from topoloom.arguments import Rate, Source
    from topoloom.schedules.compare.compare_algorithms import AlgorithmComparison
    from topoloom.schedules.groups.figures import GroupFigures
    from topoloom.schedules.groups.request import StatedGroups
    from topoloom.schedules.optimum.collective_optimum import CollectiveOptimum
    from topoloom.schedules.optimum.link_values import LinkValue
    from topoloom.synth.evaluation.cost import Cost
    from topoloom.synth.search.frontier import Frontier
    from topoloom.synth.topology.topology import NodeId, Topology


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
    """Return the best known topologies for N hosts of d ports.

    ``points`` are sorted by steps, each with its recipe and its exact, measured cost; ``bounds``
    are lower bounds for all topologies of these hosts.  ``links`` is ``"unidirectional"`` or
    ``"bidirectional"``; for the rest see `synth.search.frontier.frontier`.

    Raises:
        ImpossibleRequest: No such graph exists or is known.

    >>> found = frontier(64, 4, links="bidirectional")
    >>> found.bounds.steps, min(point.cost.steps for point in found.points)
    (4, 4)
    """
    from topoloom.synth.search.frontier import frontier as search

    if schedule not in ("bfb", "best"):
        raise ValueError(f"schedule: must be bfb or best, not {schedule!r}")
    if families is not None:
        require_type(families, "families", "a list of names", list, tuple, Set)
    return search(
        whole(nodes, "nodes"),
        whole(degree, "degree"),
        links_of(links),
        parallel_links=parallel_links,
        vertex_transitive=vertex_transitive,
        families=families,
        max_steps=optional_whole(max_steps, "max_steps"),
        schedule=schedule,
    )


def build(source: "Source") -> "Topology":
    """Return the topology of a recipe or of a fabric's name; return a topology as it is.

    Raises:
        InvalidRecipe, OutOfDomain: The text is no recipe and no name of a fabric.

    >>> build("LineGraph(2, Circulant(8, 1, 3))").node_count
    128
    >>> build("dgx-a100-2").compute_nodes[0]
    '0.gpu0'
    """
    return topology_of(source)


def read(text: "str | Path", format: str | None = None, **options: Any) -> "Topology":
    r"""Return the topology of a text or a file: a graph, or a machine's description of itself.

    ``format`` is a name of docs/reference/fabrics.md, by default detected from the text.
    ``options`` are those of the command line, with underscores: ``boxes``, ``nvlink``,
    ``link_bandwidth``, ``directed``.
    ``assumed`` of the topology lists the values that the text omits, and the option for each.

    Raises:
        InvalidTopology: The text breaks a rule of its format, or the format does not take an
            option.
        OSError, ValueError: The file cannot be read, or is no text.

    >>> box = read("\tGPU0\tGPU1\nGPU0\tX\tNV2\nGPU1\tNV2\tX\n")
    >>> box.assumed[0].option
    'link_bandwidth'
    >>> read("a b 25\nb a 25", unit="GB/s").assumed
    ()
    """
    from pathlib import Path

    from topoloom.app.files.text_decoding import decode_text
    from topoloom.synth.errors import InvalidTopology
    from topoloom.synth.formats import READABLE, detect
    from topoloom.synth.formats import read as read_text
    from topoloom.synth.naming.suggestions import one_of

    if isinstance(text, Path):
        name, text = text.name, decode_text(text.read_bytes())
        format = detect(text, name) if format is None else format
    elif not isinstance(text, str):
        raise ValueError(f"text: must be a text or a pathlib.Path, not {type(text).__name__}")
    elif is_file_name(text):
        raise InvalidTopology("text", f"give a file as pathlib.Path({text!r})")
    if format is not None and format not in READABLE:
        raise InvalidTopology("/format", one_of(format, READABLE))
    return read_text(text, format, **options)


def write(source: "Source", format: str) -> str:
    """Return a topology as text: a graph for other programs, or a launch file.

    ``format`` is a name of docs/reference/fabrics.md, such as ``graphml``, or of
    docs/how-to/launch-in-wiring-order.md, such as ``mpi-hostfile``.

    Raises:
        InvalidTopology: The format does not exist, or cannot express the topology.

    >>> print(write("UniRing(3)", "edgelist"), end="")
    0 1 1
    1 2 1
    2 0 1
    >>> print(write("mac-studio-ring-3", "slurm-hostfile"), end="")
    mac0
    mac1
    mac2
    """
    from topoloom.synth.errors import InvalidTopology
    from topoloom.synth.formats import WRITERS
    from topoloom.synth.naming.suggestions import one_of

    if not isinstance(format, str) or format not in WRITERS:
        raise InvalidTopology("/format", one_of(format, WRITERS))
    return WRITERS[format](topology_of(source))


def measure(source: "Source", collective: str = "allgather") -> "Cost":
    """Return the exact cost of a collective by breadth-first broadcast on a topology.

    ``steps`` is a number of hops; ``bandwidth`` is in units of M / B, where M is the bytes of the
    data and B the rate of one host.  ``collective`` is allgather, reduce-scatter (the allgather of
    the transpose) or allreduce (both).

    Raises:
        NotMeasurable: The topology has switches or unequal links.
        UnknownCollective: The collective is another.

    >>> measure("Kautz(2, 3)")
    Cost(steps=3, bandwidth=Fraction(7, 6))
    >>> measure("Kautz(2, 3)", "allreduce").steps
    6
    """
    from topoloom.schedules.design import collective_cost
    from topoloom.schedules.errors import UnknownCollective
    from topoloom.schedules.model.schedule import Collective
    from topoloom.synth.evaluation.measure import measure_both

    known = (Collective.ALLGATHER, Collective.REDUCE_SCATTER, Collective.ALLREDUCE)
    if Collective.of(collective) not in known:
        raise UnknownCollective("/collective", f"must be one of {', '.join(known)} to be measured")
    return collective_cost(*measure_both(topology_of(source)), Collective.of(collective))


@overload
def optimum(
    source: "Source",
    collective: str = "allgather",
    *,
    groups: "StatedGroups",
    group: str | None = None,
    traffic: "Mapping[str, tuple[str, int | str]] | None" = None,
) -> "tuple[GroupFigures, ...]": ...


@overload
def optimum(
    source: "Source",
    collective: str = "allgather",
    *,
    trees_per_root: int | None = None,
    max_gap: Fraction | int | None = None,
    root: "NodeId | None" = None,
    shards: "Mapping[NodeId, int] | None" = None,
    participants: "Collection[NodeId] | None" = None,
) -> "CollectiveOptimum": ...


def optimum(
    source: "Source",
    collective: str = "allgather",
    *,
    trees_per_root: int | None = None,
    max_gap: Fraction | int | None = None,
    root: "NodeId | None" = None,
    shards: "Mapping[NodeId, int] | None" = None,
    participants: "Collection[NodeId] | None" = None,
    groups: "StatedGroups | None" = None,
    group: str | None = None,
    traffic: "Mapping[str, tuple[str, int | str]] | None" = None,
) -> "CollectiveOptimum | tuple[GroupFigures, ...]":
    """Return the best throughput of any schedule, with the cut that proves it.

    ``algbw`` is in the bandwidth unit of the topology, ``inverse_rate`` is its inverse, per byte of
    one shard.  For any fabric, with or without switches; all collectives but all-to-all.

    With ``groups``, such as ``{"tensor": 8, "data": 2}`` or lists of hosts, the result has three
    rates for each kind of group, or for one ``group``; also for all-to-all.  ``traffic`` states the
    collective and the size of each kind, where several kinds run at once: then ``all_kinds`` is a
    fourth rate.

    Raises:
        NoSchedule, Unreachable, TooLarge: As
            `schedules.optimum.collective_optimum.collective_optimum`, or for groups as
            `schedules.groups.figures.group_figures` and `schedules.groups.request.asked_groups`.

    >>> best = optimum("dgx-a100-2")
    >>> best.algbw, best.passes[0].bottleneck.compute_inside
    (Fraction(1040, 3), 15)
    >>> data = optimum("dgx-a100-2", groups={"tensor": 8, "data": 2}, group="data")[0]
    >>> data.alone.algbw, data.together.algbw, data.together.exact
    (Fraction(400, 1), Fraction(50, 1), True)
    >>> both = {"tensor": ("allreduce", "64MiB"), "data": ("all-to-all", "32MiB")}
    >>> found = optimum("dgx-a100-2", groups={"tensor": 8, "data": 2}, traffic=both)
    >>> [(one.kind, one.all_kinds.algbw) for one in found]
    [('tensor', Fraction(100, 1)), ('data', Fraction(50, 1))]
    """
    from topoloom.schedules.generate.collectives import Options
    from topoloom.schedules.model.schedule import Collective
    from topoloom.schedules.optimum.collective_optimum import collective_optimum

    trees = optional_whole(trees_per_root, "trees_per_root")
    options = Options(trees, max_gap, root, shards, participants)
    require_collections(shards, participants)
    topology, asked = topology_of(source), Collective.of(collective)
    if groups is None and group is None and traffic is None:
        return collective_optimum(topology, asked, options)
    from topoloom.schedules.errors import NoSchedule
    from topoloom.schedules.groups.figures import group_figures, traffic_figures
    from topoloom.schedules.groups.request import asked_groups, asked_traffic

    if groups is None or options != Options() or (group and traffic):
        raise NoSchedule("/groups", "must be given with collective and group, or traffic, only")
    require_type(groups, "groups", "sizes or lists of hosts", str, Mapping, Sequence)
    if traffic is None:
        return group_figures(topology, asked_groups(topology, groups, group)[0], asked)
    require_type(traffic, "traffic", "a mapping", Mapping)
    for kind, pair in traffic.items():
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise ValueError(f"traffic: {kind} must have a collective and a size, not {pair!r}")
    sized = {kind: (Collective.of(one), bytes_of(size)) for kind, (one, size) in traffic.items()}
    return traffic_figures(topology, asked_traffic(topology, groups, sized)[0])


def link_values(
    source: "Source",
    collective: str = "allgather",
    *,
    root: "NodeId | None" = None,
    shards: "Mapping[NodeId, int] | None" = None,
    participants: "Collection[NodeId] | None" = None,
) -> "list[LinkValue]":
    """Return the value of every kind of link: the gain of more capacity, the loss of less.

    The most valuable come first; all numbers are exact, of the ``algbw`` of `optimum`.

    Raises:
        NoSchedule, Unreachable, TooLarge: As `schedules.optimum.link_values.link_values`.

    More of one link gains nothing, more of every link to the network does:

    >>> value = link_values("dgx-a100-2")[1]
    >>> value.pairs[0], value.more, value.each_more, value.all_doubled
    (('0.gpu0', 'plane0'), Fraction(0, 1), Fraction(16, 15), Fraction(1120, 3))
    """
    from topoloom.schedules.model.schedule import Collective
    from topoloom.schedules.optimum.link_values import link_values as found
    from topoloom.schedules.options import Options

    require_collections(shards, participants)
    options = Options(root=root, shards=shards, participants=participants)
    return found(topology_of(source), Collective.of(collective), options)


def compare(
    source: "Source",
    collective: str,
    *,
    root: "NodeId | None" = None,
    alpha_us: "Rate" = 10,
    node_gbps: "Rate | None" = None,
    overhead_us: "Rate" = 0,
    chunk_us: "Rate" = 0,
) -> "AlgorithmComparison":
    """Return all algorithms for a collective on a fabric, and the fastest by size.

    Schedules in steps, trees and routes, and NCCL's own algorithms, each with its time by size.
    ``node_gbps`` is the most that a host sends; by default the topology's own unit, or 100 if the
    unit counts links.

    Raises:
        NoSchedule, Unreachable, TooLarge: As
            `schedules.compare.compare_algorithms.compare_algorithms`.

    >>> found = compare("Torus(4, 4)", "allreduce")
    >>> [(part.name, part.first_bytes) for part in found.ranges][:2]
    [('bfb-one-shot', 1), ('bfb', 38096)]
    >>> found.fastest(2**30).rate
    Fraction(20000000000, 3)
    """
    from topoloom.schedules.compare.compare_algorithms import compare_algorithms as found
    from topoloom.schedules.model.schedule import Collective
    from topoloom.schedules.simulate import Network
    from topoloom.synth.topology.rates import unit_bytes_per_second

    topology = topology_of(source)
    node = None if node_gbps is None else number(node_gbps, "node_gbps")
    network = Network(
        number(alpha_us, "alpha_us") / 10**6,
        unit_bytes_per_second(topology, node),
        number(overhead_us, "overhead_us") / 10**6,
        chunk_seconds=number(chunk_us, "chunk_us") / 10**6,
    )
    return found(topology, Collective.of(collective), network, root=root)


def from_networkx(
    graph: "nx.Graph[Any]",
    *,
    capacity: str = "capacity",
    kind: str = "kind",
    name: str | None = None,
    bandwidth_unit: str | None = None,
) -> "Topology":
    """Return the topology of a networkx graph; undirected edges become links both ways.

    ``capacity`` is the edge attribute for the capacity (1 if it is missing), ``kind`` the node
    attribute for ``"compute"`` or ``"switch"``.

    Raises:
        InvalidTopology: Names the node or edge and the rule that it breaks.

    >>> import networkx as nx
    >>> measure(from_networkx(nx.petersen_graph()))
    Cost(steps=2, bandwidth=Fraction(9, 10))
    """
    import networkx as nx

    from topoloom.synth.topology.networkx_graphs import from_networkx as read

    require_type(graph, "graph", "a graph of networkx", nx.Graph)
    return read(graph, capacity=capacity, kind=kind, name=name, bandwidth_unit=bandwidth_unit)


def to_networkx(
    source: "Source", *, capacity: str = "capacity", kind: str = "kind"
) -> "nx.MultiDiGraph[NodeId]":
    """Return a networkx multigraph; nodes carry ``kind``, links ``capacity``, or other names.

    >>> to_networkx("UniRing(3)", capacity="weight").edges[0, 1, 0]
    {'weight': 1}
    """
    from topoloom.synth.topology.networkx_graphs import to_networkx as written

    return written(topology_of(source), capacity=capacity, kind=kind)
