"""Lifted schedules: valid on every expansion, at the cost that the theorems state."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schedules import bfb, lift
from schedules.collectives import reverse
from schedules.errors import NoSchedule, TooLarge
from schedules.lift import cartesian
from schedules.lift.sends import arrivals
from schedules.model import Collective
from schedules.verify import step_cost, violations
from synth.build import build, is_regular, size
from synth.claims import claim, claim_transpose
from synth.cost import expand_degree, expand_line_graph, optimal_bandwidth
from synth.errors import OutOfDomain
from synth.measure import measure
from synth.recipe import Base, Bidirected, DegreeExpansion, LineGraph, Power, Product, parse
from tests.schedule_oracles import gather_works

LINE_GRAPHS = [
    "LineGraph(1, Complete(2))",
    "LineGraph(1, UniRing(5))",
    "LineGraph(2, UniRing(3, 2))",
    "LineGraph(2, Kautz(2, 2))",
    "LineGraph(3, CompleteBipartite(2))",
    "LineGraph(1, BiRing(3, 2))",
    "LineGraph(2, Circulant(7, 2))",
    "LineGraph(1, Circulant(12, 2, 3))",
    "LineGraph(1, GeneralizedKautz(3, 20))",
]
DEGREE_EXPANSIONS = [
    "DegreeExpansion(1, BiRing(5))",
    "DegreeExpansion(2, UniRing(3))",
    "DegreeExpansion(3, UniRing(4))",
    "DegreeExpansion(3, BiRing(5))",
    "DegreeExpansion(4, Complete(3))",
    "DegreeExpansion(2, Kautz(2, 2))",
    "DegreeExpansion(2, UniRing(4, 2))",
    "DegreeExpansion(3, DeBruijn(2, 3))",
    "DegreeExpansion(2, GeneralizedKautz(3, 10))",
]
PRODUCTS = [
    "Power(1, BiRing(5))",
    "Power(2, BiRing(5))",
    "Power(3, UniRing(3))",
    "Power(4, Complete(2))",
    "Power(2, UniRing(4, 2))",
    "Power(2, DeBruijn(2, 3))",
    "Power(2, Kautz(2, 2))",
    "Power(3, GeneralizedKautz(2, 5))",
    "Product(UniRing(4), UniRing(8))",
    "Product(UniRing(3), BiRing(4))",
    "Product(Complete(4), Diamond(), UniRing(2))",
    "Product(Kautz(2, 2), BiRing(4))",
    "Product(DeBruijn(2, 3), Complete(3))",
    "Product(UniRing(4, 2), BiRing(5))",
    "Product(Kautz(2, 2), Kautz(2, 2))",
]
BIDIRECTED = [
    "Bidirected(UniRing(6))",
    "Bidirected(BiRing(6))",
    "Bidirected(UniRing(3, 2))",
    "Bidirected(Kautz(2, 3))",
    "Bidirected(GeneralizedKautz(2, 17))",
    "Bidirected(DeBruijn(2, 3))",
    "Bidirected(Cayley(5, 2, 4, 5, 16))",
]
NESTED = [
    "LineGraph(2, LineGraph(1, Complete(4)))",
    "LineGraph(1, Power(2, Complete(3)))",
    "LineGraph(1, Power(2, Kautz(2, 2)))",
    "LineGraph(1, DegreeExpansion(2, UniRing(2)))",
    "LineGraph(1, Bidirected(UniRing(5)))",
    "LineGraph(1, Product(BiRing(3), UniRing(4)))",
    "DegreeExpansion(2, LineGraph(1, Complete(3)))",
    "DegreeExpansion(2, Power(2, Complete(3)))",
    "DegreeExpansion(2, Power(2, DeBruijn(2, 2)))",
    "DegreeExpansion(2, Bidirected(GeneralizedKautzRewired(2, 10)))",
    "DegreeExpansion(2, DegreeExpansion(2, BiRing(3)))",
    "Power(2, LineGraph(1, Diamond()))",
    "Power(2, DegreeExpansion(2, UniRing(3)))",
    "Power(2, Power(2, BiRing(3)))",
    "Power(2, Product(BiRing(3), UniRing(2)))",
    "Power(2, Bidirected(Cayley(5, 2, 4, 5, 16)))",
    "Product(Power(2, UniRing(3)), BiRing(4))",
    "Product(Product(UniRing(2), BiRing(3)), DegreeExpansion(2, UniRing(2)))",
    "Product(LineGraph(1, Power(2, Kautz(2, 2))), BiRing(3))",
    "Product(UniRing(2), LineGraph(1, UniRing(2)))",
    "Product(Power(2, DeBruijn(2, 2)), BiRing(3))",
    "Bidirected(LineGraph(2, Diamond()))",
    "Bidirected(Power(2, UniRing(3)))",
    "Bidirected(Product(UniRing(3), BiRing(4)))",
]
RECIPES = [*LINE_GRAPHS, *DEGREE_EXPANSIONS, *PRODUCTS, *BIDIRECTED, *NESTED]


def lifted(recipe, transposed=False):
    """Return the lifted schedule, what it runs on, and its cost; the checker finds no fault."""
    topology = build(recipe)
    topology = topology.transpose() if transposed else topology
    schedule = lift.allgather(recipe, transposed=transposed)
    assert schedule.collective is Collective.ALLGATHER
    assert violations(schedule, topology) == []
    return schedule, topology, step_cost(schedule, topology)


def require_claimed(recipe, transposed, cost):
    claimed = (claim_transpose if transposed else claim)(recipe)
    assert claimed is None or claimed.covers(cost), (cost, claimed)


@pytest.mark.parametrize("transposed", [False, True], ids=["forward", "transposed"])
@pytest.mark.parametrize("text", RECIPES)
def test_a_lifted_schedule_is_valid_and_costs_what_is_claimed(text, transposed):
    recipe = parse(text)
    _, _, cost = lifted(recipe, transposed)
    require_claimed(recipe, transposed, cost)


@pytest.mark.parametrize("text", RECIPES)
def test_reversed_the_transposed_one_is_a_reduce_scatter(text):
    topology = build(parse(text))
    scatter = reverse(lift.allgather(parse(text), transposed=True), topology)
    assert violations(scatter, topology) == []


@pytest.mark.parametrize("text", [text for text in RECIPES if size(parse(text))[0] <= 24])
def test_a_plain_player_of_chunks_agrees(text):
    assert gather_works(lift.allgather(parse(text)))


def test_every_operator_is_lifted_below_every_other():
    def operators(recipe):
        inner = getattr(recipe, "factors", None) or (getattr(recipe, "of", None),)
        found = [type(recipe)]
        for part in inner:
            if part is not None and not isinstance(part, Base):
                found += operators(part)
        return found

    below = {pair for text in NESTED for pair in pairwise(operators(parse(text)))}
    kinds = (LineGraph, DegreeExpansion, Power, Product, Bidirected)
    for outer in kinds:
        assert {inner for above, inner in below if above is outer}, outer
        assert {above for above, inner in below if inner is outer}, outer


@pytest.mark.parametrize("text", [text for text in LINE_GRAPHS if "(1," in text])
def test_a_line_graph_adds_a_step_and_at_most_an_nth(text):
    recipe = parse(text)
    nodes, degree = size(recipe.of)
    bound = expand_line_graph(measure(build(recipe.of)), nodes, degree)
    _, _, cost = lifted(recipe)
    assert cost.steps <= bound.steps and cost.bandwidth <= bound.bandwidth


@pytest.mark.parametrize("text", [text for text in DEGREE_EXPANSIONS if is_regular(parse(text))])
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
    schedule = cartesian.power(bfb.allgather(base), times)
    power = build(Power(times, parse(text)))
    found = step_cost(lift.sends.finished(schedule, power), power)
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


def test_a_base_is_left_as_it_is():
    topology = build(parse("GeneralizedKautz(3, 20)"))
    schedule = lift.allgather(topology.recipe)
    assert step_cost(schedule, topology) == measure(topology)
    assert schedule.chunks_per_shard == bfb.allgather(topology).chunks_per_shard


def test_the_same_recipe_gives_the_same_bytes():
    once, again = (lift.allgather(parse("Power(2, DeBruijn(2, 3))")) for _ in range(2))
    assert [a.tobytes() for a in once.steps] == [b.tobytes() for b in again.steps]


def test_a_degree_too_large_for_breadth_first_broadcast_can_be_lifted():
    recipe = parse("DegreeExpansion(40, Complete(3))")
    _, topology, cost = lifted(recipe)
    assert topology.degree == 80
    assert cost == claim(recipe).cost
    with pytest.raises(NoSchedule):
        bfb.allgather(topology)


def test_a_topology_must_be_what_its_recipe_makes():
    ring = build(parse("LineGraph(1, UniRing(5, 2))"))
    assert violations(lift.allgather_on(ring), ring) == []
    lies = ("UniRing(5)", "UniRing(2)", "LineGraph(1, BiRing(5))", "LineGraph(1, UniRing(10))")
    for recipe in (None, *map(parse, lies)):
        with pytest.raises(NoSchedule) as caught:
            lift.allgather_on(ring.with_recipe(recipe))
        assert caught.value.field == "/algorithm"


def test_the_name_of_a_topology_says_nothing_of_how_it_is_made():
    ring = build(parse("LineGraph(1, UniRing(5, 2))"))
    assert violations(lift.allgather_on(ring.renamed("BiRing(10)")), ring) == []
    with pytest.raises(NoSchedule):
        lift.allgather_on(ring.with_recipe(None).renamed("LineGraph(1, UniRing(5, 2))"))


def test_limits_are_kept_before_any_work():
    with pytest.raises(TooLarge, match="/topology: needs"):
        lift.allgather(parse("LineGraph(6, Complete(5))"))
    with pytest.raises(TooLarge, match="/topology: needs"):
        # Each half a dimension of its own: twice as many sends as pairs of ranks.
        lift.allgather(parse("Power(4, DeBruijn(2, 3))"))
    with pytest.raises(OutOfDomain):
        lift.allgather(parse("LineGraph(1, DeBruijn(2, 3))"))


BASES = [
    "UniRing(2)",
    "UniRing(3)",
    "UniRing(4, 2)",
    "BiRing(3)",
    "BiRing(5)",
    "Complete(3)",
    "Complete(4)",
    "CompleteBipartite(2)",
    "Diamond()",
    "Kautz(2, 2)",
    "DeBruijn(2, 2)",
    "GeneralizedKautz(2, 5)",
    "GeneralizedDeBruijn(3, 5)",
]
MOST = 150


def _grown(parts):
    counts = st.integers(1, 3)
    return st.one_of(
        st.builds(LineGraph, counts, parts),
        st.builds(DegreeExpansion, counts, parts),
        st.builds(Power, counts, parts),
        st.builds(Product, parts, parts),
        st.builds(Bidirected, parts),
    )


def _small(recipe):
    try:
        nodes, degree = size(recipe)
    except OutOfDomain:
        return False
    return nodes <= MOST and degree <= 12


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(
    st.recursive(st.sampled_from(BASES).map(parse), _grown, max_leaves=4).filter(_small),
    st.booleans(),
)
def test_any_recipe_is_lifted_at_the_claimed_cost(recipe, transposed):
    _, _, cost = lifted(recipe, transposed)
    require_claimed(recipe, transposed, cost)
