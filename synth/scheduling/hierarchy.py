"""Levels of switches above the hosts: the hosts that each level and those below it join."""

from collections import deque
from dataclasses import dataclass
from itertools import pairwise

from topoloom.synth.launch.host_graph import HostGraph


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
