"""Puts finds into the atlas that comes with the package, and keeps what is of use.

    python -m topoloom.synth.atlas_build.merge [--again] FILE ...

Merges the files (`topoloom atlas discover --atlas FILE`) into the bundled atlas, then drops every
entry that is not a point of the frontier of its own size: named families, operators on
smaller bases or other entries are as good.  Looked at are the sizes of the files and those of
their line graphs; without a file, all.  If all files are of sweeps, only what these found
is looked at: random graphs stay, as a frontier draws none where a sweep was, and whatever is
better than what the catalogue has.

Where labels have become better, ``--again`` first tells anew what they reach on the graphs of the
bundled atlas, on all processors.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

from topoloom.synth.atlas.bundled import BUNDLED, forget_bundled
from topoloom.synth.atlas.entries import Atlas, Entry, merged
from topoloom.synth.atlas_build.build import KNOWN
from topoloom.synth.errors import InvalidAtlas
from topoloom.synth.evaluation.cost import Links
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.search.frontier import frontier
from topoloom.synth.slack import labels

# Entries that a process is given at once.
_CHUNK = 8


def labelled_again(atlas: Atlas, processes: int | None = None) -> Atlas:
    """Return the atlas with what labels of today reach on its graphs, within as many steps.

    What others are as good as then is gone.  A quarter of a second for an entry of 1,000 nodes.
    """
    told = Atlas()
    told.rounds = dict(atlas.rounds)
    with ProcessPoolExecutor(processes) as pool:
        for entry in pool.map(_told_again, atlas, chunksize=_CHUNK):
            told.add(entry)
    return told


def _told_again(entry: Entry) -> Entry:
    if entry.within is None:
        return entry
    topology = build(parse(entry.recipe))
    there, back = (labels(one, entry.within).cost for one in (topology, topology.transpose()))
    return replace(entry, cost=there, transpose=back)


def curate(path: Path, finds: list[Path], again: bool = False) -> tuple[int, int]:
    """Merge finds into the atlas at ``path``, which is the bundled one; drop the needless.

    With ``again`` what labels reach on its graphs is told anew first.  Returns how many entries
    there were in all, and how many are kept.  Nothing is written before all files are read.

    Raises
    ------
    InvalidAtlas
        A file is not there, or no atlas.
    """
    found = [Atlas.load(file) for file in finds]
    there = Atlas.load(path)
    own = {(*_size(one), one.recipe): one.found for one in there}
    mended = [_said_by_the_atlas(atlas, own) for atlas in found]
    everything = merged([labelled_again(there) if again else there, *mended])
    swept = bool(found) and all(
        one.within is not None or one.found == KNOWN for atlas in found for one in atlas
    )
    whole = Atlas()
    whole.rounds = everything.rounds
    for entry in everything:
        if not _comes_anyway(entry, everything):
            whole.add(entry)
    whole.save(path)
    forget_bundled()
    kept = Atlas()
    kept.rounds = whole.rounds
    useful: dict[tuple[int, int, Links], set[str]] = {}
    changed = {_size(one) for atlas in found for one in atlas}
    for entry in whole:
        if swept or entry.within is not None or not _is_near(entry, changed if found else None):
            kept.add(entry)
            continue
        size = _size(entry)
        if size not in useful:
            useful[size] = {str(point.recipe) for point in frontier(*size, schedule="bfb").points}
        if entry.recipe in useful[size]:
            kept.add(entry)
    kept.save(path)
    forget_bundled()
    return len(whole), len(kept)


def _said_by_the_atlas(atlas: Atlas, own: dict[tuple[int, int, Links, str], str]) -> Atlas:
    """Return finds of which those on graphs of the atlas are not said to be known without it."""
    mended = Atlas()
    mended.rounds = atlas.rounds
    for one in atlas:
        mended.add(replace(one, found=own.get((*_size(one), one.recipe), one.found)))
    return mended


def _size(entry: Entry) -> tuple[int, int, Links]:
    return entry.nodes, entry.degree, entry.links


def _is_near(entry: Entry, changed: set[tuple[int, int, Links]] | None) -> bool:
    """Return whether a size has changed, or one of which it has line graphs; all if None."""
    nodes, degree, links = _size(entry)
    if changed is None or (nodes, degree, links) in changed:
        return True
    smaller, rest = divmod(nodes, degree)
    while degree > 1 and rest == 0 and smaller > 1:
        if (smaller, degree, Links.UNIDIRECTIONAL) in changed:
            return True
        smaller, rest = divmod(smaller, degree)
    return False


def _comes_anyway(entry: Entry, everything: Atlas) -> bool:
    """Return whether a frontier has the entry without the atlas, or as good a one."""
    if entry.found == KNOWN:
        return not (entry.is_random or _is_lined(entry))
    eager = everything.of_size(entry.nodes, entry.degree)
    alike = (one for one in eager if one.links is entry.links)
    return entry.within is not None and any(one.dominates(entry) for one in alike)


def _is_lined(entry: Entry) -> bool:
    """Return whether `synth.search.line_graph_candidates` alone may find the entry."""
    return entry.within is not None and entry.recipe.startswith("LineGraph")


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("finds", nargs="*", type=Path)
    parser.add_argument("--again", action="store_true", help="tell anew what labels reach")
    arguments = parser.parse_args()
    try:
        before, after = curate(BUNDLED, arguments.finds, arguments.again)
    except InvalidAtlas as wrong:
        parser.error(str(wrong))
    print(f"{before} entries, {after} of use")


if __name__ == "__main__":
    main()
