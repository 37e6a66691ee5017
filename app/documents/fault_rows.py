"""Rows of a fault survey: order and names.

The fast path of the command line loads this module, so it imports no models.
"""

from fractions import Fraction
from typing import Any


def worst_first(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the faults, smallest remaining share first."""
    return sorted(rows, key=lambda row: Fraction(row.get("left", -1)))


def lost_of(row: dict[str, Any]) -> str:
    """Return the lost part of a row.

    >>> lost_of({"link": ["a", "b"]}), lost_of({"node": 3})
    ('a-b', '3')
    """
    return "-".join(map(str, row.get("link", [row.get("node")])))
