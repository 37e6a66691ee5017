"""The agenda of a process: when each unsent delivery is due, by the monotonic clock.

The wall clock may jump, and clocks of machines differ.  So a pause or a lease begins when a
process first sees the delivery in its turn.  Only the first look after a start shortens a pause by
the planned time in the row, never a lease: a restart must not begin pauses of minutes again.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from topoloom.app.jobs.webhooks.deliveries import DeliveryState, Unsent, pause

LEASE_SECONDS = 60.0
"""Age of a claim at which its process counts as dead; an attempt takes 10 seconds."""


class _Entry(NamedTuple):
    due: float
    delivery: Unsent


class Agenda:
    """Unsent deliveries, in the order in which they are due.

    >>> new = Unsent("1", "job", "http://a/", "a:80", DeliveryState.WAITING, 1, attempts=0, due=0)
    >>> tried = new._replace(id="2", attempts=1)
    >>> agenda = Agenda()
    >>> agenda.read([], now=100.0, wall=9e9)
    >>> agenda.read([tried, new], now=105.0, wall=9e9)
    >>> [delivery.id for delivery in agenda.due(105.0)], [one.id for one in agenda.due(115.0)]
    (['1'], ['1', '2'])
    """

    def __init__(self) -> None:
        self._entries: list[_Entry] = []
        self._begun = False

    def read(self, found: Iterable[Unsent], now: float, wall: float) -> None:
        """Take over the deliveries of the tables.

        Args:
            found: All unsent deliveries.
            now, wall: The monotonic clock and the wall clock, in seconds.
        """
        known = {(one.delivery.id, one.delivery.turn): one.due for one in self._entries}
        self._entries = sorted(
            _Entry(known.get((one.id, one.turn), now + self._wait(one, wall)), one) for one in found
        )
        self._begun = True

    def _wait(self, one: Unsent, wall: float) -> float:
        if one.state is DeliveryState.SENDING:
            return LEASE_SECONDS
        longest = pause(one.attempts)
        return longest if self._begun else min(longest, max(0.0, one.due - wall))

    def due(self, now: float) -> Iterator[Unsent]:
        """Yield the deliveries that are due, the most overdue first."""
        for entry in self._entries:
            if entry.due > now:
                return
            yield entry.delivery

    def remove(self, taken: Iterable[Unsent]) -> None:
        """Remove deliveries that this process has taken."""
        gone = {(one.id, one.turn) for one in taken}
        self._entries = [
            one for one in self._entries if (one.delivery.id, one.delivery.turn) not in gone
        ]
