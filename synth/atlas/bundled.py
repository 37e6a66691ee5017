"""The atlas that comes with the package, as a whole and size by size.

A frontier asks for some hundred of its thousands of sizes: to read all its entries would take a
fifteenth of the process that finds one, to split its lines a hundredth.
"""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from topoloom.synth.atlas.entries import HEADER, Atlas

BUNDLED = Path(__file__).with_name("atlas.tsv")
"""The atlas that comes with the package."""


@lru_cache(maxsize=1)
def bundled() -> Atlas:
    """Return the atlas that comes with the package, all of it; it is read once."""
    return Atlas.load(BUNDLED)


@lru_cache(maxsize=4096)
def bundled_of(nodes: int, degree: int) -> Atlas:
    """Return what the atlas has of one size, entries and searches.

    The same as `Atlas.part` of it, in the order of the file; only these lines are read.

    >>> len(bundled_of(16, 2)) > 0, len(bundled_of(16, 15))
    (True, 0)
    """
    return Atlas.read("\n".join([HEADER, *_lines().get(f"{nodes}\t{degree}", ())]))


def forget_bundled() -> None:
    """Read the file anew when it is asked for next: it was written."""
    for kept in (bundled, bundled_of, _lines):
        kept.cache_clear()


@lru_cache(maxsize=1)
def _lines() -> Mapping[str, list[str]]:
    """Return the lines of the file by size, as that is written there."""
    found: dict[str, list[str]] = {}
    for line in BUNDLED.read_text("utf-8").splitlines()[1:]:
        if not line.startswith("#"):
            _, nodes, degree, _ = line.split("\t", 3)
            found.setdefault(f"{nodes}\t{degree}", []).append(line)
    return found
