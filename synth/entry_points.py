"""Families of bases that other installed packages bring: which there are, without loading any.

A package says so by entry points of the group ``topoloom.families``, each named as the family.
"""

import hashlib
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points

GROUP = "topoloom.families"


@lru_cache(maxsize=1)
def entries() -> tuple[EntryPoint, ...]:
    """Return the entry points of installed packages, by name; some milliseconds.

    >>> [entry.name for entry in entries()] == sorted(entry.name for entry in entries())
    True
    """
    return tuple(sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value)))


def mark() -> str:
    """Return what tells the answers of these families from others; empty where there are none.

    Another package, or another version of it, gives another mark.
    """
    said = [
        f"{entry.name} {entry.value} {entry.dist and entry.dist.name} "
        f"{entry.dist and entry.dist.version}"
        for entry in entries()
    ]
    return f"+{hashlib.sha256('|'.join(said).encode()).hexdigest()[:8]}" if said else ""
