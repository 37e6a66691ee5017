"""On which graphs of a frontier moves of labels are tried, and in how many steps."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topoloom.synth.atlas.bundled import bundled_atlas
from topoloom.synth.discovery.short_search import sampled
from topoloom.synth.evaluation.cost import Cost, Links, lower_bound, optimal_bandwidth
from topoloom.synth.evaluation.measure import measure_both
from topoloom.synth.families import Circulant, GeneralizedKautz
from topoloom.synth.recipes.build import build
from topoloom.synth.search import slack_candidates
from topoloom.synth.search.candidates import Candidate
from topoloom.synth.search.frontier import frontier
from topoloom.synth.search.large_sizes import with_large_candidates
from topoloom.synth.search.recipe_enumeration import Constraints
from topoloom.synth.search.slack_candidates import _most_steps_to_search
from topoloom.synth.slack import (
    MAX_STEPS,
    check_slack_schedule,
    portions,
    slack_schedule,
    solver,
)

FAR, NEAR = GeneralizedKautz(4, 61), Circulant(61, 5, 6)


def candidate(recipe, steps, missed):
    cost = Cost(steps, Fraction(60, 61) + Fraction(missed))
    return Candidate(recipe, cost, cost, measured=True, within=steps)


def test_moves_end_before_the_steps_in_which_another_graph_is_far_nearer_the_bound():
    there = [candidate(FAR, 4, "2/5"), candidate(FAR, 5, "1/3"), candidate(NEAR, 6, "1/25")]
    assert _most_steps_to_search(FAR, there, 61) == 5
    assert _most_steps_to_search(NEAR, there, 61) == MAX_STEPS


def test_moves_go_on_where_other_graphs_are_not_far_nearer():
    there = [candidate(FAR, 4, "1/5"), candidate(NEAR, 6, "1/40")]
    assert _most_steps_to_search(FAR, there, 61) == MAX_STEPS


def test_a_graph_at_the_bound_is_not_behind_another():
    there = [candidate(FAR, 4, 0), candidate(NEAR, 4, 0)]
    assert _most_steps_to_search(FAR, there, 61) == MAX_STEPS


def test_moves_go_on_on_a_graph_that_is_far_behind_in_one_direction_only():
    one_way = replace(candidate(FAR, 4, "2/5"), cost=Cost(4, Fraction(60, 61) + Fraction(1, 10)))
    assert _most_steps_to_search(FAR, [one_way, candidate(NEAR, 6, "1/25")], 61) == MAX_STEPS


def ring(nodes, steps):
    cost = Cost(steps, optimal_bandwidth(nodes))
    return (Candidate(Circulant(nodes, 1), cost, cost, measured=True),)


@pytest.mark.parametrize(
    ("constraints", "nodes", "degree"),
    [
        (Constraints(vertex_transitive=True), 4001, 4),
        (Constraints(), 2503, 9),
        (Constraints(), 1009, 4),
    ],
)
def test_nothing_is_added_where_symmetry_is_wanted_labels_cannot_be_made_or_were(
    constraints, nodes, degree
):
    found = ring(nodes, 40)
    assert with_large_candidates(found, constraints, nodes, degree) is found


@pytest.mark.parametrize(
    ("two_way", "nodes", "degree", "steps"),
    [(False, 4096, 4, 6), (True, 4000, 6, 5), (False, 9001, 5, 6)],
)
def test_nothing_is_added_to_what_is_even_in_as_few_steps_as_can_be(two_way, nodes, degree, steps):
    found = ring(nodes, steps)
    assert with_large_candidates(found, Constraints(bidirectional=two_way), nodes, degree) == found


@pytest.mark.parametrize(
    ("two_way", "nodes", "degree", "more", "most"),
    [
        (False, 4093, 4, 1, "1.09"),
        (False, 4306, 6, 1, "1.02"),
        (True, 4194, 5, 2, "1.03"),
    ],
)
@pytest.mark.slow
def test_large_sizes_have_points_of_few_steps(two_way, nodes, degree, more, most):
    links = Links.BIDIRECTIONAL if two_way else Links.UNIDIRECTIONAL
    least = lower_bound(nodes, degree, links).steps
    graphs = with_large_candidates(
        ring(nodes, 40), Constraints(bidirectional=two_way), nodes, degree
    )
    near = [max(c.bandwidth for c in one.costs) for one in graphs if one.steps <= least + more]
    assert min(near) <= Fraction(most)


@pytest.mark.slow
def test_portions_of_the_roots_serve_larger_sizes(monkeypatch):
    monkeypatch.setattr(solver, "MAX_AT_ONCE", 1 << 21)
    monkeypatch.setattr(solver, "_recent", type(solver._recent)(0))
    monkeypatch.setattr(portions, "PORTION", 1 << 20)
    least = lower_bound(2203, 4, Links.UNIDIRECTIONAL).steps
    graphs = with_large_candidates(ring(2203, 40), Constraints(), 2203, 4)
    near = [max(c.bandwidth for c in one.costs) for one in graphs if one.steps <= least + 2]
    assert min(near) <= Fraction(102, 100)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("nodes", "degree", "links", "more"),
    [
        (2053, 3, Links.UNIDIRECTIONAL, 3),
        (2503, 4, Links.BIDIRECTIONAL, 3),
        (7001, 7, Links.UNIDIRECTIONAL, 2),
        *(
            pytest.param(*case, marks=pytest.mark.exhaustive)
            for case in [
                (3806, 4, Links.UNIDIRECTIONAL, 2),
                (2503, 4, Links.UNIDIRECTIONAL, 2),
                (4801, 5, Links.UNIDIRECTIONAL, 2),
                (6007, 3, Links.UNIDIRECTIONAL, 2),
                (6007, 4, Links.BIDIRECTIONAL, 4),
            ]
        ),
    ],
)
def test_large_primes_have_the_least_bandwidth_in_few_steps_by_labels(nodes, degree, links, more):
    found = frontier(nodes, degree, links)
    best = next(one for one in found.points if one.gap(found.bounds).bandwidth == 0)
    assert best.within is not None
    assert best.steps <= found.bounds.steps + more
    topology = build(best.recipe)
    made = slack_schedule(topology, best.within)
    assert made.cost == best.cost
    assert check_slack_schedule(topology, made) == made.cost


@pytest.mark.slow
def test_sizes_beyond_the_atlas_are_sampled_for_both_kinds_of_links():
    for links in Links:
        costs = [measure_both(build(one), [0]) for one in sampled(4608, 4, links)]
        assert any(cost.bandwidth == optimal_bandwidth(4608) for cost, _ in costs)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("nodes", "degree"), [(2503, 4), (2503, 6), pytest.param(4306, 6, marks=pytest.mark.slow)]
)
def test_large_sizes_keep_the_points_of_broadcast_that_have_the_fewest_steps(nodes, degree):
    eager, best = (frontier(nodes, degree, schedule=one).points for one in ("bfb", "best"))
    assert min(point.steps for point in best) <= min(point.steps for point in eager)
    for point in eager:
        assert any(
            one.steps <= point.steps
            and one.cost.bandwidth <= point.cost.bandwidth
            and one.transpose.bandwidth <= point.transpose.bandwidth
            for one in best
        )


def test_labels_that_take_fewer_steps_than_they_were_found_within_are_kept():
    # Within 7 steps labels are found that take 6 and are even; within 6 they are not.
    points = frontier(837, 4).points
    even = [one for one in points if one.gap(lower_bound(837, 4)).bandwidth == 0]
    assert min(one.steps for one in even) == 6
    best = min(even, key=lambda one: one.steps)
    assert best.within is not None
    graph = build(best.recipe)
    assert slack_schedule(graph, best.within).cost == best.cost


def undecided_sizes():
    """Small sizes of the atlas with a slack schedule at the bound, and other graphs beside it."""
    slack = [one for one in bundled_atlas() if one.within and one.mean_cost.bandwidth < 1]
    sizes = {(one.nodes, one.degree, one.links) for one in slack if one.nodes <= 150}
    return sorted(sizes)


@pytest.mark.slow
@settings(max_examples=12)
@given(st.sampled_from(undecided_sizes()))
def test_graphs_that_cannot_beat_a_claim_of_the_atlas_may_be_left_out(size):
    left_out = frontier(*size)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slack_candidates, "_is_beaten", lambda *_: False)
        assert frontier(*size) == left_out
