"""Edge coloring of bipartite multigraphs, one perfect matching per color.

König (1916): a bipartite multigraph of maximum degree d splits into d matchings.
Padded with extra edges until every node has degree d, it has a perfect matching
(Hall's condition holds in regular graphs), and what is left is regular again.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching, min_weight_full_bipartite_matching

PADDING = -1
Integers = NDArray[np.int64]


class RegularMultigraph:
    """A bipartite multigraph padded to regular, from which matchings are taken.

    Parameters
    ----------
    size : int
        Nodes on each side.
    degree : int
        At least the largest degree of a node.
    sources, targets : int arrays
        The edges; left ends and right ends in [0, size).

    Notes
    -----
    ``rows`` and ``columns`` list the different pairs of ends, ``left`` how many
    edges of each are not yet taken.  An edge of the padding is ``PADDING``.
    """

    def __init__(self, size: int, degree: int, sources: Integers, targets: Integers) -> None:
        self.size = size
        # Both sides lack size * degree - edges ends in all, so the two lists match up.
        missing_out = degree - np.bincount(sources, minlength=size)
        missing_in = degree - np.bincount(targets, minlength=size)
        every = np.arange(size, dtype=np.int64)
        rows = np.concatenate([sources.astype(np.int64), np.repeat(every, missing_out)])
        columns = np.concatenate([targets.astype(np.int64), np.repeat(every, missing_in)])
        self._keys, class_of, count = np.unique(
            rows * size + columns, return_inverse=True, return_counts=True
        )
        # A stable sort: within a class real edges come before padding.
        self._order = np.argsort(class_of, kind="stable")
        self._order[self._order >= len(sources)] = PADDING
        self._next = np.concatenate([[0], np.cumsum(count)[:-1]])
        self.rows, self.columns = np.divmod(self._keys, size)
        self.left = count

    def any_matching(self) -> Integers:
        """Return a perfect matching: the right node of every left node."""
        present = self.left > 0
        ends = (self.rows[present], self.columns[present])
        graph = csr_array((np.ones(len(ends[0]), np.int8), ends), shape=(self.size, self.size))
        return maximum_bipartite_matching(graph, perm_type="column").astype(np.int64)

    def cheapest_matching(self, costs: Integers) -> Integers:
        """Return a perfect matching of least cost; ``costs``, one per class."""
        present = self.left > 0
        return cheapest(self.size, self.rows[present], self.columns[present], costs[present])

    def take(self, mates: Integers) -> Integers:
        """Remove one edge per left node and return the numbers of the real ones."""
        taken = np.searchsorted(self._keys, np.arange(self.size) * self.size + mates)
        edges = self._order[self._next[taken]]
        self._next[taken] += 1
        self.left[taken] -= 1
        return edges[edges != PADDING]


def cheapest(size: int, rows: Integers, columns: Integers, costs: Integers) -> Integers:
    """Return a perfect matching of least cost: the right node of every left node.

    ``rows`` and ``columns`` are the ends of different edges, of which some are a perfect matching;
    costs may be of any sign.

    >>> cheapest(2, *np.array([[0, 0, 1, 1], [0, 1, 0, 1]]), np.array([5, -1, 0, 9])).tolist()
    [1, 0]
    """
    # An edge of cost 0 would be none to the solver.
    above = costs - costs.min() + 1
    graph = csr_array((above, (rows, columns)), shape=(size, size))
    left, right = min_weight_full_bipartite_matching(graph)
    mates = np.empty(size, dtype=np.int64)
    mates[left] = right
    return mates


def edge_colours(size: int, sources: Integers, targets: Integers) -> Integers:
    """Return a proper edge coloring with as few colors as any can have.

    Parameters
    ----------
    size : int
        Nodes on each side.
    sources, targets : int arrays
        The edges, parallel ones repeated.

    Returns
    -------
    int array
        The color of every edge, in [0, d) for the maximum degree d: edges of one
        color share no end.

    Notes
    -----
    d matchings by Hopcroft-Karp, O(d * E * sqrt(size)) at worst.

    Examples
    --------
    >>> edge_colours(3, np.array([0, 1, 2]), np.array([1, 2, 0])).tolist()
    [0, 0, 0]
    """
    colours = np.zeros(len(sources), dtype=np.int64)
    if not len(sources):
        return colours
    degree = int(max(np.bincount(sources).max(), np.bincount(targets).max()))
    graph = RegularMultigraph(size, degree, sources, targets)
    for colour in range(degree):
        colours[graph.take(graph.any_matching())] = colour
    return colours
