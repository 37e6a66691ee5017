"""Members are the graphs that the literature defines, node by node."""

from itertools import pairwise, product

import networkx as nx
import numpy as np
import pytest

from tests.cases import for_every
from tests.cost_oracles import distances_to
from tests.synth.catalogue import SMALL, cost_of, transpose_cost_of
from topoloom.synth.errors import OutOfDomain
from topoloom.synth.evaluation.cost import Cost, Links, lower_bound, optimal_bandwidth
from topoloom.synth.families import (
    DeBruijn,
    GeneralizedKautz,
    GeneralizedKautzRewired,
    Hypercube,
    Kautz,
    ModifiedDeBruijn,
    Torus,
)
from topoloom.synth.recipes.build import build, size, traits
from topoloom.synth.recipes.recipe import parse


def _edges(graph):
    return sorted(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True))


def _both_ways(graph):
    return sorted(nx.DiGraph(graph).edges)


@pytest.mark.parametrize(
    ("recipe", "graph"),
    [
        ("BiRing(7)", nx.cycle_graph(7)),
        ("UniRing(6)", nx.cycle_graph(6, create_using=nx.DiGraph)),
        ("Complete(6)", nx.complete_graph(6)),
        ("CompleteBipartite(4)", nx.complete_bipartite_graph(4, 4)),
        ("Circulant(14, 2, 3, 7)", nx.circulant_graph(14, [2, 3, 7])),
        (
            "DirectedCirculant(9, 2, 5)",
            nx.DiGraph((x, (x + a) % 9) for x in range(9) for a in (2, 5)),
        ),
        ("Diamond()", nx.DiGraph((x, (x + a) % 8) for x in range(8) for a in (1, 3))),
    ],
)
def test_members_equal_the_graphs_of_the_textbook(recipe, graph):
    assert _edges(build(parse(recipe))) == _both_ways(graph)


@pytest.mark.parametrize("sides", [(4, 3), (5, 5), (3, 4, 3), (2, 4), (3, 2, 2)])
def test_tori_are_periodic_grids_numbered_first_side_first(sides):
    # A periodic grid joins the two nodes of a side of 2 once, as the torus does.
    grid = nx.convert_node_labels_to_integers(
        nx.grid_graph(dim=sides[::-1], periodic=True), ordering="sorted"
    )
    assert _edges(build(Torus(*sides))) == _both_ways(grid)


def test_hypercube_joins_words_that_differ_in_one_bit():
    words = list(product((0, 1), repeat=4))
    expected = [
        (i, j)
        for (i, a), (j, b) in product(enumerate(words), repeat=2)
        if sum(x != y for x, y in zip(a, b, strict=True)) == 1
    ]
    assert _edges(build(Hypercube(4))) == expected


@pytest.mark.parametrize(("d", "k"), [(2, 2), (2, 4), (3, 3), (4, 2)])
def test_de_bruijn_shifts_words_and_its_modification_joins_the_loops(d, k):
    words = list(product(range(d), repeat=k))
    number = {word: i for i, word in enumerate(words)}
    shifts = [(number[w], number[(*w[1:], c)]) for w in words for c in range(d)]
    plain = sorted((a, b) for a, b in shifts if a != b)
    assert _edges(build(DeBruijn(d, k))) == plain
    cycle = [(number[(c,) * k], number[((c + 1) % d,) * k]) for c in range(d)]
    assert _edges(build(ModifiedDeBruijn(d, k))) == sorted(plain + cycle)


@pytest.mark.parametrize(("d", "k"), [(2, 1), (2, 3), (3, 2), (3, 3), (4, 2)])
def test_kautz_is_isomorphic_to_the_shifts_of_words_without_repetition(d, k):
    words = [w for w in product(range(d + 1), repeat=k) if all(x != y for x, y in pairwise(w))]
    shifts = nx.DiGraph((w, (*w[1:], c)) for w in words for c in range(d + 1) if c != w[-1])
    assert nx.is_isomorphic(nx.DiGraph(_edges(build(Kautz(d, k)))), shifts)


@for_every(("d", "n"), list(product(range(2, 8), range(2, 14))))
def test_generalized_kautz_follows_its_formula_and_rewiring_only_replaces_loops(d, n):
    arcs = [(x, (-d * x - a) % n) for x in range(n) for a in range(1, d + 1)]
    plain = sorted((x, y) for x, y in arcs if x != y)
    loops = sum(1 for x, y in arcs if x == y)
    assert _edges(build(GeneralizedKautz(d, n))) == plain
    try:
        rewired = _edges(build(GeneralizedKautzRewired(d, n)))
    except OutOfDomain:
        # No loop, or a last one with no other to be joined to.
        assert loops % n in (0, 1)
        assert loops == 0 or loops % n == 1
        return
    for arc in plain:
        rewired.remove(arc)
    # What is left are as many links, one into and one out of a node for each of its loops.
    had = sorted(x for x, y in arcs if x == y)
    assert sorted(x for x, _ in rewired) == had
    assert sorted(y for _, y in rewired) == had


@pytest.mark.parametrize(("d", "n"), [(2, 100), (3, 500), (4, 1000), (5, 77)])
def test_generalized_kautz_needs_few_steps(d, n):
    graph = build(GeneralizedKautz(d, n))
    into = [graph.sources[graph.targets == node].tolist() for node in graph.nodes]
    most = max(max(distances_to(into, node).values()) for node in range(0, n, 7))
    assert most <= len(np.base_repr(n - 1, d))


@pytest.mark.parametrize(
    ("recipe", "steps"), [("Diamond()", 3), ("Circulant(12, 2, 3)", 2), ("Complete(5)", 1)]
)
def test_some_members_meet_both_lower_bounds(recipe, steps):
    found = parse(recipe)
    links = Links.BIDIRECTIONAL if traits(found).bidirectional else Links.UNIDIRECTIONAL
    assert lower_bound(*size(found), links) == Cost(steps, optimal_bandwidth(size(found)[0]))
    assert cost_of(found) == transpose_cost_of(found) == lower_bound(*size(found), links)


def test_joining_the_loops_adds_no_step():
    for recipe in SMALL:
        if isinstance(recipe, GeneralizedKautzRewired | ModifiedDeBruijn):
            plain = GeneralizedKautz if isinstance(recipe, GeneralizedKautzRewired) else DeBruijn
            assert cost_of(recipe).steps <= cost_of(plain(*recipe.arguments)).steps
