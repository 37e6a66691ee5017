"""Members of the catalogue equal the graphs of the textbook, spelled out word by word."""

from itertools import combinations, permutations, product

import networkx as nx
import pytest

from tests.cases import for_every
from tests.cost_oracles import broadcast_cost
from topoloom.synth.algebra.finite_field import finite_field, prime_powers
from topoloom.synth.evaluation.cost import Cost, optimal_bandwidth
from topoloom.synth.evaluation.measure import diameter, measure
from topoloom.synth.families import GeneralizedDeBruijn, TwistedHypercube, TwistedTorus, family
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.claims import claim
from topoloom.synth.recipes.recipe import parse


def edges(text: str) -> list[tuple[int, int]]:
    topology = build(parse(text))
    return sorted(zip(topology.sources.tolist(), topology.targets.tolist(), strict=True))


def joined(nodes, adjacent) -> list[tuple[int, int]]:
    """Return the pairs of numbers of different nodes of which the predicate holds."""
    listed = list(nodes)
    return [
        (i, j)
        for (i, a), (j, b) in product(enumerate(listed), repeat=2)
        if i != j and adjacent(a, b)
    ]


def apart(a: tuple[int, ...], b: tuple[int, ...]) -> int:
    """Return in how many places two words differ."""
    return sum(x != y for x, y in zip(a, b, strict=True))


def opposite(word: tuple[int, ...]) -> tuple[int, ...]:
    """Return the word with all bits flipped."""
    return tuple(1 - bit for bit in word)


def isomorphic(text: str, graph: nx.Graph) -> bool:
    return nx.is_isomorphic(nx.convert_node_labels_to_integers(graph), nx.Graph(edges(text)))


@pytest.mark.parametrize(("n", "k"), [(4, 2), (5, 2), (7, 2), (6, 3), (7, 3), (8, 4)])
def test_johnson_graphs_join_subsets_that_differ_in_one_element(n, k):
    expected = joined(combinations(range(n), k), lambda a, b: len({*a} & {*b}) == k - 1)
    assert edges(f"Johnson({n}, {k})") == expected


@pytest.mark.parametrize(("n", "k"), [(5, 2), (8, 2), (7, 3), (8, 3), (9, 4)])
def test_kneser_graphs_join_disjoint_subsets(n, k):
    expected = joined(combinations(range(n), k), lambda a, b: not {*a} & {*b})
    assert edges(f"Kneser({n}, {k})") == expected
    if n == 2 * k + 1:
        assert edges(f"Odd({k + 1})") == expected


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_doubled_odd_graphs_join_subsets_one_of_which_holds_the_other(k):
    ground = range(2 * k - 1)
    subsets = [*combinations(ground, k - 1), *combinations(ground, k)]
    assert edges(f"DoubledOdd({k})") == joined(subsets, lambda a, b: {*a} < {*b} or {*a} > {*b})


@pytest.mark.parametrize(("n", "k"), [(3, 2), (4, 2), (4, 3), (5, 3), (6, 2)])
def test_arrangement_graphs_join_words_that_differ_in_one_symbol(n, k):
    expected = joined(permutations(range(n), k), lambda a, b: apart(a, b) == 1)
    assert edges(f"Arrangement({n}, {k})") == expected


@pytest.mark.parametrize("n", [3, 4, 5])
def test_star_graphs_exchange_the_first_symbol_with_another(n):
    # The arrangement leaves the first symbol of the star out: it is the one not used.
    star = nx.Graph(
        (word, (word[i], *word[1:i], word[0], *word[i + 1 :]))
        for word in permutations(range(n))
        for i in range(1, n)
    )
    assert isomorphic(f"Arrangement({n}, {n - 1})", star)


@pytest.mark.parametrize("n", [3, 4, 5])
def test_pancake_graphs_reverse_prefixes(n):
    def flipped(a, b):
        return any((*a[i::-1], *a[i + 1 :]) == b for i in range(1, n))

    assert edges(f"Pancake({n})") == joined(permutations(range(n)), flipped)


@pytest.mark.parametrize("k", [3, 4, 5, 6])
def test_folded_and_halved_cubes_come_from_the_hypercube(k):
    words = list(product((0, 1), repeat=k))
    folded = nx.Graph(
        (min(a, opposite(a)), min(b, opposite(b)))
        for a, b in combinations(words, 2)
        if apart(a, b) == 1
    )
    assert isomorphic(f"FoldedCube({k})", folded)
    even = [word for word in words if sum(word) % 2 == 0]
    halved = joined(even, lambda a, b: apart(a, b) == 2)
    assert isomorphic(f"HalvedCube({k})", nx.Graph(halved))


@pytest.mark.parametrize("k", [3, 4, 5, 6, 7])
def test_twisted_hypercubes_cross_two_links_and_save_a_step(k):
    twisted, plain = set(edges(f"TwistedHypercube({k})")), set(edges(f"Hypercube({k})"))
    assert plain - twisted == {(0, 1), (1, 0), (2, 3), (3, 2)}
    assert twisted - plain == {(0, 3), (3, 0), (1, 2), (2, 1)}
    assert diameter(build(TwistedHypercube(k))) == k - 1


@pytest.mark.parametrize("q", [5, 9, 13, 17, 25, 29])
def test_paley_graphs_join_elements_that_differ_by_a_square(q):
    field = finite_field(q)
    squares = {int(field.multiply(x, x)) for x in range(1, q)}
    expected = joined(range(q), lambda a, b: int(field.subtract(a, b)) in squares)
    assert edges(f"Paley({q})") == expected
    if field.dimension == 1:
        assert expected == sorted(nx.paley_graph(q).edges)


@pytest.mark.parametrize(
    ("text", "graph"),
    [
        ("Odd(3)", nx.petersen_graph()),
        ("DoubledOdd(3)", nx.desargues_graph()),
        ("CompleteMultipartite(3, 2)", nx.octahedral_graph()),
        ("CompleteMultipartite(4, 3)", nx.complete_multipartite_graph(3, 3, 3, 3)),
        ("ProjectivePlane(2)", nx.heawood_graph()),
        ("AffinePlane(3)", nx.pappus_graph()),
        ("GeneralizedQuadrangle(2)", nx.LCF_graph(30, [-13, -9, 7, -7, 9, 13], 5)),
        ("SlimFly(5)", nx.hoffman_singleton_graph()),
        ("MooreLineGraph(3)", nx.line_graph(nx.petersen_graph())),
        ("FlagGraph(3, 2)", nx.line_graph(nx.heawood_graph())),
        ("FlagGraph(4, 2)", nx.line_graph(nx.LCF_graph(30, [-13, -9, 7, -7, 9, 13], 5))),
        ("Johnson(7, 2)", nx.line_graph(nx.complete_graph(7))),
        ("CollinearityGraph(4, 2)", nx.kneser_graph(6, 2)),
        ("Crown(4)", nx.hypercube_graph(3)),
        ("Arrangement(4, 3)", nx.LCF_graph(24, [5, -9, 7, -7, 9, -5], 4)),
        ("ChordalRing(14, 5)", nx.heawood_graph()),
        ("TwistedTorus(4, 2, 2)", nx.complete_bipartite_graph(4, 4)),
        ("Paley(9)", nx.cartesian_product(nx.complete_graph(3), nx.complete_graph(3))),
    ],
)
def test_members_are_isomorphic_to_the_named_graphs_they_generalize(text, graph):
    assert isomorphic(text, nx.Graph(graph))


def test_the_line_graph_of_the_hoffman_singleton_graph_has_its_size_and_cliques():
    graph = nx.Graph(edges("MooreLineGraph(7)"))
    assert len(graph) == 175
    assert sorted({len(clique) for clique in nx.find_cliques(graph)}) == [7]
    assert nx.number_of_cliques(graph, 0) == 2


@pytest.mark.parametrize("q", [2, 3, 4])
def test_nonincidence_graphs_are_bipartite_complements_of_projective_planes(q):
    half = q * q + q + 1
    incident, apart = set(edges(f"ProjectivePlane({q})")), set(edges(f"NonincidenceGraph({q})"))
    sides = [(u, v) for u, v in product(range(2 * half), repeat=2) if (u < half) != (v < half)]
    assert incident | apart == set(sides)
    assert not incident & apart


def _orthogonal_points(q: int) -> nx.Graph:
    """Return the points of PG(2, q), joined when their dot product is zero."""
    field = finite_field(q)
    points = [(1, x, y) for x, y in product(range(q), repeat=2)]
    points += [(0, 1, x) for x in range(q)] + [(0, 0, 1)]

    def orthogonal(a, b):
        total = 0
        for x, y in zip(a, b, strict=True):
            total = int(field.add(total, field.multiply(x, y)))
        return total == 0

    return nx.Graph(joined(points, orthogonal))


@pytest.mark.parametrize("q", [2, 3, 4, 5, 7])
def test_polarity_graphs_are_isomorphic_to_orthogonality_of_points(q):
    assert isomorphic(f"PolarFly({q})", _orthogonal_points(q))


@pytest.mark.parametrize("q", prime_powers(32)[1:])
def test_the_jumps_of_slim_flies_are_symmetric_and_cover_the_field_together(q):
    neighbours = {v for u, v in edges(f"SlimFly({q})") if u == 0 and v < q}
    others = {v - q * q for u, v in edges(f"SlimFly({q})") if u == q * q and v >= q * q}
    field = finite_field(q)
    assert neighbours | others == set(range(1, q))
    assert {int(field.negative(x)) for x in neighbours} == neighbours
    assert {int(field.multiply(field.powers[1], x)) for x in neighbours} == others


@pytest.mark.parametrize("k", [3, 4, 5])
def test_cube_connected_cycles_replace_every_node_of_the_cube_by_a_cycle(k):
    words = list(product((0, 1), repeat=k))
    graph = nx.Graph()
    for word, place in product(words, range(k)):
        flipped = tuple(bit ^ (i == place) for i, bit in enumerate(word))
        graph.add_edge((word, place), (word, (place + 1) % k))
        graph.add_edge((word, place), (flipped, place))
    assert isomorphic(f"CubeConnectedCycles({k})", graph)


@pytest.mark.parametrize(("n", "w"), [(6, 3), (8, 3), (20, 5), (20, 9), (30, 15)])
def test_chordal_rings_join_even_nodes_to_the_end_of_their_chord(n, w):
    def near(a, b):
        return (a - b) % n in (1, n - 1) or (b - a) % n == (w if a % 2 == 0 else n - w)

    assert edges(f"ChordalRing({n}, {w})") == joined(range(n), near)


@pytest.mark.parametrize(("a", "b", "twist"), [(3, 2, 1), (4, 2, 2), (5, 3, 2), (6, 4, 3)])
def test_twisted_tori_are_the_plane_lattice_modulo_the_side_and_the_twisted_side(a, b, twist):
    def same(x, y):
        return y % b == 0 and (x + twist * (y // b)) % a == 0

    def near(u, v):
        (x, y), (z, w) = u, v
        return any(same(z - x - i, w - y - j) for i, j in [(1, 0), (-1, 0), (0, 1), (0, -1)])

    assert edges(f"TwistedTorus({a}, {b}, {twist})") == joined(product(range(a), range(b)), near)


@pytest.mark.parametrize("b", range(2, 9))
def test_the_torus_twisted_by_half_has_the_fewest_steps_of_its_size(b):
    recipe = TwistedTorus(2 * b, b, b)
    assert recipe in list(family("TwistedTorus").matching(2 * b * b, 4))
    assert broadcast_cost(build(recipe), [0]) == Cost(b, optimal_bandwidth(2 * b * b))
    claimed = claim(recipe)
    assert claimed is not None
    assert claimed.cost.steps == min(
        measure(build(TwistedTorus(side, 2 * b * b // side, twist))).steps
        for side in range(3, b * b + 1)
        if 2 * b * b % side == 0
        for twist in range(1, side // 2 + 1)
    )


@for_every(("d", "n"), list(product(range(2, 9), range(2, 14))))
def test_generalized_de_bruijn_follows_its_formula_and_rewiring_only_replaces_loops(d, n):
    arcs = [(x, (d * x + a) % n) for x in range(n) for a in range(d)]
    plain = sorted((x, y) for x, y in arcs if x != y)
    assert edges(f"GeneralizedDeBruijn({d}, {n})") == plain
    rewired = edges(f"GeneralizedDeBruijnRewired({d}, {n})")
    for arc in plain:
        rewired.remove(arc)
    # What is left are as many links, one into and one out of a node for each of its loops.
    had = sorted(x for x, y in arcs if x == y)
    assert sorted(x for x, _ in rewired) == had
    assert sorted(y for _, y in rewired) == had


@pytest.mark.parametrize(("d", "k"), [(2, 2), (2, 4), (3, 3), (4, 2)])
def test_generalized_de_bruijn_of_a_power_is_de_bruijn_and_so_is_its_rewiring(d, k):
    assert edges(f"GeneralizedDeBruijn({d}, {d**k})") == edges(f"DeBruijn({d}, {k})")
    rewired = edges(f"GeneralizedDeBruijnRewired({d}, {d**k})")
    assert rewired == edges(f"ModifiedDeBruijn({d}, {k})")
    for name in ("GeneralizedDeBruijn", "GeneralizedDeBruijnRewired"):
        assert family(name)(d, d**k) not in list(family(name).matching(d**k, d))


@for_every(("d", "n"), list(product(range(2, 7), range(2, 41))))
def test_generalized_de_bruijn_promises_what_is_built(d, n):
    # `build` compares nodes, degree, regularity and parallel links with the promise.
    for name in ("GeneralizedDeBruijn", "GeneralizedDeBruijnRewired"):
        topology = build(family(name)(d, n))
        assert topology.is_bidirectional == family(name)(d, n).bidirectional()
        topology.require_connected()


@pytest.mark.parametrize(("d", "n"), [(2, 100), (3, 500), (4, 1000), (5, 77)])
def test_generalized_de_bruijn_needs_few_steps(d, n):
    steps = diameter(build(GeneralizedDeBruijn(d, n)))
    assert d ** (steps - 1) < n
