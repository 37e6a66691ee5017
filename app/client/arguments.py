"""Checks of the arguments of the client: each error names the argument."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any
from urllib.parse import quote, urlsplit


def checked_urls(base_url: str | Sequence[str]) -> tuple[str, ...]:
    """Return the URLs of one service without a final slash.

    >>> checked_urls("http://127.0.0.1:8765/")
    ('http://127.0.0.1:8765',)
    """
    one = isinstance(base_url, str) or not isinstance(base_url, Sequence)
    urls: list[Any] = [base_url] if one else list(base_url)
    for url in urls or [""]:
        if not _is_service_url(url):
            raise ValueError(f"base_url: must be http://HOST:PORT or https://…, not {url!r}")
    return tuple(url.rstrip("/") for url in urls)


def _is_service_url(url: Any) -> bool:
    if not isinstance(url, str) or not url.isprintable() or " " in url:
        return False
    try:
        parts = urlsplit(url)
        # A port outside of 0 to 65535 raises ValueError.
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return (
        parts.scheme in ("http", "https")
        and has_host
        and not (parts.query or parts.fragment or "@" in parts.netloc)
    )


def checked_seconds(seconds: Any, *, zero: bool = False) -> float:
    """Return a time limit in seconds, positive or ``zero``; ``math.inf`` is no limit."""
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not is_number or not (seconds > 0 or (zero and seconds == 0)):
        rule = "at least 0" if zero else "positive"
        raise ValueError(f"timeout_seconds: must be a number of seconds, {rule}, not {seconds!r}")
    return seconds


def checked_attempts(attempts: Any) -> int:
    """Return a positive number of attempts."""
    if isinstance(attempts, bool) or not isinstance(attempts, int) or attempts < 1:
        raise ValueError(f"attempts: must be a positive integer, not {attempts!r}")
    return attempts


def checked_key(key: Any) -> str:
    """Return a key that can stand in a header."""
    if not isinstance(key, str) or not (key.isascii() and key.isprintable() and key):
        raise ValueError("key: must be a key from `topoloom keys create`")
    return key


def checked_webhook(url: Any) -> str:
    """Return the address of a receiver of webhooks.

    >>> checked_webhook("https://hooks.example/topoloom?token=1")
    'https://hooks.example/topoloom?token=1'
    """
    text = url if isinstance(url, str) and url.isascii() else ""
    if not _is_service_url(text.partition("?")[0]) or not text.isprintable() or " " in text:
        raise ValueError(f"webhook: must be an http or https URL, not {url!r}")
    return text


def part(text: str) -> str:
    """Return an id or a name, quoted as a part of a path.

    >>> part("a/b")
    'a%2Fb'
    """
    if not isinstance(text, str):
        raise TypeError(f"an id or a kind must be a text, not {text!r}")
    if not text:
        raise ValueError("an id or a kind must not be empty")
    return quote(text, safe="")


def body_of(question: Mapping[str, Any]) -> bytes:
    """Return the arguments of a method as the JSON body of a request.

    >>> body_of({"nodes": 12})
    b'{"nodes": 12}'

    Raises:
        TypeError: An argument holds a value that JSON does not have.
    """
    members = []
    for name, value in question.items():
        try:
            members.append(f"{json.dumps(name)}: {json.dumps(value, default=_plain)}")
        except (TypeError, ValueError) as error:
            raise TypeError(f"{name}: cannot be sent as JSON: {error}") from None
    return f"{{{', '.join(members)}}}".encode()


def _plain(value: Any) -> int:
    """Return an integer of another class, such as those of NumPy."""
    if isinstance(value, Integral):
        return int(value)
    raise TypeError(f"a {type(value).__name__} is no number, text, list or dictionary")
