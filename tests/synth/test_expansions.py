"""Operators build what their definitions say, and their theorems hold where they claim to."""

from collections import Counter
from fractions import Fraction
from functools import reduce
from itertools import combinations_with_replacement

import networkx as nx
import numpy as np
import pytest

from tests.cases import for_every
from tests.cost_oracles import distances_to
from tests.synth.catalogue import LARGER, SMALL, built, cost_of, transpose_cost_of
from topoloom.synth.errors import OutOfDomain
from topoloom.synth.evaluation.cost import (
    Claim,
    Cost,
    expand_degree,
    expand_line_graph,
    expand_product,
    optimal_bandwidth,
)
from topoloom.synth.evaluation.measure import measure_both
from topoloom.synth.families import BiRing, DeBruijn, Diamond, Kautz, UniRing
from topoloom.synth.recipes.build import size, traits
from topoloom.synth.recipes.claims import claim, claim_transpose
from topoloom.synth.recipes.recipe import (
    Bidirected,
    DegreeExpansion,
    LineGraph,
    Power,
    Product,
    Recipe,
    parse,
)
from topoloom.synth.symmetry.orbits import representatives


def _fits(recipe: Recipe, nodes: int, degree: int) -> bool:
    return size(recipe)[0] <= nodes and size(recipe)[1] <= degree


def _one_of_each_kind(recipes):
    """Keep one recipe of every size, cost, set of traits and answer to whether it is claimed."""
    kinds = {
        (cost_of(recipe), transpose_cost_of(recipe), traits(recipe), bool(claim(recipe))): recipe
        for recipe in recipes
    }
    return sorted(kinds.values(), key=str)


KINDS = _one_of_each_kind(recipe for recipe in SMALL if _fits(recipe, 6, 4) or _fits(recipe, 8, 2))
REGULAR = [recipe for recipe in KINDS if traits(recipe).regular]


LINE_GRAPHS = [
    recipe
    for base in REGULAR
    for times in (1, 2, 3)
    if _fits(recipe := LineGraph(times, base), 200, 4)
]
DEGREE_EXPANSIONS = [
    recipe
    for base in REGULAR
    for factor in (1, 2, 3)
    if _fits(recipe := DegreeExpansion(factor, base), 40, 6)
]
OPTIMAL = [
    recipe
    for recipe in REGULAR
    if (_fits(recipe, 4, 3) or isinstance(recipe, Diamond | BiRing | Kautz))
    and cost_of(recipe).bandwidth == optimal_bandwidth(size(recipe)[0])
]
PRODUCTS = [
    recipe
    for pair in combinations_with_replacement(OPTIMAL, 2)
    if _fits(recipe := Product(*pair), 60, 5)
]
POWERS = [
    recipe for base in KINDS for times in (1, 2, 3) if _fits(recipe := Power(times, base), 70, 6)
]
NESTED = [
    parse(text)
    for text in (
        "LineGraph(2, LineGraph(1, Complete(4)))",
        "LineGraph(1, Power(2, Complete(3)))",
        "LineGraph(1, DegreeExpansion(2, UniRing(2)))",
        "DegreeExpansion(2, LineGraph(1, Complete(3)))",
        "DegreeExpansion(2, Power(2, Complete(3)))",
        "Power(2, LineGraph(1, Diamond()))",
        "Power(2, DegreeExpansion(2, UniRing(3)))",
        "Product(Complete(4), Diamond(), UniRing(2))",
        "Product(Power(2, UniRing(3)), BiRing(4))",
        "DegreeExpansion(2, UniRing(4, 2))",
        "LineGraph(2, UniRing(3, 2))",
    )
]
BIDIRECTED = [Bidirected(base) for base in KINDS] + [
    parse(text)
    for text in (
        "Bidirected(LineGraph(2, Diamond()))",
        "Bidirected(GeneralizedKautz(2, 17))",
        "LineGraph(1, Bidirected(UniRing(5)))",
        "DegreeExpansion(2, Bidirected(GeneralizedKautzRewired(2, 10)))",
        "Power(2, Bidirected(Cayley(5, 2, 4, 5, 16)))",
    )
]
MEMBERS_OF_LIFTS = [
    recipe
    for recipe in LARGER
    if type(recipe).__name__.startswith(("Cayley", "Lift", "Digraph", "Generalized", "Projective"))
]
ALL = [*LINE_GRAPHS, *DEGREE_EXPANSIONS, *PRODUCTS, *POWERS, *NESTED, *BIDIRECTED]


@for_every("recipe", ALL)
def test_every_expansion_is_what_it_promises_before_it_is_built(recipe):
    graph, promised = built(recipe), traits(recipe)
    assert graph.nodes == tuple(range(promised.nodes))
    assert graph.degree == promised.degree
    assert graph.is_regular == promised.regular
    assert graph.is_bidirectional == promised.bidirectional
    assert graph.has_parallel_links == promised.parallel
    graph.require_connected()


@pytest.mark.slow
@for_every("recipe", ALL)
def test_every_claim_holds_on_the_graph_and_on_its_transpose(recipe):
    for claimed, measured in (
        (claim(recipe), cost_of),
        (claim_transpose(recipe), transpose_cost_of),
    ):
        if claimed is None:
            continue
        cost = measured(recipe)
        assert cost.steps <= claimed.steps
        assert cost.bandwidth <= claimed.bandwidth
        assert cost == claimed.cost or not claimed.exact


@for_every("recipe", [*ALL, *MEMBERS_OF_LIFTS])
@pytest.mark.slow
def test_representatives_stand_for_all_nodes_on_the_graph_and_on_its_transpose(recipe):
    graph, chosen = built(recipe), representatives(recipe)
    assert sorted(set(chosen.tolist())) == chosen.tolist()
    assert set(chosen.tolist()) <= set(graph.nodes)
    for turned in (graph, graph.transpose()):
        into = [turned.sources[turned.targets == node].tolist() for node in graph.nodes]
        profiles = [tuple(np.bincount(list(distances_to(into, n).values()))) for n in graph.nodes]
        assert {profiles[node] for node in chosen} == set(profiles)
    assert measure_both(graph, chosen) == measure_both(graph)


# Definitions, as networkx builds them.


@for_every("recipe", BIDIRECTED)
def test_bidirected_graphs_have_every_link_both_ways(recipe):
    if isinstance(recipe, Bidirected):
        there = Counter(_edges(built(recipe.of)))
        back = Counter((b, a) for a, b in _edges(built(recipe.of)))
        assert Counter(_edges(built(recipe))) == there | back


def _edges(graph):
    return sorted(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True))


def _as_networkx(recipe):
    return nx.MultiDiGraph(_edges(built(recipe)))


@for_every("recipe", [r for r in LINE_GRAPHS if r.times == 1])
def test_line_graphs_have_the_sorted_links_as_nodes(recipe):
    base = _as_networkx(recipe.of)
    number = {edge: index for index, edge in enumerate(sorted(base.edges(keys=True)))}
    expected = sorted((number[e], number[f]) for e, f in nx.line_graph(base).edges())
    assert _edges(built(recipe)) == expected


@for_every("recipe", [r for r in LINE_GRAPHS if r.times > 1])
def test_line_graphs_taken_often_are_line_graphs_of_line_graphs(recipe):
    step_by_step = reduce(lambda of, _: LineGraph(1, of), range(recipe.times), recipe.of)
    assert built(recipe) == built(step_by_step)


@for_every("recipe", DEGREE_EXPANSIONS)
def test_degree_expansions_join_every_copy_to_every_copy(recipe):
    nodes = size(recipe.of)[0]
    copies = range(recipe.factor)
    expected = sorted(
        (i * nodes + s, j * nodes + t)
        for s, t in _edges(built(recipe.of))
        for i in copies
        for j in copies
    )
    assert _edges(built(recipe)) == expected
    simple = nx.DiGraph(_edges(built(recipe.of)))
    lexicographic = nx.lexicographic_product(simple, nx.empty_graph(recipe.factor, nx.DiGraph))
    assert set(expected) == {
        (c * nodes + v, k * nodes + w) for (v, c), (w, k) in lexicographic.edges
    }


@for_every("recipe", PRODUCTS)
def test_products_number_pairs_with_the_first_factor_first(recipe):
    first, second = (nx.DiGraph(_edges(built(factor))) for factor in recipe.factors)
    pairs = nx.cartesian_product(first, second)
    width = len(second)
    expected = {(a * width + b, c * width + d) for (a, b), (c, d) in pairs.edges}
    assert set(_edges(built(recipe))) == expected


@for_every("recipe", POWERS)
def test_powers_are_products_of_one_factor(recipe):
    same = Product(*(recipe.of,) * recipe.times) if recipe.times > 1 else recipe.of
    assert built(recipe) == built(same)


def test_products_of_three_are_products_of_products():
    flat = parse("Product(UniRing(3), BiRing(4), Complete(3))")
    nested = parse("Product(UniRing(3), Product(BiRing(4), Complete(3)))")
    assert built(flat) == built(nested)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Power(4, UniRing(2))", "Hypercube(4)"),
        ("Product(BiRing(3), BiRing(4))", "Torus(3, 4)"),
        ("DegreeExpansion(4, UniRing(2))", "CompleteBipartite(4)"),
        ("LineGraph(1, UniRing(2, 3))", "CompleteBipartite(3)"),
        ("LineGraph(2, Complete(3))", "Kautz(2, 3)"),
        ("LineGraph(64, UniRing(5))", "UniRing(5)"),
        ("DegreeExpansion(1, Diamond())", "Diamond()"),
    ],
)
def test_known_identities_hold_up_to_numbering(one, other):
    first, second = (nx.DiGraph(_edges(built(parse(text)))) for text in (one, other))
    assert nx.is_isomorphic(first, second)


# Theorems, on costs that were measured.


@pytest.mark.slow
@for_every("recipe", LINE_GRAPHS)
def test_line_graphs_keep_the_bound_and_reach_it_on_two_way_links(recipe):
    nodes, degree = size(recipe.of)
    bound = expand_line_graph(cost_of(recipe.of), nodes, degree, recipe.times)
    found = cost_of(recipe)
    assert found.steps <= bound.steps
    assert found.bandwidth <= bound.bandwidth
    if traits(recipe.of).bidirectional and nodes >= 3:
        assert found == bound


@for_every("recipe", DEGREE_EXPANSIONS)
def test_degree_expansions_of_two_way_links_keep_the_bound(recipe):
    nodes, degree = size(recipe.of)
    if traits(recipe.of).bidirectional and recipe.factor > 1:
        bound = expand_degree(cost_of(recipe.of), nodes, degree, recipe.factor)
        found = cost_of(recipe)
        assert found.steps == max(cost_of(recipe.of).steps, 2)
        assert found.bandwidth <= bound.bandwidth


def test_degree_expansion_breaks_its_bound_on_some_one_way_links_so_none_is_claimed():
    recipe = parse("DegreeExpansion(2, ModifiedDeBruijn(2, 3))")
    bound = expand_degree(cost_of(recipe.of), 8, 2, 2)
    assert cost_of(recipe).bandwidth > bound.bandwidth
    assert claim(recipe) is None


@pytest.mark.slow
@for_every("recipe", PRODUCTS)
def test_products_of_optimal_factors_are_optimal_where_parallel_links_agree(recipe):
    factors = recipe.factors
    together = expand_product([cost_of(of) for of in factors], [size(of)[0] for of in factors])
    assert together is not None
    assert cost_of(recipe).steps == together.steps
    if not traits(recipe).parallel:
        assert cost_of(recipe) == together
        if all(map(claim, factors)):
            assert claim(recipe) == Claim(together.steps, together.bandwidth, exact=True)


def test_products_with_unequal_parallel_links_are_out_of_balance():
    recipe = parse("Product(UniRing(2), UniRing(2, 2))")
    assert cost_of(recipe).bandwidth == 1 > optimal_bandwidth(4)
    assert claim(recipe) is None


def test_powers_with_equal_parallel_links_are_optimal():
    recipe = parse("Power(2, UniRing(4, 2))")
    assert cost_of(recipe) == Cost(6, optimal_bandwidth(16))
    assert claim(recipe) == Claim(6, optimal_bandwidth(16), exact=True)


def test_a_power_of_a_base_that_is_not_optimal_may_pass_the_published_formula():
    base = DeBruijn(2, 3)
    formula = cost_of(base).bandwidth * 8 / 7 * 63 / 64
    assert cost_of(Power(2, base)).bandwidth > formula
    assert claim(Power(2, base)) is None


def test_the_line_graph_of_diamond_beats_its_bound_and_meets_the_optimum():
    recipe = parse("LineGraph(1, Diamond())")
    claimed = claim(recipe)
    assert claimed is not None
    assert claimed.cost == Cost(4, Fraction(1))
    assert cost_of(recipe) == transpose_cost_of(recipe) == Cost(4, optimal_bandwidth(16))


@pytest.mark.parametrize(
    ("operator", "arguments", "field"),
    [
        (LineGraph, (0, UniRing(3)), "times"),
        (LineGraph, (65, UniRing(3)), "times"),
        (LineGraph, (True, UniRing(3)), "times"),
        (LineGraph, (1, DeBruijn(2, 3)), "recipe"),
        (DegreeExpansion, (0, UniRing(3)), "factor"),
        (DegreeExpansion, (1.5, UniRing(3)), "factor"),
        (Power, (0, UniRing(3)), "times"),
        (Power, (-1, UniRing(3)), "times"),
        (Product, (UniRing(3),), "factors"),
        (Product, (), "factors"),
    ],
)
def test_operators_refuse_what_they_are_not_defined_on(operator, arguments, field):
    with pytest.raises(OutOfDomain) as caught:
        size(operator(*arguments))
    assert caught.value.field == field
