"""Exchanges keep a graph what it is, and bring its nodes nearer; random graphs come from seeds."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topoloom.synth.edge_swaps.local_search import (
    apply_random_swaps,
    apply_targeted_swaps,
    distant_pairs,
    head_array,
    smallest_neighborhoods,
)
from topoloom.synth.edge_swaps.random_regular import random_ends, random_regular
from topoloom.synth.edge_swaps.work_estimates import swaps_use_walks
from topoloom.synth.errors import OutOfDomain
from topoloom.synth.evaluation.cost import Links, lower_bound
from topoloom.synth.evaluation.measure import diameter
from topoloom.synth.families import RandomRegular, RandomRegularTwoWay
from topoloom.synth.kernels.lru_cache import LruCache
from topoloom.synth.kernels.splitmix import seeded
from topoloom.synth.recipes.build import _altered, build
from topoloom.synth.recipes.recipe import Shortened
from topoloom.synth.search.random_seeds import random_seeds
from topoloom.synth.slack import slack_schedule


@st.composite
def members(draw):
    two_way = draw(st.booleans())
    degree = draw(st.integers(3 if two_way else 2, 5))
    nodes = draw(st.integers(degree + 2, 90))
    nodes += two_way and nodes * degree % 2
    return nodes, degree, draw(st.integers(0, 50)), two_way


def slowly_late(graph, depth):
    reached = dict(nx.all_pairs_shortest_path_length(graph, cutoff=depth))
    return graph.number_of_nodes() ** 2 - sum(map(len, reached.values()))


@given(members(), st.integers(0, 7))
def test_late_pairs_are_those_that_are_farther_apart(member, depth):
    nodes, degree, seed, two_way = member
    sources, targets = random_ends(nodes, degree, seed, two_way)
    graph = nx.DiGraph(zip(sources.tolist(), targets.tolist(), strict=True))
    assert distant_pairs(head_array(nodes, sources, targets), depth) == slowly_late(graph, depth)


@given(members(), st.integers(1, 6), st.integers(0, 300))
def test_exchanges_keep_degrees_and_partners_and_make_no_more_pairs_late(member, depth, most):
    nodes, degree, seed, two_way = member
    heads = head_array(nodes, *random_ends(nodes, degree, seed, two_way))
    before = distant_pairs(heads, depth)
    late, looked = apply_random_swaps(heads, depth, most, two_way, seeded(seed))
    assert late == distant_pairs(heads, depth) <= before
    assert looked <= most
    assert looked == most or late == 0
    joined = np.zeros((nodes, nodes), np.int64)
    np.add.at(joined, (np.repeat(np.arange(nodes), degree), heads.ravel()), 1)
    assert joined.max() == 1
    assert not joined.diagonal().any()
    assert (joined.sum(0) == degree).all()
    assert not two_way or (joined == joined.T).all()


@given(members(), st.integers(1, 4), st.integers(0, 300))
def test_counting_walks_makes_the_same_exchanges_as_counting_balls(member, depth, most):
    nodes, degree, seed, two_way = member
    near = head_array(nodes, *random_ends(nodes, degree, seed, two_way))
    far = near.copy()
    found = apply_random_swaps(near, depth, most, two_way, seeded(seed), by_walks=True)
    asked = far, depth, most, two_way, seeded(seed)
    assert found == apply_random_swaps(*asked, by_walks=False)
    assert (near == far).all()


@pytest.mark.slow
@given(members(), st.integers(1, 7), st.integers(0, 200), st.integers(0, 60))
def test_aimed_exchanges_are_the_same_by_counting_walks_and_balls(member, depth, most, patience):
    nodes, degree, seed, two_way = member
    near = head_array(nodes, *random_ends(nodes, degree, seed, two_way))
    far, again = near.copy(), near.copy()
    options = depth, most, two_way
    found = apply_targeted_swaps(near, *options, seeded(seed), patience, by_walks=True)
    assert found == apply_targeted_swaps(far, *options, seeded(seed), patience, by_walks=False)
    assert (near == far).all()
    # A recipe says how many exchanges were looked at, and not why no more were.
    assert apply_targeted_swaps(again, depth, found[1], two_way, seeded(seed)) == found
    assert (near == again).all()


@pytest.mark.parametrize("size", [(620, 5), (314, 6), (150, 5)])
def test_a_shortened_graph_is_the_same_whether_it_was_just_found_or_is_built_anew(
    monkeypatch, size
):
    random_seeds.cache_clear()
    found = [one for one in random_seeds(*size, Links.UNIDIRECTIONAL) if isinstance(one, Shortened)]
    assert found
    made = [build(one) for one in found]
    assert all(diameter(graph) <= one.depth for graph, one in zip(made, found, strict=True))
    _altered.cache_clear()
    monkeypatch.setattr("topoloom.synth.recipes.expansions.targeted_swaps._swapped", LruCache(0))
    assert [build(one) for one in found] == made


def test_walks_are_counted_where_they_are_few():
    assert swaps_use_walks(1009, 4, 3) and swaps_use_walks(809, 2, 5)
    assert (
        not swaps_use_walks(61, 4, 3)
        and not swaps_use_walks(1009, 4, 6)
        and not swaps_use_walks(10_000, 4, 2)
    )


@pytest.mark.parametrize(
    ("nodes", "degree", "links", "above"),
    [(97, 2, Links.UNIDIRECTIONAL, 3), (241, 3, Links.UNIDIRECTIONAL, 2),
     (241, 4, Links.UNIDIRECTIONAL, 2), (499, 6, Links.UNIDIRECTIONAL, 1),
     (98, 3, Links.BIDIRECTIONAL, 2), (241, 4, Links.BIDIRECTIONAL, 2),
     (499, 4, Links.BIDIRECTIONAL, 2)],
)  # fmt: skip
def test_wide_graphs_reach_the_bandwidth_bound_without_a_move(nodes, degree, links, above):
    graph = build(random_seeds(nodes, degree, links)[-1])
    bounds = lower_bound(nodes, degree, links)
    for direction in (graph, graph.transpose()):
        assert (
            slack_schedule(direction, bounds.steps + above, moves=0).cost.bandwidth
            == bounds.bandwidth
        )


@given(members(), st.integers(1, 6), st.integers(1, 200))
def test_a_member_is_one_connected_regular_graph_whatever_is_exchanged(member, depth, exchanges):
    nodes, degree, seed, two_way = member
    family = RandomRegularTwoWay if two_way else RandomRegular
    made = family(nodes, degree, seed, min(depth, nodes), exchanges)
    graph = build(made)
    graph.require_connected()
    assert graph.is_regular and graph.degree == degree and not graph.has_parallel_links
    assert graph.is_bidirectional or not two_way
    assert build(made) == graph


@pytest.mark.parametrize("links", Links)
def test_without_exchanges_a_member_is_the_random_graph_of_its_seed(links):
    family = RandomRegularTwoWay if links is Links.BIDIRECTIONAL else RandomRegular
    assert build(family(40, 3, 7)) == random_regular(40, 3, 7, links)


@pytest.mark.parametrize("links", Links)
@pytest.mark.parametrize(
    ("nodes", "degree", "above"), [(61, 4, 1), (127, 3, 2), (97, 6, 1), (509, 4, 1)]
)
def test_at_every_size_a_graph_of_few_steps_is_drawn(links, nodes, degree, above):
    nodes += links is Links.BIDIRECTIONAL and nodes * degree % 2
    found = random_seeds(nodes, degree, links)
    assert found == random_seeds.__wrapped__(nodes, degree, links)
    steps = [diameter(build(one)) for one in found]
    assert steps == sorted(set(steps))
    assert steps[0] <= lower_bound(nodes, degree, links).steps + above


@pytest.mark.parametrize(
    ("nodes", "degree", "links"),
    [(9, 3, Links.BIDIRECTIONAL), (9, 1, Links.UNIDIRECTIONAL), (9, 2, Links.BIDIRECTIONAL),
     (9, 8, Links.UNIDIRECTIONAL), (30, 9, Links.UNIDIRECTIONAL),
     (16_385, 3, Links.UNIDIRECTIONAL)],
)  # fmt: skip
def test_nothing_is_drawn_where_there_is_no_choice_or_labels_do_not_serve(nodes, degree, links):
    assert random_seeds(nodes, degree, links) == ()


def test_exchanges_that_would_take_too_long_are_refused():
    with pytest.raises(OutOfDomain, match="must be from 0 to 10 here"):
        RandomRegular(16_384, 8, 0, 6, 11)


@pytest.mark.parametrize(("nodes", "degree", "two_way"), [(70, 3, False), (130, 4, True)])
def test_the_smallest_balls_are_those_of_a_search_from_and_to_every_node(nodes, degree, two_way):
    sources, targets = random_ends(nodes, degree, 5, two_way)
    graph = nx.DiGraph(zip(sources.tolist(), targets.tolist(), strict=True))
    ways = graph, graph.reverse()
    sizes = [
        [
            len(nx.single_source_shortest_path_length(way, node, cutoff=radius))
            for way in ways
            for node in way
        ]
        for radius in (1, 2, 3)
    ]
    found = smallest_neighborhoods(head_array(nodes, sources, targets), 3)
    assert found == tuple(map(min, sizes))
