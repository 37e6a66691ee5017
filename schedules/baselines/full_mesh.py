"""Full meshes: hosts that differ in one of two or three coordinates have a direct link.

References:
    Ahn et al., "HyperX: topology, routing, and packaging of efficient large-scale networks", SC
    2009; three dimensions are found to be Pareto-optimal for serving experts in arXiv:2605.00254.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import lcm, prod

from topoloom.schedules.baselines.operation import (
    PASSES,
    Baseline,
    Operation,
    faster,
    step_baseline,
)
from topoloom.schedules.baselines.partial_sums import Grid
from topoloom.schedules.baselines.torus_shares import dimension_order
from topoloom.schedules.model.schedule import Collective


@dataclass(frozen=True, slots=True)
class FullMesh:
    """The baseline of full meshes with a number of dimensions."""

    dimensions: int

    @property
    def NAME(self) -> str:  # noqa: N802
        """The name of the baseline."""
        return f"full-mesh-{self.dimensions}d"

    def time(self, nodes: int, degree: int, operation: Operation) -> Baseline | None:
        """Return the least time on a mesh whose links, the sum of side - 1, fit the ports; or None.

        The data is cut into one share per cyclic order of the dimensions.  In a step every host
        sends its data to all others along the dimension.  The j-th step loads a link with all
        shards gathered before.  Shares are proportional to the side of their last dimension.  An
        allreduce may also exchange partial sums once (`partial_sums`).

        >>> from topoloom.schedules.model.schedule import Collective
        >>> work = Operation(Collective.ALLGATHER, 64, Fraction(1), Fraction(0))
        >>> FullMesh(3).time(64, 9, work).steps, FullMesh(3).time(64, 9, work).seconds
        (3, Fraction(63, 1))
        """
        if operation.collective not in PASSES:
            return None
        timed = [self._time(shape, degree, operation) for shape in self._shapes(nodes, degree)]
        return faster(*timed) if timed else None

    def _shapes(self, nodes: int, degree: int) -> Iterator[tuple[int, ...]]:
        """Yield the sides, from 2 up, of meshes with these hosts and at most these ports."""
        for sides in product(range(2, degree + 2), repeat=self.dimensions - 1):
            last, rest = divmod(nodes, prod(sides))
            shape = (*sides, last)
            if not rest and list(shape) == sorted(shape) and _links(shape) <= degree:
                yield shape

    def _time(self, shape: tuple[int, ...], degree: int, operation: Operation) -> Baseline:
        axes = range(len(shape))
        loads = [[Fraction(0) for _ in axes] for _ in axes]
        for first, share in enumerate(_shares(shape)):
            order = dimension_order(first, len(shape))
            for step, axis in enumerate(order):
                loads[step][axis] += share * prod(shape[done] for done in order[:step])
        load, copies = sum(map(max, loads), Fraction(0)), degree // _links(shape)
        wire = load * Fraction(degree, copies * prod(shape))
        parts = load * _parts(shape)
        found = step_baseline(self.NAME, prod(shape), len(shape), wire, operation, parts)
        if operation.collective is not Collective.ALLREDUCE:
            return found
        grid = Grid(shape, rings=False, copies=copies)
        return faster(found, grid.time(self.NAME, degree, operation))


def _links(shape: tuple[int, ...]) -> int:
    return sum(shape) - len(shape)


def _shares(shape: tuple[int, ...]) -> list[Fraction]:
    """Return the share that starts with each dimension; links of the last step have equal load."""
    return [Fraction(shape[axis - 1], sum(shape)) for axis in range(len(shape))]


def _parts(shape: tuple[int, ...]) -> int:
    return lcm(*(share.denominator for share in _shares(shape)))
