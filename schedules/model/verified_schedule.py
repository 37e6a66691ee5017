"""What is known of a schedule: what it costs, what switches save, what was lost by a wish.

Values alone, so that documents can speak of schedules where nothing makes or checks one.
"""

from dataclasses import dataclass
from fractions import Fraction

from topoloom.schedules.model.schedule import Collective, Schedule

__all__ = ["Facts", "Losses", "Sharing", "Verified"]


@dataclass(frozen=True, slots=True)
class Sharing:
    """What multicast switches save: how many units of data cross how many links.

    ``together`` is, of an allreduce, the inverse rate of both passes at once.
    """

    crossings: Fraction
    crossings_unshared: Fraction
    together: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """What a schedule costs, derived from its sends alone; None where a member says nothing.

    Attributes
    ----------
    steps : int
        Steps, or the most hops of a route.
    bandwidth : Fraction
        T_B in units of M / B.
    inverse_rate : Fraction
        Trees: time per byte of a shard of size 1.  Routes: time in which every rank sends
        one unit to every other.
    ranks, data : int
        Of trees: how many ranks take part, and the size of all their shards.
    units_per_pair : int
        Of routes: into how many units the data of one pair is cut.
    parts : tuple of Facts
        Of a sequence: its parts; the other members are their sums or maxima, but the inverse
        rate of parts that run together that of both.
    together : bool
        Of a sequence: whether its parts run together.
    multicast : Sharing
        On topologies with switches that copy.
    """

    collective: Collective
    steps: int | None = None
    bandwidth: Fraction | None = None
    inverse_rate: Fraction | None = None
    chunks_per_shard: int | None = None
    trees_per_root: int | None = None
    units_per_pair: int | None = None
    ranks: int | None = None
    data: int | None = None
    parts: tuple["Facts", ...] = ()
    multicast: Sharing | None = None
    together: bool = False


@dataclass(frozen=True, slots=True)
class Losses:
    """What was lost by what was asked for, against the best of the algorithm.

    ``bandwidth`` in M / B, for want of chunks; ``gap`` as a share of the optimum, for want
    of trees; None where neither was asked for.
    """

    bandwidth: Fraction | None = None
    gap: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Verified:
    """A valid schedule on a topology, with what it costs."""

    schedule: Schedule
    algorithm: str
    facts: Facts
    losses: Losses
