"""One pipelined tree of least diameter over the hosts: for small messages among many hosts.

The pieces are summed towards the center of the tree and return at once over the opposite directions
of the links.  The center is a host, or a link whose ends exchange their sums.

References:
    Moore trees: the balls of an infinite tree have the least diameter of all trees of a degree.
"""

from collections.abc import Iterator
from functools import lru_cache

from topoloom.schedules.baselines.operation import Baseline, Operation, faster
from topoloom.schedules.baselines.two_tree_schedule import pipelined_seconds
from topoloom.schedules.model.schedule import Collective

NAME = "single-tree"


def time(nodes: int, degree: int, operation: Operation) -> Baseline | None:
    """Return the least time over trees of at most k <= d links per host, floor(d / k) in parallel.

    A piece takes as many hops as the diameter of the tree: 2 r around a host, 2 r - 1 around a
    link.  1024 hosts of four ports take 12 hops.

    >>> from fractions import Fraction
    >>> work = Operation(Collective.ALLREDUCE, 1000, Fraction(125 * 10**8), Fraction(1, 10**5))
    >>> tree = time(1024, 4, work)
    >>> tree.steps, round(float(tree.seconds) * 1e6, 1)
    (12, 123.8)
    """
    found = [timed for _, timed in _timed(nodes, degree, operation)]
    return faster(*found) if found else None


def _timed(nodes: int, degree: int, operation: Operation) -> Iterator[tuple[int, Baseline]]:
    """Yield the times by the number of links per host; one link is enough for two hosts only."""
    if operation.collective is not Collective.ALLREDUCE:
        return
    for links in range(1 if nodes == 2 else 2, degree + 1):
        wide = operation.bytes_per_second * (degree // links) / degree
        hops = _center(nodes, links)[0]
        yield links, pipelined_seconds(NAME, hops, operation.size_bytes, wide, operation)


@lru_cache(maxsize=4096)
def _center(nodes: int, links: int) -> tuple[int, int]:
    """Return the least diameter, and the number of hosts at the center.

    >>> [_center(nodes, 3) for nodes in (2, 3, 4, 5, 6, 7, 10, 11)]
    [(1, 2), (2, 1), (2, 1), (3, 2), (3, 2), (4, 1), (4, 1), (5, 2)]
    """
    around_host, around_link, level, diameter = 1, 0, 1, 0
    while True:
        if around_host >= nodes:
            return diameter, 1
        around_link += 2 * level
        if around_link >= nodes:
            return diameter + 1, 2
        around_host += links * level
        level *= links - 1
        diameter += 2
