"""The atlas bundled with the package, as a whole and by size.

A frontier reads some hundred of its thousands of sizes.  Parsing all entries would take 1/15 of
the time of a frontier process; splitting the lines takes 1/100.
"""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from threading import Lock

from topoloom.synth.atlas.entries import HEADER, Atlas

BUNDLED = Path(__file__).with_name("atlas.tsv")
"""Path of the bundled atlas."""

_READING = Lock()


@lru_cache(maxsize=1)
def bundled_atlas() -> Atlas:
    """Return the whole bundled atlas; cached."""
    return Atlas.load(BUNDLED)


@lru_cache(maxsize=4096)
def bundled_of(nodes: int, degree: int) -> Atlas:
    """Return the entries and searches of one size.

    Equals `Atlas.part` for the size, in the order of the file, but parses these lines only.

    >>> len(bundled_of(16, 2)) > 0, len(bundled_of(16, 15))
    (True, 0)
    """
    # The first threads of a search would each read the file.
    with _READING:
        lines = _lines()
    return Atlas.read("\n".join([HEADER, *lines.get(f"{nodes}\t{degree}", ())]))


def forget_bundled() -> None:
    """Clear the caches after a write to the file."""
    for kept in (bundled_atlas, bundled_of, _lines):
        kept.cache_clear()


@lru_cache(maxsize=1)
def _lines() -> Mapping[str, list[str]]:
    """Return the lines of the file by size, as written there."""
    found: dict[str, list[str]] = {}
    for line in BUNDLED.read_text("utf-8").splitlines()[1:]:
        if not line.startswith("#"):
            _, nodes, degree, _ = line.split("\t", 3)
            found.setdefault(f"{nodes}\t{degree}", []).append(line)
    return found
