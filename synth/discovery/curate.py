"""Puts finds into the atlas that comes with the package, and keeps what is of use.

    python -m synth.discovery.curate FILE ...

Merges the files (`topoloom discover --atlas FILE`) into the bundled atlas, then drops every
entry that is not a point of the frontier of its own size: named families, operators on
smaller bases or other entries are as good.
"""

import argparse
from pathlib import Path

from synth.cost import Links
from synth.discovery.atlas import BUNDLED, Atlas, bundled, merged
from synth.search import frontier

__all__ = ["curate"]


def curate(path: Path, finds: list[Path]) -> tuple[int, int]:
    """Merge finds into the atlas at ``path``, which is the bundled one; drop the needless.

    Returns how many entries there were in all, and how many are kept.
    """
    whole = merged([Atlas.load(path), *(Atlas.load(file) for file in finds)])
    whole.save(path)
    bundled.cache_clear()
    kept = Atlas()
    kept.rounds = whole.rounds
    useful: dict[tuple[int, int, Links], set[str]] = {}
    for entry in whole:
        size = entry.nodes, entry.degree, entry.links
        if size not in useful:
            useful[size] = {str(point.recipe) for point in frontier(*size, schedule="bfb").points}
        if entry.recipe in useful[size]:
            kept.add(entry)
    kept.save(path)
    bundled.cache_clear()
    return len(whole), len(kept)


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("finds", nargs="*", type=Path)
    arguments = parser.parse_args()
    before, after = curate(BUNDLED, arguments.finds)
    print(f"{before} entries, {after} of use")


if __name__ == "__main__":
    main()
