"""Every family builds what it claims, and refuses what it is not defined on."""

from itertools import combinations, pairwise, product
from math import gcd

import networkx as nx
import numpy as np
import pytest

from synth.bases import (
    FAMILIES,
    CompleteBipartite,
    DeBruijn,
    DirectedCirculant,
    GeneralizedKautz,
    GeneralizedKautzRewired,
    Hypercube,
    Kautz,
    ModifiedDeBruijn,
    Torus,
    family,
)
from synth.bases.circulant import Circulant
from synth.bases.directed_circulant import _sampled
from synth.build import build, size, traits
from synth.cost import Cost, Links, lower_bound, optimal_bandwidth
from synth.errors import InvalidRecipe, OutOfDomain
from synth.measure import step_loads
from synth.orbits import representatives
from synth.recipe import LineGraph, parse
from tests.cost_oracles import broadcast_cost, distances_to
from tests.synth.catalogue import LARGER, MATCHED, SMALL, built, cost_of, transpose_cost_of

MEMBERS = [*MATCHED, *LARGER]

NO_FIELDS = [((0,), "q"), ((1,), "q"), ((6,), "q"), ((10**30,), "q"), ((2, 2), "arguments")]

# (arguments, field of the refusal)
OUTSIDE = {
    "UniRing": [((), "arguments"), ((0,), "n"), ((1,), "n"), ((4, 0), "width")],
    "BiRing": [((), "arguments"), ((0,), "n"), ((2,), "n"), ((4, 0), "width")],
    "Complete": [((), "arguments"), ((0,), "n"), ((1,), "n"), ((4, 0), "width")],
    "CompleteBipartite": [((), "arguments"), ((0,), "d"), ((2, 2), "arguments")],
    "Circulant": [
        ((), "arguments"),
        ((8,), "offsets"),
        ((0, 1), "n"),
        ((1, 1), "n"),
        ((8, 0), "offsets"),
        ((8, 5), "offsets"),
        ((8, 1, 5), "offsets"),
        ((8, 1, 3, 2), "offsets"),
        ((8, 4, 3), "offsets"),
        ((8, 2, 4), "offsets"),
    ],
    "DirectedCirculant": [
        ((), "arguments"),
        ((8,), "offsets"),
        ((0, 1), "n"),
        ((1, 1), "n"),
        ((8, 0), "offsets"),
        ((8, 8), "offsets"),
        ((8, 3, 2), "offsets"),
        ((9, 3, 6), "offsets"),
    ],
    "Torus": [((), "sides"), ((0,), "sides"), ((4, 1), "sides"), ((4, 4, 0), "sides")],
    "Hypercube": [((), "arguments"), ((0,), "k"), ((2, 2), "arguments")],
    "Kautz": [((2,), "arguments"), ((1, 3), "d"), ((2, 0), "k"), ((2, 2, 2), "arguments")],
    "GeneralizedKautz": [((2,), "arguments"), ((2, 1), "n"), ((0, 5), "d"), ((1, 3), "d")],
    "GeneralizedKautzRewired": [
        ((2,), "arguments"),
        ((2, 1), "n"),
        ((1, 3), "d"),
        ((2, 3), "n"),  # a Kautz digraph: no loop
        ((4, 3), "n"),  # one loop, and none to join it to
    ],
    "DeBruijn": [((2,), "arguments"), ((1, 3), "d"), ((2, 1), "k"), ((2, 2, 2), "arguments")],
    "ModifiedDeBruijn": [((2,), "arguments"), ((1, 3), "d"), ((3, 1), "k")],
    "Diamond": [((1,), "arguments"), ((8, 2), "arguments")],
    "Cayley": [
        ((8, 3), "arguments"),
        ((8, 3, 2), "generators"),
        ((0, 0, 2, 1), "order"),
        ((8, 2, 2, 1), "r"),
        ((8, 3, 2, 16), "generators"),
        ((8, 3, 2, 0, 9), "loops"),
        ((8, 3, 2, 2, 4), "generators"),
        ((10**6, 1, 1, 1), "order"),
    ],
    "CayleyMetacyclic": [
        ((8, 7, 2), "arguments"),
        ((8, 7, 2, 1, 1), "c"),
        ((8, 1, 0, 0, 1), "order"),
    ],
    "CayleyMatrix": [
        ((2, 2), "arguments"),
        ((2, 0, 3, 1), "k"),
        ((1, 2, 3, 0, 1, 1, 1, 1), "m"),
        ((2, 2, 3, 0, 1, 1, 1), "entries_and_generators"),
        ((2, 2, 2, 0, 1, 1, 1, 1), "a"),
        ((2, 2, 3, 0, 2, 1, 1, 1), "entry"),
        ((2, 16, 2, *range(300)), "order"),
    ],
    "CayleyNested": [((7, 3, 2, 2, 6), "arguments"), ((7, 3, 2, 3, 6, 1, 1), "r")],
    "CayleyLinear": [
        ((), "arguments"),
        ((4, 1), "p"),
        ((3,), "generators"),
        ((3, 24), "generators"),
    ],
    "CayleyAlternating": [((), "arguments"), ((8, 1), "n"), ((4, 12), "generators")],
    "CayleySymmetric": [((), "arguments"), ((2, 1), "n"), ((4, 24), "generators")],
    "Lift": [
        ((4, 1, 1), "arguments"),
        ((4, 1, 1, 0, 0, 1), "order"),
        ((4, 1, 1, 2), "heads_and_voltages"),
        ((4, 1, 1, 2, 0, 1), "heads_and_voltages"),
        ((4, 1, 1, 2, 2, 1, 0, 1), "heads"),
        ((4, 1, 1, 2, 1, 4, 0, 1), "voltages"),
        ((4, 1, 1, 2, 1, 1, 1, 1), "heads"),
        ((4, 1, 1, 2, 1, 2, 0, 2), "generators"),
    ],
    "Digraph": [
        ((1, 0), "n"),
        ((3,), "targets"),
        ((3, 1, 2), "targets"),
        ((3, 1, 2, 3), "targets"),
        ((3, 1, 2, 2), "loops"),
        ((3, 1, 2, 1), "heads"),
        ((4, 1, 0, 3, 2), "generators"),
    ],
    "GeneralizedDeBruijn": [((2,), "arguments"), ((2, 1), "n"), ((0, 5), "d"), ((1, 2), "d")],
    "GeneralizedDeBruijnRewired": [
        ((2,), "arguments"),
        ((2, 1), "n"),
        ((1, 3), "d"),
    ],
    "CompleteMultipartite": [((3,), "arguments"), ((2, 4), "parts"), ((3, 1), "part_size")],
    "Crown": [((), "arguments"), ((2,), "n")],
    "Paley": [*NO_FIELDS, ((4,), "q"), ((7,), "q"), ((11,), "q")],
    "Odd": [((), "arguments"), ((1,), "k"), ((-4,), "k")],
    "DoubledOdd": [((), "arguments"), ((1,), "k")],
    "Johnson": [((5,), "arguments"), ((5, 1), "k"), ((5, 3), "n"), ((0, -2), "k")],
    "Kneser": [((5,), "arguments"), ((5, 1), "k"), ((6, 3), "n")],
    "Arrangement": [((5,), "arguments"), ((5, 1), "k"), ((4, 4), "n")],
    "FoldedCube": [((), "arguments"), ((2,), "k")],
    "HalvedCube": [((), "arguments"), ((2,), "k")],
    "ProjectivePlane": NO_FIELDS,
    "AffinePlane": NO_FIELDS,
    "NonincidenceGraph": NO_FIELDS,
    "GeneralizedQuadrangle": NO_FIELDS,
    "GeneralizedHexagon": NO_FIELDS,
    "FlagGraph": [((3,), "arguments"), ((5, 2), "gonality"), ((2, 2), "gonality"), ((3, 6), "q")],
    "CollinearityGraph": [((4,), "arguments"), ((3, 2), "gonality"), ((6, 1), "q")],
    "MooreLineGraph": [((), "arguments"), ((2,), "d"), ((57,), "d")],
    "SlimFly": [*NO_FIELDS, ((2,), "q")],
    "PolarFly": NO_FIELDS,
    "TwistedTorus": [
        ((4, 4), "arguments"),
        ((2, 4, 1), "a"),
        ((4, 1, 1), "b"),
        ((4, 4, 0), "twist"),
        ((4, 4, 3), "twist"),
    ],
    "TwistedHypercube": [((), "arguments"), ((2,), "k")],
    "ChordalRing": [
        ((8,), "arguments"),
        ((4, 3), "n"),
        ((9, 3), "n"),
        ((12, 1), "w"),
        ((12, 4), "w"),
        ((12, 7), "w"),
    ],
    "CubeConnectedCycles": [((), "arguments"), ((2,), "k")],
    "Pancake": [((), "arguments"), ((2,), "n")],
    "RandomRegular": [
        ((5, 2), "arguments"),
        ((1, 1, 0), "n"),
        ((16_385, 2, 0), "n"),
        ((5, 5, 0), "d"),
        ((5, 0, 0), "d"),
        ((5, 2, -1), "seed"),
        ((9, 2, 0, -1), "depth"),
        ((9, 2, 0, 10), "depth"),
        ((9, 2, 0, 0, 1), "depth"),
        ((9, 1, 0, 3, 1), "exchanges"),
        ((9, 2, 0, 3, -1), "exchanges"),
        ((16_384, 8, 0, 6, 11), "exchanges"),
    ],
    "RandomRegularTwoWay": [
        ((6, 3), "arguments"),
        ((5, 3, 0), "d"),
        ((4, 1, 0), "d"),
        ((9, 2, 0, 3, 1), "exchanges"),
        ((6, 3, 0, 0, 1), "depth"),
    ],
    "Graph": [
        ((), "arguments"),
        ((1, 1), "n"),
        ((65_537, 1), "n"),
        ((3,), "gaps"),
        ((3, 0), "gaps"),
        ((3, 1, 3), "gaps"),
        ((3, 1, 8), "gaps"),
        ((1500, *[1] * 1499), "recipe"),
    ],
}

# Families whose recognisers choose among very many members.
CHOOSY = {
    "Circulant", "DirectedCirculant", "TwistedTorus", "ChordalRing", "Cayley", "CayleyMetacyclic",
    "CayleyMatrix", "CayleyNested", "CayleyLinear", "CayleyAlternating", "CayleySymmetric", "Lift",
    "Digraph", "RandomRegular", "RandomRegularTwoWay", "Graph",
}  # fmt: skip


@pytest.mark.parametrize("member", FAMILIES, ids=lambda member: member.__name__)
def test_every_family_says_what_it_is_and_where_it_comes_from(member):
    assert member.__doc__.startswith(f"{member.__name__}(")
    assert member.title
    assert member.source
    assert family(member.__name__) is member


def test_no_two_families_share_a_name():
    assert len({member.__name__ for member in FAMILIES}) == len(FAMILIES)


@pytest.mark.parametrize("member", FAMILIES, ids=lambda member: member.__name__)
def test_every_family_is_tested_with_arguments_inside_and_outside_its_domain(member):
    assert OUTSIDE[member.__name__]
    assert any(type(recipe) is member for recipe in MEMBERS)


@pytest.mark.parametrize(
    ("name", "arguments", "field"),
    [(name, *case) for name, cases in OUTSIDE.items() for case in cases],
)
def test_every_family_refuses_what_it_is_not_defined_on(name, arguments, field):
    made = family(name)
    with pytest.raises(OutOfDomain) as caught:
        made(*arguments)
    assert caught.value.field == field
    assert caught.value.rule.startswith("must ")


@pytest.mark.parametrize("value", [True, 4.0, "4", None])
def test_arguments_are_integers_even_after_an_equal_one_was_seen(value):
    for seen in (1, 4):
        size(CompleteBipartite(seen))
    with pytest.raises(OutOfDomain, match="d: must be an integer"):
        CompleteBipartite(value)


def test_an_unknown_family_is_an_invalid_recipe_that_lists_the_known_ones():
    for name in ("Rhombus", "diamond", ""):
        with pytest.raises(InvalidRecipe, match="Diamond"):
            family(name)


@pytest.mark.parametrize("recipe", MEMBERS, ids=str)
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


@pytest.mark.parametrize("recipe", ARCS_ALIKE, ids=str)
def test_all_nodes_of_the_line_graph_of_an_arc_transitive_member_see_the_same(recipe):
    assert traits(recipe).vertex_transitive
    if recipe.nodes * recipe.degree <= 400:
        graph = build(LineGraph(1, recipe))
        assert list(representatives(LineGraph(1, recipe))) == [0]
        for turned in (graph, graph.transpose()):
            assert len({step_loads(turned, [node]) for node in range(graph.node_count)}) == 1


@pytest.mark.parametrize("recipe", MEMBERS, ids=str)
def test_every_claim_is_what_is_measured_on_the_graph_and_its_transpose(recipe):
    claim, back = recipe.claim(), recipe.claim_transpose()
    if claim is not None:
        assert claim.exact
        assert claim.cost == cost_of(recipe)
    if back is not None:
        assert back.exact
        assert back.cost == transpose_cost_of(recipe)


@pytest.mark.parametrize("recipe", MEMBERS, ids=str)
def test_all_nodes_of_a_vertex_transitive_member_see_the_same(recipe):
    if not traits(recipe).vertex_transitive:
        return
    for graph in (built(recipe), built(recipe).transpose()):
        into = [graph.sources[graph.targets == node].tolist() for node in graph.nodes]
        profiles = {
            tuple(np.bincount(list(distances_to(into, node).values()))) for node in graph.nodes
        }
        assert len(profiles) == 1


@pytest.mark.parametrize("nodes", range(2, 25))
@pytest.mark.parametrize("degree", range(1, 7))
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


# What the literature defines, spelled out node by node.


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


@pytest.mark.parametrize(("d", "n"), list(product(range(2, 8), range(2, 14))))
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


# Circulants: which offsets are best.


@pytest.mark.parametrize("n", range(7, 201))
def test_the_pair_of_neighbouring_offsets_is_best_for_degree_four(n):
    pair = next(recipe.arguments for recipe in Circulant.matching(n, 4) if recipe.claim())
    m = pair[1]
    assert pair == (n, m, m + 1)
    # A ball of radius m holds 2 m (m + 1) + 1 nodes at most, and this m is the least.
    assert 2 * (m - 1) * m + 1 < n <= 2 * m * (m + 1) + 1
    measured = broadcast_cost(build(Circulant(*pair)), roots=[0])
    assert measured == Cost(m, optimal_bandwidth(n))


@pytest.mark.parametrize("n", range(7, 41))
def test_no_pair_of_offsets_beats_the_neighbouring_pair(n):
    pairs = [
        (a, b) for a, b in combinations(range(1, (n - 1) // 2 + 1), 2) if gcd(n, gcd(a, b)) == 1
    ]
    best = min(broadcast_cost(build(Circulant(n, *pair)), roots=[0]) for pair in pairs)
    assert best in [claimed.cost for claimed in _claims(n, 4)]


def _claims(n, degree):
    found = (recipe.claim() for recipe in Circulant.matching(n, degree))
    return [claimed for claimed in found if claimed is not None]


@pytest.mark.parametrize("pair", [(12, 2, 3), (16, 3, 4), (32, 4, 5), (64, 6, 7), (1024, 23, 24)])
def test_known_pairs_are_offered_to_degree_four(pair):
    offered = list(Circulant.matching(pair[0], 4))
    claimed = [recipe.arguments for recipe in offered if recipe.claim()]
    assert Circulant(*pair) in offered
    assert pair in claimed


@pytest.mark.parametrize("n", [*range(2, 41), 64, 100, 999, 1000])
def test_a_circulant_is_offered_wherever_one_exists(n):
    for degree in range(1, min(n, 17)):
        exists = n * degree % 2 == 0 and (degree >= 2 or n == 2)
        offered = list(Circulant.matching(n, degree))
        assert bool(offered) == exists
        for recipe in offered:
            assert size(recipe) == (n, degree)


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


def test_the_sample_of_one_way_circulants_is_fixed_and_leads_with_the_fewest_steps():
    member = family("DirectedCirculant")
    offered = list(member.matching(60, 3))
    _sampled.cache_clear()
    assert list(member.matching(60, 3)) == offered
    sampled = _sampled(60, 3)
    steps = [broadcast_cost(build(DirectedCirculant(60, *o)), [0]).steps for o in sampled]
    assert steps == sorted(steps)
    assert min(steps) == min(broadcast_cost(built(recipe), [0]).steps for recipe in offered)


@pytest.mark.parametrize(
    ("nodes", "degree", "steps"), [(8, 2, 3), (12, 4, 2), (24, 4, 3), (26, 3, 4)]
)
def test_small_one_way_circulants_of_fewest_steps_are_offered(nodes, degree, steps):
    offered = family("DirectedCirculant").matching(nodes, degree)
    best = min(broadcast_cost(build(recipe), roots=[0]) for recipe in offered)
    assert best == Cost(steps, optimal_bandwidth(nodes))
