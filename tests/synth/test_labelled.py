"""On which graphs of a frontier moves of labels are tried, and in how many steps."""

from fractions import Fraction

import pytest

from synth.bases import Circulant, GeneralizedKautz
from synth.build import build
from synth.candidates import Candidate
from synth.catalogue import Wanted
from synth.cost import Cost, Links, optimal_bandwidth
from synth.discovery.sampled import sampled
from synth.labelled import _hopeful, evened
from synth.labels import MAX_STEPS, check_labels, labels
from synth.measure import measure_both
from synth.search import frontier

FAR, NEAR = GeneralizedKautz(4, 61), Circulant(61, 5, 6)


def candidate(recipe, steps, missed):
    cost = Cost(steps, Fraction(60, 61) + Fraction(missed))
    return Candidate(recipe, cost, cost, measured=True, within=steps)


def test_moves_end_before_the_steps_in_which_another_graph_is_far_nearer_the_bound():
    there = [candidate(FAR, 4, "2/5"), candidate(FAR, 5, "1/3"), candidate(NEAR, 6, "1/25")]
    assert _hopeful(FAR, there, 61) == 5
    assert _hopeful(NEAR, there, 61) == MAX_STEPS


def test_moves_go_on_where_other_graphs_are_not_far_nearer():
    there = [candidate(FAR, 4, "1/5"), candidate(NEAR, 6, "1/40")]
    assert _hopeful(FAR, there, 61) == MAX_STEPS


def test_a_graph_at_the_bound_is_not_behind_another():
    there = [candidate(FAR, 4, 0), candidate(NEAR, 4, 0)]
    assert _hopeful(FAR, there, 61) == MAX_STEPS


@pytest.mark.parametrize(
    ("wanted", "nodes", "degree", "steps"),
    [
        (Wanted(), 4096, 4, 8),
        (Wanted(bidirectional=True), 4000, 4, 12),
        (Wanted(vertex_transitive=True), 4001, 4, 40),
        (Wanted(), 5003, 4, 40),
        (Wanted(), 2503, 9, 40),
        (Wanted(), 1009, 4, 40),
    ],
)
def test_labels_that_take_long_are_left_out_where_others_are_even_in_few_steps_or_they_are_too_many(
    wanted, nodes, degree, steps
):
    cost = Cost(steps, optimal_bandwidth(nodes))
    found = (Candidate(Circulant(nodes, 1), cost, cost, measured=True),)
    assert evened(found, wanted, nodes, degree) is found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("nodes", "degree", "links", "more"),
    [
        (2053, 3, Links.UNIDIRECTIONAL, 3),
        (2503, 4, Links.UNIDIRECTIONAL, 2),
        (2503, 4, Links.BIDIRECTIONAL, 3),
    ],
)
def test_large_primes_have_the_least_bandwidth_in_few_steps_by_labels(nodes, degree, links, more):
    found = frontier(nodes, degree, links)
    best = next(one for one in found.points if one.gap(found.bounds).bandwidth == 0)
    assert best.within is not None
    assert best.steps <= found.bounds.steps + more
    topology = build(best.recipe)
    made = labels(topology, best.within)
    assert made.cost == best.cost
    check_labels(topology, made)


def test_sizes_beyond_the_atlas_are_sampled_for_both_kinds_of_links():
    for links in Links:
        costs = [measure_both(build(one), [0]) for one in sampled(4608, 4, links)]
        assert any(cost.bandwidth == optimal_bandwidth(4608) for cost, _ in costs)
