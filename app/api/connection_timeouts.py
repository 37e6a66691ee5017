"""Connections that wait for their clients with patience, but not for ever.

Uvicorn ends connections on which nothing is asked, but waits without end for a head or a body
that comes byte by byte, and for a client that does not take its answer.  Each connection here
is looked at once a second:

- the head of a request must be there within ``header_seconds``, else 408;
- while the service waits for a body, or for what it has written to be taken, a patience of
  ``stall_seconds`` runs down, and fills up again with each byte at `LEAST_RATE`; who is slower
  than that for long is answered 408, or cut where an answer has begun.

Time in which the service does not read, since it has not used up what it got, is not counted.

Requests are read by httptools (llhttp), in a quarter of the time that h11 takes.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LEAST_RATE = 1024
"""Bytes a second at which no patience is used up."""

TICK = 1.0
"""Seconds between two looks at a connection."""

MAX_HEAD = 32 * 2**10
"""Largest head of a request, in bytes; a larger one is answered with 400."""

_TOO_SLOW = (
    b"HTTP/1.1 408 Request Timeout\r\ncontent-type: application/problem+json\r\n"
    b"connection: close\r\ncontent-length: %d\r\n\r\n%s"
)
_PROBLEM = (
    b'{"type":"/problems/too-slow","title":"The request came too slowly","status":408,'
    b'"detail":"%s","instance":"","request_id":""}'
)


class _Counted:
    """A transport that knows how many bytes were written to it."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self.written = 0

    def write(self, data: bytes) -> None:
        """Count what is written, and write it."""
        self.written += len(data)
        self._transport.write(data)

    def __getattr__(self, name: str) -> Any:
        """Return what else a transport has."""
        return getattr(self._transport, name)


class PatientProtocol(HttpToolsProtocol):
    """A connection of uvicorn's that is given up when its client is too slow; see `patient`."""

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
        """Begin to look at the connection."""
        super().connection_made(_Counted(transport))  # pyright: ignore[reportArgumentType]
        self._head_since = self.loop.time()
        self._look = self.loop.call_later(TICK, self._looked_at)

    def connection_lost(self, exc: Exception | None) -> None:
        """Look no more."""
        if self._look is not None:
            self._look.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what came; the first byte after a request is when the time of a head begins."""
        if self._head_since is None and not self._awaits_body and self._is_answered():
            self._head_since = self.loop.time()
        self._arrived += len(data)
        self._head_bytes += len(data)
        super().data_received(data)
        if self._head_since is not None and self._head_bytes > MAX_HEAD:
            self._refuse_head()

    def on_headers_complete(self) -> None:
        """Begin to answer a request, unless its head is too large."""
        self._head_since = None
        self._patience = self.stall_seconds
        sizes = (len(name) + len(value) for name, value in self.headers)
        if len(self.url) + sum(sizes) > MAX_HEAD:
            # What is raised in here is answered with 400.
            raise ValueError("the head of the request is too large")
        super().on_headers_complete()
        self._awaits_body = True

    def on_message_complete(self) -> None:
        """Note that the body is there."""
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
        """Give the connection up, or look again in a second."""
        slow = self._what_is_slow()
        if slow is None:
            self._look = self.loop.call_later(TICK, self._looked_at)
        elif self._may_answer():
            content = _PROBLEM % slow
            self.transport.write(_TOO_SLOW % (len(content), content))
            self.transport.close()
            # Closing waits for the last bytes to be taken, which may be for ever, too.
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
        """Set uvicorn's timer where it does not: after a body that came behind its answer."""
        if self.timeout_keep_alive_task is None and self._is_answered():
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )

    def _tried(self, moved: int) -> bool:
        """Use up a second of patience, gain some for what moved; whether none is left."""
        self._patience += min(TICK + self.stall_seconds, moved / LEAST_RATE) - TICK
        self._patience = min(self._patience, self.stall_seconds)
        return self._patience < 0

    def _may_answer(self) -> bool:
        cycle = self.cycle
        begun = cycle is not None and cycle.response_started and not cycle.response_complete
        return not begun and not self.transport.get_write_buffer_size()


def patient(header_seconds: float, stall_seconds: float) -> type[PatientProtocol]:
    """Return the protocol of connections of these limits, as uvicorn takes it.

    >>> patient(1, 2).header_seconds
    1
    """
    limits = {"header_seconds": header_seconds, "stall_seconds": stall_seconds}
    return type("PatientConnection", (PatientProtocol,), limits)
