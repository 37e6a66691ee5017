"""The rate of a collective in a group, between two exact bounds."""

from dataclasses import dataclass
from fractions import Fraction

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.model.schedule import Collective
from topoloom.synth.topology.topology import NodeId

COLLECTIVES = (
    Collective.ALLGATHER,
    Collective.REDUCE_SCATTER,
    Collective.ALLREDUCE,
    Collective.ALL_TO_ALL,
)
"""The collectives of groups; every rank of a group brings equal data."""


@dataclass(frozen=True, slots=True)
class LinkPrice:
    """Equivalent links with one length in the proof of a bound; ``example`` is one of them."""

    example: tuple[NodeId, NodeId]
    count: int
    length: int


@dataclass(frozen=True, slots=True)
class GroupRate:
    """The rate of a collective in a group, between two exact bounds.

    ``algbw`` is reached and ``bound`` is never exceeded, in the topology's unit of bandwidth: M
    bytes take M / algbw, where M is the size in the convention of nccl-tests.  The bound follows
    from ``cut``, a set of nodes whose links all data must cross, or from ``prices``, lengths of the
    links: no schedule moves more length in a unit of time than capacity times length of all links.
    """

    algbw: Fraction
    bound: Fraction
    cut: tuple[NodeId, ...] = ()
    prices: tuple[LinkPrice, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether the reached rate equals the bound."""
        return self.algbw == self.bound

    @property
    def gap(self) -> Fraction:
        """The largest possible excess over the least time, as a share."""
        return self.bound / self.algbw - 1

    def seconds(self, size_bytes: int, unit_bytes_per_second: Fraction | float) -> float:
        """Return the time of M bytes without hop latency; a unit of bandwidth in bytes/s.

        >>> GroupRate(Fraction(2), Fraction(2)).seconds(10**9, 5e9)
        0.1
        """
        return float(size_bytes / (self.algbw * Fraction(unit_bytes_per_second)))


def require_collective(collective: Collective) -> None:
    """Raise NoSchedule for collectives with one root.

    >>> require_collective(Collective.BROADCAST)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.NoSchedule: /collective: must be one of allgather, ...
    """
    if collective not in COLLECTIVES:
        names = ", ".join(COLLECTIVES)
        raise NoSchedule("/collective", f"must be one of {names} for groups; got {collective}")
