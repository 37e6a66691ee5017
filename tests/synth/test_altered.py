"""Nodes put in, taken out, links exchanged: a regular graph stays regular, connected and short."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.cases import for_every
from topoloom.synth.edge_swaps.local_search import (
    apply_random_swaps,
    apply_targeted_swaps,
    head_array,
)
from topoloom.synth.errors import OutOfDomain
from topoloom.synth.evaluation.cost import Links, lower_bound, optimal_bandwidth
from topoloom.synth.evaluation.measure import diameter, measure
from topoloom.synth.families import (
    Circulant,
    Complete,
    Diamond,
    Hypercube,
    RandomRegular,
    RandomRegularTwoWay,
    UniRing,
)
from topoloom.synth.kernels.splitmix import seeded
from topoloom.synth.recipes.build import build, traits
from topoloom.synth.recipes.claims import claim
from topoloom.synth.recipes.operators import Inserted, LineGraph, Removed, Shortened
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.search.candidates import Candidate
from topoloom.synth.search.frontier import frontier
from topoloom.synth.search.resize import resized_to_diameter
from topoloom.synth.search.resized_candidates import resized_graphs
from topoloom.synth.slack import check_slack_schedule, slack_schedule
from topoloom.synth.symmetry.orbits import representatives
from topoloom.synth.topology.topology import Topology

seeds = st.integers(1, 1000)


@st.composite
def graphs(draw, spare=0):
    two_way = draw(st.booleans())
    degree = draw(st.integers(2, 5))
    nodes = draw(st.integers(2 * degree + spare, 40))
    nodes += two_way and nodes * degree % 2
    family = RandomRegularTwoWay if two_way else RandomRegular
    return family(nodes, degree, draw(seeds))


def in_pairs(draw, of, most):
    """Draw how many nodes are put in or taken out: of two-way links of odd number, pairs."""
    return draw(st.integers(1, most // 2)) * 2 if of.d % 2 else draw(st.integers(1, most))


@st.composite
def insertions(draw):
    of = draw(graphs())
    depth = draw(st.integers(1, min(of.n, 8)))
    return Inserted(in_pairs(draw, of, 6), depth, draw(seeds), of)


@st.composite
def removals(draw):
    of = draw(graphs(spare=10))
    depth = draw(st.integers(1, min(of.n, 8)))
    return Removed(in_pairs(draw, of, of.n - 2 * of.d - 8), depth, draw(seeds), of)


@st.composite
def shortenings(draw):
    return Shortened(
        draw(st.integers(1, 6)), draw(st.integers(1, 200)), draw(seeds), draw(graphs())
    )


altered = st.one_of(insertions(), removals(), shortenings())


def whole(recipe):
    """Return the graph, unless nodes were taken out such that it fell into parts."""
    try:
        return build(recipe)
    except OutOfDomain as apart:
        assert isinstance(recipe, Removed) and apart.field == "seed"
        assume(False)


@given(altered)
def test_what_is_altered_stays_regular_simple_connected_and_two_way(recipe):
    graph, known = whole(recipe), traits(recipe)
    change = {
        Inserted: lambda one: one.more,
        Removed: lambda one: -one.fewer,
        Shortened: lambda one: 0,
    }[type(recipe)](recipe)
    assert graph.node_count == known.nodes == recipe.of.nodes + change
    assert graph.is_regular and graph.degree == known.degree == recipe.of.degree
    assert not graph.has_parallel_links
    assert (graph.sources != graph.targets).all()
    assert graph.is_bidirectional or not known.bidirectional
    graph.require_connected()


@given(altered)
def test_an_altered_graph_is_its_text_and_the_same_every_time(recipe):
    again = parse(str(recipe))
    assert again == recipe
    assert whole(again).digest == build(recipe).digest
    assert claim(recipe) is None
    assert len(representatives(recipe)) == traits(recipe).nodes


@for_every(
    ("recipe", "field"),
    [
        (Inserted(1, 4, 1, Hypercube(5)), "more"),
        (Inserted(1, 4, 1, Complete(5)), "of"),
        (Inserted(1, 4, 1, UniRing(6, 2)), "of"),
        (Inserted(2, 1, 1, Complete(2)), "of"),
        (Inserted(1, 5000, 1, Circulant(4096, 1, 2)), "depth"),
        (Inserted(40_000, 9, 1, Circulant(4096, 1, 2)), "depth"),
        (Inserted(10**9, 1, 1, Circulant(4096, 1, 2)), "recipe"),
        (Removed(1, 4, 1, Hypercube(5)), "fewer"),
        (Removed(10**9, 4, 1, Hypercube(6)), "fewer"),
        (Removed(17, 4, 1, Circulant(32, 3, 4)), "fewer"),
        (Removed(1, 1, 1, UniRing(20)), "of"),
        (Removed(1, 1, 1, UniRing(20, 2)), "of"),
        (Removed(1, 1, 1, Diamond()), "fewer"),
        (Removed(1, 5000, 1, Circulant(4096, 1, 2)), "depth"),
        (Removed(4000, 9, 1, Circulant(4096, 1, 2)), "depth"),
        (Shortened(3, 10, 1, UniRing(20)), "of"),
        (Shortened(3, 10, 1, UniRing(20, 2)), "of"),
        (Shortened(3, 10, 1, Circulant(4098, 1, 2)), "of"),
        (Shortened(10**8, 10, 1, Circulant(100, 1, 2)), "depth"),
        (Shortened(10**11, 10, 1, Circulant(100, 1, 2)), "depth"),
        (Shortened(7, 10**7, 1, Circulant(100, 1, 2)), "exchanges"),
    ],
)
def test_what_cannot_be_altered_is_refused_by_its_field_before_anything_is_built(recipe, field):
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


@pytest.mark.parametrize(
    ("of", "fewer", "depth"),
    [
        ("LineGraph(2, DirectedCirculant(13, 1, 2, 5))", 1, 5),
        ("LineGraph(1, CayleyMatrix(4, 2, 3, 0, 1, 3, 3, 22, 29, 31, 39))", 1, 5),
        ("Torus(5, 5, 5)", 3, 6),
        ("Hypercube(7)", 6, 7),
    ],
)
def test_some_nodes_less_need_not_be_farther_away(of, fewer, depth):
    assert diameter(build(Removed(fewer, depth, 1, parse(of)))) <= depth


def late(graph, depth):
    """Count the pairs more than so many links apart by another program."""
    far = dict(nx.all_pairs_shortest_path_length(graph.to_networkx(), cutoff=depth))
    return graph.node_count**2 - sum(map(len, far.values()))


def is_connected(graph):
    return nx.is_strongly_connected(graph.to_networkx())


@given(shortenings())
def test_shortening_leaves_no_more_pairs_late_and_what_a_run_says_is_so(recipe):
    depth, exchanges, seed, of = recipe.arguments
    graph, base = build(recipe), build(of)
    assert late(graph, depth) <= late(base, depth)
    heads = head_array(of.nodes, base.sources, base.targets)
    state = seeded(seed, of.nodes, of.d, depth)
    left, looked = apply_targeted_swaps(heads, depth, exchanges, traits(of).bidirectional, state)
    assert looked == exchanges or left == 0
    exchanged = Topology.direct(of.n, np.repeat(np.arange(of.n), of.d), heads.ravel())
    assert left == late(exchanged, depth)
    assert graph == (exchanged if is_connected(exchanged) else base)


@given(graphs(spare=10), st.integers(-4, 4), st.integers(2, 5), seeds)
def test_what_is_made_to_fit_has_the_size_and_the_diameter_asked_for(of, change, depth, seed):
    if change == 0:
        return
    nodes = of.n + change
    recipe = resized_to_diameter(of, nodes, depth, seed, 10**7)
    if recipe is not None:
        graph = build(parse(str(recipe)))
        assert (graph.node_count, graph.degree) == (nodes, of.d)
        assert diameter(graph) <= depth


def test_exchanges_that_are_aimed_help_where_those_at_random_do_not():
    of = parse("LineGraph(1, Cayley(23, 13, 11, 46, 96, 98, 242))")
    recipe = resized_to_diameter(of, 997, 6, 1, 1 << 31)
    assert isinstance(recipe, Shortened)
    graph = build(recipe.of)
    heads = head_array(997, graph.sources, graph.targets)
    assert apply_random_swaps(heads, 6, recipe.exchanges, False, seeded(1))[0] > 0


def test_193_hosts_have_the_optimal_bandwidth_one_step_above_the_bound():
    point = next(one for one in frontier(193, 4).points if one.steps == 5)
    assert isinstance(point.recipe, Inserted | Removed | Shortened)
    assert point.cost.bandwidth == point.transpose.bandwidth == optimal_bandwidth(193)
    for graph in (build(point.recipe), build(point.recipe).transpose()):
        assert check_slack_schedule(graph, slack_schedule(graph, 5)) == point.cost


def test_a_number_that_the_ports_divide_is_reached_from_the_next_smaller_one_too() -> None:
    asked: list[int] = []

    def front(nodes: int) -> tuple[Candidate, ...]:
        asked.append(nodes)
        return ()

    resized_graphs(96, 3, Links.UNIDIRECTIONAL, front)
    assert asked == [93]


@pytest.mark.slow
@pytest.mark.parametrize(("nodes", "most"), [(331, 1.08), (701, 1.02)])
def test_primes_of_3_ports_are_near_the_bandwidth_bound_one_step_above_the_bound(nodes, most):
    found = frontier(nodes, 3)
    near = [point for point in found.points if point.steps <= found.bounds.steps + 1]
    worst = min(max(point.cost.bandwidth, point.transpose.bandwidth) for point in near)
    assert worst <= most * optimal_bandwidth(nodes)


def test_made_to_fit_are_of_the_size_asked_for_and_short():
    from topoloom.synth.search.candidates import measured_unless_dominated

    bases = {36: LineGraph(1, parse("GeneralizedKautz(3, 12)"))}

    def known(nodes):
        return measured_unless_dominated(bases[nodes], ()) if nodes in bases else ()

    found = resized_graphs(37, 3, Links.UNIDIRECTIONAL, known)
    least = lower_bound(37, 3, Links.UNIDIRECTIONAL).steps
    assert found
    for one in found:
        assert (traits(one).nodes, traits(one).degree) == (37, 3)
        assert measure(build(one)).steps <= least + 1
