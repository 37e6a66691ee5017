"""Discovery finds what it says it finds, can be stopped, and is the same every time."""

from fractions import Fraction
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cost_oracles import broadcast_cost
from topoloom.synth.algebra.group_extensions import Metacyclic
from topoloom.synth.algebra.table_groups import Alternating
from topoloom.synth.atlas.bundled import bundled_atlas, bundled_of, forget_bundled
from topoloom.synth.atlas.entries import Atlas, Entry, Search, merge_atlases
from topoloom.synth.atlas_build.merge import merge_results
from topoloom.synth.discovery.anneal import anneal
from topoloom.synth.discovery.annealing_rounds import Explorer, explore, sizes
from topoloom.synth.discovery.initial_lift import start
from topoloom.synth.discovery.lift_cost import (
    LATE,
    MAX_STEPS,
    UNIT,
    Thresholds,
    evaluate,
    memory,
)
from topoloom.synth.discovery.random_groups import random_group
from topoloom.synth.discovery.selected_elements import select
from topoloom.synth.errors import ImpossibleRequest, InvalidAtlas
from topoloom.synth.evaluation.cost import Cost, Links
from topoloom.synth.evaluation.measure import measure, measure_both
from topoloom.synth.families.lifts import voltage_member
from topoloom.synth.families.voltage import VoltageGraph
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse

ONE_WAY, TWO_WAY = Links.UNIDIRECTIONAL, Links.BIDIRECTIONAL


def start_over(group, vertices, degree, two_way, rng):
    selection = select(group, rng)
    return selection, start(vertices, degree, two_way, selection, rng)


def _no_thresholds():
    """Thresholds that every lift meets."""
    return Thresholds(np.inf, np.full(MAX_STEPS + 1, 2**62))


@st.composite
def lifts(draw: st.DrawFn) -> VoltageGraph:
    """A random connected lift without loops or parallel links."""
    two_way = draw(st.booleans())
    vertices, order = draw(st.sampled_from([(1, 12), (1, 16), (2, 8), (3, 6), (6, 1), (9, 1)]))
    degree = draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    group = random_group(order, rng, plain=vertices > 1)
    _, begun = start_over(group, vertices, degree, two_way, rng)
    if begun is None:
        return draw(st.nothing())
    head, shift, _ = begun
    graph = VoltageGraph(group, vertices, tuple(head.tolist()), tuple(shift.tolist()))
    return graph if graph.connected else draw(st.nothing())


@given(lifts(), st.booleans())
def test_one_destination_per_vertex_costs_what_all_destinations_cost(
    graph: VoltageGraph, again: bool
) -> None:
    topology = build(voltage_member(graph))
    every = select(graph.group, np.random.default_rng(0))
    work = memory(graph.nodes, graph.vertices, graph.degree)
    heads, voltages = np.array(graph.heads), np.array(graph.voltages)
    for backward, turned in ((False, topology), (True, topology.transpose())):
        steps, load, _, late = evaluate(
            *(heads, voltages, every.product, every.inverse, backward),
            *(again and backward, 2, work, _no_thresholds(), 1, 0, 0),
        )
        expected = broadcast_cost(turned)
        assert Cost(steps, Fraction(load * graph.degree, UNIT * graph.nodes)) == expected
        distances = [len(_within(turned, node, 2)) for node in range(0, graph.nodes)]
        step = graph.group.order
        assert late == sum(graph.nodes - reach for reach in distances[::step])


@given(lifts(), st.booleans())
def test_an_evaluation_ends_early_only_for_a_lift_that_beats_nothing(
    graph: VoltageGraph, backward: bool
) -> None:
    every = select(graph.group, np.random.default_rng(0))
    work = memory(graph.nodes, graph.vertices, graph.degree)
    arcs = np.array(graph.heads), np.array(graph.voltages), every.product, every.inverse
    arcs = *arcs, backward, False
    steps, load, mean, late = evaluate(*arcs, 2, work, _no_thresholds(), 1, 0, 0)
    energy = late * LATE + load + mean
    known = _no_thresholds().load
    known[steps:] = load
    assert evaluate(*arcs, 2, work, Thresholds(float(energy), known), 1, 0, 0)[0] == steps
    below = Thresholds(float(energy - 1), known)
    assert evaluate(*arcs, 2, work, below, 1, 0, 0)[0] == -2
    assert evaluate(*arcs, 2, work, below, 1, 0, 1)[0] == -2
    known[steps:] = load + 1
    assert evaluate(*arcs, 2, work, below, 1, 0, 0)[:2] == (steps, load)


def _within(topology, goal: int, radius: int) -> set[int]:
    ball = {goal}
    pairs = list(zip(topology.sources.tolist(), topology.targets.tolist(), strict=True))
    for _ in range(radius):
        ball |= {source for source, target in pairs if target in ball}
    return ball


@pytest.mark.parametrize(
    "group", [Metacyclic(16, 3, 4), Metacyclic(32, 15, 16), Metacyclic(257, 1, 1), Alternating(6)]
)
def test_a_selection_is_closed_under_inverses_and_knows_its_involutions(group) -> None:
    chosen = select(group, np.random.default_rng(3))
    assert chosen.elements[0] == 0
    assert len(set(chosen.elements.tolist())) == len(chosen.elements)
    assert (chosen.inverse[chosen.inverse] == np.arange(len(chosen.inverse))).all()
    for number, element in enumerate(chosen.elements.tolist()):
        assert (chosen.product[number] == group.right(element)).all()
        assert chosen.product[number, chosen.elements[chosen.inverse[number]]] == 0
        twice = chosen.product[number, element]
        assert (number in chosen.involutions) == (twice == 0 and number > 0)
    assert len(chosen.involutions) > 0 or group.order % 2


@pytest.mark.parametrize("two_way", [False, True])
@pytest.mark.parametrize(("vertices", "order"), [(1, 24), (4, 6), (12, 1)])
def test_moves_keep_lifts_regular_simple_and_two_way(
    vertices: int, order: int, two_way: bool
) -> None:
    rng = np.random.default_rng(7)
    group = random_group(order, rng, plain=True)
    every, begun = start_over(group, vertices, 4, two_way, rng)
    assert begun is not None
    best_load = np.full(MAX_STEPS, 2**62)
    best_head, best_shift = np.zeros((2, MAX_STEPS, vertices * 4), np.int64)
    evaluated = anneal(
        *begun, every.involutions, every.product, every.inverse, 2, 2000, 1.0, 3,
        memory(vertices * order, vertices, 4), best_load, best_head, best_shift,
    )  # fmt: skip
    assert evaluated > 200
    met = [s for s in range(MAX_STEPS) if best_load[s] < 2**62]
    assert met
    for steps in met:
        graph = VoltageGraph(
            group, vertices, tuple(best_head[steps].tolist()), tuple(best_shift[steps].tolist())
        )
        assert graph.balanced
        assert not graph.loops
        assert not graph.parallel
        assert graph.bidirectional or not two_way
        both = measure_both(build(voltage_member(graph)))
        assert max(cost.steps for cost in both) == steps
        assert sum(cost.bandwidth for cost in both) == Fraction(
            int(best_load[steps]) * 4, UNIT * graph.nodes
        )


def test_a_minute_is_not_needed_to_meet_both_bounds_at_8_nodes() -> None:
    atlas = Atlas()
    found: list[Entry] = []
    searches = [Search(8, 2, ONE_WAY, 1)]
    assert (
        explore(searches, atlas, lambda: atlas.rounds.get(searches[0], 0) < 20, found.append) < 20
    )
    assert [(e.cost, e.transpose) for e in atlas] == [(Cost(3, Fraction(7, 8)),) * 2]
    assert found[-1] in set(atlas)
    assert explore(searches, atlas, lambda: True) == 0


@pytest.mark.slow
def test_searches_take_turns_until_told_to_stop() -> None:
    atlas, turns = Atlas(), iter(range(7))
    searches = sizes([17, 19], [2, 3], ONE_WAY, 3)
    assert explore(searches, atlas, lambda: next(turns, None) is not None) == 7
    assert sorted(atlas.rounds.values()) == [1, 2, 2, 2]


def test_a_grid_leaves_out_sizes_without_graphs_and_is_refused_if_none_is_left() -> None:
    two_way = sizes(range(2, 6), range(1, 5), TWO_WAY, 0)
    assert [(s.nodes, s.degree) for s in two_way] == [
        (2, 1), (3, 2), (4, 2), (4, 3), (5, 2), (5, 4)
    ]  # fmt: skip
    for nodes, degrees in ([], [2]), ([5], [3]), ([16_385], [4]):
        with pytest.raises(ImpossibleRequest):
            sizes(nodes, degrees, TWO_WAY, 0)


@pytest.mark.slow
def test_a_search_that_was_stopped_goes_on_as_if_it_was_not(tmp_path: Path) -> None:
    search = Search(18, 3, TWO_WAY, 5)
    whole, first = Atlas(), Atlas()
    for _ in range(4):
        Explorer(search, whole).round()
    for _ in range(2):
        Explorer(search, first).round()
    first.save(tmp_path / "atlas.tsv")
    second = Atlas.load(tmp_path / "atlas.tsv")
    for _ in range(2):
        Explorer(search, second).round()
    assert second.text() == whole.text()
    assert len(whole) > 0


@pytest.mark.parametrize(
    ("search", "field"),
    [
        (Search(1, 2, ONE_WAY, 0), "nodes"),
        (Search(16_385, 2, ONE_WAY, 0), "nodes"),
        (Search(8, 0, ONE_WAY, 0), "degree"),
        (Search(80, 9, ONE_WAY, 0), "degree"),
        (Search(8, 8, ONE_WAY, 0), "degree"),
        (Search(9, 3, TWO_WAY, 0), "degree"),
        (Search(8, 1, TWO_WAY, 0), "degree"),
    ],
)
def test_sizes_that_cannot_be_searched_are_refused(search: Search, field: str) -> None:
    with pytest.raises(ImpossibleRequest) as refused:
        Explorer(search, Atlas())
    assert refused.value.field == field


def entry(recipe: str, steps: int, bandwidth: str, back: str | None = None) -> Entry:
    there, turned = Cost(steps, Fraction(bandwidth)), Cost(steps, Fraction(back or bandwidth))
    return Entry(8, 2, ONE_WAY, there, turned, recipe, "by hand")


def test_an_atlas_keeps_no_dominated_entry_and_survives_its_file(tmp_path: Path) -> None:
    atlas = Atlas()
    assert atlas.add(entry("Cayley(8, 1, 1, 1, 2)", 4, "1"))
    assert not atlas.add(entry("Cayley(8, 1, 1, 1, 5)", 4, "1"))
    assert atlas.add(entry("Cayley(8, 3, 1, 1, 3)", 4, "9/8", "7/8"))
    assert atlas.add(entry("Digraph(8, 1)", 3, "7/8"))
    assert [e.recipe for e in atlas] == ["Digraph(8, 1)"]
    assert atlas.add(entry("Cayley(8, 1, 1, 2, 3)", 2, "2"))
    atlas.rounds[Search(8, 2, ONE_WAY, 3)] = 17
    atlas.save(tmp_path / "deep" / "atlas.tsv")
    again = Atlas.load(tmp_path / "deep" / "atlas.tsv")
    assert again.text() == atlas.text()
    assert list(again) == list(atlas)
    assert again.rounds == atlas.rounds
    assert merge_atlases([again, Atlas(), atlas]).text() == atlas.text()


POINT = "point\t8\t2\tunidirectional\t3\t7/8\t3\t7/8\tCayley(8, 3, 1, 1, 3)\tx"


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("", "line 1"),
        ("something else\n", "line 1"),
        ("topoloom atlas 1\npoint\t8\n", "line 2"),
        (f"topoloom atlas 1\n{POINT}\n{POINT.replace('7/8', '7/0')}\n", "line 3"),
        (f"topoloom atlas 1\n{POINT.replace('7/8', 'x')}\n", "line 2"),
        (f"topoloom atlas 1\n{POINT.replace('unidirectional', 'one-way')}\n", "line 2"),
        (f"topoloom atlas 1\n{POINT.replace('Cayley(', 'Cayley')}\n", "line 2"),
        ("topoloom atlas 1\nsearch\t8\t2\tunidirectional\t1\tmany\n", "line 2"),
    ],
)
def test_a_broken_atlas_is_refused_with_the_line(text: str, where: str) -> None:
    with pytest.raises(InvalidAtlas, match=where):
        Atlas.read(text)


def test_a_file_that_is_no_text_or_not_there_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for name in ("binary", "missing"):
        with pytest.raises(InvalidAtlas, match=name):
            Atlas.load(tmp_path / name)


@pytest.mark.slow
def test_the_bundled_atlas_is_the_same_read_whole_and_size_by_size() -> None:
    whole = bundled_atlas()
    sizes = {(one.nodes, one.degree) for one in (*whole, *whole.rounds)}
    parts = [bundled_of(*size) for size in sorted(sizes)]
    assert merge_atlases(parts).text() == whole.text()
    assert sorted(map(repr, chain(*parts))) == sorted(map(repr, whole))
    for size in sizes:
        assert bundled_of(*size).of_size(*size) == whole.of_size(*size)
    assert bundled_of(2, 2**20).text() == Atlas().text()


SIZES = sorted({(e.nodes, e.degree) for e in bundled_atlas()})


@pytest.mark.one_in(96, slow=12)
@pytest.mark.parametrize("share", range(96))
def test_every_bundled_base_costs_what_the_atlas_says(share: int) -> None:
    for size in SIZES[share::96]:
        for one in bundled_atlas().of_size(*size):
            topology = build(parse(one.recipe))
            assert (topology.node_count, topology.degree) == size
            assert topology.is_regular
            assert not topology.has_parallel_links
            costs = measure(topology), measure(topology.transpose())
            assert costs == (one.cost, one.transpose), one
            if one.links is TWO_WAY:
                assert topology.transpose() == topology


def test_curating_keeps_what_the_frontier_uses_and_nothing_else_of_sizes_that_have_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, cost = Atlas(), Cost(2, Fraction(1))
    needless = Entry(12, 4, ONE_WAY, cost, cost, "Cayley(12, 1, 1, 1, 2, 3, 6)", "x")
    elsewhere = Entry(13, 4, ONE_WAY, cost, cost, "Cayley(13, 1, 1, 1, 2, 3, 6)", "x")
    before.add(elsewhere)
    good = next(e for e in bundled_atlas().of_size(128, 4) if e.cost == Cost(4, Fraction(127, 128)))
    finds = Atlas()
    finds.add(good)
    finds.add(needless)
    finds.rounds[Search(128, 4, ONE_WAY, 9)] = 2
    finds.save(tmp_path / "finds.tsv")
    path = tmp_path / "atlas.tsv"
    before.save(path)
    monkeypatch.setattr("topoloom.synth.atlas.bundled.BUNDLED", path)
    forget_bundled()
    try:
        assert merge_results(path, [tmp_path / "finds.tsv"]) == (3, 2)
        assert list(Atlas.load(path)) == [elsewhere, good]
        assert Atlas.load(path).rounds == finds.rounds
    finally:
        monkeypatch.undo()
        forget_bundled()


def test_a_lift_over_a_group_of_one_element_is_a_plain_digraph() -> None:
    graph = VoltageGraph(Metacyclic(1, 0, 1), 3, (1, 2, 0), (0, 0, 0))
    assert str(voltage_member(graph)) == "Digraph(3, 1, 2, 0)"
    assert build(voltage_member(graph)).targets.tolist() == [1, 2, 0]
