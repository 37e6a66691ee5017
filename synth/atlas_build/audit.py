"""Audit the bundled atlas: compare it with the short search of a frontier at searched sizes.

    python -m topoloom.synth.atlas_build.audit OUT [--parts N --part K]

A frontier does not search at sizes that the atlas marks as searched
(`synth.discovery.short_search`), so the atlas must be at least as good there.  The audit runs the
short search at every marked size and writes all results that no entry dominates.
`synth.atlas_build.merge` adds these to the atlas and drops results that the catalog includes.
"""

import argparse
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from topoloom.synth.atlas.bundled import bundled_atlas
from topoloom.synth.atlas.entries import Atlas, Entry
from topoloom.synth.discovery.short_search import short_search
from topoloom.synth.evaluation.cost import Links

_EVERY = 100


def searched_sizes(atlas: Atlas) -> list[tuple[int, int, Links]]:
    """Return the sizes that the atlas marks as searched for bases, in order."""
    return sorted({(one.nodes, one.degree, one.links) for one in atlas.rounds if not one.by_slack})


def missing_entries(atlas: Atlas, nodes: int, degree: int, links: Links) -> list[Entry]:
    """Return the results of the short search at a size that no entry dominates.

    >>> missing_entries(bundled_atlas(), 60, 4, Links.UNIDIRECTIONAL)
    []
    """
    known = [one for one in atlas.of_size(nodes, degree) if one.links is links]
    return [
        replace(one, found=f"short search, {one.found}")
        for one in short_search(nodes, degree, links)
        if not any(other.dominates(one) for other in known)
    ]


def _write(sizes: Iterable[tuple[int, int, Links]], out: Path) -> int:
    finds = Atlas()
    for number, size in enumerate(sizes):
        for entry in missing_entries(bundled_atlas(), *size):
            finds.add(entry)
        if number % _EVERY == 0:
            finds.save(out)
    finds.save(out)
    return len(finds)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--parts", type=int, default=1, help="number of processes")
    parser.add_argument("--part", type=int, default=0, help="index of this process, from 0")
    arguments = parser.parse_args()
    sizes = searched_sizes(bundled_atlas())[arguments.part :: arguments.parts]
    print(f"{len(sizes)} sizes, {_write(sizes, arguments.out)} finds")


if __name__ == "__main__":
    main()
