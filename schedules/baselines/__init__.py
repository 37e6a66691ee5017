"""Known algorithms for hosts with d ports, each with its exact time in closed form.

A baseline is a module, or an object, with ``NAME`` and ``time``.  `tests.baseline_runs` has a
schedule of each: the verifier accepts the schedule, and the simulator yields the same time.
`BASELINES` use cables between hosts only, and every hop costs alpha.  `ASSUMED_BASELINES` need more
hardware, stated as an assumption.  Where a closed form rests on an assumption, the assumption
favors the baseline; ``docs/explanation/cost-model.md`` derives the forms.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from topoloom.schedules.baselines import (
    bruck,
    hypercube,
    pairwise_exchange,
    permutation_rings,
    rabenseifner,
    shifted_ring,
    single_tree,
    torus_rings,
    twisted_torus,
)
from topoloom.schedules.baselines.dimension_exchange import SWING, TRIVANCE
from topoloom.schedules.baselines.full_mesh import FullMesh
from topoloom.schedules.baselines.operation import (
    PASSES,
    Baseline,
    Operation,
    bound_seconds,
    passes,
    seconds,
)
from topoloom.schedules.baselines.two_tree_schedule import DOUBLE_BINARY_TREE, WIDE_DOUBLE_TREE
from topoloom.synth.evaluation.cost import Links

__all__ = [
    "ASSUMED_BASELINES",
    "BASELINES",
    "PASSES",
    "Baseline",
    "BaselineAlgorithm",
    "Operation",
    "assumed_baselines",
    "baselines",
    "bound_seconds",
    "passes",
    "seconds",
]


@dataclass(frozen=True, slots=True)
class BaselineAlgorithm:
    """A known algorithm: its time in closed form.

    ``time`` takes hosts, ports and an `Operation`, and returns None where the algorithm does not
    apply.  ``assumption`` states the hardware beyond cables between hosts; ``one_way`` whether its
    links are unidirectional.
    """

    name: str
    time: Callable[[int, int, Operation], Baseline | None]
    assumption: str = ""
    one_way: bool = False


def _of(modules: tuple[Any, ...], assumption: str = "") -> tuple[BaselineAlgorithm, ...]:
    return tuple(
        BaselineAlgorithm(one.NAME, one.time, assumption, getattr(one, "ONE_WAY", False))
        for one in modules
    )


BASELINES = _of(
    (
        shifted_ring,
        DOUBLE_BINARY_TREE,
        WIDE_DOUBLE_TREE,
        single_tree,
        torus_rings,
        twisted_torus,
        FullMesh(2),
        FullMesh(3),
        hypercube,
        permutation_rings,
        pairwise_exchange,
    )
)
"""Baselines with cables between the hosts only."""

SWITCH = "a non-blocking switch of the same host bandwidth that adds no latency"

ROUTERS = "a torus of routers that pass messages on at no latency"

ASSUMED_BASELINES = (*_of((bruck, rabenseifner), SWITCH), *_of((SWING, TRIVANCE), ROUTERS))
"""Baselines that need more hardware than cables."""


def baselines(
    nodes: int, degree: int, operation: Operation, links: Links = Links.UNIDIRECTIONAL
) -> tuple[Baseline, ...]:
    """Return the baselines that these hosts can run with cables alone.

    With bidirectional ``links``, baselines with unidirectional links are excluded.

    >>> from fractions import Fraction
    >>> from topoloom.schedules.model.schedule import Collective
    >>> work = Operation(Collective.ALLREDUCE, 2**20, Fraction(125 * 10**8), Fraction(1, 10**5))
    >>> for one in baselines(256, 4, work):
    ...     print(one.name, one.steps)
    shifted-ring 256
    double-binary-tree 143
    single-tree 265
    torus-rings 32
    permutation-rings 510
    """
    pairs = links is Links.BIDIRECTIONAL
    served = [one for one in BASELINES if not (pairs and one.one_way)]
    found = (baseline.time(nodes, degree, operation) for baseline in served)
    return tuple(entry for entry in found if entry is not None)


def assumed_baselines(nodes: int, degree: int, operation: Operation) -> tuple[Baseline, ...]:
    """Return the baselines of `ASSUMED_BASELINES`, which need more hardware than these hosts have.

    >>> from fractions import Fraction
    >>> from topoloom.schedules.model.schedule import Collective
    >>> work = Operation(Collective.ALLGATHER, 8, Fraction(1), Fraction(0))
    >>> [(one.name, one.steps) for one in assumed_baselines(8, 2, work)]
    [('switch-bruck', 2), ('switch-rabenseifner', 3), ('routed-swing', 3)]
    """
    found = ((one, one.time(nodes, degree, operation)) for one in ASSUMED_BASELINES)
    return tuple(replace(entry, assumption=one.assumption) for one, entry in found if entry)
