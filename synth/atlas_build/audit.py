"""What a frontier would find itself at the sizes where the atlas tells it not to search.

    python -m topoloom.synth.atlas_build.audit OUT [--parts N --part K]

At a size that is marked as searched a frontier draws nothing (`synth.discovery.short_search`), so
the mark must not cost it anything: what the short search finds there has to be in the atlas, or
worse than what is.  This makes that search at every marked size and writes what no entry of the
size is as good as; `synth.atlas_build.merge` puts it into the atlas and drops what the catalogue
has anyway.
"""

import argparse
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from topoloom.synth.atlas.bundled import bundled
from topoloom.synth.atlas.entries import Atlas, Entry
from topoloom.synth.discovery.short_search import short_search
from topoloom.synth.evaluation.cost import Links

_EVERY = 100


def marked(atlas: Atlas) -> list[tuple[int, int, Links]]:
    """Return the sizes that the atlas says were searched for bases, in order."""
    return sorted({(one.nodes, one.degree, one.links) for one in atlas.rounds if not one.by_labels})


def overlooked(atlas: Atlas, nodes: int, degree: int, links: Links) -> list[Entry]:
    """Return what the short search finds at a size that no entry there is as good as.

    >>> overlooked(bundled(), 60, 4, Links.UNIDIRECTIONAL)
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
        for entry in overlooked(bundled(), *size):
            finds.add(entry)
        if number % _EVERY == 0:
            finds.save(out)
    finds.save(out)
    return len(finds)


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--parts", type=int, default=1, help="how many processes share the sizes")
    parser.add_argument("--part", type=int, default=0, help="which of them this one is, from 0")
    arguments = parser.parse_args()
    sizes = marked(bundled())[arguments.part :: arguments.parts]
    print(f"{len(sizes)} sizes, {_write(sizes, arguments.out)} finds")


if __name__ == "__main__":
    main()
