"""Uvicorn connections with limits on time and number.

Uvicorn closes idle connections, but waits forever for a head or a body that arrives byte by byte,
and for a client that does not read its answer.  Here, a check once a second enforces these limits:

- The head of a request must be complete within ``header_seconds``, else the answer is 408.
- The body must be complete within ``body_seconds``.  After ``stall_seconds``, its average rate
  must also be at least `LEAST_RATE`.  Otherwise the answer is 408.
- A budget of ``stall_seconds`` runs down while the client does not read its answer.  Bytes that
  the client reads refill the budget at `LEAST_RATE`.  At zero the connection is closed.

Time in which the service pauses reading, with earlier bytes unused, does not count.

An answer that begins before its request is complete closes the connection.  The service reads and
discards the rest for at most `LINGER_SECONDS`; otherwise a client that writes before it reads sees
a broken connection, not the answer.

The first requests of new connections, and requests of addresses that guess keys, wait in a
`FairQueue`.
`topoloom.app.api.connection_limits` limits the number of connections.  httptools (llhttp) parses
requests in a quarter of the time of h11.
"""

import asyncio
from collections.abc import Callable, Container
from functools import cache, lru_cache
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from topoloom.app.api.connection_limits import ConnectionLimits, State
from topoloom.app.api.fair_queue import FairQueue
from topoloom.app.api.problem_types import TOO_SLOW
from topoloom.app.auth.errors import ShuttingDown
from topoloom.app.auth.middleware import REFUSED, address_of
from topoloom.app.documents.problem import ProblemDocument

LEAST_RATE = 1024
"""Least rate of a slow client, in bytes per second."""

TICK = 1.0
"""Seconds between two checks of a connection."""

MAX_HEAD = 32 * 2**10
"""Largest head of a request, in bytes; a larger head gets 400."""

IDLE_SECONDS = 1.0
"""Time that idle connections stay open at shutdown."""

LINGER_SECONDS = 2.0
LINGER_BYTES = 64 * 2**20
"""Most time and bytes for the rest of a refused request."""


@cache
def _too_slow(reason: str) -> bytes:
    """Return the answer to a slow client; ``reason`` is one of a few."""
    problem = ProblemDocument(
        type=TOO_SLOW.type,
        title=TOO_SLOW.title,
        status=TOO_SLOW.status,
        detail=reason,
        instance="",
        request_id="",
    )
    content = problem.model_dump_json().encode()
    return (
        b"HTTP/1.1 408 Request Timeout\r\ncontent-type: application/problem+json\r\n"
        b"connection: close\r\ncontent-length: %d\r\n\r\n%s" % (len(content), content)
    )


class _ClientTransport:
    """Transport that counts the bytes written to it, and lingers on close."""

    def __init__(self, transport: asyncio.Transport, protocol: "PatientProtocol") -> None:
        self._transport = transport
        self._protocol: PatientProtocol | None = protocol
        self.written = 0

    def write(self, data: bytes) -> None:
        """Count and write bytes; drop bytes after the end of the answer."""
        if self._protocol is not None and not self._protocol.lingers:
            self.written += len(data)
            self._transport.write(data)

    def close(self) -> None:
        """Close the connection; discard the rest of an unfinished request first."""
        protocol = self._protocol
        if protocol is not None and protocol.awaits_body and not protocol.lingers:
            protocol.linger()
        else:
            self._transport.close()

    def release(self) -> None:
        """Forget the protocol of a lost connection, which refers to this transport."""
        self._protocol = None

    def is_closing(self) -> bool:
        """Return whether the connection is closed, or lingers."""
        return self._protocol is None or self._protocol.lingers or self._transport.is_closing()

    def __getattr__(self, name: str) -> Any:
        """Return any other attribute of the transport."""
        return getattr(self._transport, name)


class PatientProtocol(HttpToolsProtocol):
    """Uvicorn connection that closes on a slow client; see `protocol_class`."""

    header_seconds: float
    stall_seconds: float
    body_seconds: float
    limits: ConnectionLimits
    queue: FairQueue
    suspected: Callable[[str], bool]

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._address = ""
        self._first: bytes | None = None
        self._look: asyncio.TimerHandle | None = None
        self._head_since: float | None = None
        self._head_bytes = 0
        self.awaits_body = self.lingers = self._is_proxy = self._shuts_down = False
        self._keeps_alive = True
        self._body_seconds = 0.0
        self._patience = self.stall_seconds
        self._arrived = self._body_bytes = self._taken = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Start the checks of the connection."""
        super().connection_made(_ClientTransport(transport, self))  # pyright: ignore[reportArgumentType]
        self._head_since = self.loop.time()
        self._look = self.loop.call_later(TICK, self._looked_at)
        # The application is uvicorn's middleware for proxies, unless that middleware is off.
        proxies = getattr(self.app, "trusted_hosts", ())
        self._is_proxy = self.client is not None and _is_one_of(proxies, self.client[0])
        self._address = address_of({"client": self.client})
        self.limits.add(self, self._address, is_proxy=self._is_proxy)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the checks of the connection, and break its reference cycles.

        A flood of connections would leave garbage, and each collection stops all answers.
        """
        self.limits.remove(self)
        if self._look is not None:
            self._look.cancel()
            self._look = None
        super().connection_lost(exc)
        self._unset_keepalive_if_required()
        self.cycle = None  # pyright: ignore[reportAttributeAccessIssue]
        self.transport.release()  # pyright: ignore[reportAttributeAccessIssue]

    def data_received(self, data: bytes) -> None:
        """Parse bytes; the first byte after an answered request starts the time of a head."""
        begins = self._head_since is None and not self.awaits_body and self._is_answered()
        if self._first is None or (begins and not self.lingers and self.suspected(self._address)):
            # New connections, and requests that may be guesses, take turns: see `FairQueue`.
            self._first = data
            self._unset_keepalive_if_required()
            self.flow.pause_reading()
            self.queue.add(self._address, self._begin)
        else:
            self._take(data)

    def _take(self, data: bytes) -> None:
        """Parse bytes of a request."""
        self._arrived += len(data)
        if self.lingers:
            if self._arrived > LINGER_BYTES:
                self.transport.abort()
            return
        if self._head_since is None and not self.awaits_body and self._is_answered():
            self._head_since = self.loop.time()
            self.limits.move(self, State.UNFINISHED)
        self._head_bytes += len(data)
        super().data_received(data)
        if self._head_since is not None and self._head_bytes > MAX_HEAD:
            self._refuse_head()

    def _begin(self) -> None:
        """Parse the bytes that waited for their turn."""
        if self._first is not None and not self.transport.is_closing():
            begun, self._first = self._first, b""
            self.flow.resume_reading()
            self._take(begun)

    def on_headers_complete(self) -> None:
        """Start to answer a request, unless its head is too large."""
        self._head_since = None
        self._patience = self.stall_seconds
        self._body_seconds, self._body_bytes, self._arrived = 0.0, 0, 0
        sizes = (len(name) + len(value) for name, value in self.headers)
        if len(self.url) + sum(sizes) > MAX_HEAD:
            # Uvicorn answers an error raised here with 400.
            raise ValueError("the head of the request is too large")
        super().on_headers_complete()
        refused = self.limits.refusal(self, self.scope["path"], is_proxy=self._is_proxy)
        if self._shuts_down:
            refused = ShuttingDown()
        if refused is not None:
            self.scope["state"][REFUSED] = refused  # pyright: ignore[reportTypedDictNotRequiredAccess]
        # An answer that begins before the end of the body closes the connection.
        self._keeps_alive, self.cycle.keep_alive = self.cycle.keep_alive, False
        self.awaits_body = True

    def on_message_complete(self) -> None:
        """Record that the body is complete."""
        self.awaits_body = False
        self._head_bytes = 0
        self.cycle.keep_alive = self._keeps_alive and not self._shuts_down
        self.limits.move(self, State.BUSY)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Record that the connection waits for the client again."""
        super().on_response_complete()
        if self._is_answered():
            self.limits.move(self, State.UNFINISHED if self.awaits_body else State.IDLE)

    def shutdown(self) -> None:
        """Refuse further requests; close the connection after the answer under way.

        An idle connection stays open for a moment: a request may be on its way.
        """
        self._shuts_down = True
        idle = self._is_answered()
        self.loop.call_later(IDLE_SECONDS if idle else 0, super().shutdown)

    def linger(self) -> None:
        """End the answer; discard what arrives until the client or a limit ends the connection."""
        self.lingers = True
        self._arrived = 0
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.flow.resume_reading()
        self._abort_in(LINGER_SECONDS)

    def evict(self) -> None:
        """Close the connection for another connection."""
        if self.awaits_body and self._may_answer():
            self.transport.write(_too_slow("the service needs the connection for others"))
        self.transport.abort()

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
            return
        self.limits.closed("too-slow")
        if self._may_answer():
            self.transport.write(_too_slow(slow))
            # close() may wait forever until the client reads the last bytes.
            self._abort_in(LINGER_SECONDS)
            self.transport.close()
        else:
            self.transport.abort()

    def _abort_in(self, seconds: float) -> None:
        """End the checks; abort the connection after some seconds."""
        if self._look is not None:
            self._look.cancel()
        self._look = self.loop.call_later(seconds, self.transport.abort)

    def _what_is_slow(self) -> str | None:
        if self._head_since is not None:
            late = self.loop.time() - self._head_since > self.header_seconds
            return "the head of the request took too long" if late else None
        unsent = self.transport.get_write_buffer_size()
        arrived, self._arrived = self._arrived, 0
        taken = self.transport.written - unsent  # pyright: ignore[reportAttributeAccessIssue]
        moved, self._taken = taken - self._taken, taken
        if self.awaits_body and not self.flow.read_paused:
            return "the body of the request took too long" if self._is_late(arrived) else None
        if unsent:
            return "the answer was taken too slowly" if self._tried(moved) else None
        self._patience = self.stall_seconds
        return None

    def _is_late(self, arrived: int) -> bool:
        """Count a tick and its bytes of the body; return whether the body took too long."""
        self._body_seconds += TICK
        self._body_bytes += arrived
        allowed = self.stall_seconds + self._body_bytes / LEAST_RATE
        return self._body_seconds > min(allowed, self.body_seconds)

    def _tried(self, moved: int) -> bool:
        """Spend a tick of the budget, refill by ``moved`` bytes; return whether none is left."""
        self._patience += min(TICK + self.stall_seconds, moved / LEAST_RATE) - TICK
        self._patience = min(self._patience, self.stall_seconds)
        return self._patience < 0

    def _may_answer(self) -> bool:
        """Whether an answer of the connection itself reaches the client as an answer."""
        cycle = self.cycle
        begun = cycle is not None and cycle.response_started and not cycle.response_complete
        return not (begun or self.lingers or self.transport.get_write_buffer_size())


@lru_cache(maxsize=1024)
def _is_one_of(proxies: Container[str], address: str) -> bool:
    """Return whether an address is that of a proxy; parsing an address takes 20 us."""
    return address in proxies


def protocol_class(
    header_seconds: float,
    stall_seconds: float,
    body_seconds: float,
    limits: ConnectionLimits,
    suspected: Callable[[str], bool] = lambda address: False,
) -> type[PatientProtocol]:
    """Return the protocol class for uvicorn with these limits, in seconds.

    ``suspected`` returns whether an address has sent too many requests without a valid key.

    >>> protocol_class(1, 2, 3, ConnectionLimits(most=1000, most_of_address=250)).header_seconds
    1
    """
    named = {
        "header_seconds": header_seconds,
        "stall_seconds": stall_seconds,
        "body_seconds": body_seconds,
        "limits": limits,
        "queue": FairQueue(),
        "suspected": staticmethod(suspected),
    }
    return type("PatientConnection", (PatientProtocol,), named)
