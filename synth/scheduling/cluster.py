"""A cluster as schedulers see it: host names, levels of switches, blocks and, maybe, a torus."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from topoloom.synth.launch.host_graph import (
    HostGraph,
    are_numbers,
    host_graph,
    host_names,
    switch_names,
)
from topoloom.synth.scheduling.blocks import Blocks, blocks, capacity_between
from topoloom.synth.topology.topology import Capacity, Topology

Dims = tuple[int, int, int]


def torus_dims(graph: HostGraph) -> Dims | None:
    """Return the sides x, y, z of a torus whose hosts are in order, x fastest; None for others.

    O(links) for each way to write the number of hosts as a product of three.

    >>> from topoloom.synth.fabrics import fabric
    >>> from topoloom.synth.launch.host_graph import host_graph
    >>> torus_dims(host_graph(fabric("tpu-v4-4x4x8")))
    (8, 4, 4)
    >>> torus_dims(host_graph(fabric("mac-studio-mesh-4")))
    """
    size = len(graph.hosts)
    if graph.vertices > size or not size:
        return None
    arcs = set(graph.capacities)
    for dims in _sides(size):
        if arcs == set(_torus_arcs(dims)):
            return dims
    return None


def _sides(size: int) -> Iterator[Dims]:
    """Yield the three sides of boxes of this volume, each at least 2."""
    for x in range(2, size // 4 + 1):
        for y in range(2, size // (2 * x) + 1):
            if size % (x * y) == 0 and size // (x * y) >= 2:
                yield x, y, size // (x * y)


def _torus_arcs(dims: Dims) -> Iterator[tuple[int, int]]:
    """Yield the links of a torus, whose first coordinate is the fastest."""
    x, y, z = dims
    for host in range(x * y * z):
        at = (host % x, host // x % y, host // (x * y))
        for axis, stride in enumerate((1, x, x * y)):
            for step in (1, -1):
                moved = (at[axis] + step) % dims[axis]
                yield host, host + (moved - at[axis]) * stride


@dataclass(frozen=True, slots=True)
class Group:
    """Hosts that switches of one level and below join.

    ``parent`` is the index of the group of the next level that holds this one; None at the top.
    """

    name: str
    hosts: tuple[int, ...]
    parent: int | None


def hierarchy(graph: HostGraph, switches: list[str]) -> list[list[Group]]:
    """Return the groups of each level, from the leaf switches up; empty without switches.

    The level of a switch is its distance from the nearest host.  A level that separates the same
    hosts as the level below is left out.  A group with one switch of its level has its name.

    >>> from topoloom.synth.fabrics import fabric
    >>> from topoloom.synth.launch.host_graph import host_graph, switch_names
    >>> tree = fabric("fat-tree-4")
    >>> [len(groups) for groups in hierarchy(host_graph(tree), switch_names(tree))]
    [8, 4, 1]
    """
    distance = _distances(graph)
    size = len(graph.hosts)
    highest = max(distance[size:], default=0)
    found: list[list[Group]] = []
    for level in range(1, highest + 1):
        pieces = _components(graph, [vertex for vertex, d in enumerate(distance) if d <= level])
        rows: list[tuple[str, tuple[int, ...]]] = []
        for piece in pieces:
            own = [switches[vertex - size] for vertex in piece if distance[vertex] == level]
            name = own[0] if len(own) == 1 else f"level{level}-{len(rows)}"
            rows.append((name, tuple(vertex for vertex in piece if vertex < size)))
        if found and {row[1] for row in rows} == {group.hosts for group in found[-1]}:
            continue
        found.append([Group(name, hosts, None) for name, hosts in rows])
    for lower, upper in pairwise(found):
        holder = {host: index for index, group in enumerate(upper) for host in group.hosts}
        lower[:] = [Group(group.name, group.hosts, holder[group.hosts[0]]) for group in lower]
    return found


def _distances(graph: HostGraph) -> list[int]:
    """Return the links from each vertex to the nearest host, against the direction of links."""
    distance = [0] * len(graph.hosts) + [-1] * (graph.vertices - len(graph.hosts))
    waiting = deque(range(len(graph.hosts)))
    while waiting:
        vertex = waiting.popleft()
        for other in graph.successors[vertex]:
            if distance[other] < 0:
                distance[other] = distance[vertex] + 1
                waiting.append(other)
    return distance


def _components(graph: HostGraph, vertices: list[int]) -> list[list[int]]:
    """Return the components with hosts of a part of the graph, by their first host."""
    import igraph

    place = {vertex: index for index, vertex in enumerate(vertices)}
    ends = [(place[a], place[b]) for a, b in graph.capacities if a in place and b in place]
    pieces = igraph.Graph(len(vertices), ends).connected_components()
    named = [[vertices[index] for index in piece] for piece in pieces]
    return sorted((piece for piece in named if piece[0] < len(graph.hosts)), key=min)


@dataclass(frozen=True, slots=True)
class Cluster:
    """The hosts of a topology in groups.

    Args:
        name: Name of the topology; may be empty.
        unit: Unit of capacities.
        names: Names of the hosts.
        levels: Groups below the switches of each level, from the leaves up; empty without switches.
        parts: The blocks, as indices of hosts.
        between: The capacity of the links that leave blocks, in total.
        torus: The sides of the three-dimensional torus that the hosts are.
    """

    name: str
    unit: str
    names: tuple[str, ...]
    levels: list[list[Group]]
    parts: Blocks
    between: Capacity
    torus: Dims | None

    def hosts(self, indices: tuple[int, ...]) -> str:
        """Return names of hosts, separated by commas."""
        return ",".join(self.names[index] for index in indices)

    @property
    def comment(self) -> str:
        """The sentence on the blocks, for comments in files."""
        sizes = sorted({len(part) for part in self.parts})
        hosts = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
        count = f"{len(self.parts)} block{'s' if len(self.parts) > 1 else ''}"
        unit = "links" if self.unit == "link" else self.unit
        leaving = f"{float(self.between):.6g} {unit}"
        return f"{count} of {hosts} hosts; links that leave blocks have {leaving} in total."


def cluster_of(topology: Topology) -> Cluster:
    """Return the cluster of a topology.

    >>> from topoloom.synth.fabrics import fabric
    >>> cluster_of(fabric("fat-tree-4")).comment
    '8 blocks of 2 hosts; links that leave blocks have 16 links in total.'

    Raises:
        InvalidTopology: A node has no id that can be a host name, or hosts cannot reach each other.
    """
    graph: HostGraph = host_graph(topology)
    parts = blocks(graph)
    return Cluster(
        topology.name,
        topology.bandwidth_unit,
        tuple(host_names(graph, "host" if are_numbers(graph) else "")),
        hierarchy(graph, switch_names(topology)),
        parts,
        capacity_between(graph, parts),
        torus_dims(graph),
    )
