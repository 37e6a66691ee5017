"""Labels of a line graph cost at most what those of the graph below it cost, and a step."""

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topoloom.synth.evaluation.cost import Cost
from topoloom.synth.evaluation.measure import measure
from topoloom.synth.kernels.lru_cache import LruCache
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.slack import (
    SlackSchedule,
    bfs_schedule,
    check_slack_schedule,
    slack_schedule,
    solver,
)
from topoloom.synth.slack.line_graph_lift import RootGraph, root_graph_of
from topoloom.synth.slack.problem import slack_problem
from topoloom.synth.symmetry.semiregular_groups import semiregular_group
from topoloom.synth.topology.topology import Topology

graphs = st.tuples(st.integers(5, 30), st.integers(2, 4), st.integers(0, 99)).filter(
    lambda drawn: drawn[1] < drawn[0] - 1
)
LINES = (
    "LineGraph(1, RandomRegular(40, 3, 7))",
    "LineGraph(2, RandomRegular(20, 3, 5))",
    "LineGraph(2, Removed(2, 4, 1, Kautz(3, 3)))",
    "LineGraph(1, Cayley(7, 2, 3, 1, 3, 20))",
    "LineGraph(2, Lift(5, 1, 1, 5, 0, 1, 4, 2, 2, 1, 3, 3, 2, 4, 3, 1, 0, 2, 4, 3, 1, 0, 1, 3))",
    "LineGraph(3, RandomRegular(9, 2, 3))",
    "Kautz(2, 6)",
)


def below(topology: Topology) -> RootGraph | None:
    return root_graph_of(slack_problem(topology, semiregular_group(topology)))


def cost_of(topology: Topology, steps: int, **options: int) -> tuple[Cost, SlackSchedule]:
    found = slack_schedule(topology, steps, **options)
    assert check_slack_schedule(topology, found) == found.cost
    return found.cost, found


def shuffled(topology: Topology, seed: int) -> Topology:
    """The same graph, its nodes and links listed in another order and without a recipe."""
    rng = random.Random(seed)
    names = list(range(topology.node_count))
    rng.shuffle(names)
    ends = zip(topology.sources.tolist(), topology.targets.tolist(), strict=True)
    links = [(names[source], names[target]) for source, target in ends]
    rng.shuffle(links)
    return Topology(range(len(names)), links)


@pytest.mark.slow
@settings(max_examples=30)
@given(graphs, st.integers(0, 2))
def test_labels_of_a_line_graph_take_a_step_and_a_share_more_at_most(drawn, slack: int) -> None:
    nodes, degree, seed = drawn
    base = build(parse(f"RandomRegular({nodes}, {degree}, {seed})"))
    line = build(parse(f"LineGraph(1, RandomRegular({nodes}, {degree}, {seed}))"))
    for graph, whole in ((base, line), (base.transpose(), line.transpose())):
        steps = measure(graph).steps + slack
        there, _ = cost_of(graph, steps, moves=2_000)
        here, _ = cost_of(whole, steps + 1, moves=2_000)
        assert here.bandwidth <= there.bandwidth + Fraction(1, nodes)


@pytest.mark.parametrize("text", LINES)
@pytest.mark.parametrize("turned", [False, True])
def test_line_graphs_are_known_by_their_structure_alone(text: str, turned: bool) -> None:
    topology = build(parse(text))
    topology = topology.transpose() if turned else topology
    degree = topology.degree
    for graph in (topology, shuffled(topology, 3)):
        found = below(graph)
        assert found is not None
        assert found.graph.node_count == topology.node_count // degree
        assert found.graph.is_regular
        # Link i leads on to link j where it ends where that begins.
        on = {
            (one, other)
            for one in range(graph.node_count)
            for other in np.flatnonzero(found.comes == found.goes[one]).tolist()
        }
        assert on == set(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True))
        for image in found.images:
            ends = {(s, t) for s, t in zip(found.comes.tolist(), found.goes.tolist(), strict=True)}
            assert {(int(image[s]), int(image[t])) for s, t in ends} == ends


@pytest.mark.parametrize(
    "text",
    [
        "Circulant(12, 2, 3)",
        "RandomRegular(40, 3, 7)",
        "Inserted(1, 4, 1, LineGraph(1, RandomRegular(20, 3, 7)))",
        "Hypercube(4)",
        "UniRing(6)",
        "Torus(3, 4)",
    ],
)
def test_other_graphs_are_line_graphs_of_nothing(text: str) -> None:
    assert below(build(parse(text))) is None


def test_links_of_unequal_capacity_and_parallel_ones_below_are_left_alone() -> None:
    topology = build(parse("LineGraph(1, RandomRegular(12, 3, 7))"))
    ends = list(zip(topology.sources.tolist(), topology.targets.tolist(), strict=True))
    uneven = Topology(range(36), [(*pair, 2 if pair == ends[0] else 1) for pair in ends])
    assert below(uneven) is None
    # Two nodes joined by two links each way: their four links make a complete bipartite graph.
    assert below(build(parse("CompleteBipartite(2)"))) is None


@pytest.mark.slow
def test_where_many_nodes_have_the_same_neighbours_lifted_labels_win(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    base = "Removed(1, 5, 1, LineGraph(1, RandomRegular(27, 3, 2)))"
    line = build(parse(f"LineGraph(2, {base})"))
    there, _ = cost_of(build(parse(base)), 5)
    here, found = cost_of(line, 7)
    assert here.bandwidth <= there.bandwidth + Fraction(1, 80) + Fraction(1, 240)
    assert found.pieces == 1
    monkeypatch.setattr(solver, "root_graph_of", lambda problem: None)
    monkeypatch.setattr(solver, "_recent", LruCache(1 << 20))
    searched, _ = cost_of(line, 7)
    assert searched.bandwidth > here.bandwidth


def test_labels_are_the_same_whoever_asked_before(monkeypatch: pytest.MonkeyPatch) -> None:
    base, line = "GeneralizedKautz(4, 40)", "LineGraph(1, GeneralizedKautz(4, 40))"
    monkeypatch.setattr(solver, "_recent", LruCache(1 << 20))
    alone = slack_schedule(build(parse(line)), 5)
    monkeypatch.setattr(solver, "_recent", LruCache(1 << 20))
    for asked, steps, moves in ((base, 6, 999), (base, 4, None), (line, 7, 0), (line, 6, None)):
        slack_schedule(build(parse(asked)), steps, moves=moves)
    assert (slack_schedule(build(parse(line)), 5).arrival == alone.arrival).all()


@pytest.mark.parametrize("text", LINES)
def test_line_graphs_too_large_to_be_searched_are_labelled_by_lifting_alone(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    whole = build(parse(text))
    there = below(whole)
    assert there is not None
    steps = measure(whole).steps
    monkeypatch.setattr(solver, "_recent", LruCache(1 << 20))
    monkeypatch.setattr(solver, "MAX_ALONE", 0)
    searched: list[int] = []

    class Counted(solver.LocalSearch):
        def __init__(self, problem, seed: int = 0) -> None:
            searched.append(len(problem.tail))
            super().__init__(problem, seed)

    monkeypatch.setattr(solver, "LocalSearch", Counted)
    assert bfs_schedule(whole).cost == measure(whole)
    for slack in (0, 1):
        here, _ = cost_of(whole, steps + slack, moves=2_000)
        fewer, _ = cost_of(there.graph, steps + slack - 1, moves=2_000)
        assert here.bandwidth <= fewer.bandwidth + Fraction(1, there.graph.node_count)
    assert searched
    assert whole.node_count not in searched
