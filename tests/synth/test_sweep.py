"""A sweep keeps graphs on which labels reach more, can be stopped, and is the same every time."""

import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from topoloom.synth.atlas.bundled import bundled_atlas, forget_bundled
from topoloom.synth.atlas.entries import Atlas, Entry, Search
from topoloom.synth.atlas_build.build import KNOWN, AtlasBuilder, build_atlas, slack_searches
from topoloom.synth.atlas_build.merge import merge_results, remeasured
from topoloom.synth.atlas_build.proposals import Proposer, Round, beside, line, proposers
from topoloom.synth.atlas_build.size_priorities import missed_goals, priority, relative_gaps
from topoloom.synth.errors import ImpossibleRequest, InvalidAtlas
from topoloom.synth.evaluation.cost import Cost, Links, lower_bound
from topoloom.synth.evaluation.gaps import gaps_of
from topoloom.synth.evaluation.measure import diameter
from topoloom.synth.families.random_graphs import RandomGraph
from topoloom.synth.recipes.build import build, size, traits
from topoloom.synth.recipes.recipe import Inserted, LineGraph, Removed, Shortened, parse
from topoloom.synth.search.candidates import Candidate
from topoloom.synth.search.frontier import frontier
from topoloom.synth.search.recipe_enumeration import Constraints
from topoloom.synth.search.sampled_candidates import sampled_graphs
from topoloom.synth.slack import check_slack_schedule, slack_schedule

ONE_WAY, TWO_WAY = Links.UNIDIRECTIONAL, Links.BIDIRECTIONAL
SWEPT = sorted({(e.nodes, e.degree, e.links) for e in bundled_atlas() if e.within is not None})
FIND = "RandomRegular(61, 4, 1521559412, 2, 100000)"


def swept(nodes: int, degree: int, links: Links, rounds: int, seed: int = 1) -> Atlas:
    atlas = Atlas()
    sweeper = AtlasBuilder(Search(nodes, degree, links, seed, by_slack=True), atlas)
    for _ in range(rounds):
        sweeper.round()
    return atlas


def require_proved(entry: Entry) -> None:
    """Label the graph of an entry anew, from its recipe, and check labels by the theorem."""
    topology = build(parse(entry.recipe))
    assert (topology.node_count, topology.degree) == (entry.nodes, entry.degree)
    assert topology.is_regular
    assert not topology.has_parallel_links
    assert topology.is_bidirectional or entry.links is ONE_WAY
    assert entry.within is not None
    for graph, cost in ((topology, entry.cost), (topology.transpose(), entry.transpose)):
        assert check_slack_schedule(graph, slack_schedule(graph, entry.within)) == cost


@pytest.mark.parametrize(
    ("nodes", "degree", "links"),
    [(13, 3, ONE_WAY), (24, 3, TWO_WAY), (30, 2, ONE_WAY), (31, 4, TWO_WAY)],
)
def test_every_find_is_built_again_from_its_recipe_and_proved(
    nodes: int, degree: int, links: Links
) -> None:
    atlas = swept(nodes, degree, links, 6)
    assert len(atlas) > 0
    for entry in atlas:
        if entry.within is not None:
            require_proved(entry)


@pytest.mark.slow
@pytest.mark.parametrize(("nodes", "degree", "links"), [(23, 3, ONE_WAY), (26, 3, TWO_WAY)])
def test_a_sweep_never_knows_less_than_a_frontier_finds(
    nodes: int, degree: int, links: Links
) -> None:
    found = frontier(nodes, degree, links)
    gaps = gaps_of(point.gap(found.bounds) for point in found.points)
    known = AtlasBuilder(
        Search(nodes, degree, links, 1, True), swept(nodes, degree, links, 6)
    ).known
    for share, before in zip(relative_gaps(known, found.bounds), gaps.within, strict=True):
        assert before is None or share <= before


@pytest.mark.parametrize(
    "size", [(18, 3, TWO_WAY), pytest.param((36, 3, ONE_WAY), marks=pytest.mark.slow)]
)
def test_a_sweep_that_was_stopped_goes_on_as_if_it_was_not(
    tmp_path: Path, size: tuple[int, int, Links]
) -> None:
    whole, path = swept(*size, rounds=7), tmp_path / "finds.tsv"
    swept(*size, rounds=3).save(path)
    again = Atlas.load(path)
    for _ in range(4):
        AtlasBuilder(Search(*size, 1, True), again).round()
    assert again.text() == whole.text()


def test_a_sweep_that_goes_on_from_a_curated_file_looks_at_what_is_known_first() -> None:
    whole, curated = swept(26, 3, ONE_WAY, 3), Atlas()
    curated.rounds = dict(whole.rounds)
    assert any(entry.found == KNOWN for entry in whole)
    for atlas in (whole, curated):
        AtlasBuilder(Search(26, 3, ONE_WAY, 1, True), atlas).round()
    assert {e for e in whole if e.found == KNOWN} <= set(curated)
    assert curated.rounds == whole.rounds


@pytest.mark.slow
def test_sizes_that_are_worth_more_have_more_rounds_and_such_as_are_done_none() -> None:
    atlas, turns = Atlas(), iter(range(12))
    searches = slack_searches(Search(nodes, 2, ONE_WAY, 1) for nodes in (17, 23, 29))
    assert build_atlas(searches, atlas, lambda: next(turns, None) is not None) == 12
    rounds = {search.nodes: count for search, count in atlas.rounds.items()}
    worths = {one.nodes: AtlasBuilder(one, atlas).priority for one in searches}
    assert sum(rounds.values()) == 12
    # Both bounds are met at 17 by what a frontier finds itself.
    assert (rounds[17], worths[17]) == (1, 0)
    assert (rounds[23] > rounds[29]) == (worths[23] > worths[29])


@pytest.mark.slow
@pytest.mark.parametrize("propose", dict.fromkeys(proposers(Search(12, 3, ONE_WAY, 1))))
@given(
    drawn=st.tuples(st.integers(12, 90), st.integers(2, 5)), links=..., seed=st.integers(0, 2**32)
)
@settings(max_examples=12)
def test_what_is_proposed_has_the_size_and_is_the_same_again(
    propose: Proposer, drawn: tuple[int, int], links: Links, seed: int
) -> None:
    nodes, degree = drawn = drawn[0] - drawn[0] % drawn[1] * (propose is line), drawn[1]
    assume(not (links is TWO_WAY and (degree == 2 or nodes * degree % 2)))
    search = Search(nodes, degree, links, 1, True)
    assume(propose in proposers(search))
    known = AtlasBuilder(search, Atlas()).other
    once, again = (
        list(propose(Round(search, known, (0.0, 0.5, 0.5, 0.0), np.random.default_rng(seed))))
        for _ in range(2)
    )
    assert once == again
    for recipe in once:
        made = traits(recipe)
        assert (made.nodes, made.degree) == drawn
        assert made.bidirectional or links is ONE_WAY


def test_graphs_that_have_no_line_graph_are_passed_over() -> None:
    # Loops are left out: some nodes have a link less than others.
    uneven = parse("GeneralizedKautz(3, 15)")
    assert not traits(uneven).regular
    some = [Candidate(uneven, Cost(3, Fraction(1)), Cost(3, Fraction(1)))]
    for seed in range(20):
        rng = np.random.default_rng(seed)
        asked = Round(Search(45, 3, ONE_WAY, 1, True), lambda nodes: some, (0, 1, 0, 0), rng)
        assert all(traits(one).nodes == 45 for one in line(asked))


def test_graphs_of_the_next_sizes_are_made_as_short_as_is_wished() -> None:
    search = Search(118, 3, ONE_WAY, 1, True)
    known, rng = AtlasBuilder(search, Atlas()).other, np.random.default_rng(1)
    found = {one for _ in range(3) for one in beside(Round(search, known, (0, 1, 0, 0), rng))}
    assert len(found) > 3
    assert {type(one) for one in found} <= {Inserted, Removed, Shortened}
    assert all(diameter(build(one)) <= 5 for one in found)


def test_line_graphs_of_what_a_sweep_found_are_known_at_their_size() -> None:
    atlas = Atlas()
    atlas.add(find())
    (line,) = [
        one
        for one in AtlasBuilder(Search(241, 4, ONE_WAY, 1, True), atlas).other(244)
        if one.recipe == LineGraph(1, parse(FIND))
    ]
    assert line.costs == (Cost(5, Fraction(61, 61)),) * 2
    assert slack_schedule(build(line.recipe), 5).cost <= line.cost


@pytest.mark.slow
@given(st.integers(8, 200), st.integers(2, 6))
@settings(max_examples=25)
def test_all_that_is_known_of_another_size_can_be_built_and_has_that_size(
    nodes: int, degree: int
) -> None:
    sweeper = AtlasBuilder(Search(nodes + 1, degree, ONE_WAY, 1, True), Atlas())
    for one in sweeper.other(nodes):
        assert size(one.recipe)[0] == nodes


def test_sizes_without_graphs_are_refused() -> None:
    with pytest.raises(ImpossibleRequest):
        AtlasBuilder(Search(9, 3, TWO_WAY, 0, True), Atlas())


shares = st.tuples(*[st.fractions(0, 1, max_denominator=50)] * 4).map(
    lambda drawn: tuple(sorted(drawn, reverse=True))
)


@given(shares, st.integers(1, 8), st.sampled_from(Links), st.integers(0, 3))
def test_a_find_is_worth_more_the_more_is_missed(some, degree: int, links: Links, at: int) -> None:
    less = tuple(
        min(share, some[at] / 2) if place >= at else share for place, share in enumerate(some)
    )
    assert priority(less, degree, links) <= priority(some, degree, links)
    assert 0 <= missed_goals(some, degree, links) <= 2
    assert (priority(some, degree, links) == 0) == (not any(some))


@given(st.integers(2, 300), st.integers(2, 8), st.sampled_from(Links))
def test_every_size_with_graphs_has_something_to_propose(
    nodes: int, degree: int, links: Links
) -> None:
    if degree >= 2 + (links is TWO_WAY) and degree < nodes:
        assert proposers(Search(nodes, degree, links, 0, True))


def with_bundled(monkeypatch: pytest.MonkeyPatch, atlas: Atlas, path: Path) -> None:
    atlas.save(path)
    monkeypatch.setattr("topoloom.synth.atlas.bundled.BUNDLED", path)
    forget_bundled()


@pytest.fixture
def restored():
    yield
    forget_bundled()


def find(within: int = 4, found: str = "sweep 1 round 1", recipe: str = FIND) -> Entry:
    cost = Cost(4, Fraction(60, 61))
    return Entry(61, 4, ONE_WAY, cost, cost, recipe, found, within)


@pytest.mark.slow
@pytest.mark.usefixtures("restored")
def test_a_frontier_takes_what_a_sweep_found_and_draws_nothing_itself(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    atlas = Atlas()
    atlas.add(find())
    eager = Cost(5, Fraction(86, 61))
    atlas.add(Entry(61, 4, ONE_WAY, eager, eager, "RandomRegular(61, 4, 1)", KNOWN))
    atlas.add(Entry(61, 4, ONE_WAY, eager, eager, "Cayley(61, 1, 1, 1, 2, 3, 4)", "seed 1 round 1"))
    atlas.rounds[Search(61, 4, ONE_WAY, 1, by_slack=True)] = 2
    with_bundled(monkeypatch, atlas, tmp_path / "atlas.tsv")
    taken = [str(one) for one in sampled_graphs(Constraints(), 61, 4)]
    assert taken == [FIND, "RandomRegular(61, 4, 1)"]
    points = frontier(61, 4).points
    assert (FIND, 4) in {(str(point.recipe), point.within) for point in points}
    drawn = {str(p.recipe) for p in points if isinstance(p.recipe, RandomGraph | Inserted)}
    assert drawn == {FIND}
    assert all(
        "Random" not in str(p.recipe) for p in frontier(61, 4, vertex_transitive=True).points
    )
    chosen = frontier(61, 4, families={"RandomRegular"}).points
    assert {type(point.recipe).__name__ for point in chosen} == {"RandomRegular"}


@pytest.mark.usefixtures("restored")
def test_curating_finds_of_a_sweep_drops_what_comes_anyway_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = Atlas()
    cost = Cost(2, Fraction(1))
    eager = Entry(12, 4, ONE_WAY, cost, cost, "Cayley(12, 1, 1, 1, 2, 3, 6)", "x")
    before.add(eager)
    with_bundled(monkeypatch, before, tmp_path / "atlas.tsv")
    finds = Atlas()
    finds.add(find())
    optimal = Cost(5, Fraction(60, 61))
    ring = Entry(61, 4, ONE_WAY, optimal, optimal, "Circulant(61, 5, 11)", KNOWN)
    finds.add(ring)
    late = Cost(5, Fraction(61, 61))
    finds.add(Entry(61, 4, TWO_WAY, late, late, "Circulant(61, 5, 11)", KNOWN, 5))
    finds.rounds[Search(61, 4, ONE_WAY, 1, by_slack=True)] = 9
    finds.save(tmp_path / "finds.tsv")
    merge_results(tmp_path / "atlas.tsv", [tmp_path / "finds.tsv"])
    kept = Atlas.load(tmp_path / "atlas.tsv")
    assert list(kept) == [eager, find()]
    assert kept.rounds == finds.rounds


def test_what_a_frontier_found_on_a_graph_of_the_atlas_is_not_dropped_as_there_without_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cost, best = Cost(6, Fraction(1)), Cost(5, Fraction(1))
    graph = "Cayley(61, 1, 1, 1, 2, 3, 6)"
    before, finds = Atlas(), Atlas()
    before.add(Entry(61, 4, ONE_WAY, cost, cost, graph, "sweep 1 round 2", 6))
    with_bundled(monkeypatch, before, tmp_path / "atlas.tsv")
    finds.add(Entry(61, 4, ONE_WAY, best, best, graph, KNOWN))
    finds.rounds[Search(61, 4, ONE_WAY, 1, by_slack=True)] = 1
    finds.save(tmp_path / "finds.tsv")
    merge_results(tmp_path / "atlas.tsv", [tmp_path / "finds.tsv"])
    kept = list(Atlas.load(tmp_path / "atlas.tsv"))
    assert kept == [Entry(61, 4, ONE_WAY, best, best, graph, "sweep 1 round 2")]


def test_labels_of_today_are_told_anew_and_what_they_make_needless_is_dropped() -> None:
    late, better, other = Cost(4, Fraction(2)), Cost(5, Fraction(1)), Cost(5, Fraction(30, 31))
    stale = Atlas()
    stale.add(replace(find(), cost=late, transpose=late))
    needless = replace(find(5, recipe="RandomRegular(61, 4, 1)"), cost=better, transpose=better)
    stale.add(needless)
    eager = Entry(31, 3, ONE_WAY, other, other, "DirectedCirculant(31, 1, 5, 25)", KNOWN)
    stale.add(eager)
    stale.rounds[Search(61, 4, ONE_WAY, 1, by_slack=True)] = 2
    told = remeasured(stale, 2)
    assert (set(told), told.rounds) == ({find(), eager}, stale.rounds)


@pytest.mark.slow
def test_curating_a_file_that_is_not_there_says_so_and_writes_nothing(tmp_path: Path) -> None:
    there, missing = tmp_path / "atlas.tsv", tmp_path / "missing.tsv"
    stale = Atlas()
    stale.add(replace(find(), cost=Cost(4, Fraction(2)), transpose=Cost(4, Fraction(2))))
    stale.save(there)
    before = there.read_bytes()
    with pytest.raises(InvalidAtlas, match="missing"):
        merge_results(there, [missing], remeasure=True)
    assert there.read_bytes() == before
    command = [sys.executable, "-m", "topoloom.synth.atlas_build.merge", "--again", str(missing)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "missing.tsv" in done.stderr
    assert "Traceback" not in done.stderr
    merge_results(there, [], remeasure=True)
    assert set(Atlas.load(there)) == {find()}


SHARES = [
    SWEPT[::256],
    *(pytest.param(SWEPT[k::32], marks=pytest.mark.exhaustive) for k in range(32)),
]


@pytest.mark.slow
@pytest.mark.parametrize("share", SHARES, ids=range(len(SHARES)))
def test_frontiers_are_no_worse_than_every_find_of_a_sweep_and_every_find_is_proved(share) -> None:
    for nodes, degree, links in share:
        require_finds(nodes, degree, links)


def require_finds(nodes: int, degree: int, links: Links) -> None:
    """The frontier of a size holds every find of its sweep, and the find is proved."""
    points = [
        Cost(p.steps, max(p.cost.bandwidth, p.transpose.bandwidth))
        for p in frontier(nodes, degree, links).points
    ]
    finds = bundled_atlas().of_size(nodes, degree, by_slack=True)
    for one in (one for one in finds if one.links is links):
        assert any(
            p.steps <= one.within and p.bandwidth <= one.worse_cost.bandwidth for p in points
        )
        assert traits(parse(one.recipe)).degree == degree
        assert one.worse_cost.steps >= lower_bound(nodes, degree, links).steps
        require_proved(one)
