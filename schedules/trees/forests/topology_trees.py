"""Trees with node ids of their topology, as one table."""

from collections.abc import Iterable, Sequence

import numpy as np

from topoloom.schedules.model.tree_table import TreeTable
from topoloom.schedules.trees.symmetry.path_trees import PathTree
from topoloom.synth.topology.topology import NodeId


def named_trees(names: Sequence[NodeId], trees: Iterable[PathTree]) -> TreeTable:
    """Return the trees with ``names[v]`` for node v.

    O(size of the trees).

    >>> drawn = PathTree(0, 2, np.array([0, 3, 1, 1, 2]), np.array([0, 3, 5]))
    >>> [(tree.root, tree.weight, tree.edges) for tree in named_trees("abcs", [drawn])]
    [('a', 2, (('a', 's', 'b'), ('b', 'c')))]
    """
    # Narrow at once: images share the ends of their edges, but not the nodes.
    drawn = [tree._replace(nodes=tree.nodes.astype(np.int32)) for tree in trees]
    lengths = [np.diff(tree.ends) for tree in drawn]
    return TreeTable(
        tuple(names),
        np.array([tree.root for tree in drawn], np.int32),
        np.array([tree.multiplicity for tree in drawn], np.int64),
        np.cumsum([0, *map(len, lengths)]),
        np.cumsum(np.concatenate([np.zeros(1, np.int64), *lengths])),
        np.concatenate([np.zeros(0, np.int32), *(tree.nodes for tree in drawn)]),
    )
