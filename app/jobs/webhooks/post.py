"""One POST to a checked address, within a total time.

The host name is resolved once, every address is checked, and the connection goes to a checked
address: changing the DNS entry after the check has no effect.  Redirects are not followed.
"""

import socket
import ssl
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from functools import lru_cache

from httptools import HttpParserError, HttpResponseParser

from topoloom.app.config import package_version
from topoloom.app.jobs.webhooks.targets import Target, WebhookRules

TIMEOUT_SECONDS = 10.0
"""Limit of an attempt: resolve, connect, send, and read the head of the answer."""

MAX_HEAD_BYTES = 64 * 2**10


class NoAnswer(Exception):
    """The receiver does not answer in time, or not as HTTP does."""


def send(rules: WebhookRules, url: str, body: bytes, headers: Mapping[str, str]) -> int:
    """Send one message; return the status of the answer.

    Raises:
        WebhookRefused: The rules forbid the URL, or an address of its host.
        NoAnswer, OSError: The receiver cannot be reached, or its answer is late or no HTTP.
    """
    end = time.monotonic() + TIMEOUT_SECONDS
    target = rules.target(url)
    try:
        with _connected(target, rules.addresses(target), end) as connection:
            connection.settimeout(_left(end))
            connection.sendall(_head(target, headers, len(body)) + body)
            return _status(connection, end)
    except TimeoutError:
        raise NoAnswer(f"no answer within {TIMEOUT_SECONDS:g} s") from None


def _left(end: float) -> float:
    """Return the seconds until a moment of the monotonic clock; raise `TimeoutError` after it."""
    left = end - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _connected(target: Target, addresses: Sequence[str], end: float) -> socket.socket:
    """Return a connection to the first address that accepts one."""
    plain = _first_connection(addresses, target.port, end)
    if target.scheme == "http":
        return plain
    plain.settimeout(_left(end))
    return tls_context().wrap_socket(plain, server_hostname=target.host)


def _first_connection(addresses: Sequence[str], port: int, end: float) -> socket.socket:
    """Connect to one address after the other; each gets its share of the time."""
    first, *others = addresses
    with suppress(OSError) if others else nullcontext():
        return socket.create_connection((first, port), _left(end) / len(addresses))
    return _first_connection(others, port, end)


@lru_cache(maxsize=1)
def tls_context() -> ssl.SSLContext:
    """Return the context of all connections; reading the certificates takes a while."""
    return ssl.create_default_context()


def _head(target: Target, headers: Mapping[str, str], length: int) -> bytes:
    lines = {
        "Host": target.authority,
        "Content-Type": "application/json",
        "Content-Length": str(length),
        "User-Agent": f"topoloom/{package_version()}",
        "Connection": "close",
        **headers,
    }
    listed = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"POST {target.path} HTTP/1.1\r\n{listed}\r\n".encode()


class _Answer:
    """The final status of an answer, after its head has arrived."""

    def __init__(self) -> None:
        self.status = 0
        self.parser = HttpResponseParser(self)

    def on_headers_complete(self) -> None:
        self.status = self.parser.get_status_code()


def _status(connection: socket.socket, end: float) -> int:
    """Read the head of the answer; return its status, beyond interim ones."""
    answer, received = _Answer(), 0
    while answer.status < 200:
        connection.settimeout(_left(end))
        data = connection.recv(4096)
        received += len(data)
        if not data:
            raise NoAnswer("the receiver closed the connection without an answer")
        try:
            answer.parser.feed_data(data)
        except HttpParserError:
            raise NoAnswer("the answer is not HTTP") from None
        if received > MAX_HEAD_BYTES:
            raise NoAnswer(f"the head of the answer is larger than {MAX_HEAD_BYTES} bytes")
    return answer.status
