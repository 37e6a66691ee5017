"""What the ranks of a program send to each other, as a replay of the program found it.

A schedule says what shall be done; programs that run times load say how, in thread blocks,
buffers and signals.  A *transcript* is what both have in common: messages between ranks,
what each carries, and which earlier ones it could not have been sent without.  Simulator and
executor take it as they take a schedule.

The data of one rank is counted in *units*: the chunks of all shards together, or bytes.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from topoloom.schedules.model.schedule import Collective

__all__ = ["Message", "Span", "Transcript", "joined", "levels"]


class Span(NamedTuple):
    """Units [first, past) of the whole data; bit r of ``contributions`` is rank r's share in it."""

    first: int
    past: int
    contributions: int


class Message(NamedTuple):
    """What goes from one rank to another at once.

    ``needs`` are earlier messages of the transcript to ``source``: those that brought, or
    brought a part of, what is sent.
    """

    source: int
    target: int
    spans: tuple[Span, ...]
    needs: tuple[int, ...]

    @property
    def units(self) -> int:
        """How much it carries."""
        return sum(span.past - span.first for span in self.spans)


@dataclass(frozen=True, slots=True)
class Transcript:
    """All messages of a collective, each after those that it needs.

    Shard i of the data is units [bounds[i], bounds[i + 1]), so ``bounds`` has one entry more
    than there are ranks.  In a broadcast and a reduce all is the root's.  In an all-to-all it is
    all that rank i sends: a block for every rank, as many units each, in their order.  Ranks that
    are ``idle`` take no part, but may pass on what others send.
    """

    collective: Collective
    bounds: tuple[int, ...]
    messages: tuple[Message, ...]
    idle: tuple[int, ...] = ()

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks by number: a program knows no other names."""
        return tuple(range(len(self.bounds) - 1))

    @property
    def everyone(self) -> int:
        """The contributions of all ranks that take part, as bits."""
        return sum(1 << rank for rank in self.ranks if rank not in self.idle)

    @property
    def units(self) -> int:
        """The units of all shards together."""
        return self.bounds[-1]

    @property
    def unit(self) -> Fraction:
        """The size of a unit; the data of the collective, as its size is counted, is 1.

        >>> Transcript(Collective.ALL_TO_ALL, (0, 4, 8), ()).unit
        Fraction(1, 4)
        """
        exchanged = self.collective is Collective.ALL_TO_ALL
        return Fraction(len(self.ranks) if exchanged else 1, self.units)

    @property
    def in_one_pass(self) -> bool:
        """Whether it is an allreduce that sends no sums: every rank gathers all and adds up.

        O(spans).

        >>> there, back = Message(0, 1, (Span(0, 2, 1),), ()), Message(1, 0, (Span(0, 2, 2),), ())
        >>> Transcript(Collective.ALLREDUCE, (0, 1, 2), (there, back)).in_one_pass
        True
        """
        return self.collective is Collective.ALLREDUCE and all(
            span.contributions.bit_count() == 1
            for message in self.messages
            for span in message.spans
        )


def joined(spans: Iterable[Span]) -> Iterator[Span]:
    """Yield spans with neighbours of the same contributions made one.

    >>> list(joined([Span(0, 1, 3), Span(1, 4, 3), Span(4, 5, 1)]))
    [Span(first=0, past=4, contributions=3), Span(first=4, past=5, contributions=1)]
    """
    last: Span | None = None
    for span in spans:
        if last is None:
            last = span
        elif (last.past, last.contributions) == (span.first, span.contributions):
            last = last._replace(past=span.past)
        else:
            yield last
            last = span
    if last is not None:
        yield last


def levels(transcript: Transcript) -> list[int]:
    """Return the round of each message, in the order of the messages.

    What is complete is sent as early as possible: in the first round after those of all
    messages it needs, and after the last sum.  Sums that others will add to are sent as late as
    possible: in the last round before those of all messages that need them, as sent earlier they
    would only stand in the way.  These are the steps of a schedule by shortest paths, of its
    reverse, and of an allreduce by both.

    O(messages + needs).

    >>> span = (Span(0, 1, 1),)
    >>> ring = (Message(0, 1, span, ()), Message(1, 2, span, (0,)), Message(2, 0, span, (1,)))
    >>> levels(Transcript(Collective.ALLGATHER, (0, 1, 2, 3), ring))
    [0, 1, 2]
    """
    needs = [message.needs for message in transcript.messages]
    everyone = transcript.everyone
    sums = [
        any(span.contributions != everyone for span in message.spans)
        for message in transcript.messages
    ]
    gathers = transcript.collective.outward or transcript.collective is Collective.ALL_TO_ALL
    if (
        gathers
        or transcript.in_one_pass
        or any(
            is_sum and not all(sums[need] for need in own)
            for is_sum, own in zip(sums, needs, strict=True)
        )
    ):
        # Nothing is added up, or also to what was complete: there are no two phases.
        return _earliest(needs, [False] * len(needs), 0)
    among = _earliest(needs, [not is_sum for is_sum in sums], 0)
    rounds = [level for level, is_sum in zip(among, sums, strict=True) if is_sum]
    first = 1 + max(rounds, default=-1)
    found = _earliest(needs, sums, first)
    latest = [first - 1] * len(found)
    for at in reversed(range(len(found))):
        if sums[at]:
            found[at] = latest[at]
            for need in needs[at]:
                latest[need] = min(latest[need], found[at] - 1)
    return found


def _earliest(needs: list[tuple[int, ...]], left_out: list[bool], first: int) -> list[int]:
    """Return the round after all that a message needs, ``first`` at the earliest.

    Messages that are left out count as sent before ``first``.
    """
    found: list[int] = []
    for own, out in zip(needs, left_out, strict=True):
        after = 1 + max((found[need] for need in own), default=first - 1)
        found.append(first - 1 if out else max(first, after))
    return found
