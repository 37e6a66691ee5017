"""Trees on switches that copy and add up: what such a switch holds is not sent to it again.

Edges of a tree that share a path from their sender up to a *multicast* switch are sent once up
to it; the verifier counts them so (`schedules.verify.tree_loads`).  `pruned` makes the most of
that: once any edge of a tree crosses a multicast switch, all later edges of the tree that cross
it begin there.  (Zhao et al., ForestColl, arXiv:2402.06787, on in-network multicast and
aggregation.)
"""

from collections.abc import Collection
from dataclasses import replace

from topoloom.schedules.model.schedule import Tree, TreeSchedule
from topoloom.synth.topology.topology import NodeId, Topology


def pruned(schedule: TreeSchedule, topology: Topology) -> TreeSchedule:
    """Return the schedule with nothing sent twice to a multicast switch.

    Parameters
    ----------
    schedule : TreeSchedule
        Valid on the topology.
    topology : Topology
        Its ``multicast`` switches copy, and the other way round add up.

    Notes
    -----
    Let an edge cross switch w that an edge before it crossed, from a sender u.  It now begins
    with u's path to w.  Its receiver hangs on u instead, which is no deeper than its sender
    was, since edges are in breadth-first order; so a tree stays one, and grows no higher.  No
    link carries more: the path to w is sent anyway, the edge's own way to w is not sent any
    more.  O(hops).

    Examples
    --------
    >>> from topoloom.schedules.model.schedule import Collective
    >>> links = [link for g in "abc" for link in ((g, "w"), ("w", g))]
    >>> box = Topology("abcw", links, switches="w", multicast="w")
    >>> chain = Tree("a", 1, (("a", "w", "b"), ("b", "w", "c")))
    >>> ranks = tuple("abc")
    >>> forest = TreeSchedule(Collective.BROADCAST, box.digest, ranks, 1, (chain,), (1, 0, 0))
    >>> pruned(forest, box).trees[0].edges
    (('a', 'w', 'b'), ('a', 'w', 'c'))
    """
    if not topology.multicast:
        return schedule
    outward = schedule.collective.outward
    trees = tuple(_pruned(tree, topology.multicast, outward) for tree in schedule.trees)
    return replace(schedule, trees=trees)


def spliced(tree: Tree, copying: Collection[NodeId]) -> Tree:
    """Return an outward tree whose edges pass the copying switches instead of ending there.

    Parameters
    ----------
    tree : Tree
        It spans ranks, its root one of them, and ``copying`` switches as if these were ranks.
    copying : collection
        Switches of the tree.  Those that nothing leaves are left out of it.

    Notes
    -----
    What one edge brings to a switch and others take on begins with the same path now, and is
    sent once up to it.  O(hops).

    Examples
    --------
    >>> spliced(Tree("a", 1, (("a", "w"), ("w", "b"), ("w", "u", "c"))), "w").edges
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
