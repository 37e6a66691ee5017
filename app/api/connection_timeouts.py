"""Uvicorn connections with time limits for slow clients.

Uvicorn closes idle connections, but waits forever for a head or a body that arrives byte by byte,
and for a client that does not read its answer.  Here, a check once a second enforces two limits:

- The head of a request must be complete within ``header_seconds``, else the answer is 408.
- A budget of ``stall_seconds`` runs down while the service waits for a body, or for the client to
  read.  Bytes refill the budget at `LEAST_RATE`.  At zero the client gets 408; after an answer
  has begun, the connection is closed.

Time in which the service pauses reading, with earlier bytes unused, does not count.

httptools (llhttp) parses requests in a quarter of the time of h11.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LEAST_RATE = 1024
"""Bytes per second at which the budget stays constant."""

TICK = 1.0
"""Seconds between two checks of a connection."""

MAX_HEAD = 32 * 2**10
"""Largest head of a request, in bytes; a larger head gets 400."""

_TOO_SLOW = (
    b"HTTP/1.1 408 Request Timeout\r\ncontent-type: application/problem+json\r\n"
    b"connection: close\r\ncontent-length: %d\r\n\r\n%s"
)
_PROBLEM = (
    b'{"type":"/problems/too-slow","title":"The request came too slowly","status":408,'
    b'"detail":"%s","instance":"","request_id":""}'
)


class _Counted:
    """Transport that counts the bytes written to it."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self.written = 0

    def write(self, data: bytes) -> None:
        """Count and write bytes."""
        self.written += len(data)
        self._transport.write(data)

    def __getattr__(self, name: str) -> Any:
        """Return any other attribute of the transport."""
        return getattr(self._transport, name)


class PatientProtocol(HttpToolsProtocol):
    """Uvicorn connection that closes on a slow client; see `patient`."""

    header_seconds: float
    stall_seconds: float

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._look: asyncio.TimerHandle | None = None
        self._head_since: float | None = None
        self._head_bytes = 0
        self._awaits_body = False
        self._patience = self.stall_seconds
        self._arrived = self._taken = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Start the checks of the connection."""
        super().connection_made(_Counted(transport))  # pyright: ignore[reportArgumentType]
        self._head_since = self.loop.time()
        self._look = self.loop.call_later(TICK, self._looked_at)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the checks of the connection."""
        if self._look is not None:
            self._look.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse bytes; the first byte after an answered request starts the time of a head."""
        if self._head_since is None and not self._awaits_body and self._is_answered():
            self._head_since = self.loop.time()
        self._arrived += len(data)
        self._head_bytes += len(data)
        super().data_received(data)
        if self._head_since is not None and self._head_bytes > MAX_HEAD:
            self._refuse_head()

    def on_headers_complete(self) -> None:
        """Start to answer a request, unless its head is too large."""
        self._head_since = None
        self._patience = self.stall_seconds
        sizes = (len(name) + len(value) for name, value in self.headers)
        if len(self.url) + sum(sizes) > MAX_HEAD:
            # Uvicorn answers an error raised here with 400.
            raise ValueError("the head of the request is too large")
        super().on_headers_complete()
        self._awaits_body = True

    def on_message_complete(self) -> None:
        """Record that the body is complete."""
        self._awaits_body = False
        self._head_bytes = 0
        super().on_message_complete()

    def _refuse_head(self) -> None:
        if not self.transport.is_closing():
            self.send_400_response("The head of the request is too large.")

    def _is_answered(self) -> bool:
        """Whether no request is under way."""
        return self.cycle is None or self.cycle.response_complete

    def _looked_at(self) -> None:
        """Close a slow connection, or schedule the next check."""
        slow = self._what_is_slow()
        if slow is None:
            self._look = self.loop.call_later(TICK, self._looked_at)
        elif self._may_answer():
            content = _PROBLEM % slow
            self.transport.write(_TOO_SLOW % (len(content), content))
            self.transport.close()
            # close() may wait forever until the client reads the last bytes: abort a second later.
            self._look = self.loop.call_later(TICK, self.transport.abort)
        else:
            self.transport.abort()

    def _what_is_slow(self) -> bytes | None:
        if self._head_since is not None:
            late = self.loop.time() - self._head_since > self.header_seconds
            return b"the head of the request took too long" if late else None
        unsent = self.transport.get_write_buffer_size()
        arrived, self._arrived = self._arrived, 0
        taken = self.transport.written - unsent  # pyright: ignore[reportAttributeAccessIssue]
        moved, self._taken = taken - self._taken, taken
        if self._awaits_body and not self.flow.read_paused:
            return b"the body of the request took too long" if self._tried(arrived) else None
        if unsent:
            return b"the answer was taken too slowly" if self._tried(moved) else None
        self._patience = self.stall_seconds
        self._keep_alive_but_not_for_ever()
        return None

    def _keep_alive_but_not_for_ever(self) -> None:
        """Start the keep-alive timer that uvicorn omits after a body that ends after its answer."""
        if self.timeout_keep_alive_task is None and self._is_answered():
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )

    def _tried(self, moved: int) -> bool:
        """Spend a tick of the budget, refill by ``moved`` bytes; return whether none is left."""
        self._patience += min(TICK + self.stall_seconds, moved / LEAST_RATE) - TICK
        self._patience = min(self._patience, self.stall_seconds)
        return self._patience < 0

    def _may_answer(self) -> bool:
        cycle = self.cycle
        begun = cycle is not None and cycle.response_started and not cycle.response_complete
        return not begun and not self.transport.get_write_buffer_size()


def patient(header_seconds: float, stall_seconds: float) -> type[PatientProtocol]:
    """Return the protocol class for uvicorn with these limits, in seconds.

    >>> patient(1, 2).header_seconds
    1
    """
    limits = {"header_seconds": header_seconds, "stall_seconds": stall_seconds}
    return type("PatientConnection", (PatientProtocol,), limits)
