"""Random regular graphs: regular, simple, connected, and the same tomorrow."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from topoloom.synth.edge_swaps.random_regular import random_regular
from topoloom.synth.edge_swaps.work_estimates import MAX_NODES
from topoloom.synth.errors import OutOfDomain
from topoloom.synth.evaluation.cost import Links

SEEDS = st.integers(0, 2**63 - 1)


@given(st.data(), st.sampled_from(Links), SEEDS)
def test_graphs_are_regular_simple_and_connected(data, links, seed):
    nodes = data.draw(st.integers(2, 40))
    degree = data.draw(st.integers(1, nodes - 1))
    if links is Links.BIDIRECTIONAL:
        assume(nodes * degree % 2 == 0 and (degree > 1 or nodes == 2))
    graph = random_regular(nodes, degree, seed, links)
    assert (graph.node_count, graph.degree) == (nodes, degree)
    assert graph.is_regular
    assert not graph.has_parallel_links
    graph.require_connected()
    assert graph.is_bidirectional or links is Links.UNIDIRECTIONAL


@pytest.mark.parametrize("links", Links)
@pytest.mark.parametrize(("nodes", "degree"), [(50, 2), (50, 3), (50, 25), (50, 47)])
def test_every_seed_gives_a_graph_of_its_own_and_always_the_same(nodes, degree, links):
    graphs = [random_regular(nodes, degree, seed, links) for seed in range(10)]
    assert len({graph.digest for graph in graphs}) == 10
    assert all(random_regular(nodes, degree, seed, links) == graphs[seed] for seed in range(10))


def test_a_graph_of_a_seed_is_kept_for_good():
    kept = random_regular(6, 2, 7)
    assert list(zip(kept.sources.tolist(), kept.targets.tolist(), strict=True)) == KEPT


KEPT = [
    (0, 4),
    (0, 5),
    (1, 2),
    (1, 4),
    (2, 0),
    (2, 1),
    (3, 0),
    (3, 2),
    (4, 3),
    (4, 5),
    (5, 1),
    (5, 3),
]


def test_links_are_spread_evenly_over_all_pairs():
    count = {(a, b): 0 for a in range(8) for b in range(8) if a != b}
    draws = 4000
    for seed in range(draws):
        graph = random_regular(8, 3, seed)
        for pair in zip(graph.sources.tolist(), graph.targets.tolist(), strict=True):
            count[pair] += 1
    expected = draws * 3 / 7
    # Five standard deviations of a binomial, by which one of 56 is off once in 30,000 tries.
    spread = 5 * (draws * 3 / 7 * 4 / 7) ** 0.5
    assert all(abs(seen - expected) < spread for seen in count.values())


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ((1, 1, 0), "nodes"),
        ((MAX_NODES + 1, 2, 0), "nodes"),
        ((5, 0, 0), "degree"),
        ((5, 5, 0), "degree"),
        ((5, 3, 0, Links.BIDIRECTIONAL), "degree"),
        ((6, 1, 0, Links.BIDIRECTIONAL), "degree"),
        ((5, 2, -1), "seed"),
        ((5, 2, 2**63), "seed"),
    ],
)
def test_parameters_out_of_their_domain_are_refused_by_name(arguments, field):
    with pytest.raises(OutOfDomain) as caught:
        random_regular(*arguments)
    assert caught.value.field == field


def test_the_largest_graphs_are_drawn():
    for links in Links:
        graph = random_regular(MAX_NODES, 8, 1, links)
        assert graph.is_regular
        assert graph.link_count == 8 * MAX_NODES
