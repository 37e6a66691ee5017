"""Graphs of one's own take part in a search: as they are, expanded, and beside chosen families."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topoloom.synth.edge_swaps.random_regular import random_regular
from topoloom.synth.errors import ImpossibleRequest
from topoloom.synth.evaluation.cost import Cost, Links
from topoloom.synth.evaluation.measure import measure
from topoloom.synth.families import Base, BiRing, Diamond, UniRing
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.search.frontier import frontier
from topoloom.synth.topology.topology import Topology

# The Diamond under another name: (3, 7/8), both bounds at 8 nodes of degree 2.
OWN = Base.of(build(Diamond()))


RING = Base.of(build(BiRing(5)))
# A family without members of the sizes below.
FEW = ["FlagGraph"]


@pytest.mark.parametrize(
    ("nodes", "degree", "recipe", "most"),
    [
        (8, 2, f"{OWN}", Cost(3, Fraction(7, 8))),
        (16, 2, f"LineGraph(1, {OWN})", Cost(4, Fraction(1))),
        (64, 2, f"LineGraph(3, {OWN})", Cost(6, Fraction(17, 16))),
        (16, 4, f"DegreeExpansion(2, {OWN})", Cost(4, Fraction(1))),
        (25, 4, f"Power(2, {RING})", Cost(4, Fraction(24, 25))),
        (24, 3, f"Product(UniRing(3), {OWN})", Cost(5, Fraction(23, 24))),
    ],
)
def test_an_own_base_is_found_as_it_is_and_under_every_operator(nodes, degree, recipe, most):
    own = [base for base in (OWN, RING, UniRing(3)) if nodes % base.nodes == 0]
    points = frontier(nodes, degree, families=FEW, bases=own, schedule="bfb").points
    costs = {str(point.recipe): point.cost for point in points}
    assert recipe in costs
    assert costs[recipe] == measure(build(parse(recipe)))
    assert costs[recipe].steps == most.steps
    assert costs[recipe].bandwidth <= most.bandwidth


@settings(max_examples=6)
@given(st.integers(5, 12), st.integers(2, 3), st.integers(0, 30), st.integers(1, 2))
def test_a_frontier_with_an_own_base_is_nowhere_worse(nodes, degree, seed, times):
    own = Base.of(random_regular(nodes, degree, seed))
    size = nodes * degree ** (times - 1), degree
    without, beside = (
        frontier(*size, bases=bases, schedule="bfb").points for bases in ((), (own,))
    )
    for point in without:
        assert any(
            one.steps <= point.steps
            and one.cost.bandwidth <= point.cost.bandwidth
            and one.transpose.bandwidth <= point.transpose.bandwidth
            for one in beside
        )


def test_labels_are_made_on_own_graphs_too():
    own = Base.of(random_regular(23, 3, 3))
    points = frontier(23, 3, families=FEW, bases=[own]).points
    assert {point.recipe for point in points} == {own}
    assert {point.algorithm for point in points} == {"slack"}


def test_own_bases_are_judged_by_what_is_wanted_as_all_are():
    with pytest.raises(ImpossibleRequest, match="must leave some topology"):
        frontier(8, 2, families=FEW, bases=[OWN], vertex_transitive=True)
    with pytest.raises(ImpossibleRequest):
        frontier(8, 2, Links.BIDIRECTIONAL, families=FEW, bases=[OWN])


@pytest.mark.parametrize(
    ("base", "rule"),
    [
        (OWN, "must have a number of nodes that divides 12"),
        (parse("Complete(6)"), "at most 4 ports; it has 6 nodes of 5"),
        (Base.of(Topology(range(3), [(0, 1), (1, 2), (2, 1)])), "cannot be a base"),
    ],
)
def test_a_base_that_cannot_take_part_is_refused_by_its_place(base, rule):
    with pytest.raises(ImpossibleRequest, match=rule) as caught:
        frontier(12, 4, bases=[parse("Circulant(12, 2, 3)"), base])
    assert caught.value.field == "bases/1"
