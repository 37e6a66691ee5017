"""What lifting costs, operator by operator, as the theorems say."""

from fractions import Fraction

import numpy as np
import pytest

from tests.schedules.lifted_recipes import (
    BIDIRECTED,
    DEGREE_EXPANSIONS,
    LINE_GRAPHS,
    lifted,
)
from topoloom.schedules.steps import bfb, lift
from topoloom.schedules.steps.lift import cartesian_product
from topoloom.schedules.steps.send_arrays import arrivals, normalized_schedule
from topoloom.schedules.verify import step_cost
from topoloom.synth.evaluation.cost import expand_degree, expand_line_graph, optimal_bandwidth
from topoloom.synth.evaluation.measure import measure
from topoloom.synth.recipes.build import build, size, traits
from topoloom.synth.recipes.recipe import Power, parse


@pytest.mark.parametrize("text", [text for text in LINE_GRAPHS if "(1," in text])
def test_a_line_graph_adds_a_step_and_at_most_an_nth(text):
    recipe = parse(text)
    nodes, degree = size(recipe.of)
    bound = expand_line_graph(measure(build(recipe.of)), nodes, degree)
    _, _, cost = lifted(recipe)
    assert cost.steps <= bound.steps and cost.bandwidth <= bound.bandwidth


@pytest.mark.parametrize(
    "text", [text for text in DEGREE_EXPANSIONS if traits(parse(text)).regular]
)
def test_a_degree_expansion_of_a_regular_graph_adds_exactly_what_the_copies_need(text):
    recipe = parse(text)
    bound = expand_degree(measure(build(recipe.of)), *size(recipe.of), recipe.factor)
    _, _, cost = lifted(recipe)
    assert cost.bandwidth == bound.bandwidth
    assert cost.steps <= bound.steps


@pytest.mark.parametrize("times", [1, 2, 3])
@pytest.mark.parametrize("text", ["DeBruijn(2, 3)", "Kautz(2, 2)", "BiRing(4)", "UniRing(3, 2)"])
def test_a_power_costs_what_its_theorem_says_whatever_the_base(text, times):
    base = build(parse(text))
    cost, nodes = measure(base), base.node_count
    schedule = cartesian_product.power(bfb.allgather(base), times)
    power = build(Power(times, parse(text)))
    found = step_cost(normalized_schedule(schedule, power), power)
    assert found.steps == times * cost.steps
    assert found.bandwidth == (
        cost.bandwidth * Fraction(nodes, nodes - 1) * Fraction(nodes**times - 1, nodes**times)
    )


def test_dimension_by_dimension_a_power_may_be_cheaper_than_breadth_first():
    recipe = parse("Power(2, DeBruijn(2, 3))")
    _, topology, cost = lifted(recipe)
    assert (cost.bandwidth, measure(topology).bandwidth) == (Fraction(63, 32), 2)


@pytest.mark.parametrize("text", BIDIRECTED)
def test_a_bidirected_graph_costs_no_more_than_its_halves_side_by_side(text):
    recipe = parse(text)
    topology = build(recipe)
    _, degree = size(recipe.of)
    there, back = measure(build(recipe.of)), measure(build(recipe.of).transpose())
    _, _, cost = lifted(recipe)
    assert cost.steps == max(there.steps, back.steps)
    # Each half loads a link with half of what it does alone.
    bound = (there.bandwidth + back.bandwidth) / 2 * Fraction(topology.degree, degree)
    assert cost.bandwidth <= bound


@pytest.mark.parametrize("text", ["Bidirected(UniRing(6))", "Bidirected(Cayley(5, 2, 4, 5, 16))"])
def test_a_one_way_graph_keeps_its_bandwidth_when_it_is_bidirected(text):
    recipe = parse(text)
    _, _, cost = lifted(recipe)
    assert cost == measure(build(recipe.of))


@pytest.mark.parametrize("text", ["Power(3, BiRing(4))", "Product(Complete(4), UniRing(5))"])
def test_products_of_optimal_factors_keep_to_shortest_paths_and_the_optimum(text):
    schedule, topology, cost = lifted(parse(text))
    assert cost == measure(topology)
    assert cost.bandwidth == optimal_bandwidth(topology.node_count)
    shortest = arrivals(bfb.allgather(topology)).step
    assert np.array_equal(arrivals(schedule).step, shortest)


@pytest.mark.parametrize(
    "text",
    [
        "LineGraph(1, Bidirected(UniRing(5)))",
        "LineGraph(1, Power(2, Kautz(2, 2)))",
        "LineGraph(1, Bidirected(LineGraph(1, Complete(4))))",
    ],
)
def test_a_part_is_broadcast_breadth_first_where_that_is_better(text):
    recipe = parse(text)
    part = measure(build(recipe.of))
    _, _, alone = lifted(recipe.of)
    assert part.steps <= alone.steps and part.bandwidth <= alone.bandwidth and part != alone
    _, _, cost = lifted(recipe)
    bound = expand_line_graph(part, *size(recipe.of))
    assert cost.steps <= bound.steps and cost.bandwidth <= bound.bandwidth


def test_a_part_is_lifted_where_that_is_cheaper():
    recipe = parse("DegreeExpansion(2, Power(2, DeBruijn(2, 3)))")
    _, _, cost = lifted(recipe)
    broadcast = expand_degree(measure(build(recipe.of)), *size(recipe.of), recipe.factor)
    assert cost.bandwidth < broadcast.bandwidth


@pytest.mark.parametrize(
    ("text", "chunks"),
    [
        ("Circulant(16, 3, 4)", 4),
        ("LineGraph(1, Circulant(16, 3, 4))", 1),
        ("Hypercube(5)", 5),
        ("LineGraph(1, Hypercube(5))", 1),
        ("GeneralizedKautz(5, 36)", 2),
        ("LineGraph(1, GeneralizedKautz(5, 36))", 2),
    ],
)
def test_a_line_graph_hands_on_whole_shards_where_it_can(text, chunks):
    assert lift.allgather(parse(text)).chunks_per_shard == chunks


def test_a_product_of_rings_is_cut_into_few_chunks():
    assert lift.allgather(parse("Product(UniRing(20), UniRing(30))")).chunks_per_shard == 2
