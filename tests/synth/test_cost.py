"""Costs are exact, bounds are bounds, and seconds follow the one cost model."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import for_every
from tests.cost_oracles import broadcast_cost
from tests.synth.catalogue import SMALL, built, cost_of
from topoloom.synth.errors import InvalidRecipe, OutOfDomain
from topoloom.synth.evaluation.cost import (
    Cost,
    Links,
    expand_degree,
    expand_line_graph,
    expand_product,
    lower_bound,
    optimal_bandwidth,
)
from topoloom.synth.recipes.claims import claim, claim_transpose
from topoloom.synth.recipes.recipe import parse


def _moore_steps(nodes, degree, links):
    """Grow a tree level by level until it can hold all nodes."""
    tree = level = 1
    steps = 0
    while tree < nodes:
        back = 1 if links is Links.BIDIRECTIONAL and steps > 0 else 0
        level *= degree - back
        tree += level
        steps += 1
    return steps


@given(st.integers(2, 500), st.integers(1, 12), st.sampled_from(Links))
def test_no_tree_of_fewer_levels_holds_all_nodes(nodes, degree, links):
    if links is Links.BIDIRECTIONAL and degree == 1 and nodes > 2:
        with pytest.raises(OutOfDomain):
            lower_bound(nodes, degree, links)
        return
    bound = lower_bound(nodes, degree, links)
    assert bound == Cost(_moore_steps(nodes, degree, links), Fraction(nodes - 1, nodes))


def test_the_bound_of_a_huge_ring_is_found_at_once():
    assert lower_bound(10**9, 1).steps == 10**9 - 1
    assert lower_bound(10**9, 2, Links.BIDIRECTIONAL).steps == 5 * 10**8


@pytest.mark.parametrize(("nodes", "degree", "field"), [(1, 4, "nodes"), (4, 0, "degree")])
def test_bounds_need_two_nodes_and_a_link(nodes, degree, field):
    with pytest.raises(OutOfDomain) as caught:
        lower_bound(nodes, degree)
    assert caught.value.field == field


@for_every("recipe", SMALL)
def test_no_graph_goes_below_the_bounds(recipe):
    graph = built(recipe)
    links = Links.BIDIRECTIONAL if graph.is_bidirectional else Links.UNIDIRECTIONAL
    bound = lower_bound(graph.node_count, graph.degree, links)
    assert bound.steps <= cost_of(recipe).steps
    assert bound.bandwidth <= cost_of(recipe).bandwidth


def test_costs_order_by_steps_then_bandwidth():
    costs = [Cost(3, Fraction(1)), Cost(2, Fraction(2)), Cost(3, Fraction(7, 8))]
    assert sorted(costs) == [costs[1], costs[2], costs[0]]


@given(st.integers(2, 100), st.integers(1, 6), st.integers(1, 5), st.integers(1, 5))
def test_line_graphs_taken_twice_are_line_graphs_of_line_graphs(nodes, degree, once, more):
    cost = Cost(4, Fraction(1))
    halfway = expand_line_graph(cost, nodes, degree, once)
    assert expand_line_graph(cost, nodes, degree, once + more) == expand_line_graph(
        halfway, nodes * degree**once, degree, more
    )


@given(st.integers(2, 50), st.integers(1, 6), st.integers(2, 6), st.integers(1, 4))
def test_expansions_of_optimal_bandwidth_stay_optimal(nodes, degree, factor, times):
    cost = Cost(3, optimal_bandwidth(nodes))
    copies = expand_degree(cost, nodes, degree, factor)
    assert copies == Cost(4, optimal_bandwidth(nodes * factor))
    power = expand_product([cost] * times, [nodes] * times)
    assert power == Cost(3 * times, optimal_bandwidth(nodes**times))


def test_degree_expansion_by_one_changes_nothing():
    assert expand_degree(Cost(3, Fraction(5, 4)), 8, 2, 1) == Cost(3, Fraction(5, 4))


def test_nothing_is_said_of_products_with_a_factor_that_is_not_optimal():
    assert expand_product([Cost(3, Fraction(1))] * 2, [8, 8]) is None


def test_claims_speak_of_the_transpose_as_well():
    recipe = parse("LineGraph(2, CompleteBipartite(3))")
    assert claim(recipe) == claim_transpose(recipe)


def test_there_is_no_claim_for_what_no_theorem_covers():
    for text in ("GeneralizedKautz(3, 10)", "Power(2, DeBruijn(2, 3))", "DeBruijn(2, 5)"):
        assert claim(parse(text)) is None
    assert claim(parse("Product(UniRing(2), UniRing(2, 2))")) is None


def test_claims_of_what_cannot_be_built_are_refused():
    with pytest.raises(InvalidRecipe):
        claim(parse("Rhombus(4)"))
    with pytest.raises(OutOfDomain):
        claim(parse("UniRing(1)"))
    with pytest.raises(OutOfDomain):
        claim_transpose(parse("LineGraph(20, Complete(4))"))


def test_the_oracle_knows_a_ring_by_heart():
    # One shard a step on every link, two ways from the second step of the odd ring on.
    assert broadcast_cost(built(parse("UniRing(5)"))) == Cost(4, Fraction(4, 5))
    assert broadcast_cost(built(parse("BiRing(5)"))) == Cost(2, Fraction(4, 5))
