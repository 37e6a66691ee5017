"""Every family is known, builds what it promises, and is found again by its size."""

import numpy as np
import pytest

from tests.cases import for_every
from tests.cost_oracles import distances_to
from tests.synth.catalogue import LARGER, MATCHED, built, cost_of, transpose_cost_of
from topoloom.synth.evaluation.measure import step_loads
from topoloom.synth.families import FAMILIES, Torus, family
from topoloom.synth.recipes.build import build, size, traits
from topoloom.synth.recipes.recipe import LineGraph
from topoloom.synth.symmetry.orbits import representatives

MEMBERS = [*MATCHED, *LARGER]


# Families whose recognisers choose among very many members.
CHOOSY = {
    "Circulant", "DirectedCirculant", "TwistedTorus", "ChordalRing", "Cayley", "CayleyMetacyclic",
    "CayleyMatrix", "CayleyNested", "CayleyLinear", "CayleyAlternating", "CayleySymmetric", "Lift",
    "CayleyPolycyclic", "Digraph", "RandomRegular", "RandomRegularTwoWay", "Graph",
}  # fmt: skip


@for_every("member", FAMILIES)
def test_every_family_says_what_it_is_and_where_it_comes_from(member):
    assert member.__doc__.startswith(f"{member.__name__}(")
    assert member.title
    assert member.source
    assert family(member.__name__) is member


def test_no_two_families_share_a_name():
    assert len({member.__name__ for member in FAMILIES}) == len(FAMILIES)


@for_every("recipe", MEMBERS)
def test_every_member_is_what_it_promises_before_it_is_built(recipe):
    graph, promised = built(recipe), traits(recipe)
    assert graph.recipe == recipe
    assert graph.nodes == tuple(range(promised.nodes))
    assert size(recipe) == (graph.node_count, graph.degree)
    assert graph.is_regular == promised.regular
    assert graph.is_bidirectional == promised.bidirectional
    assert graph.has_parallel_links == promised.parallel
    graph.require_connected()


ARCS_ALIKE = [one for one in MEMBERS if traits(one).arc_transitive and one.degree > 1]


def test_families_whose_links_look_alike_are_known():
    names = {type(one).__name__ for one in ARCS_ALIKE}
    assert names >= {"Complete", "CompleteBipartite", "BiRing", "Hypercube", "Paley", "Crown"}
    assert names >= {"Odd", "DoubledOdd", "Johnson", "Kneser", "CompleteMultipartite"}
    assert not names & {"Torus", "Circulant", "RandomRegular"}


@pytest.mark.slow
@for_every("recipe", ARCS_ALIKE)
def test_all_nodes_of_the_line_graph_of_an_arc_transitive_member_see_the_same(recipe):
    assert traits(recipe).vertex_transitive
    if recipe.nodes * recipe.degree <= 400:
        graph = build(LineGraph(1, recipe))
        assert list(representatives(LineGraph(1, recipe))) == [0]
        for turned in (graph, graph.transpose()):
            assert len({step_loads(turned, [node]) for node in range(graph.node_count)}) == 1


@for_every("recipe", MEMBERS)
@pytest.mark.slow
def test_every_claim_is_what_is_measured_on_the_graph_and_its_transpose(recipe):
    claim, back = recipe.claim(), recipe.claim_transpose()
    if claim is not None:
        assert claim.exact
        assert claim.cost == cost_of(recipe)
    if back is not None:
        assert back.exact
        assert back.cost == transpose_cost_of(recipe)


@for_every("recipe", MEMBERS)
def test_all_nodes_of_a_vertex_transitive_member_see_the_same(recipe):
    if not traits(recipe).vertex_transitive:
        return
    for graph in (built(recipe), built(recipe).transpose()):
        into = [graph.sources[graph.targets == node].tolist() for node in graph.nodes]
        profiles = {
            tuple(np.bincount(list(distances_to(into, node).values()))) for node in graph.nodes
        }
        assert len(profiles) == 1


@for_every("nodes", range(2, 25))
@for_every("degree", range(1, 7))
def test_recognisers_offer_distinct_members_of_exactly_the_size_asked(nodes, degree):
    offered = [recipe for member in FAMILIES for recipe in member.matching(nodes, degree)]
    assert len(set(offered)) == len(offered)
    for recipe in offered:
        assert size(recipe) == (nodes, degree)


def test_recognisers_offer_nothing_for_sizes_that_do_not_exist():
    for nodes, degree in [(0, 0), (0, 3), (1, 1), (1, 4), (5, 0), (2, 0), (-3, 2), (5, -1)]:
        for member in FAMILIES:
            assert list(member.matching(nodes, degree)) == []


def test_recognisers_find_members_of_every_family_again():
    for recipe in MEMBERS:
        wanted = size(recipe)
        offered = list(type(recipe).matching(*wanted))
        if isinstance(recipe, Torus):
            assert Torus(*sorted(recipe.sides)) in offered
        elif type(recipe).__name__ not in CHOOSY:
            assert recipe in offered


@pytest.mark.parametrize(("nodes", "degree"), [(65_536, 16), (50_000, 30), (65_521, 4)])
def test_recognisers_are_quick_for_large_sizes(nodes, degree):
    for member in FAMILIES:
        assert len(list(member.matching(nodes, degree))) < 200
