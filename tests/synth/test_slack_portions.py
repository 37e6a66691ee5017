"""Slack schedules planned for portions of the roots: each proves its cost, and few lose much."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.synth.test_deadlines import SYMMETRIC, problems, symmetric
from topoloom.synth.edge_swaps.random_regular import random_regular
from topoloom.synth.evaluation.cost import optimal_bandwidth
from topoloom.synth.evaluation.measure import diameter, measure
from topoloom.synth.slack import (
    GraphAndTranspose,
    check_slack_schedule,
    portions,
    slack_frontier,
    slack_schedule,
    solver,
)
from topoloom.synth.slack.load_tables import load_tables
from topoloom.synth.slack.portions import PortionedSearch


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
