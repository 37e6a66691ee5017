"""Any graph of compute nodes and alike links is a base, as a value and in the text of a recipe."""

from fractions import Fraction

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import for_every
from tests.synth.catalogue import SMALL, built
from topoloom.synth.errors import InvalidRecipe, InvalidTopology, OutOfDomain
from topoloom.synth.families import Base, Graph, UniRing
from topoloom.synth.recipes.build import build, size, traits
from topoloom.synth.recipes.claims import claim, claim_transpose
from topoloom.synth.recipes.recipe import (
    MAX_TEXT,
    Bidirected,
    DegreeExpansion,
    LineGraph,
    Power,
    Product,
    parse,
)
from topoloom.synth.symmetry.orbits import representatives
from topoloom.synth.symmetry.semiregular_groups import semiregular_group_of
from topoloom.synth.topology.topology import Topology


@st.composite
def topologies(draw):
    """Draw any digraph of 2 to 9 nodes, parallel links and unconnected nodes among them."""
    count = draw(st.integers(2, 9))
    pairs = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    links = draw(st.lists(pairs.filter(lambda pair: pair[0] != pair[1]), min_size=1, max_size=30))
    return Topology(range(count), links)


@given(topologies())
def test_a_graph_as_base_is_the_graph_again_and_its_text_holds_it(topology):
    base = Base.of(topology)
    assert build(base) == topology
    assert parse(str(base)) == base == Base.of(topology.to_networkx())
    assert (base.bidirectional(), base.parallel(), base.regular()) == (
        topology.is_bidirectional,
        topology.has_parallel_links,
        topology.is_regular,
    )


@given(topologies(), topologies())
def test_operators_take_irregular_graphs_and_know_the_result_or_say_what_they_need(first, second):
    one, other = Base.of(first), Base.of(second)
    for recipe in (
        Product(one, other, UniRing(3)),
        Power(2, one),
        DegreeExpansion(3, one),
        Bidirected(one),
    ):
        graph = build(recipe)
        assert size(recipe) == (graph.node_count, graph.degree)
        assert parse(str(recipe)) == recipe
    if one.regular():
        assert build(LineGraph(2, one)).node_count == first.node_count * one.degree**2
    else:
        with pytest.raises(OutOfDomain, match="line graph of a regular topology"):
            build(LineGraph(2, one))


@for_every("member", SMALL[::4])
def test_an_operator_does_to_a_given_graph_what_it_does_to_the_member_it_came_from(member):
    base = Base.of(built(member))
    assert build(base) == built(member)
    made = [DegreeExpansion(2, base), Bidirected(base), Product(base, UniRing(3))]
    same = [DegreeExpansion(2, member), Bidirected(member), Product(member, UniRing(3))]
    if member.regular():
        made.append(LineGraph(1, base))
        same.append(LineGraph(1, member))
    for one, other in zip(made, same, strict=True):
        assert build(one) == build(other)
        assert traits(one).degree == traits(other).degree


def test_nothing_is_claimed_of_a_given_graph():
    base = Base.of(build(UniRing(6)))
    assert claim(base) is None
    assert claim_transpose(LineGraph(2, base)) is None
    assert not traits(base).vertex_transitive
    assert representatives(base).tolist() == list(range(6))
    # Rotations of the positions are still tried, and checked on the links.
    assert len(semiregular_group_of(base)) == 6


def test_networkx_graphs_of_every_kind_are_bases():
    assert Base.of(nx.DiGraph([("a", "b"), ("b", "a")])) == Base.of(nx.Graph([("a", "b")]))
    twice = nx.MultiGraph([("a", "b"), ("a", "b")])
    assert build(Base.of(twice)) == build(UniRing(2, 2))
    assert build(Base.of(nx.MultiDiGraph(twice))) == build(UniRing(2, 2))
    # Nodes are numbered in the order of the graph, whatever their names.
    graph = nx.DiGraph()
    graph.add_nodes_from(["z", (1, 2), 5])
    graph.add_edge("z", 5)
    assert Base.of(graph) == Graph(3, 2)


def test_a_graph_of_a_few_hundred_links_fits_the_text_of_a_recipe():
    graph = Base.of(nx.random_regular_graph(4, 150, seed=1))
    text = str(LineGraph(2, graph))
    assert len(graph.gaps) == 600
    assert len(text) <= MAX_TEXT
    assert parse(text) == LineGraph(2, graph)


def test_a_larger_graph_is_a_value_whose_text_is_whole_but_not_read_back():
    graph = nx.random_regular_graph(4, 600, seed=1)
    recipe = LineGraph(2, Base.of(graph))
    assert len(str(recipe)) > MAX_TEXT
    assert build(recipe).node_count == 600 * 16
    with pytest.raises(InvalidRecipe, match=rf"at most {MAX_TEXT} characters, not \d+"):
        parse(str(recipe))
    assert parse("LineGraph(2, @my)", {"my": graph}) == recipe


def test_graphs_are_named_in_recipes():
    graphs = {"my": nx.cycle_graph(3), "dir/my-2_x.graphml": build(UniRing(3))}
    ring = Base.of(graphs["my"])
    assert parse("@my", graphs) == ring
    assert parse("Product( @my,@dir/my-2_x.graphml )", graphs) == Product(
        ring, Base.of(build(UniRing(3)))
    )


class OnlyAsked(dict):
    """Graphs that are made when their names are asked for, as readers of files do."""

    def __missing__(self, name):
        return build(UniRing(len(name)))


def test_only_graphs_that_are_named_are_asked_for():
    assert parse("Product(@abc, @abcd)", OnlyAsked()) == Product(
        Base.of(build(UniRing(3))), Base.of(build(UniRing(4)))
    )


@pytest.mark.parametrize(
    ("text", "graphs", "message"),
    [
        ("LineGraph(2, @my)", None, "column 14: no graph is called @my; no graphs are given"),
        ("LineGraph(2, @my)", {}, "column 14: no graph is called @my; no graphs are given"),
        ("@my", {"a": None, "b": None}, "column 1: no graph is called @my; given: @a, @b"),
        ("@", {}, "column 1: unexpected '@'"),
        ("@my(3)", {"my": nx.cycle_graph(3)}, r"column 4: expected the end, not '\('"),
        ("UniRing(@my)", {"my": nx.cycle_graph(3)}, "column 9: expected an integer, not '@my'"),
    ],
)
def test_an_unknown_or_misplaced_graph_is_named(text, graphs, message):
    with pytest.raises(InvalidRecipe, match=f"^recipe: {message}$"):
        parse(text, graphs)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (Topology("ab", [("a", "b")], switches="b"), "/nodes: a base must have no switch; 'b'"),
        (Topology("ab", [("a", "b"), ("b", "a", 2)]), "/links: .* one capacity, not 1 and 2"),
        (Topology("ab", [("a", "b"), ("b", "a", Fraction(1, 2))]), "/links: .* not 1 and 1/2"),
        (Topology("ab", []), "/links: a base must have at least one link"),
        (nx.DiGraph([(1, 1)]), "/links: must join two different nodes; both are 1"),
        (nx.Graph(), "/links: a base must have at least one link"),
        ([(0, 1)], "/: must be a Topology or a networkx graph, not list"),
    ],
)
def test_what_cannot_be_a_base_is_refused_by_its_field(graph, message):
    with pytest.raises(InvalidTopology, match=f"^{message}") as refused:
        Base.of(graph)
    with pytest.raises(InvalidRecipe, match=r"^recipe: column 10: @my cannot be a base: ") as named:
        parse("Power(2, @my)", {"my": graph})
    assert str(named.value).endswith(str(refused.value))


def test_links_of_one_capacity_other_than_one_are_links():
    slow = Topology("abc", [("a", "b", 25), ("b", "c", 25), ("c", "a", 25)])
    assert build(Base.of(slow)) == build(UniRing(3))
