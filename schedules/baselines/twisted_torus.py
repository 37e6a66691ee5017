"""The twisted torus of 2b by b hosts, shifted by b at the wrap, with breadth-first broadcast.

References:
    Sequin, "Doubly twisted torus networks for VLSI processor arrays", ISCA 1981; Camara et al.,
    "Twisted torus topologies for enhanced interconnection networks", IEEE Trans. Parallel Distrib.
    Syst. 21(12), 2010; in use in TPU pods (Jouppi et al., ISCA 2023).
"""

from fractions import Fraction
from math import isqrt

from topoloom.schedules.baselines.operation import PASSES, Baseline, Operation, step_baseline

NAME = "twisted-torus"


def time(nodes: int, degree: int, operation: Operation) -> Baseline | None:
    """Return b steps and (N-1)/N per pass for N = 2 b^2 hosts of four or five ports; else None.

    This is the cost of breadth-first broadcast: rotations by a right angle map the torus to itself,
    so the four links into a host have equal load in every step
    (`synth.families.torus`).

    >>> from topoloom.schedules.model.schedule import Collective
    >>> work = Operation(Collective.ALLREDUCE, 32, Fraction(1), Fraction(0))
    >>> time(32, 4, work).steps, time(32, 4, work).seconds
    (8, Fraction(62, 1))
    """
    side = isqrt(nodes // 2)
    if operation.collective not in PASSES or degree // 4 != 1:
        return None
    if side < 2 or 2 * side * side != nodes:
        return None
    wire = Fraction(nodes - 1, nodes) * Fraction(degree, 4)
    return step_baseline(NAME, nodes, side, wire, operation, nodes - 1)
