"""A verified schedule with its costs: values alone, independent of generators and verifiers."""

from dataclasses import dataclass
from fractions import Fraction

from topoloom.schedules.model.schedule import Collective, Schedule


@dataclass(frozen=True, slots=True)
class MulticastSavings:
    """Units of data times links crossed, with and without copies by multicast switches.

    ``together`` is the inverse rate of both passes of an allreduce that run at once.
    """

    crossings: Fraction
    crossings_unshared: Fraction
    together: Fraction | None = None


@dataclass(frozen=True, slots=True)
class ScheduleCosts:
    """The costs of a schedule, derived from its sends alone; None where a member does not apply.

    Attributes:
        steps: Number of steps, or the largest number of hops of a route.
        bandwidth: T_B in units of M / B.
        inverse_rate: Trees: time per byte of a shard of size 1.  Routes: time in which every rank
            sends one unit to every other.
        ranks, data: Trees: number of participating ranks, and the total size of their shards.
            Routes: number of ranks, if some hosts are idle.
        units_per_pair: Routes: units into which the data of one pair is divided.
        parts: Sequences: the parts.  Other members are sums or maxima over the parts; parts that
            run together have one joint inverse rate.
        together: Sequences: whether the parts run together.
        multicast: Present on topologies with multicast switches.
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
    parts: tuple["ScheduleCosts", ...] = ()
    multicast: MulticastSavings | None = None
    together: bool = False


@dataclass(frozen=True, slots=True)
class OptionLosses:
    """Losses caused by options, against the algorithm's optimum.

    ``bandwidth`` in units of M / B, due to limited chunks; ``gap`` as a share of the optimum, due
    to limited trees.  None where the option is absent.
    """

    bandwidth: Fraction | None = None
    gap: Fraction | None = None


@dataclass(frozen=True, slots=True)
class VerifiedSchedule:
    """A valid schedule on a topology, with its costs."""

    schedule: Schedule
    algorithm: str
    facts: ScheduleCosts
    losses: OptionLosses
