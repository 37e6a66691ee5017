"""Entry points of families that other installed packages provide; imports none of them.

Such a package declares entry points of the group ``topoloom.families``, named as the families.
"""

import hashlib
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points

GROUP = "topoloom.families"


@lru_cache(maxsize=1)
def family_entry_points() -> tuple[EntryPoint, ...]:
    """Return the entry points of installed packages, by name; some milliseconds.

    >>> names = [entry.name for entry in family_entry_points()]
    >>> names == sorted(names)
    True
    """
    return tuple(sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value)))


def version_suffix() -> str:
    """Return a suffix for version strings that identifies these families; empty without any.

    The suffix depends on the names and versions of the packages.
    """
    described = [
        f"{entry.name} {entry.value} {entry.dist and entry.dist.name} "
        f"{entry.dist and entry.dist.version}"
        for entry in family_entry_points()
    ]
    digest = hashlib.sha256("|".join(described).encode()).hexdigest()
    return f"+{digest[:8]}" if described else ""
