"""Frontiers of arbitrary requests: any size, links, constraints, families and own bases."""

from collections import Counter

import networkx as nx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.synth.test_search import families_in, no_worse, slowly
from topoloom.synth.edge_swaps.random_regular import random_regular
from topoloom.synth.errors import ImpossibleRequest, OutOfDomain
from topoloom.synth.evaluation.cost import Links
from topoloom.synth.families import FAMILIES, Base
from topoloom.synth.recipes.build import build
from topoloom.synth.search.frontier import Point, frontier
from topoloom.synth.topology.topology import Topology

NAMES = [family.__name__ for family in FAMILIES]


@st.composite
def requests(draw):
    """Draw the arguments of `frontier`; about half of the requests have an answer."""
    nodes, degree = draw(st.integers(2, 14)), draw(st.integers(1, 5))
    bases = []
    for parts in draw(st.lists(st.sampled_from([1, 2, 3]), max_size=2)):
        try:
            seed = draw(st.integers(0, 9))
            bases.append(Base.of(random_regular(nodes // parts, draw(st.integers(1, 3)), seed)))
        except OutOfDomain:
            pass
    return {
        "nodes": nodes,
        "degree": degree,
        "links": draw(st.sampled_from(Links)),
        "parallel_links": draw(st.booleans()),
        "vertex_transitive": draw(st.booleans()),
        "families": draw(st.none() | st.lists(st.sampled_from(NAMES), min_size=1, max_size=8)),
        "max_steps": draw(st.none() | st.integers(1, 6)),
        "schedule": draw(st.sampled_from(["bfb", "best"])),
        "bases": bases,
    }


@settings(max_examples=30)
@given(requests())
def test_every_point_satisfies_all_constraints_and_costs_what_it_states(request):
    try:
        points = frontier(**request).points
    except ImpossibleRequest:
        return
    assert points
    for point in points:
        graph = build(point.recipe)
        ends = Counter(link[:2] for link in graph.links)
        assert len(graph.nodes) == request["nodes"]
        assert graph.degree <= request["degree"]
        assert request["parallel_links"] or max(ends.values()) == 1
        if request["links"] is Links.BIDIRECTIONAL:
            assert all(ends[target, source] == ends[source, target] for source, target in ends)
        assert not request["vertex_transitive"] or is_vertex_transitive(graph)
        if request["families"] is not None:
            assert families_in(point.recipe) <= {*request["families"], "Graph"}
        assert request["max_steps"] is None or point.steps <= request["max_steps"]
        assert request["schedule"] == "best" or point.algorithm == "bfb"
        assert slowly(point) == (point.cost, point.transpose)
        assert not any(no_worse(other, point) for other in points if other is not point)


@settings(max_examples=20)
@given(requests())
def test_constraints_never_improve_a_frontier_and_slack_schedules_never_worsen_it(request):
    request |= {"bases": [], "max_steps": None}
    free = request | {"families": None, "vertex_transitive": False}
    try:
        points = frontier(**request).points
    except ImpossibleRequest:
        return
    for less_constrained in (free, request | {"schedule": "best"}):
        others = frontier(**less_constrained).points
        assert all(any(is_no_worse(other, point) for other in others) for point in points)


@pytest.mark.slow
@settings(max_examples=3)
@given(st.integers(20, 300), st.integers(2, 10), st.sampled_from(Links))
@example(143, 4, Links.UNIDIRECTIONAL)
@example(171, 8, Links.UNIDIRECTIONAL)
@example(281, 10, Links.BIDIRECTIONAL)
def test_a_frontier_has_all_that_frontiers_of_single_families_have(nodes, degree, links):
    try:
        points = frontier(nodes, degree, links).points
    except ImpossibleRequest:
        return
    for family in NAMES:
        try:
            others = frontier(nodes, degree, links, families=[family]).points
        except ImpossibleRequest:
            continue
        for other in others:
            assert any(is_no_worse(point, other) for point in points), other


def is_no_worse(one: Point, other: Point) -> bool:
    """Return whether a point is no worse in steps, and in the bandwidth of both directions."""
    return (
        one.steps <= other.steps
        and one.cost.bandwidth <= other.cost.bandwidth
        and one.transpose.bandwidth <= other.transpose.bandwidth
    )


def is_vertex_transitive(graph: Topology) -> bool:
    """Return whether an isomorphism maps node 0 to each other node, by search."""
    marked = []
    for root in graph.nodes:
        copy = nx.DiGraph()
        copy.add_nodes_from((node, {"root": node == root}) for node in graph.nodes)
        for (source, target), count in Counter(link[:2] for link in graph.links).items():
            copy.add_edge(source, target, count=count)
        marked.append(copy)
    return all(
        nx.is_isomorphic(
            marked[0], other, node_match=lambda a, b: a == b, edge_match=lambda a, b: a == b
        )
        for other in marked[1:]
    )
