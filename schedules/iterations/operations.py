"""Operations of an iteration: computations and communications, with their order."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from topoloom.schedules.errors import NoSchedule


class Operation(NamedTuple):
    """One computation or communication.

    Attributes
    ----------
    stream : str
        Operations of one stream run one after another, in the order of the list.
    name : str
        Description for timelines.
    seconds : Fraction
        Duration of a computation.  Of a communication: its latency, in which it uses no link.
    after : tuple of int
        Indices of operations that end before this one starts.
    traffic : int or None
        Of a communication: its row in the link shares.  All operations of a row are in one stream.
    transfer : Fraction
        Seconds on the links after the latency, if no other communication shares a link.
    kind : str
        Phase that the operation belongs to, such as ``forward`` or ``tensor``.
    stage : int
        Pipeline stage.
    """

    stream: str
    name: str
    seconds: Fraction
    after: tuple[int, ...] = ()
    traffic: int | None = None
    transfer: Fraction = Fraction(0)
    kind: str = ""
    stage: int = 0


@dataclass(frozen=True, slots=True)
class Span:
    """Start and end of an operation, in seconds."""

    start: Fraction
    end: Fraction


def require_operations(operations: Sequence[Operation]) -> None:
    """Raise unless indices exist, durations are not negative, and a row has one stream."""
    streams: dict[int, str] = {}
    for index, one in enumerate(operations):
        if one.seconds < 0 or one.transfer < 0:
            raise NoSchedule(f"/operations/{index}", "must not take negative time")
        if any(not 0 <= before < len(operations) for before in one.after):
            raise NoSchedule(f"/operations/{index}/after", "must be indices of operations")
        if one.traffic is not None and streams.setdefault(one.traffic, one.stream) != one.stream:
            raise NoSchedule(
                f"/operations/{index}/traffic", "must belong to one stream; another stream uses it"
            )
