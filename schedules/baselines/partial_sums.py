"""Allreduce in one pass by partial sums, one dimension of a grid after another.

Hosts that differ in one coordinate form a *line*: a two-way ring, or a complete graph.  On a line
every host gathers the sums of the others and adds them up for the next dimension.  A link carries
one buffer in a step, however many contributions the buffer holds.  The data is cut into one equal
part per dimension; part j starts with dimension j and takes the others in cyclic order.
"""

from collections import Counter
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from topoloom.schedules.baselines.operation import Baseline, Operation
from topoloom.schedules.baselines.torus_shares import dimension_order


class Grid(NamedTuple):
    """Sides of at least 2, the kind of lines, and the number of parallel links.

    Rings have sides of at least 3.
    """

    shape: tuple[int, ...]
    rings: bool
    copies: int = 1

    def steps(self, axis: int) -> list[list[tuple[int, int, int]]]:
        """Return, by step along a line, (distance, first half, past half) of every message.

        The farthest host of an even ring receives one half of the buffer from each side.

        >>> Grid((4, 3), rings=True).steps(0)
        [[(1, 0, 2), (-1, 0, 2)], [(1, 0, 1), (-1, 1, 2)]]
        >>> Grid((4, 3), rings=False).steps(1)
        [[(1, 0, 2), (2, 0, 2)]]
        """
        side = self.shape[axis]
        if not self.rings:
            return [[(by, 0, 2) for by in range(1, side)]]
        near = [[(1, 0, 2), (-1, 0, 2)]] * ((side - 1) // 2)
        return near if side % 2 else [*near, [(1, 0, 1), (-1, 1, 2)]]

    def time(self, name: str, degree: int, operation: Operation) -> Baseline:
        """Return the time on hosts of ``degree`` ports: a step lasts as long as its busiest link.

        >>> from topoloom.schedules.model.schedule import Collective
        >>> work = Operation(Collective.ALLREDUCE, 12, Fraction(4), Fraction(10))
        >>> Grid((2, 2, 3), rings=False).time("mesh", 4, work).seconds
        Fraction(42, 1)
        """
        whole = operation.transfer_seconds * Fraction(degree, self.copies)
        each = operation.message_seconds
        steps, taken = 0, Fraction(0)
        for row, count in grid_loads(self).items():
            busiest = max(messages * each + share * whole for messages, share in row)
            taken += count * (operation.alpha_seconds + busiest)
            steps += count
        return Baseline(name, taken, steps, 1)


@lru_cache(maxsize=4096)
def grid_loads(grid: Grid) -> Counter[tuple[tuple[int, Fraction], ...]]:
    """Count steps by the messages and the share of the data on a link of each dimension.

    >>> grid_loads(Grid((2, 2), rings=False))
    Counter({((1, Fraction(1, 2)), (1, Fraction(1, 2))): 2})
    """
    axes = range(len(grid.shape))
    total = sum(len(grid.steps(axis)) for axis in axes)
    loads = [[(0, Fraction(0)) for _ in axes] for _ in range(total)]
    for first in axes:
        order = dimension_order(first, len(axes))
        steps = [(axis, step[0]) for axis in order for step in grid.steps(axis)]
        for row, (axis, (_, low, past)) in zip(loads, steps, strict=True):
            count, share = row[axis]
            row[axis] = count + 1, share + Fraction(past - low, 2 * len(axes))
    return Counter(map(tuple, loads))
