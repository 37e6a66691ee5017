"""A Lagrangian bound on the edges with a preferred color, where all ports are in use.

Where every node has an edge of every color, a coloring is one perfect matching per color that
together take every edge once.  Give every edge a price, paid to each matching that takes the edge.
For all prices, the cheapest matchings, chosen independently, cost no more, with all prices paid
back, than the best coloring (Lagrange's bound; Held and Karp 1970).  Prices rise on edges that no
matching takes and fall on edges taken twice.  All prices are integers, so the bound is exact.
"""

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.progress import report_progress
from topoloom.synth.wiring import limits
from topoloom.synth.wiring.coloring.bipartite import cheapest

Integers = NDArray[np.int64]

UNIT = 64
"""Price of an edge that does not get a preferred color."""


def most_preferred(
    size: int, sources: Integers, targets: Integers, preferred: list[Integers]
) -> int:
    """Return an upper bound of the edges with a preferred color in any proper coloring.

    Parameters
    ----------
    size : int
        Nodes on each side.
    sources, targets : int arrays
        Edges, as many at every node as there are colors.
    preferred : list of int arrays
        For every color the sorted keys ``source * size + target`` of the pairs of ends whose
        edges prefer it.

    Notes
    -----
    At most `limits.MAX_PRICE_ROUNDS` rounds of one cheapest matching per color.

    Examples
    --------
    A square whose edges all prefer the first color: one matching of two can have it.

    >>> square = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> most_preferred(2, *square, [np.array([0, 1, 2, 3]), np.array([], np.int64)])
    2
    """
    keys, left = np.unique(sources * size + targets, return_counts=True)
    rows, columns = np.divmod(keys, size)
    base = [UNIT * (1 - np.isin(keys, wanted).astype(np.int64)) for wanted in preferred]
    prices = np.zeros(len(keys), np.int64)
    best, dearest, step, idle = -1, prices, UNIT // 2, 0
    rounds = min(
        limits.MAX_PRICE_ROUNDS, limits.MAX_PRICED_EDGES // (len(keys) * len(preferred)) + 1
    )
    for number in range(rounds):
        report_progress("bounding moves", number, rounds)
        taken, bound = np.zeros(len(keys), np.int64), int((prices * left).sum())
        for costs in base:
            mates = cheapest(size, rows, columns, costs - prices)
            chosen = np.searchsorted(keys, np.arange(size) * size + mates)
            taken[chosen] += 1
            bound += int((costs - prices)[chosen].sum())
        idle = 0 if bound > best else idle + 1
        if bound > best:
            best, dearest = bound, prices
        if (taken == left).all():
            break
        if idle > limits.PRICE_PATIENCE:
            prices, step, idle = dearest, max(1, step * 7 // 10), 0
        else:
            prices = prices + step * (left - taken)
    return len(sources) - -(-best // UNIT)
