"""Trees on switches that copy and reduce: nothing is sent twice to the same switch.

Edges of a tree with a common path from their sender up to a *multicast* switch count once on this
path, as in the verifier (`schedules.verify.tree_loads`).  `without_repeated_sends` uses this: once
an edge of a tree crosses a multicast switch, all later edges of the tree that cross the switch
start there.  (Zhao et al., ForestColl, arXiv:2402.06787, on in-network multicast and aggregation.)
"""

from collections.abc import Collection
from dataclasses import replace

from topoloom.schedules.model.schedule import Tree, TreeSchedule
from topoloom.synth.topology.topology import NodeId, Topology


def without_repeated_sends(schedule: TreeSchedule, topology: Topology) -> TreeSchedule:
    """Return the schedule without repeated sends to a multicast switch.

    Parameters
    ----------
    schedule : TreeSchedule
        Valid on the topology.
    topology : Topology
        Its ``multicast`` switches copy, and reduce in the opposite direction.

    Notes
    -----
    Let an edge cross switch w after an earlier edge with sender u crossed w.  The later edge now
    starts with u's path to w, and u becomes the parent of its receiver.  Since edges are in
    breadth-first order, u is no deeper than the former sender: the result is a tree, and no
    higher.  No link carries more: the path to w is already in use, and the edge's own path to w
    is no longer used.  O(hops).

    Examples
    --------
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


def spliced_tree(tree: Tree, copying: Collection[NodeId]) -> Tree:
    """Return an outward tree whose edges pass the copying switches instead of ending there.

    Parameters
    ----------
    tree : Tree
        Spans ranks, one of them its root, and ``copying`` switches as if these were ranks.
    copying : collection
        Switches of the tree.  Those without outgoing edges are dropped.

    Notes
    -----
    Edges into and out of a switch are concatenated: their common path to the switch counts once.
    O(hops).

    Examples
    --------
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
