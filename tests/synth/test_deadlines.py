"""Plans of labels: whoever may wait can wait, whoever must come is few, and all come in time."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topoloom.synth.edge_swaps.random_regular import random_regular
from topoloom.synth.evaluation.cost import Cost, Links, optimal_bandwidth
from topoloom.synth.evaluation.measure import diameter, measure
from topoloom.synth.kernels.splitmix import seeded
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.slack import check_slack_schedule, initial_schedules, slack_schedule
from topoloom.synth.slack.deadlines import plan_deadlines, plan_memory
from topoloom.synth.slack.distances import distances
from topoloom.synth.slack.greedy import FAR, greedy
from topoloom.synth.slack.initial_schedules import InitialSchedules
from topoloom.synth.slack.problem import slack_problem
from topoloom.synth.symmetry.semiregular_groups import semiregular_group


@st.composite
def problems(draw: Any, largest: int = 150) -> Any:
    """Random regular graphs of either kind of links, mostly of more than one word of roots."""
    links = draw(st.sampled_from(Links))
    degree = draw(st.integers(2 + (links is Links.BIDIRECTIONAL), 6))
    nodes = draw(st.integers(2 * degree + 2, largest).filter(lambda n: n * degree % 2 == 0))
    graph = random_regular(nodes, degree, draw(st.integers(0, 9)), links)
    return slack_problem(graph, np.arange(nodes)[None])


SYMMETRIC = ["Cayley(13, 3, 6, 14, 28, 42)", "Torus(3, 4, 5)", "LineGraph(1, Circulant(40, 1, 7))"]


def symmetric(text: str) -> Any:
    graph = build(parse(text))
    return slack_problem(graph, semiregular_group(graph))


def begun(problem: Any, step: int, part: float, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return labels and masks before a step: in each before it a part of what could come came."""
    nodes, rows = len(problem.tail), len(problem.roots)
    label = np.full((nodes, rows), FAR, np.int8)
    label[problem.roots, np.arange(rows)] = 0
    for now in range(1, step):
        able = masks(problem, label) > 0
        label[able & (rng.random(able.shape) < part)] = now
    return label, masks(problem, label)


def masks(problem: Any, label: Any) -> Any:
    """Return the links that are open to cells that have no label."""
    mask = np.zeros(label.shape, np.uint8)
    for k in range(problem.tail.shape[1]):
        there = problem.tail[:, k]
        mask |= ((there >= 0)[:, None] & (label[there] < FAR)).astype(np.uint8) << np.uint8(k)
    mask[label < FAR] = 0
    return mask


def earliest(problem: Any, label: Any, step: int, wait: Any) -> Any:
    """Return when cells can come from a step on; those that ``wait`` a step later at least."""
    when = np.where(label < FAR, label.astype(int), 1000)
    while True:
        before = when.copy()
        for k in range(problem.tail.shape[1]):
            there = problem.tail[:, k]
            open_after = np.where((there >= 0)[:, None], when[there], 1000)
            when = np.minimum(when, np.maximum(open_after + 1, step + wait))
        if (before == when).all():
            return when


def planned(problem: Any, label: Any, mask: Any, step: int, steps: int, rounds: int) -> Any:
    height = np.full(label.shape, -9, np.int16)
    plan_deadlines(problem, label, mask, step, rounds, 3, plan_memory(problem, steps), height)
    return height


@given(problems(), st.integers(1, 4), st.integers(0, 2), st.integers(1, 4), st.floats(0.2, 1))
@settings(max_examples=60)
def test_all_others_come_in_time_where_the_urgent_come_and_nobody_else(
    problem, step, more, rounds, part
):
    label, mask = begun(problem, step, part, np.random.default_rng(step))
    nobody = np.zeros(label.shape, bool)
    steps = max(int(earliest(problem, label, step, nobody).max()), step) + more
    if steps == step:
        return
    height = planned(problem, label, mask, step, steps, rounds)
    able = mask > 0
    assert (height[~able] == -9).all()
    assert (height[able] >= max(0, steps - step - 3)).all()
    assert (height[able] <= steps - step).all()
    urgent = able & (height == steps - step)
    assert earliest(problem, label, step, ~urgent).max() <= steps


@given(problems(), st.integers(1, 3))
@settings(max_examples=30)
def test_no_cell_is_urgent_that_no_shortest_path_makes_so(problem, rounds):
    distance, high = distances(problem)
    steps = int(distance.max())
    label, mask = begun(problem, 1, 1, np.random.default_rng(0))
    height = planned(problem, label, mask, 1, steps, rounds)
    assert (high[height == steps - 1] == steps - 1).all()


def test_few_cells_are_urgent_where_shortest_paths_make_nearly_all_so():
    problem = slack_problem(random_regular(300, 3, 1), np.arange(300)[None])
    distance, high = distances(problem)
    steps, step = int(distance.max()), 5
    label, mask = begun(problem, step, 1, np.random.default_rng(0))
    height = planned(problem, label, mask, step, steps, 1)
    able = mask > 0
    urgent = int((able & (height == steps - step)).sum())
    by_paths = int((able & (high >= steps - step)).sum())
    assert 0 < 2 * urgent < by_paths


@pytest.mark.slow
@given(problems(80), st.integers(1, 3), st.integers(0, 2))
@settings(max_examples=30)
def test_greedy_labels_by_plans_lack_nothing_and_keep_the_theorem(problem, rounds, more):
    check_greedy(problem, rounds, more)


@pytest.mark.parametrize("text", SYMMETRIC)
@pytest.mark.parametrize("rounds", [1, 3])
def test_plans_serve_one_root_of_every_orbit(text, rounds):
    for more in range(3):
        check_greedy(symmetric(text), rounds, more)


def check_greedy(problem: Any, rounds: int, more: int) -> None:
    """Check labels made by plans against the label theorem, set by set."""
    distance, high = distances(problem)
    steps = int(distance.max()) + more
    made = plan_memory(problem, steps)
    label, loads, left = greedy(problem, high.copy(), made, rounds, 0, 0, True, seeded(1))
    assert left == 0
    assert loads.sum() >= problem.pieces * (len(label) - 1)
    degree = problem.tail.shape[1]
    filled = np.zeros((len(problem.members), steps + 1, 1 << degree), int)
    for node, row in np.ndindex(label.shape):
        if node == problem.roots[row]:
            continue
        came = [v >= 0 and label[v, row] < label[node, row] for v in problem.tail[node]]
        mask = sum(int(one) << k for k, one in enumerate(came))
        assert mask > 0
        for links in range(1 << degree):
            filled[problem.group[node], label[node, row], links] += mask & ~links == 0
    for one, step in np.ndindex(filled.shape[:2]):
        room = problem.weight[problem.kind[one]] * loads[step] // problem.unit
        assert step == 0 or (filled[one, step] <= room).all()


def test_labels_are_even_where_shortest_paths_make_them_a_sixth_too_many():
    text = "Removed(1, 6, 1, LineGraph(1, CayleySymmetric(5, 10, 31, 108)))"
    graph = build(parse(text)).transpose()
    problem = slack_problem(graph, np.arange(359)[None])
    _, high = distances(problem)
    made = plan_memory(problem, 6)
    _, loads, left = greedy(problem, high, made, 0, 0, 0, True, seeded(1))
    assert (left, int(loads.sum())) == (0, 414)
    found = slack_schedule(graph, 6, moves=0)
    assert check_slack_schedule(graph, found) == Cost(6, Fraction(358, 359))


def test_nothing_is_planned_where_that_would_take_long(monkeypatch):
    text = "Inserted(2, 7, 1, LineGraph(2, Cayley(11, 9, 5, 27, 41, 45)))"
    problem = slack_problem(build(parse(text)).transpose(), np.arange(497)[None])
    quick = InitialSchedules(problem, 0).quick(7)
    monkeypatch.setattr(initial_schedules, "_MOST_PLANNED", 7**2 * 497**2 - 1)
    unplanned = InitialSchedules(problem, 0)
    assert unplanned.quick(7).total == unplanned.planned(7).total > quick.total


@pytest.mark.parametrize("seed", range(6))
def test_labels_of_many_cells_prove_what_they_claim_and_moves_only_win(seed):
    draw = np.random.default_rng(seed)
    nodes, degree = int(draw.integers(448, 800)), int(draw.integers(2, 7))
    graph = random_regular(nodes, degree, seed)
    steps = diameter(graph) + int(draw.integers(0, 2))
    quick, long = slack_schedule(graph, steps, moves=0), slack_schedule(graph, steps)
    for found in (quick, long):
        assert check_slack_schedule(graph, found) == found.cost
    assert optimal_bandwidth(nodes) <= long.cost.bandwidth <= quick.cost.bandwidth
    assert quick.cost.bandwidth <= measure(graph).bandwidth
