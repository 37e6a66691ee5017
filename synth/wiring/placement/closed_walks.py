"""A bound by closed walks on the number of links that can stay, for every placement.

Statement.  Let K be the links that stay; it is a subgraph of the wanted graph W and of today's
graph T, under any placing.  A closed walk in K is one in W and in T, so K has at most as many of
length k as T.  A link u -> v is in at most ``k * (A^(k-1))[v, u]`` of those of W, A its adjacency
matrix, and only these are lost with it.  So if W has D more closed walks of length k than T, so
many links go that their numbers, the largest first, add up to D.  The same holds of T and W
exchanged.
"""

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.wiring import limits

LENGTHS = (2, 3, 4)

Matrix = NDArray[np.int64]


def most_kept(wanted: Matrix, today: Matrix) -> int:
    """Return a number of links that no placing of one graph on the other can exceed.

    Args:
        wanted, today (int arrays, square): How many links lead from each node to each other; the
            sizes may differ.

    Three rings of three nodes have nine closed walks of length three, a ring of nine has none:

    >>> threes = np.kron(np.eye(3, dtype=np.int64), np.roll(np.eye(3, dtype=np.int64), 1, axis=1))
    >>> most_kept(threes, np.roll(np.eye(9, dtype=np.int64), 1, axis=1))
    6
    """
    links, pairs = int(wanted.sum()), int(today.sum())
    most = min(links, pairs)
    if max(len(wanted), len(today)) > limits.MAX_CLOSED_WALK_NODES:
        return most
    for length in LENGTHS:
        theirs, ours = _walks(wanted, length), _walks(today, length)
        # The trace of a product, in the square of the size.
        more = int((theirs * wanted.T).sum()) - int((ours * today.T).sum())
        most = min(most, links - _fewest(wanted, theirs, length, more))
        most = min(most, pairs - _fewest(today, ours, length, -more))
    return most


def _walks(graph: Matrix, length: int) -> Matrix:
    """Return how many walks of one less than this length there are from node to node."""
    # Exact: with at most 2**17 links in all no count of walks of three reaches 2**53.
    return np.rint(np.linalg.matrix_power(graph.astype(float), length - 1)).astype(np.int64)


def _fewest(graph: Matrix, walks: Matrix, length: int, more: int) -> int:
    """Return the least number of removed links that destroys a given number of closed walks."""
    if more <= 0:
        return 0
    sources, targets = np.nonzero(graph)
    through = np.repeat(length * walks[targets, sources], graph[sources, targets])
    through = np.sort(through)[::-1]
    return int(np.searchsorted(np.cumsum(through), more) + 1)
