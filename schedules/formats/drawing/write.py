"""Drawings of trees: Graphviz DOT, one picture per tree, and GraphML, one graph of all trees.

An edge is drawn from sender to receiver; the switches on its path are its label.
"""

import re
from collections.abc import Iterator

import networkx as nx

from topoloom.schedules.errors import NotExportable
from topoloom.schedules.model.schedule import Schedule, SequenceSchedule, Tree, TreeSchedule
from topoloom.schedules.verify import require_valid
from topoloom.synth.formats.dot import quoted
from topoloom.synth.topology.topology import NodeId, Topology

MAX_EDGES = 200_000
# Control characters, surrogate halves, and the characters that XML 1.0 excludes.
_UNWRITABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def dot(schedule: Schedule, topology: Topology) -> Iterator[str]:
    """Yield Graphviz DOT, piece by piece: each tree is a cluster, its root is drawn double.

    Raises:
        NotExportable: The schedule is not made of trees, has more than `MAX_EDGES` edges, or an id
            holds a control character.

    >>> from topoloom.schedules.model.schedule import Collective
    >>> pair = Topology("ab", [("a", "b"), ("b", "a")])
    >>> trees = (Tree("a", 1, (("a", "b"),)), Tree("b", 1, (("b", "a"),)))
    >>> both = TreeSchedule(Collective.ALLGATHER, pair.digest, ("a", "b"), 1, trees)
    >>> print("".join(dot(both, pair)).partition("}")[0])
    digraph trees {
      subgraph cluster_0 {
        label="allgather, root a, weight 1 of 1";
        0 [label="a", peripheries=2];
        1 [label="b"];
        0 -> 1;
    <BLANKLINE>
    """
    return _clusters(_parts(schedule, topology))


def _clusters(parts: list[TreeSchedule]) -> Iterator[str]:
    yield "digraph trees {\n"
    number = cluster = 0
    for part in parts:
        for tree in part.trees:
            title = f"{part.collective}, root {tree.root}, weight {tree.weight}"
            lines = [
                f"  subgraph cluster_{cluster} {{",
                f"    label={quoted(f'{title} of {part.trees_per_root}')};",
            ]
            names = {node: number + at for at, node in enumerate(_members(tree))}
            for node, name in names.items():
                mark = ", peripheries=2" if node == tree.root else ""
                lines.append(f"    {name} [label={quoted(str(node))}{mark}];")
            for sender, *switches, receiver in tree.edges:
                via = ", ".join(map(str, switches))
                label = f" [label={quoted(via)}]" if via else ""
                lines.append(f"    {names[sender]} -> {names[receiver]}{label};")
            yield "\n".join([*lines, "  }", ""])
            number += len(names)
            cluster += 1
    yield "}\n"


def graphml(schedule: Schedule, topology: Topology) -> Iterator[str]:
    """Yield GraphML of all trees over the nodes of the topology, line by line.

    Nodes have their ``kind``; edges their ``collective``, the number of their ``tree``, its
    ``root`` and ``weight``, their ``depth``, counted from the root, and ``via``, the
    switches they cross.

    Raises:
        InvalidSchedule, NotExportable: As `dot`.
    """
    parts = _parts(schedule, topology)
    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph(name=topology.name)
    for node in topology.nodes:
        graph.add_node(str(node), kind="switch" if node in topology.switches else "compute")
    number = 0
    for part in parts:
        for tree in part.trees:
            depth = {tree.root: 0}
            for edge in tree.edges:
                near, far = (edge[0], edge[-1]) if edge[0] in depth else (edge[-1], edge[0])
                depth[far] = depth[near] + 1
                graph.add_edge(
                    str(edge[0]),
                    str(edge[-1]),
                    collective=part.collective.value,
                    tree=number,
                    root=str(tree.root),
                    weight=tree.weight,
                    depth=depth[far],
                    via=" ".join(map(str, edge[1:-1])),
                )
            number += 1
    return (f"{line}\n" for line in nx.generate_graphml(graph))


def _parts(schedule: Schedule, topology: Topology) -> list[TreeSchedule]:
    """Return the parts of a schedule that can be drawn."""
    require_valid(schedule, topology)
    parts = schedule.parts if isinstance(schedule, SequenceSchedule) else (schedule,)
    trees = [part for part in parts if isinstance(part, TreeSchedule)]
    if len(trees) < len(parts):
        raise NotExportable("/format", "only schedules made of trees can be drawn")
    edges = sum(len(tree.edges) for part in trees for tree in part.trees)
    if edges > MAX_EDGES:
        raise NotExportable("/trees", f"at most {MAX_EDGES} edges are drawn; {edges} are needed")
    for text in (topology.name, *map(str, topology.nodes)):
        if _UNWRITABLE.search(text):
            raise NotExportable("/trees", "ids and names must not hold control characters")
    return trees


def _members(tree: Tree) -> list[NodeId]:
    """Return the ranks of a tree, the root first."""
    members = dict.fromkeys([tree.root])
    for edge in tree.edges:
        members.update(dict.fromkeys((edge[0], edge[-1])))
    return list(members)
