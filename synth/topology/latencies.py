"""Latencies of links: how long the last byte of a message is on its way.

A document states latencies in microseconds, in memory they are exact seconds.  Parallel links have
one latency.  A topology states the latency of all its links, or of none.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import Any

from topoloom.synth.errors import InvalidTopology
from topoloom.synth.topology.validation import NodeId

Pair = tuple[NodeId, NodeId]

MAX_LATENCY = Fraction(1)
"""The largest latency of a link, seconds: light goes around the Earth seven times meanwhile."""

RULE = 'must be a number of microseconds from 0 to 1000000, or a text "p/q"'

_EXACT = re.compile(r"[0-9]{1,30}/[0-9]{1,30}")
_DECIMAL = re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?")


def link_latencies(
    joined: Iterable[Pair], latencies: Mapping[Pair, int | Fraction]
) -> dict[Pair, Fraction]:
    """Return the latencies of all joined pairs, seconds, in the order of the pairs.

    Raises:
        InvalidTopology: A latency is no exact number from 0 to `MAX_LATENCY`, a joined pair has
            none, or a pair is not joined.

    >>> link_latencies([("a", "b")], {("a", "b"): Fraction(1, 10**6)})
    {('a', 'b'): Fraction(1, 1000000)}
    """
    if not latencies:
        return {}
    found: dict[Pair, Fraction] = {}
    for source, target in joined:
        if (source, target) not in latencies:
            raise InvalidTopology(
                "/links",
                f"must state the latency of all links or of none; {source!r} to "
                f"{target!r} states none",
            )
        value: Any = latencies[source, target]
        exact = isinstance(value, int | Fraction) and not isinstance(value, bool)
        if not exact or not 0 <= value <= MAX_LATENCY:
            raise InvalidTopology("/links", "must have latencies from 0 to 1 second, exact")
        found[source, target] = Fraction(value)
    for source, target in latencies:
        if (source, target) not in found:
            raise InvalidTopology(
                "/links", f"must join {source!r} to {target!r}: a latency is stated"
            )
    return found


def latencies_from_rows(links: Iterable[Pair], values: Sequence[Any]) -> dict[Pair, Fraction]:
    """Return the latencies of pairs from the values of a document, one for each link.

    ``None`` is a link that states no latency.

    Raises:
        InvalidTopology: A value is out of its range, some links state a latency and others none, or
            parallel links state different latencies.  The place is that of the first such link.

    >>> latencies_from_rows([(0, 1), (1, 0)], [0.6, "3/5"])
    {(0, 1): Fraction(3, 5000000), (1, 0): Fraction(3, 5000000)}
    >>> latencies_from_rows([(0, 1), (1, 0)], [1, None])
    Traceback (most recent call last):
    ...
    topoloom.synth.errors.InvalidTopology: /links/1/latency_us: must be stated for all links or none
    """
    if all(value is None for value in values):
        return {}
    found: dict[Pair, Fraction] = {}
    silent = stated = None
    for index, (pair, value) in enumerate(zip(links, values, strict=True)):
        place = f"/links/{index}/latency_us"
        silent, stated = (place, stated) if value is None else (silent, place)
        if silent is not None and stated is not None:
            raise InvalidTopology(silent, "must be stated for all links or none")
        if value is None:
            continue
        seconds = latency_seconds(place, value)
        if found.setdefault(pair, seconds) != seconds:
            raise InvalidTopology(place, "must be the same for parallel links")
    return found


def latency_seconds(place: str, value: Any) -> Fraction:
    """Return a latency of a document, given in microseconds, in seconds.

    A decimal number counts as written: 0.6 is exactly 3/5.

    >>> latency_seconds("", 0.6), latency_seconds("", "1/3"), latency_seconds("", 2)
    (Fraction(3, 5000000), Fraction(1, 3000000), Fraction(1, 500000))
    """
    microseconds = _exact(value)
    if microseconds is None or not 0 <= microseconds <= MAX_LATENCY * 10**6:
        raise InvalidTopology(place, RULE)
    return microseconds / 10**6


def _exact(value: Any) -> Fraction | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | Fraction):
        return Fraction(value)
    if isinstance(value, float) and isfinite(value):
        value = format(Decimal(repr(value)), "f")
    if isinstance(value, str) and (_DECIMAL.fullmatch(value) or _EXACT.fullmatch(value)):
        bottom = value.partition("/")[2]
        return Fraction(value) if not bottom or int(bottom) else None
    return None


def latencies_digest(latencies: Mapping[Pair, Fraction]) -> str:
    """Return ``sha256:`` of the latencies of the pairs, in their order.

    >>> latencies_digest({("a", "b"): Fraction(1)})[:16]
    'sha256:91034fbf1'
    """
    text = json.dumps([[*pair, str(seconds)] for pair, seconds in latencies.items()])
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def document_latency(seconds: Fraction) -> int | str:
    """Return a latency as in documents: microseconds, as an integer or as "p/q".

    >>> document_latency(Fraction(1, 10**5)), document_latency(Fraction(3, 5 * 10**6))
    (10, '3/5')
    """
    microseconds = seconds * 10**6
    whole = microseconds.denominator == 1
    return microseconds.numerator if whole else str(microseconds)
