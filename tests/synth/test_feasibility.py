"""Where there is no answer, the error says why, and what it names as near is there."""

import re

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topoloom.synth.errors import BeyondSearch, ImpossibleRequest, NoneKnown
from topoloom.synth.evaluation.cost import Links
from topoloom.synth.evaluation.measure import MAX_DEGREE
from topoloom.synth.search.feasibility import none_known, require_feasible
from topoloom.synth.search.frontier import frontier
from topoloom.synth.search.limits import MAX_NODES
from topoloom.synth.search.recipe_enumeration import Constraints

TWO_WAY = Links.BIDIRECTIONAL


def refused(nodes, degree, links=TWO_WAY, parallel=False):
    with pytest.raises(ImpossibleRequest) as caught:
        require_feasible(nodes, degree, links, parallel)
    return caught.value


def sizes_named(rule, nodes, degree):
    """Return the sizes that an error says are near."""
    near = rule.partition("near are ")[2].partition("(")[0]
    sizes = re.search(rf"([0-9 or]+) nodes of degree {degree}", near)
    degrees = re.search(rf"degree ([0-9 or]+) for {nodes} nodes", near)
    found = [(int(one), degree) for one in re.findall("[0-9]+", sizes[1] if sizes else "")]
    return found + [
        (nodes, int(one)) for one in re.findall("[0-9]+", degrees[1] if degrees else "")
    ]


odd = st.integers(1, MAX_NODES // 2 - 1).map(lambda half: 2 * half + 1)


@given(odd, st.integers(1, MAX_DEGREE // 2 - 1).map(lambda half: 2 * half + 1), st.booleans())
def test_an_odd_number_of_ports_names_sizes_that_exist_and_the_idle_port(nodes, degree, parallel):
    if degree >= nodes and not parallel:
        return
    error = refused(nodes, degree, parallel=parallel)
    assert error.field == "degree"
    assert f"({degree - 1} leaves a port of every host idle, and with it 1/{degree}" in error.rule
    near = sizes_named(error.rule, nodes, degree)
    assert {(nodes + 1, degree), (nodes, degree - 1)} <= {*near, (MAX_NODES + 1, degree)}
    for size in near:
        require_feasible(*size, TWO_WAY, parallel)


@pytest.mark.parametrize("size", [(31, 3), (37, 5), (5, 3), (101, 7), (9, 3)])
def test_what_is_named_as_near_has_a_frontier(size):
    near = sizes_named(refused(*size).rule, *size)
    assert len(near) >= 3
    for nodes, degree in near:
        assert frontier(nodes, degree, TWO_WAY).points


def test_pairs_of_hosts_are_said_to_be_pairs():
    for nodes in (3, 4, 17):
        assert "join 2 nodes only" in refused(nodes, 1).rule
        require_feasible(nodes, 2, TWO_WAY, False)
        require_feasible(nodes, 1, Links.UNIDIRECTIONAL, False)


@pytest.mark.parametrize("links", list(Links))
@pytest.mark.parametrize(("nodes", "degree"), [(4, 4), (4, 9), (2, 2), (8, 64)])
def test_more_ports_than_other_hosts_need_parallel_links_or_more_hosts(nodes, degree, links):
    error = refused(nodes, degree, links)
    assert error.field == "degree"
    assert f"near are degree {nodes - 1} and, for degree {degree}, {degree + 1} nodes" in error.rule
    require_feasible(nodes, nodes - 1, links, False)
    require_feasible(degree + 1, degree, links, False)


@pytest.mark.parametrize(
    ("constraints", "nodes", "degree", "near"),
    [
        ({"families": frozenset({"Hypercube"})}, 33, 5, [(32, 5)]),
        ({"families": frozenset({"CompleteBipartite"})}, 9, 4, [(8, 4)]),
        ({"families": frozenset({"Kautz"}), "vertex_transitive": True}, 30, 5, [(6, 5)]),
        ({"families": frozenset({"Diamond"})}, 100, 2, []),
    ],
)
def test_sizes_named_for_a_family_are_those_it_has(constraints, nodes, degree, near):
    error = none_known(Constraints(**constraints), nodes, degree)
    assert error.field == "families"
    found = sizes_named(error.rule, nodes, degree)
    assert set(near) <= set(found)
    assert bool(found) == ("near are" in error.rule)
    for size in found:
        assert frontier(*size, families=constraints["families"]).points


@pytest.mark.slow
def test_too_few_steps_say_the_least_there_is_and_the_bound():
    with pytest.raises(ImpossibleRequest) as caught:
        frontier(256, 4, max_steps=1)
    assert caught.value.field == "max_steps"
    least = int(re.search(r"must be at least ([0-9]+)", caught.value.rule)[1])
    assert f"the bound is {frontier(256, 4).bounds.steps}" in caught.value.rule
    points = frontier(256, 4, max_steps=least).points
    assert points and all(point.cost.steps <= least for point in points)
    with pytest.raises(ImpossibleRequest, match=f"at least {least}"):
        frontier(256, 4, max_steps=least - 1)


def exists(nodes, degree, links, parallel):
    """Return whether a connected graph exists, by theorems of Erdős, Gallai, Hakimi and Fulkerson.

    A degree sequence of a graph, or of a multigraph, has a connected realisation where its sum is
    at least twice the number of nodes less one; a digraph of equal degrees in and out is connected
    as soon as one with all its pairs both ways is.
    """
    if nodes < 2 or degree < 1:
        return False
    ports = [degree] * nodes
    if links is Links.UNIDIRECTIONAL:
        return parallel or nx.is_digraphical(ports, ports)
    graphical = nx.is_multigraphical if parallel else nx.is_graphical
    return bool(graphical(ports)) and nodes * degree >= 2 * (nodes - 1)


@given(
    st.integers(0, 90) | st.sampled_from([MAX_NODES - 1, MAX_NODES, MAX_NODES + 1, 10**9]),
    st.integers(0, MAX_DEGREE + 2),
    st.sampled_from(Links),
    st.booleans(),
)
def test_a_size_is_called_impossible_only_where_no_graph_exists(nodes, degree, links, parallel):
    try:
        require_feasible(nodes, degree, links, parallel)
    except BeyondSearch:
        assert nodes > MAX_NODES or degree > MAX_DEGREE
    except ImpossibleRequest as refused:
        assert type(refused) is ImpossibleRequest
        assert not exists(nodes, degree, links, parallel)
    else:
        assert nodes > 90 or exists(nodes, degree, links, parallel)


@settings(max_examples=15)
@given(st.integers(4, 40), st.integers(2, 3), st.integers(1, 6), st.sampled_from(Links))
def test_too_few_steps_are_called_impossible_only_below_the_moore_bound(nodes, degree, most, links):
    if not exists(nodes, degree, links, parallel=False):
        return
    try:
        frontier(nodes, degree, links, families=["Circulant"], max_steps=most)
    except ImpossibleRequest as refused:
        onward = degree if links is Links.UNIDIRECTIONAL else degree - 1
        reached = 1 + sum(degree * onward ** (step - 1) for step in range(1, most + 1))
        impossible = reached < nodes and refused.field == "max_steps"
        assert type(refused) is (ImpossibleRequest if impossible else NoneKnown)


def test_a_family_without_the_size_leaves_none_known():
    with pytest.raises(NoneKnown, match="none is known"):
        frontier(31, 4, families=["Hypercube"])
