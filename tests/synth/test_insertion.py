"""Nodes inserted into links leave a regular graph regular, connected, and mostly as short."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.bases import Circulant, Complete, Hypercube, RandomRegular, RandomRegularTwoWay, UniRing
from synth.build import build, traits
from synth.candidates import Candidate
from synth.claims import claim
from synth.cost import Links, lower_bound, optimal_bandwidth
from synth.discovery.enlarged import enlarged
from synth.errors import OutOfDomain
from synth.labels import check_labels, labels
from synth.measure import diameter, measure
from synth.operators import Inserted, LineGraph
from synth.orbits import representatives
from synth.recipe import parse
from synth.search import frontier


@st.composite
def insertions(draw):
    two_way = draw(st.booleans())
    degree = draw(st.integers(2, 5))
    nodes = draw(st.integers(2 * degree, 40))
    nodes += two_way and nodes * degree % 2
    family = RandomRegularTwoWay if two_way else RandomRegular
    more = draw(st.integers(1, 6))
    more += two_way and degree % 2 and more % 2
    seeds = st.integers(1, 1000)
    depth = draw(st.integers(1, min(nodes, 8)))
    return Inserted(more, depth, draw(seeds), family(nodes, degree, draw(seeds)))


@given(insertions())
def test_what_is_inserted_leaves_a_graph_regular_simple_connected_and_two_way(recipe):
    graph, known = build(recipe), traits(recipe)
    assert graph.node_count == known.nodes == recipe.of.nodes + recipe.more
    assert graph.is_regular and graph.degree == known.degree == recipe.of.degree
    assert not graph.has_parallel_links
    assert (graph.sources != graph.targets).all()
    assert graph.is_bidirectional or not known.bidirectional
    graph.require_connected()


@given(insertions())
def test_an_insertion_is_its_text_and_the_same_every_time(recipe):
    again = parse(str(recipe))
    assert again == recipe
    assert build(again).digest == build(recipe).digest
    assert claim(recipe) is None
    assert len(representatives(recipe)) == traits(recipe).nodes


@pytest.mark.parametrize(
    ("recipe", "field"),
    [
        (Inserted(1, 4, 1, Hypercube(5)), "more"),
        (Inserted(1, 4, 1, Complete(5)), "of"),
        (Inserted(1, 4, 1, UniRing(6, 2)), "of"),
        (Inserted(2, 1, 1, Complete(2)), "of"),
        (Inserted(1, 5000, 1, Circulant(4096, 1, 2)), "depth"),
        (Inserted(40_000, 9, 1, Circulant(4096, 1, 2)), "depth"),
        (Inserted(10**9, 1, 1, Circulant(4096, 1, 2)), "recipe"),
    ],
)
def test_what_cannot_be_inserted_is_refused_by_its_field_before_anything_is_built(recipe, field):
    with pytest.raises(OutOfDomain) as refused:
        traits(recipe)
    assert refused.value.field == field


def test_a_seed_beyond_a_state_is_refused():
    with pytest.raises(OutOfDomain, match="seed"):
        Inserted(1, 4, 2**63, Circulant(16, 3, 4))


@pytest.mark.parametrize(
    ("of", "more", "depth"),
    [
        ("LineGraph(2, DirectedCirculant(13, 1, 2, 5))", 1, 5),
        ("LineGraph(2, DirectedCirculant(13, 1, 2, 5))", 2, 5),
        ("LineGraph(1, CayleyMatrix(4, 2, 3, 0, 1, 3, 3, 22, 29, 31, 39))", 1, 5),
    ],
)
def test_one_node_more_need_not_be_farther_away(of, more, depth):
    assert diameter(build(Inserted(more, depth, 1, parse(of)))) == depth


def test_193_hosts_have_the_optimal_bandwidth_one_step_above_the_bound():
    point = next(one for one in frontier(193, 4).points if one.steps == 5)
    assert isinstance(point.recipe, Inserted)
    assert point.cost.bandwidth == point.transpose.bandwidth == optimal_bandwidth(193)
    for graph in (build(point.recipe), build(point.recipe).transpose()):
        assert check_labels(graph, labels(graph, 5)) == point.cost


def test_a_number_that_the_ports_divide_is_reached_from_the_next_smaller_one_too() -> None:
    asked: list[int] = []

    def front(nodes: int) -> tuple[Candidate, ...]:
        asked.append(nodes)
        return ()

    enlarged(96, 3, Links.UNIDIRECTIONAL, front)
    assert 93 in asked and max(asked) < 96


def test_nothing_is_enlarged_where_nothing_smaller_is_known():
    assert enlarged(97, 3, Links.UNIDIRECTIONAL, lambda nodes: ()) == ()


def test_enlarged_graphs_are_of_the_size_asked_for_and_short():
    from synth.candidates import measured_unless_dominated

    bases = {36: LineGraph(1, parse("GeneralizedKautz(3, 12)"))}

    def known(nodes):
        return measured_unless_dominated(bases[nodes], ()) if nodes in bases else ()

    found = enlarged(37, 3, Links.UNIDIRECTIONAL, known)
    least = lower_bound(37, 3, Links.UNIDIRECTIONAL).steps
    assert found
    for one in found:
        assert (traits(one).nodes, traits(one).degree) == (37, 3)
        assert measure(build(one)).steps <= least + 1
