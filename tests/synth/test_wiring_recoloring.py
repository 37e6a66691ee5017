"""Colorings near to preferred colors, and the bound that prices of ports prove."""

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import LinearConstraint, milp

from topoloom.synth.kernels.splitmix import seeded
from topoloom.synth.wiring.coloring.branches import most_kept
from topoloom.synth.wiring.coloring.chain_joins import join, scratch, undo
from topoloom.synth.wiring.coloring.conflict_walk import Schedule, walk_conflicts
from topoloom.synth.wiring.coloring.conflicts import CROWDED, EXCESS, MOVED, conflicts_of, recolor
from topoloom.synth.wiring.coloring.prices import good_prices
from topoloom.synth.wiring.coloring.problem import ColoringProblem
from topoloom.synth.wiring.coloring.recoloring import recolor_least


@st.composite
def problems(draw, most_nodes=6, most_colors=4, most_edges=12):
    """Any multigraph with a proper coloring, ports for it and a few more, and preferences."""
    nodes, colors = draw(st.integers(2, most_nodes)), draw(st.integers(2, most_colors))
    ends = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1))
    asked = st.tuples(ends.filter(lambda pair: pair[0] != pair[1]), st.integers(0, colors - 1))
    room = draw(st.lists(st.integers(0, 3), min_size=nodes * colors, max_size=nodes * colors))
    room = np.array(room, np.int64).reshape(nodes, colors) // 3
    taken, edges = set(), []
    for (u, v), color in draw(st.lists(asked, min_size=1, max_size=most_edges)):
        if not taken & {(u, color), (v, color)}:
            taken |= {(u, color), (v, color)}
            edges.append((u, v, color))
            room[u, color] = room[v, color] = 1
    first, second, proper = (np.array(side, np.int64) for side in zip(*edges, strict=True))
    likes = draw(
        st.lists(st.booleans(), min_size=len(edges) * colors, max_size=len(edges) * colors)
    )
    likes = np.array(likes).reshape(len(edges), colors)
    if not draw(st.booleans()):
        return ColoringProblem(first, second, room, likes), proper
    # Two nodes become one of several ports for a color; an edge between them goes.
    room = np.add.reduceat(room, range(0, nodes, 2))
    left = first // 2 != second // 2
    assume(left.any())
    return ColoringProblem(first[left] // 2, second[left] // 2, room, likes[left]), proper[left]


def kept_at_most(problem):
    """The edges that keep a preferred color at most, by trying every coloring."""
    edges, colors = problem.likes.shape
    every = (np.array(one) for one in product(range(colors), repeat=edges))
    return max(problem.kept(one) for one in every if problem.is_proper(one))


@settings(deadline=None, max_examples=60)
@given(problems(most_edges=6, most_colors=3))
def test_no_coloring_keeps_more_than_prices_and_the_search_say(problem_and_coloring):
    problem, proper = problem_and_coloring
    best = kept_at_most(problem)
    assert good_prices(problem, proper, 0).most >= best
    found = recolor_least(problem, np.full(len(proper), -1), len(proper))
    if found is not None:
        colors, most = found
        assert problem.is_proper(colors)
        assert problem.kept(colors) <= best <= most


@settings(deadline=None)
@given(problems(), st.integers(0, 99))
def test_a_walk_is_the_same_for_the_same_seed_and_its_best_coloring_is_proper(given_, seed):
    problem, proper = given_
    cost = good_prices(problem, proper, len(proper)).reduced
    schedule = Schedule(0.7, 4.0, 8.0, seed)
    runs = [walk_conflicts(problem, cost, proper, 2000, schedule, len(proper)) for _ in range(2)]
    assert (runs[0][0] == runs[1][0]).all()
    best = runs[0][1]
    assert best is not None and (best == runs[1][1]).all()
    assert problem.is_proper(best) and problem.kept(best) >= problem.kept(proper)


@given(problems(), st.data())
def test_counts_of_conflicts_are_those_of_the_coloring(given_, data):
    problem, proper = given_
    state = conflicts_of(problem, proper)
    edges, colors = problem.likes.shape
    for _ in range(data.draw(st.integers(0, 8))):
        edge = data.draw(st.integers(0, edges - 1))
        color = data.draw(st.integers(0, colors - 1).filter(lambda c, e=edge: c != state.colors[e]))
        recolor(
            edge, color, state.ends, state.likes, state.colors, state.held, state.crowded,
            state.place, state.moved, state.spot, state.sizes,
        )  # fmt: skip
    fresh = conflicts_of(problem, state.colors)
    assert (state.held == fresh.held).all()
    assert (state.sizes == fresh.sizes).all()
    assert (state.sizes[EXCESS] == 0) == problem.is_proper(state.colors)
    assert state.sizes[MOVED] == edges - problem.kept(state.colors)


@settings(deadline=None)
@given(problems(), st.integers(0, 9), st.data())
def test_a_join_keeps_the_counts_of_conflicts_and_undoing_the_join_gives_the_colors_back(
    given_, seed, data
):
    problem, _ = given_
    colors = np.array(
        [data.draw(st.sampled_from(np.flatnonzero(one).tolist())) for one in problem.allowed]
    )
    state, buffers = conflicts_of(problem, colors), scratch(len(problem.room))
    if not state.sizes[CROWDED]:
        return
    cost = 1.0 - problem.likes
    count = join(tuple(state), cost, 9.0, 0.5, seeded(seed), *buffers)
    joined = conflicts_of(problem, state.colors)
    assert (state.held == joined.held).all() and (state.sizes == joined.sizes).all()
    undo(count, tuple(state), cost, buffers[2])
    before = conflicts_of(problem, colors)
    assert (state.colors == colors).all()
    assert (state.held == before.held).all() and (state.sizes == before.sizes).all()


@pytest.mark.parametrize("size", [5, 40, 200])
def test_prices_prove_that_one_color_in_three_keeps_a_third_of_the_edges(size):
    rng = np.random.default_rng(size)
    first = np.tile(np.arange(size), 3)
    second = size + np.concatenate([rng.permutation(size) for _ in range(3)])
    likes = np.tile([True, False, False], (3 * size, 1))
    problem = ColoringProblem(first, second, np.ones((2 * size, 3), np.int64), likes)
    found = recolor_least(problem, np.full(3 * size, -1), 3 * size)
    assert found is not None
    colors, most = found
    assert problem.kept(colors) == most == size


@settings(deadline=None, max_examples=60)
@given(problems(most_edges=6, most_colors=3))
def test_no_coloring_keeps_more_than_branches_of_the_weakest_prices_say(problem_and_coloring):
    problem, proper = problem_and_coloring
    weakest = good_prices(problem, proper, len(proper))  # all prices are 0
    best, kept = kept_at_most(problem), problem.kept(proper)
    assert best <= most_kept(problem, weakest, kept) <= weakest.most
    assert most_kept(problem, weakest, best) >= best


def changed_plant(size, degree, changes, seed):
    """Full panels with a port of every host each, on which some links exchange their targets."""
    rng = np.random.default_rng(seed)
    panels = [rng.permutation(size) for _ in range(degree)]
    first = np.tile(np.arange(size), degree)
    today = np.repeat(np.arange(degree), size)
    second = size + np.concatenate(panels)
    changed = rng.choice(len(first), changes, replace=False)
    likes = np.eye(degree, dtype=bool)[today]
    likes[changed] = False
    second[changed] = np.roll(second[changed], 1)
    problem = ColoringProblem(first, second, np.ones((2 * size, degree), np.int64), likes)
    return problem, np.where(likes.any(axis=1), today, -1)


def fewest_moved(problem):
    """The edges without a preferred color at least, by HiGHS."""
    edges, colors = problem.likes.shape
    nodes = len(problem.room)
    colored, used = np.eye(edges), np.zeros((nodes, edges))
    used[problem.first, np.arange(edges)] = used[problem.second, np.arange(edges)] = 1
    one_color = sparse.csr_array(np.kron(colored, np.ones(colors)))
    one_link = sparse.csr_array(np.kron(used, np.eye(colors)))
    rules = [LinearConstraint(one_color, 1, 1), LinearConstraint(one_link, 0, 1)]
    cost = (~problem.likes).ravel().astype(float)
    found = milp(cost, constraints=rules, integrality=np.ones(len(cost)), bounds=(0, 1))
    assert found.status == 0
    return round(found.fun)


@pytest.mark.slow
@pytest.mark.parametrize(
    "size, changes, seed", [(32, 4, 1), (32, 4, 6), (32, 4, 7), (64, 2, 3), (64, 2, 5), (64, 3, 7)]
)
def test_branches_prove_an_optimum_above_the_linear_program(size, changes, seed):
    problem, claimed = changed_plant(size, 3, changes, seed)
    found = recolor_least(problem, claimed, len(claimed) - changes)
    assert found is not None
    colors, most = found
    assert problem.is_proper(colors)
    relaxed = good_prices(problem, colors, problem.kept(colors)).most
    assert problem.kept(colors) == most == len(claimed) - fewest_moved(problem) < relaxed


@pytest.mark.slow
def test_eight_changed_links_of_full_panels_move_at_most_three_tenths_more_than_the_bound():
    problem, claimed = changed_plant(256, 4, 8, 1)
    found = recolor_least(problem, claimed, len(claimed) - 8)
    assert found is not None
    colors, most = found
    assert problem.is_proper(colors)
    assert 10 * (len(claimed) - problem.kept(colors)) <= 13 * (len(claimed) - most)
