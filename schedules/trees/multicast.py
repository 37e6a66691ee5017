"""Trees on switches that copy and reduce: nothing is sent twice to the same switch.

Edges of a tree with a common path from their sender up to a *multicast* switch count once on this
path, as in the verifier (`schedules.verify.tree_loads`).  `without_repeated_sends` uses this: once
an edge of a tree crosses a multicast switch, all later edges of the tree that cross the switch
start there.  (Zhao et al., ForestColl, arXiv:2402.06787, on in-network multicast and aggregation.)
"""

from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import replace
from fractions import Fraction

from topoloom.schedules.model.schedule import Tree, TreeSchedule
from topoloom.schedules.verify.costs import tree_loads
from topoloom.synth.topology.topology import NodeId, Topology


def without_repeated_sends(schedule: TreeSchedule, topology: Topology) -> TreeSchedule:
    """Return the schedule without repeated sends to a multicast switch.

    Args:
        schedule: Valid on the topology.
        topology: Its ``multicast`` switches copy, and reduce in the opposite direction.

    Let an edge cross switch w after an earlier edge with sender u crossed w.  The later edge now
    starts with u's path to w, and u becomes the parent of its receiver.  Since edges are in
    breadth-first order, u is no deeper than the former sender: the result is a tree, and no
    higher.  No link carries more: the path to w is already in use, and the edge's own path to w
    is no longer used.  O(hops).

    >>> from topoloom.schedules.model.schedule import Collective
    >>> links = [link for g in "abc" for link in ((g, "w"), ("w", g))]
    >>> box = Topology("abcw", links, switches="w", multicast="w")
    >>> chain = Tree("a", 1, (("a", "w", "b"), ("b", "w", "c")))
    >>> ranks = tuple("abc")
    >>> forest = TreeSchedule(Collective.BROADCAST, box.digest, ranks, 1, (chain,), (1, 0, 0))
    >>> without_repeated_sends(forest, box).trees[0].edges
    (('a', 'w', 'b'), ('a', 'w', 'c'))
    """
    if not topology.multicast:
        return schedule
    outward = schedule.collective.outward
    trees = tuple(_pruned(tree, topology.multicast, outward) for tree in schedule.trees)
    return replace(schedule, trees=trees)


def without_detours(schedule: TreeSchedule, topology: Topology) -> TreeSchedule:
    """Return the schedule with fewer edges that pass a switch twice on their way to be copied.

    Args:
        schedule: Outward, and valid on the topology.

    An edge that a copying switch returns over the switches on the way there passes these twice.
    The edge takes the way without the detour if no link is then busier than the busiest link is
    now.  Otherwise the detour is part of the rate: these links carry one copy for several edges.
    O(hops) for every tree with such edges.

    >>> from topoloom.schedules.model.schedule import Collective
    >>> links = [("a", "s", 2), ("s", "w"), ("w", "s"), ("s", "b"), ("w", "c")]
    >>> leaf = Topology("abcsw", links, switches="sw", multicast="w")
    >>> tree = Tree("a", 1, (("a", "s", "w", "s", "b"), ("a", "s", "w", "c")))
    >>> ranks = tuple("abc")
    >>> forest = TreeSchedule(Collective.BROADCAST, leaf.digest, ranks, 1, (tree,), (1, 0, 0))
    >>> without_detours(forest, leaf).trees[0].edges
    (('a', 's', 'b'), ('a', 's', 'w', 'c'))
    """
    if not any(map(_has_detour, {edge for tree in schedule.trees for edge in tree.edges})):
        return schedule
    room: dict[tuple[NodeId, NodeId], Fraction] = defaultdict(Fraction)
    for link in topology.links:
        room[link.source, link.target] += link.capacity
    load = Counter(tree_loads(schedule, topology))
    busiest = max(carried / room[hop] for hop, carried in load.items())
    trees = list(schedule.trees)
    for place, tree in enumerate(schedule.trees):
        for index, edge in enumerate(tree.edges):
            if not _has_detour(edge):
                continue
            edges = trees[place].edges
            direct = replace(tree, edges=(*edges[:index], _direct(edge), *edges[index + 1 :]))
            other = load.copy()
            other.subtract(tree_loads(replace(schedule, trees=(trees[place],)), topology))
            other.update(tree_loads(replace(schedule, trees=(direct,)), topology))
            if all(carried <= busiest * room[hop] for hop, carried in other.items()):
                trees[place], load = direct, other
    return replace(schedule, trees=tuple(trees))


def _has_detour(edge: tuple[NodeId, ...]) -> bool:
    return len(set(edge)) < len(edge)


def _direct(edge: tuple[NodeId, ...]) -> tuple[NodeId, ...]:
    """Return a path without the parts between two passes of a node."""
    path: list[NodeId] = []
    for node in edge:
        if node in path:
            del path[path.index(node) :]
        path.append(node)
    return tuple(path)


def spliced_tree(tree: Tree, copying: Collection[NodeId]) -> Tree:
    """Return an outward tree whose edges pass the copying switches instead of ending there.

    Args:
        tree: Spans ranks, one of them its root, and ``copying`` switches as if these were ranks.
        copying: Switches of the tree.  Those without outgoing edges are dropped.

    Edges into and out of a switch are concatenated: their common path to the switch counts once.
    O(hops).

    >>> spliced_tree(Tree("a", 1, (("a", "w"), ("w", "b"), ("w", "u", "c"))), "w").edges
    (('a', 'w', 'b'), ('a', 'w', 'u', 'c'))
    """
    way: dict[NodeId, tuple[NodeId, ...]] = {tree.root: (tree.root,)}
    depth = {tree.root: 0}
    paths = []
    for edge in tree.edges:
        path = way[edge[0]] + edge[1:]
        if edge[-1] in copying:
            way[edge[-1]] = path
            continue
        way[edge[-1]] = edge[-1:]
        depth[edge[-1]] = depth[path[0]] + 1
        paths.append(path)
    paths.sort(key=lambda path: depth[path[-1]])
    return replace(tree, edges=tuple(paths))


def _pruned(tree: Tree, multicast: frozenset[NodeId], outward: bool) -> Tree:
    holds: dict[NodeId, tuple[NodeId, ...]] = {}
    depth = {tree.root: 0}
    paths = []
    for edge in tree.edges:
        path = edge if outward else edge[::-1]
        for at in range(len(path) - 2, 0, -1):
            if path[at] in holds:
                path = holds[path[at]] + path[at + 1 :]
                break
        for at in range(1, len(path) - 1):
            if path[at] in multicast:
                holds.setdefault(path[at], path[: at + 1])
        depth[path[-1]] = depth[path[0]] + 1
        paths.append(path)
    paths.sort(key=lambda path: depth[path[-1]])
    return replace(tree, edges=tuple(path if outward else path[::-1] for path in paths))
