"""Slack schedules planned for portions of the roots: each proves its cost, and few lose much."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.synth.test_deadlines import SYMMETRIC, problems, symmetric
from topoloom.synth.edge_swaps.random_regular import random_regular
from topoloom.synth.evaluation.cost import Links, optimal_bandwidth
from topoloom.synth.evaluation.measure import diameter, measure
from topoloom.synth.kernels.splitmix import seeded
from topoloom.synth.slack import (
    GraphAndTranspose,
    check_slack_schedule,
    portions,
    slack_frontier,
    slack_schedule,
    solver,
)
from topoloom.synth.slack.deadlines import plan_memory
from topoloom.synth.slack.distances import distances
from topoloom.synth.slack.greedy import greedy
from topoloom.synth.slack.load_tables import load_tables
from topoloom.synth.slack.portions import PortionedSearch
from topoloom.synth.slack.problem import slack_problem
from topoloom.synth.topology.topology import Topology


@pytest.fixture
def tiny_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plan every graph in portions of a few roots."""
    monkeypatch.setattr(solver, "MAX_AT_ONCE", 0)
    monkeypatch.setattr(portions, "PORTION", 1000)
    # Solvers of other tests are not found again.
    monkeypatch.setattr(solver, "_recent", type(solver._recent)(0))


def check_portions(problem: Any, more: int) -> None:
    """Check the counted cells against arrival steps, and these against the theorem's loads."""
    search = PortionedSearch(problem)
    distance = search.distance
    assert search.eccentricity == distance.max()
    broadcast = load_tables(problem, distance, np.zeros(search.eccentricity + 1, np.int64))
    assert (search.shortest == broadcast.filled).all()
    steps = search.eccentricity + more
    draft = search.find(steps, 0)
    counted = load_tables(problem, draft.arrival, draft.loads)
    assert not counted.excess.any()
    # The counts leave out the shards at their roots, which arrive in step 0.
    assert (search.filled(steps)[:, 1:] == counted.filled[:, 1:]).all()
    assert draft.total >= search.least


@given(problems(90), st.integers(0, 2), st.integers(1, 30))
@settings(max_examples=20)
def test_portions_of_any_size_share_the_links(problem, more, rows):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(portions, "PORTION", rows * len(problem.tail))
        check_portions(problem, more)


def check_words(problem: Any, more: int, seed: int) -> None:
    """Check a single portion against the greedy search that handles cells one by one."""
    distance, height = distances(problem)
    steps = int(distance.max()) + more
    memory = plan_memory(problem, steps)
    arrival, loads, _ = greedy(problem, height, memory, 0, 0, 0, True, seeded(seed, steps))
    draft = PortionedSearch(problem, seed).find(steps, 0)
    assert (draft.loads == loads).all()
    assert (draft.arrival == arrival).all()


@given(problems(150), st.integers(0, 3), st.integers(0, 9))
@settings(max_examples=10)
def test_cells_chosen_by_words_are_those_chosen_one_by_one(problem, more, seed):
    check_words(problem, more, seed)


@st.composite
def uneven_problems(draw: Any) -> Any:
    """A ring with some other links, of any capacities, and shards of a few pieces."""
    nodes = draw(st.integers(3, 40))
    ring = [(node, (node + 1) % nodes) for node in range(nodes)]
    ends = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1))
    others = draw(st.lists(ends.filter(lambda pair: pair[0] != pair[1]), max_size=80))
    into = Counter(target for _, target in ring)
    kept = [pair for pair in others if into.update([pair[1]]) or into[pair[1]] <= 6]
    links = [(*pair, draw(st.integers(1, 3))) for pair in (*ring, *kept)]
    graph = Topology(range(nodes), links)
    return slack_problem(graph, np.arange(nodes)[None], draw(st.integers(1, 3)))


@given(uneven_problems(), st.integers(0, 2), st.integers(0, 9))
@settings(max_examples=20)
def test_links_may_differ_and_shards_have_pieces(problem, more, seed):
    check_words(problem, more, seed)


@pytest.mark.parametrize("text", SYMMETRIC)
def test_words_choose_the_same_cells_for_every_node_of_an_orbit(text):
    for more in range(4):
        check_words(symmetric(text), more, seed=more)


@pytest.mark.slow
def test_words_choose_the_same_cells_of_many_roots():
    for links in Links:
        graph = random_regular(700, 5 + (links is Links.BIDIRECTIONAL), 3, links)
        check_words(slack_problem(graph, np.arange(700)[None]), 0, seed=1)


@pytest.mark.parametrize("text", SYMMETRIC)
def test_a_portion_holds_one_root_of_some_orbits(text, monkeypatch):
    monkeypatch.setattr(portions, "PORTION", 1)
    for more in range(3):
        check_portions(symmetric(text), more)


@pytest.mark.usefixtures("tiny_portions")
def test_schedules_in_portions_prove_their_costs():
    graph = random_regular(150, 4, seed=1)
    for found in slack_frontier(graph):
        assert check_slack_schedule(graph, found) == found.cost
    assert found.cost.bandwidth <= measure(graph).bandwidth
    assert slack_frontier(graph)[0].cost.steps == diameter(graph)


@pytest.mark.usefixtures("tiny_portions")
def test_a_frontier_keeps_the_costs_of_portions_alone():
    graph = random_regular(150, 4, seed=1)
    whole = GraphAndTranspose(graph).points(None, 0)
    counted = GraphAndTranspose(graph).points(None, 0, whole=False)
    assert [one.costs for one in counted] == [one.costs for one in whole]
    assert all(len(one.gather.arrival) == 0 for one in counted)
    assert all(one.gather.arrival.shape == (150, 150) for one in whole)


@pytest.mark.usefixtures("tiny_portions")
def test_portions_lose_little(monkeypatch):
    monkeypatch.setattr(portions, "PORTION", 100_000)
    graph = random_regular(600, 4, seed=2)
    found = slack_schedule(graph, diameter(graph))
    assert found.cost.bandwidth <= optimal_bandwidth(600) * 103 / 100
    assert found.cost.bandwidth < measure(graph).bandwidth * 95 / 100
