"""On which graphs of a frontier moves of labels are tried, and in how many steps."""

from fractions import Fraction

from synth.bases import Circulant, GeneralizedKautz
from synth.candidates import Candidate
from synth.cost import Cost
from synth.labelled import _hopeful
from synth.labels import MAX_STEPS

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
