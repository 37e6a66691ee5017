"""Merge search results into the bundled atlas and drop redundant entries.

    python -m topoloom.synth.atlas_build.merge [--remeasure] FILE ...

Merges the files (`topoloom atlas discover --atlas FILE`) into the bundled atlas.  Then drops every
entry that is not a point of the frontier of its size: named families, operators on smaller bases
or other entries are as good.  Checks the sizes of the files and of their line graphs; without a
file, all sizes.  If all files come from atlas builds, it checks only their entries.  Random
graphs stay, as a frontier samples none at built sizes; so do entries better than the catalog.

``--remeasure`` first measures all slack entries of the bundled atlas with the current solver, on
all processors.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

from topoloom.synth.atlas.bundled import BUNDLED, forget_bundled
from topoloom.synth.atlas.entries import Atlas, Entry, merge_atlases
from topoloom.synth.atlas_build.build import KNOWN
from topoloom.synth.errors import InvalidAtlas
from topoloom.synth.evaluation.cost import Links
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.search.frontier import frontier
from topoloom.synth.slack import slack_schedule

# Entries per task of a process.
_CHUNK = 8


def remeasured(atlas: Atlas, processes: int | None = None) -> Atlas:
    """Return the atlas with all slack entries measured by the current solver, within their steps.

    Dominated entries disappear.  A quarter of a second for an entry of 1,000 nodes.
    """
    measured = Atlas()
    measured.rounds = dict(atlas.rounds)
    with ProcessPoolExecutor(processes) as pool:
        for entry in pool.map(_remeasured, atlas, chunksize=_CHUNK):
            measured.add(entry)
    return measured


def _remeasured(entry: Entry) -> Entry:
    if entry.within is None:
        return entry
    topology = build(parse(entry.recipe))
    graphs = topology, topology.transpose()
    cost, transpose = (slack_schedule(graph, entry.within).cost for graph in graphs)
    return replace(entry, cost=cost, transpose=transpose)


def merge_results(path: Path, finds: list[Path], remeasure: bool = False) -> tuple[int, int]:
    """Merge results into the bundled atlas at ``path``; drop redundant entries.

    ``remeasure`` first measures its slack entries.  Returns the number of all entries and of the
    entries kept.  Reads all files before the first write.

    Raises:
        InvalidAtlas: A file does not exist or is no atlas.
    """
    atlases = [Atlas.load(file) for file in finds]
    there = Atlas.load(path)
    own = {(*_size(one), one.recipe): one.found for one in there}
    adjusted = [_with_known_origins(atlas, own) for atlas in atlases]
    everything = merge_atlases([remeasured(there) if remeasure else there, *adjusted])
    swept = bool(atlases) and all(
        one.within is not None or one.found == KNOWN for atlas in atlases for one in atlas
    )
    whole = Atlas()
    whole.rounds = everything.rounds
    for entry in everything:
        if not _is_redundant(entry, everything):
            whole.add(entry)
    whole.save(path)
    forget_bundled()
    kept = Atlas()
    kept.rounds = whole.rounds
    useful: dict[tuple[int, int, Links], set[str]] = {}
    changed = {_size(one) for atlas in atlases for one in atlas}
    for entry in whole:
        if swept or entry.within is not None or not _is_near(entry, changed if atlases else None):
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


def _with_known_origins(atlas: Atlas, own: dict[tuple[int, int, Links, str], str]) -> Atlas:
    """Return results with the atlas's origin for entries on graphs of the atlas."""
    adjusted = Atlas()
    adjusted.rounds = atlas.rounds
    for one in atlas:
        adjusted.add(replace(one, found=own.get((*_size(one), one.recipe), one.found)))
    return adjusted


def _size(entry: Entry) -> tuple[int, int, Links]:
    return entry.nodes, entry.degree, entry.links


def _is_near(entry: Entry, changed: set[tuple[int, int, Links]] | None) -> bool:
    """Return whether a size or one of its iterated root sizes changed; always True for None."""
    nodes, degree, links = _size(entry)
    if changed is None or (nodes, degree, links) in changed:
        return True
    smaller, rest = divmod(nodes, degree)
    while degree > 1 and rest == 0 and smaller > 1:
        if (smaller, degree, Links.UNIDIRECTIONAL) in changed:
            return True
        smaller, rest = divmod(smaller, degree)
    return False


def _is_redundant(entry: Entry, everything: Atlas) -> bool:
    """Return whether a frontier without the atlas has the entry or one as good."""
    """Return whether only `synth.search.line_graph_candidates` may find the entry."""
    if entry.found == KNOWN:
        return not (entry.is_random or _is_line_graph(entry))
    eager = everything.of_size(entry.nodes, entry.degree)
    alike = (one for one in eager if one.links is entry.links)
    return entry.within is not None and any(one.dominates(entry) for one in alike)


def _is_line_graph(entry: Entry) -> bool:
    """Return whether `synth.search.line_graph_candidates` alone may find the entry."""
    return entry.within is not None and entry.recipe.startswith("LineGraph")


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("finds", nargs="*", type=Path)
    parser.add_argument(
        "--remeasure", "--again", action="store_true", help="measure all slack entries first"
    )
    arguments = parser.parse_args()
    try:
        before, after = merge_results(BUNDLED, arguments.finds, arguments.remeasure)
    except InvalidAtlas as wrong:
        parser.error(str(wrong))
    print(f"{before} entries, {after} kept")


if __name__ == "__main__":
    main()
