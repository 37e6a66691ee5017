"""Limits on the connections of one process: which connection is closed, which request is refused.

A connection is *unfinished* while it waits for the rest of a request, *busy* while the service
answers a complete request, and *idle* after an answer.  Beyond a limit, a new connection replaces
the oldest unfinished connection, or else the least recently used idle connection, of the address
with the most connections.  A busy connection is never closed; a new request is refused instead,
unless the request is a probe.  So a client that never completes a request costs others nothing.
"""

import logging
import time
from collections.abc import Callable
from enum import IntEnum
from typing import Protocol

from topoloom.app.auth.errors import AddressUsesUpConnections, ConnectionsUsedUp

log = logging.getLogger(__name__)

PROBES = frozenset({"/healthz", "/readyz", "/metrics", "/version"})
"""Paths that are answered beyond the limits."""

SPARE = 32
"""Connections beyond a limit, so that the request of a probe has time to arrive."""

RESERVED = 8
"""Part of the requests at a time that only addresses with few of them can use, as 1 / RESERVED."""

_WARN_EVERY = 60.0
"""Seconds between two warnings in the log."""


class State(IntEnum):
    """State of a connection; see the module."""

    UNFINISHED = 0
    IDLE = 1
    BUSY = 2


class Connection(Protocol):
    """A connection that can be closed for another connection."""

    def evict(self) -> None:
        """Close the connection at once."""
        ...


class _Address:
    """Connections of one address by state, each state in the order of entry."""

    def __init__(self) -> None:
        self.of: tuple[dict[Connection, None], ...] = ({}, {}, {})
        self.count = 0

    def victim(self, newest: Connection) -> Connection | None:
        """Return the connection to close for ``newest``; None if all others are busy."""
        for connections in self.of[: State.BUSY]:
            if (oldest := next(iter(connections), newest)) is not newest:
                return oldest
        return None


class ConnectionLimits:
    """Connections of a process by address, and their limits.  Not thread-safe.

    Args:
        most: Most connections of the process.
        most_of_address: Most connections of one address; an address that is trusted as a proxy has
            no such limit.
        closed: Receives the reason when the service closes a connection early:
            ``connection-closed`` for another connection, ``too-slow`` for a slow client.

    >>> class Slow:
    ...     def evict(self):
    ...         print("closed")
    >>> limits = ConnectionLimits(most=100, most_of_address=0)
    >>> for _ in range(SPARE + 1):
    ...     limits.add(Slow(), "192.0.2.1", is_proxy=False)
    closed
    """

    def __init__(
        self,
        most: int,
        most_of_address: int,
        clock: Callable[[], float] = time.monotonic,
        closed: Callable[[str], None] = lambda reason: None,
    ) -> None:
        self.most, self.most_of_address, self.closed = most, most_of_address, closed
        self._addresses: dict[str, _Address] = {}
        self._known: dict[Connection, tuple[str, State]] = {}
        self._busy = 0
        self._clock, self._warned = clock, float("-inf")

    @property
    def open(self) -> int:
        """Number of open connections."""
        return len(self._known)

    def add(self, connection: Connection, address: str, *, is_proxy: bool) -> None:
        """Add a new, unfinished connection; close another connection beyond a limit."""
        mine = self._addresses.setdefault(address, _Address())
        mine.of[State.UNFINISHED][connection] = None
        mine.count += 1
        self._known[connection] = address, State.UNFINISHED
        if mine.count > self.most_of_address + SPARE and not is_proxy:
            self._evict(mine.victim(connection))
        elif len(self._known) > self.most + SPARE:
            most = max(self._addresses.values(), key=lambda address: address.count)
            self._evict(most.victim(connection))

    def move(self, connection: Connection, state: State) -> None:
        """Set the state of a connection; no effect on a connection that was removed."""
        if (entry := self._known.get(connection)) is None:
            return
        address, before = entry
        of = self._addresses[address].of
        del of[before][connection]
        of[state][connection] = None
        self._known[connection] = address, state
        self._busy += (state is State.BUSY) - (before is State.BUSY)

    def remove(self, connection: Connection) -> None:
        """Remove a connection; no effect if it was removed before."""
        if (entry := self._known.pop(connection, None)) is None:
            return
        address, state = entry
        mine = self._addresses[address]
        del mine.of[state][connection]
        mine.count -= 1
        if not mine.count:
            del self._addresses[address]
        self._busy -= state is State.BUSY

    def refusal(self, connection: Connection, path: str, *, is_proxy: bool) -> Exception | None:
        """Return the error of a new request on a connection; None for an admitted request."""
        if path in PROBES or (entry := self._known.get(connection)) is None:
            return None
        if self._busy >= self.most:
            return ConnectionsUsedUp()
        busy = len(self._addresses[entry[0]].of[State.BUSY])
        if not is_proxy and busy >= min(self.most_of_address, self._share()):
            return AddressUsesUpConnections()
        return None

    def _share(self) -> int:
        """Return how many requests of an address are answered at a time.

        Near the limit of all addresses, one share is for an address that has no request yet.
        """
        if self._busy < self.most - self.most // RESERVED:
            return self.most
        return self.most // (1 + sum(bool(one.of[State.BUSY]) for one in self._addresses.values()))

    def _evict(self, victim: Connection | None) -> None:
        if victim is None:
            return
        self.remove(victim)
        victim.evict()
        self.closed("connection-closed")
        now = self._clock()
        if now - self._warned >= _WARN_EVERY:
            self._warned = now
            log.warning(
                "a limit of connections is reached (%d in all, %d of an address): "
                "the slowest connections are closed",
                self.most,
                self.most_of_address,
            )
