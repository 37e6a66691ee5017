"""Messages between the ranks of a program, as derived by a replay of the program.

A schedule states the sends of a collective.  Programs that runtimes load state the same sends as
thread blocks, buffers and signals.  A *transcript* is the common form: the messages between ranks,
their data, and the earlier messages on which each depends.  Simulator and executor accept a
transcript in place of a schedule.

Data is counted in *units*: chunks of all shards together, or bytes.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from topoloom.schedules.model.schedule import Collective


class Span(NamedTuple):
    """Units [first, past) of the data; bit r of ``contributions`` is rank r's contribution."""

    first: int
    past: int
    contributions: int


class Message(NamedTuple):
    """A transfer from one rank to another.

    ``needs`` are earlier messages of the transcript to ``source`` that delivered any of the data.
    """

    source: int
    target: int
    spans: tuple[Span, ...]
    needs: tuple[int, ...]

    @property
    def units(self) -> int:
        """The size of the message in units."""
        return sum(span.past - span.first for span in self.spans)


@dataclass(frozen=True, slots=True)
class Transcript:
    """All messages of a collective, each after the messages on which it depends.

    Shard i is units [bounds[i], bounds[i + 1]): ``bounds`` has one entry more than there are
    ranks.  In a broadcast and a reduce, all data is the root's.  In an all-to-all, shard i is all
    data that rank i sends: one equal block per rank, in rank order.  Ranks in ``idle`` own no data
    but may forward it.
    """

    collective: Collective
    bounds: tuple[int, ...]
    messages: tuple[Message, ...]
    idle: tuple[int, ...] = ()

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks, numbered from 0."""
        return tuple(range(len(self.bounds) - 1))

    @property
    def all_contributions(self) -> int:
        """The contributions of all ranks that are not idle, as bits."""
        return sum(1 << rank for rank in self.ranks if rank not in self.idle)

    @property
    def units(self) -> int:
        """The units of all shards together."""
        return self.bounds[-1]

    @property
    def unit(self) -> Fraction:
        """The size of a unit, as a share of the data of the collective.

        >>> Transcript(Collective.ALL_TO_ALL, (0, 4, 8), ()).unit
        Fraction(1, 4)
        """
        exchanged = self.collective is Collective.ALL_TO_ALL
        return Fraction(len(self.ranks) if exchanged else 1, self.units)

    @property
    def in_one_pass(self) -> bool:
        """Whether it is an allreduce without partial sums: every rank gathers, then reduces.

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


def merge_spans(spans: Iterable[Span]) -> Iterator[Span]:
    """Yield spans; adjacent spans with equal contributions are merged.

    >>> list(merge_spans([Span(0, 1, 3), Span(1, 4, 3), Span(4, 5, 1)]))
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


def message_rounds(transcript: Transcript) -> list[int]:
    """Return the round of each message, in the order of the messages.

    Complete data is sent as early as possible: in the first round after all messages it needs
    and after the last partial sum.  Partial sums are sent as late as possible: in the last round
    before all messages that need them.  These rounds are the steps of a shortest-path schedule, of
    its reverse, and of an allreduce made of both.

    O(messages + needs).

    >>> span = (Span(0, 1, 1),)
    >>> ring = (Message(0, 1, span, ()), Message(1, 2, span, (0,)), Message(2, 0, span, (1,)))
    >>> message_rounds(Transcript(Collective.ALLGATHER, (0, 1, 2, 3), ring))
    [0, 1, 2]
    """
    needs = [message.needs for message in transcript.messages]
    all_contributions = transcript.all_contributions
    sums = [
        any(span.contributions != all_contributions for span in message.spans)
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
        # Without partial sums, or with sums of complete data, there are no two phases.
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
    """Return the first round after all needs of each message, at least ``first``.

    Excluded messages count as sent before ``first``.
    """
    found: list[int] = []
    for own, out in zip(needs, left_out, strict=True):
        after = 1 + max((found[need] for need in own), default=first - 1)
        found.append(first - 1 if out else max(first, after))
    return found
