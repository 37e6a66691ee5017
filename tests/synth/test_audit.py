"""Where the atlas keeps a frontier from searching, it has what that search would find."""

import random
import sys
from pathlib import Path

import pytest

from topoloom.synth.atlas.bundled import bundled_atlas, forget_bundled
from topoloom.synth.atlas.entries import Atlas, Entry, Search
from topoloom.synth.atlas_build.audit import main, missing_entries, searched_sizes
from topoloom.synth.discovery.short_search import sampled, short_search
from topoloom.synth.evaluation.cost import Cost, Links
from topoloom.synth.search.frontier import Point, frontier

ONE_WAY, TWO_WAY = Links.UNIDIRECTIONAL, Links.BIDIRECTIONAL
MARKED = random.Random(20).sample(searched_sizes(bundled_atlas()), 120)


def collectives(found: Entry | Point) -> tuple[Cost, Cost, Cost]:
    """What an allgather, a reduce-scatter and both after each other take."""
    there, back = found.cost, found.transpose
    both = Cost(there.steps + back.steps, there.bandwidth + back.bandwidth)
    return there, back, both


@pytest.mark.slow
@pytest.mark.one_in(35, slow=6)
@pytest.mark.parametrize(("nodes", "degree", "links"), MARKED)
def test_a_marked_size_loses_nothing_that_sampling_there_would_find(
    nodes: int, degree: int, links: Links
) -> None:
    assert sampled(nodes, degree, links) == ()
    points = frontier(nodes, degree, links, schedule="bfb").points
    known = list(zip(*map(collectives, points), strict=True))
    for entry in short_search(nodes, degree, links):
        for costs, found in zip(known, collectives(entry), strict=True):
            assert any(
                one.steps <= found.steps and one.bandwidth <= found.bandwidth for one in costs
            )


def test_sizes_are_marked_that_were_searched_for_bases_not_those_swept_by_labels() -> None:
    atlas = Atlas()
    atlas.rounds[Search(40, 3, ONE_WAY, 5)] = 1
    atlas.rounds[Search(41, 3, TWO_WAY, 5, by_slack=True)] = 1
    assert searched_sizes(atlas) == [(40, 3, ONE_WAY)]


@pytest.mark.slow
def test_what_no_entry_is_as_good_as_is_overlooked_and_curated_sizes_overlook_nothing() -> None:
    marks = Atlas()
    marks.rounds[Search(60, 4, ONE_WAY, 5)] = 1
    found = list(short_search(60, 4, ONE_WAY))
    assert [one.recipe for one in missing_entries(marks, 60, 4, ONE_WAY)] == [
        x.recipe for x in found
    ]
    assert found
    for one in found:
        marks.add(one)
    assert missing_entries(marks, 60, 4, ONE_WAY) == []
    assert missing_entries(marks, 60, 4, TWO_WAY) == missing_entries(Atlas(), 60, 4, TWO_WAY)


def test_processes_share_the_marked_sizes_and_write_what_is_overlooked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marks = Atlas()
    for nodes in (30, 36, 40):
        marks.rounds[Search(nodes, 4, ONE_WAY, 5)] = 1
    marks.save(tmp_path / "marks.tsv")
    monkeypatch.setattr("topoloom.synth.atlas.bundled.BUNDLED", tmp_path / "marks.tsv")
    forget_bundled()
    try:
        for part in "01":
            out = str(tmp_path / f"part{part}.tsv")
            monkeypatch.setattr(sys, "argv", ["overlooked", out, "--parts", "2", "--part", part])
            main()
    finally:
        monkeypatch.undo()
        forget_bundled()
    parts = [Atlas.load(tmp_path / f"part{part}.tsv") for part in "01"]
    assert [{one.nodes for one in part} for part in parts] == [{30, 40}, {36}]
    assert [one.recipe for one in parts[1]] == [x.recipe for x in short_search(36, 4, ONE_WAY)]
