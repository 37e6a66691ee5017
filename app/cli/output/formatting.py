"""Text formats of numbers, ids and names."""

from fractions import Fraction
from typing import Any

ID_CHARACTERS = 12
"""Number of printed characters of an id; every id argument accepts the short form."""


def short_id(identity: str) -> str:
    """Return the beginning of an id."""
    return identity[:ID_CHARACTERS]


def name_of(entry: dict[str, Any]) -> str:
    """Return the short name of a topology, else its recipe."""
    return entry.get("name") or entry["recipe"]


def fraction(text: str) -> str:
    """Return an exact number followed by its decimal value.

    >>> fraction("11/12"), fraction("2")
    ('11/12 = 0.9167', '2')
    """
    return f"{text} = {float(Fraction(text)):.4f}" if "/" in text else text


def rate(text: str) -> str:
    """Return an exact rate as `fraction` does; of more than twelve characters, its decimal value.

    >>> rate("4/3"), rate("1234567890/987654321")
    ('4/3 = 1.3333', '1.25')
    """
    return fraction(text) if len(text) <= 12 else f"{float(Fraction(text)):.6g}"


def number_of(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless the number is 1.

    >>> number_of(1, "node"), number_of(2, "node")
    ('1 node', '2 nodes')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def seconds(value: float) -> str:
    """Return a time with a suitable unit.

    >>> seconds(0.0001867), seconds(2), seconds(3e-8)
    ('186.7 us', '2 s', '30 ns')
    """
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if value * factor >= 1:
            return f"{value * factor:.4g} {unit}"
    return f"{value * 1e9:.4g} ns"


def speed(request: dict[str, Any]) -> str:
    """Return rate and latency of the hosts of a request, and the overheads that are not 0.

    >>> speed({"node_gbps": "100", "alpha_us": "10", "chunk_us": "2"})
    '100 Gbit/s per host, 10 us per hop, 2 us per chunk'
    """
    overheads = (("overhead_us", "message"), ("chunk_us", "chunk"))
    return f"{request['node_gbps']} Gbit/s per host, {request['alpha_us']} us per hop" + "".join(
        f", {request[name]} us per {noun}" for name, noun in overheads if request.get(name)
    )


def size(count: int) -> str:
    """Return a number of bytes with the largest unit that is exact.

    >>> size(2**20), size(25 * 10**6), size(1500), size(7)
    ('1 MiB', '25 MB', '1500 bytes', '7 bytes')
    """
    units = [("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)]
    units += [("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("KB", 10**3)]
    for unit, factor in units:
        if count and count % factor == 0:
            return f"{count // factor} {unit}"
    return f"{count} bytes"


def algorithm_of(entry: dict[str, Any]) -> str:
    """Return the algorithm of a point or schedule; for slack schedules, with the step option.

    >>> algorithm_of({"algorithm": "bfb"}), algorithm_of({"algorithm": "slack", "within_steps": 7})
    ('bfb', 'slack --steps 7')
    """
    steps = entry.get("within_steps")
    return entry["algorithm"] if steps is None else f"{entry['algorithm']} --steps {steps}"


def steps_of(entry: dict[str, Any]) -> str:
    """Return the steps of a point; both directions if they differ.

    >>> steps_of({"steps": 3, "transpose": {"steps": 4}})
    '3/4'
    """
    forth, back = entry["steps"], entry["transpose"]["steps"]
    return str(forth) if forth == back else f"{forth}/{back}"
