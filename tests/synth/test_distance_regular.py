"""Distance-regular graphs, and others of optimal bandwidth, are the graphs they are named for."""

import networkx as nx
import pytest

from tests.cases import for_every
from tests.synth.catalogue import LARGER, MATCHED
from topoloom.synth.errors import OutOfDomain
from topoloom.synth.evaluation.cost import Cost, Links, optimal_bandwidth
from topoloom.synth.evaluation.measure import measure, measure_both
from topoloom.synth.families import FAMILIES, GeneralizedHexagon, PolarFly, SlimFly
from topoloom.synth.families.balanced import BalancedFamily, EnumeratedFamily
from topoloom.synth.recipes.build import build, size, traits
from topoloom.synth.recipes.claims import claim
from topoloom.synth.recipes.recipe import Recipe, parse
from topoloom.synth.search.frontier import frontier

# All distance-regular graphs of degree 4 (Brouwer and Koolen 1999): recipe, nodes, diameter.
OF_DEGREE_FOUR = [
    ("Complete(5)", 5, 1),
    ("CompleteMultipartite(3, 2)", 6, 2),
    ("CompleteBipartite(4)", 8, 2),
    ("Paley(9)", 9, 2),
    ("Crown(5)", 10, 3),
    ("NonincidenceGraph(2)", 14, 3),
    ("MooreLineGraph(3)", 15, 3),
    ("Hypercube(4)", 16, 4),
    ("FlagGraph(3, 2)", 21, 3),
    ("ProjectivePlane(3)", 26, 3),
    ("AffinePlane(4)", 32, 4),
    ("Odd(4)", 35, 3),
    ("FlagGraph(4, 2)", 45, 4),
    ("DoubledOdd(4)", 70, 7),
    ("GeneralizedQuadrangle(3)", 80, 4),
    ("FlagGraph(6, 2)", 189, 6),
    ("GeneralizedHexagon(3)", 728, 6),
]

# Distance-regular by their claims; the others of `Balanced` are locally transitive only.
DISTANCE_REGULAR = {
    *("CompleteMultipartite", "Crown", "Paley", "Odd", "DoubledOdd", "Johnson", "FoldedCube"),
    *("HalvedCube", "ProjectivePlane", "AffinePlane", "NonincidenceGraph"),
    *("GeneralizedQuadrangle", "GeneralizedHexagon", "FlagGraph", "CollinearityGraph"),
    "MooreLineGraph",
}


def graph_of(recipe: Recipe) -> nx.Graph:
    topology = build(recipe)
    return nx.Graph(zip(topology.sources.tolist(), topology.targets.tolist(), strict=True))


@pytest.mark.parametrize(("text", "nodes", "diameter"), OF_DEGREE_FOUR)
def test_every_distance_regular_graph_of_degree_four_is_in_the_catalogue(text, nodes, diameter):
    recipe = parse(text)
    assert size(recipe) == (nodes, 4)
    optimum = Cost(diameter, optimal_bandwidth(nodes))
    assert measure_both(build(recipe)) == (optimum, optimum)
    claimed = claim(recipe)
    assert claimed is not None
    assert claimed.exact
    assert claimed.cost == optimum


@pytest.mark.slow
@pytest.mark.one_in(4)
@pytest.mark.parametrize(("text", "nodes", "diameter"), OF_DEGREE_FOUR)
def test_the_search_finds_every_distance_regular_graph_of_degree_four_or_better(
    text, nodes, diameter
):
    for links in Links:
        costs = [point.cost for point in frontier(nodes, 4, links).points]
        assert any(
            cost.steps <= diameter and cost.bandwidth == optimal_bandwidth(nodes) for cost in costs
        )


@for_every(
    "recipe",
    [one for one in [*MATCHED, *LARGER] if type(one).__name__ in DISTANCE_REGULAR]
    + [parse(text) for text, nodes, _ in OF_DEGREE_FOUR if nodes < 200],
)
def test_distance_regular_families_are_distance_regular(recipe):
    assert nx.is_distance_regular(graph_of(recipe))


def test_every_family_claimed_to_be_balanced_is_one_of_the_two_kinds():
    balanced = {family.__name__ for family in FAMILIES if issubclass(family, BalancedFamily)}
    assert balanced - DISTANCE_REGULAR == {"Kneser", "Arrangement"}


@for_every(
    "text",
    [
        *("GeneralizedHexagon(4)", "GeneralizedHexagon(5)", "FlagGraph(6, 3)"),
        *("GeneralizedQuadrangle(7)", "GeneralizedQuadrangle(9)", "FlagGraph(4, 5)"),
        *("CollinearityGraph(6, 4)", "CollinearityGraph(4, 7)", "FlagGraph(3, 9)"),
        *("ProjectivePlane(16)", "AffinePlane(27)", "NonincidenceGraph(7)", "Paley(121)"),
        *("Odd(7)", "DoubledOdd(6)", "Johnson(14, 5)", "Kneser(12, 5)", "Kneser(11, 4)"),
        *("Arrangement(7, 6)", "Arrangement(8, 4)", "Arrangement(7, 5)", "HalvedCube(11)"),
        *("FoldedCube(11)", "CompleteMultipartite(9, 6)", "Crown(40)", "MooreLineGraph(7)"),
    ],
)
def test_large_members_cost_what_is_claimed_at_one_destination(text):
    recipe = parse(text)
    claimed = claim(recipe)
    assert claimed is not None
    # Distance-regular or vertex-transitive: one destination speaks for all.
    assert measure(build(recipe), [0]) == claimed.cost


@pytest.mark.parametrize("q", [2, 3, 4, 5, 7, 8, 9, 11, 13])
def test_polarity_graphs_cost_what_is_claimed_with_all_destinations(q):
    claimed = claim(PolarFly(q))
    assert claimed is not None
    assert measure(build(PolarFly(q))) == claimed.cost


@pytest.mark.parametrize(
    ("text", "gonality"),
    [(f"ProjectivePlane({q})", 3) for q in (2, 3, 4, 5, 7, 8, 9)]
    + [(f"GeneralizedQuadrangle({q})", 4) for q in (2, 3, 4, 5)]
    + [("GeneralizedHexagon(2)", 6), ("GeneralizedHexagon(3)", 6)],
)
def test_generalized_polygons_are_what_their_definition_says(text, gonality):
    graph = graph_of(parse(text))
    assert nx.is_bipartite(graph)
    assert nx.diameter(graph) == gonality
    assert nx.girth(graph) == 2 * gonality


@pytest.mark.parametrize("q", [4, 5])
def test_larger_generalized_hexagons_have_as_many_nodes_as_six_steps_can_reach(q):
    # A bipartite graph of degree q + 1 and diameter 6 has 2 (q^6 - 1) / (q - 1) nodes at
    # most, and that many only if no cycle is shorter than 12.
    topology = build(GeneralizedHexagon(q))
    assert topology.node_count == 2 * sum(q**i for i in range(6))
    assert measure(topology).steps == 6


@pytest.mark.parametrize("q", [3, 4, 5, 7, 8, 9, 11, 16])
def test_slim_flies_have_two_steps(q):
    topology = build(SlimFly(q))
    assert measure(topology).steps == 2


@for_every("recipe", [one for one in LARGER if traits(one).vertex_transitive])
def test_one_destination_speaks_for_all_where_all_nodes_are_alike(recipe):
    topology = build(recipe)
    assert measure(topology, [0]) == measure(topology)


@pytest.mark.parametrize(
    "family",
    [family for family in FAMILIES if issubclass(family, EnumeratedFamily)],
    ids=lambda family: family.__name__,
)
def test_the_members_within_the_limits_are_listed_once_and_found_by_their_size(family):
    listed = list(family.members())
    assert len(set(listed)) == len(listed)
    for arguments in listed:
        try:
            member = family(*arguments)
        except OutOfDomain as refused:
            # No rule of the family is broken, only that of the size.
            assert refused.field == "recipe"
            continue
        assert member in list(family.matching(member.nodes, member.degree))
