"""Labels: certificates that hold, costs no worse than breadth-first broadcast, against oracles."""

from dataclasses import replace
from fractions import Fraction
from itertools import chain, combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import coo_array

from synth.build import build
from synth.cost import Cost, Links, lower_bound, optimal_bandwidth
from synth.errors import ClaimBroken, NotMeasurable, OutOfDomain, SynthError, Unreachable
from synth.labels import (
    MAX_DEGREE,
    MAX_PIECES,
    check_labels,
    default_moves,
    frontier_of,
    labels,
    points_of,
)
from synth.measure import diameter, measure
from synth.random_regular import random_regular
from synth.recipe import parse
from synth.topology import Topology
from synth.translations import translations
from tests.schedule_oracles import direct_topologies, two_boxes

SYMMETRIC = [
    "Circulant(12, 2, 3)",
    "UniRing(5, 3)",
    "Torus(3, 4, 2)",
    "LineGraph(2, CompleteBipartite(2))",
    "Power(2, BiRing(5))",
    "Hypercube(4)",
    "Cayley(8, 3, 2, 1, 9)",
]
OTHERS = ["GeneralizedKautz(3, 20)", "GeneralizedDeBruijnRewired(2, 11)", "ModifiedDeBruijn(2, 4)"]


@st.composite
def capacitated(draw, largest=6):
    """Strongly connected digraphs with links of unequal capacities, parallel ones included."""
    graph = draw(direct_topologies(largest))
    sizes = st.sampled_from([1, 2, 3, Fraction(1, 2), Fraction(2, 3)])
    links = [(link.source, link.target, draw(sizes)) for link in graph.links]
    return Topology(graph.nodes, links)


def served(graph):
    return graph.in_degrees.max() <= MAX_DEGREE


@given(direct_topologies(8).filter(served), st.integers(0, 2), st.integers(0, 3))
def test_labels_prove_what_they_claim_and_are_no_worse_than_eager(graph, extra, seed):
    steps = diameter(graph) + extra
    found = labels(graph, steps, seed=seed, moves=3000)
    assert check_labels(graph, found) == found.cost
    assert found.cost.steps <= steps
    assert found.cost.bandwidth <= measure(graph).bandwidth
    assert found.cost.bandwidth >= optimal_bandwidth(graph.node_count)


@given(capacitated().filter(served), st.integers(0, 2), st.integers(1, 3))
def test_labels_serve_links_of_unequal_capacities_and_shards_in_pieces(graph, extra, pieces):
    found = labels(graph, diameter(graph) + extra, pieces=pieces, moves=1000)
    assert found.pieces == pieces
    assert check_labels(graph, found) == found.cost
    assert found.cost.bandwidth <= measure(graph).bandwidth


@pytest.mark.parametrize("text", SYMMETRIC)
def test_one_root_of_every_orbit_stands_for_all(text):
    graph = build(parse(text))
    found = labels(graph, diameter(graph) + 1)
    assert len(found.roots) * len(translations(graph)) == graph.node_count < 10 * len(found.images)
    assert check_labels(graph, found) == found.cost


@pytest.mark.parametrize("text", [*SYMMETRIC, *OTHERS])
def test_points_fall_in_bandwidth_as_steps_grow_on_the_graph_and_on_its_transpose(text):
    graph = build(parse(text))
    points = points_of(graph, diameter(graph) + 2)
    assert max(cost.steps for cost in points[0].costs) == points[0].steps == diameter(graph)
    assert all(max(cost.steps for cost in point.costs) <= point.steps for point in points)
    for earlier, later in pairwise(points):
        assert max(cost.steps for cost in earlier.costs) < max(cost.steps for cost in later.costs)
        assert earlier.steps < later.steps
        pairs = list(zip(earlier.costs, later.costs, strict=True))
        assert all(before.bandwidth >= after.bandwidth for before, after in pairs)
        assert any(before.bandwidth > after.bandwidth for before, after in pairs)
    for point in points:
        assert check_labels(graph, point.gather) == point.costs[0]
        assert check_labels(graph.transpose(), point.scatter) == point.costs[1]


def test_the_same_arguments_give_the_same_labels_and_other_seeds_others():
    graph = build(parse("GeneralizedDeBruijnRewired(3, 40)"))
    one, same, other = (labels(graph, 5, seed=seed, moves=20_000) for seed in (1, 1, 2))
    assert np.array_equal(one.arrival, same.arrival)
    assert one.loads == same.loads
    assert not np.array_equal(one.arrival, other.arrival)


def test_labels_within_some_steps_do_not_depend_on_how_many_more_are_allowed():
    graph = random_regular(60, 3, 5)
    points = points_of(graph, 8, moves=20_000)
    assert points[-1].steps > points[0].steps
    for point in points:
        for turned, found in ((graph, point.gather), (graph.transpose(), point.scatter)):
            alone = labels(turned, point.steps, moves=20_000)
            assert (alone.cost, alone.loads) == (found.cost, found.loads)
            assert np.array_equal(alone.arrival, found.arrival)


@given(direct_topologies(8).filter(served), st.integers(0, 3))
def test_labels_are_the_last_of_the_frontier_within_as_many_steps(graph, extra):
    steps = diameter(graph) + extra
    alone, last = labels(graph, steps, moves=500), frontier_of(graph, steps, moves=500)[-1]
    assert alone.cost == last.cost
    assert np.array_equal(alone.arrival, last.arrival)


def test_more_moves_win_where_the_greedy_labels_are_poor():
    graph = build(parse("GeneralizedDeBruijnRewired(4, 127)"))
    greedy, squeezed = (labels(graph, 4, moves=moves).cost for moves in (0, 300_000))
    assert measure(graph).bandwidth == Fraction(160, 127) >= greedy.bandwidth
    assert squeezed.bandwidth <= Fraction(140, 127)


# What no search decides: all labels of a small graph, and the linear programs of the cuts.


def best_of_all(graph, steps):
    """Return the least bandwidth by labels, for shards in one piece, on the grid of 1/d.

    Every root's labels are listed; the loads of one node and step depend on all roots, so that
    all combinations would have to be tried.  With a group acting regularly one root is enough.
    """
    nodes, degree = graph.node_count, graph.degree
    images = translations(graph)
    assert len(images) == nodes
    into = [np.flatnonzero(graph.targets == node) for node in range(nodes)]
    # Links by orbit: an image of a link into node 0.
    moved = {
        (int(images[g, graph.sources[link]]), int(images[g, 0])): place
        for g in range(nodes)
        for place, link in enumerate(into[0])
    }
    least = None
    for others in product(range(1, steps + 1), repeat=nodes - 1):
        label = (0, *others)
        masks = [
            (
                label[u],
                frozenset(moved[w, u] for w in graph.sources[into[u]] if label[w] < label[u]),
            )
            for u in range(1, nodes)
        ]
        if not all(mask for _, mask in masks):
            continue
        total = 0
        for step in range(1, steps + 1):
            arriving = [mask for t, mask in masks if t == step]
            links = chain.from_iterable(
                combinations(range(degree), k) for k in range(1, degree + 1)
            )
            loads = (
                Fraction(sum(mask <= set(some) for mask in arriving) * degree, len(some))
                for some in links
            )
            total += -(-max(loads) // 1)
        least = total if least is None else min(least, total)
    return Fraction(int(least), nodes)


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("Circulant(7, 1)", 3),
        ("Circulant(7, 1)", 4),
        ("DirectedCirculant(7, 1, 2)", 3),
        ("DirectedCirculant(7, 1, 2)", 4),
        ("DirectedCirculant(7, 1, 3)", 4),
        ("DirectedCirculant(8, 1, 3)", 4),
        ("Circulant(8, 1, 2)", 2),
        ("Circulant(8, 1, 3)", 3),
        ("Hypercube(3)", 3),
    ],
)
def test_the_search_finds_the_best_of_all_labels_of_small_cayley_graphs(text, steps):
    graph = build(parse(text))
    best = best_of_all(graph, steps)
    eager = measure(graph)
    expected = min(best, eager.bandwidth) if eager.steps <= steps else best
    assert labels(graph, steps).cost.bandwidth == expected


def cut_bound(graph, steps):
    """Return a lower bound of the bandwidth of every schedule in so many steps (HiGHS).

    Capacities of every shard, by link and step, such that a whole shard flows to each node.
    """
    nodes, links = graph.node_count, list(zip(graph.sources, graph.targets, strict=True))
    count = steps
    size = count + nodes * len(links) * steps

    def load(root, link, step):
        return count + (root * len(links) + link) * steps + step

    columns, rows_ub, rows_eq, right = size, [], [], []
    for link, step in product(range(len(links)), range(steps)):
        rows_ub.append([(load(root, link, step), 1) for root in range(nodes)] + [(step, -1)])
    for root, goal in product(range(nodes), range(nodes)):
        if root == goal:
            continue
        flow = columns
        hold = flow + len(links) * steps
        columns = hold + nodes * steps
        for link, step in product(range(len(links)), range(steps)):
            variable = flow + link * steps + step
            rows_ub.append([(variable, 1), (load(root, link, step), -1)])
        for node, time in product(range(nodes), range(steps + 1)):
            row = []
            if time < steps:
                row.append((hold + node * steps + time, 1))
                row += [
                    (flow + link * steps + time, 1)
                    for link, (source, _) in enumerate(links)
                    if source == node
                ]
            if time > 0:
                row.append((hold + node * steps + time - 1, -1))
                row += [
                    (flow + link * steps + time - 1, -1)
                    for link, (_, target) in enumerate(links)
                    if target == node
                ]
            rows_eq.append(row)
            right.append(int((node, time) == (root, 0)) - int((node, time) == (goal, steps)))

    def matrix(rows):
        entries = [(i, j, v) for i, row in enumerate(rows) for j, v in row]
        i, j, v = zip(*entries, strict=True)
        return coo_array((v, (i, j)), shape=(len(rows), columns)).tocsr()

    cost = np.zeros(columns)
    cost[:steps] = 1
    found = linprog(
        cost, matrix(rows_ub), np.zeros(len(rows_ub)), matrix(rows_eq), right, method="highs"
    )
    return found.fun * graph.degree / nodes


@settings(max_examples=12)
@given(st.integers(4, 6), st.integers(0, 50), st.integers(0, 1))
def test_no_labels_go_below_the_linear_program_of_the_cuts(nodes, seed, extra):
    graph = random_regular(nodes, 2, seed)
    steps = diameter(graph) + extra
    bound = cut_bound(graph, steps)
    found = labels(graph, steps, pieces=2, moves=5000)
    assert float(found.cost.bandwidth) >= bound - 1e-7


def best_by_program(graph, steps):
    """Return the least sum of whole loads of any labels, by an integer program (HiGHS).

    x says whether u gets the shard of r in step t, y how much of it over a link, n the load.
    """
    nodes, degree = graph.node_count, graph.degree
    number, rows, low, high = {}, [], [], []

    def variable(*key):
        return number.setdefault(key, len(number))

    def add(entries, least, most):
        rows.append(entries)
        low.append(least)
        high.append(most)

    times = range(1, steps + 1)
    for t in times:
        variable("n", t)
    for r, u in product(range(nodes), range(nodes)):
        if r == u:
            continue
        entering = np.flatnonzero(graph.targets == u).tolist()
        add([(variable("x", r, u, t), 1) for t in times], 1, 1)
        for t in times:
            shares = [(variable("y", r, e, t), 1) for e in entering]
            add([*shares, (variable("x", r, u, t), -1)], 0, 0)
            for e in entering:
                w = int(graph.sources[e])
                if w != r:
                    held = [(variable("x", r, w, s), -1) for s in range(1, t)]
                    add([(variable("y", r, e, t), 1), *held], -np.inf, 0)
    for e, t in product(range(graph.link_count), times):
        others = [r for r in range(nodes) if r != graph.targets[e]]
        load = [(variable("y", r, e, t), degree) for r in others]
        add([*load, (variable("n", t), -1)], -np.inf, 0)
    entries = [(i, j, v) for i, row in enumerate(rows) for j, v in row]
    i, j, v = zip(*entries, strict=True)
    matrix = coo_array((v, (i, j)), shape=(len(rows), len(number))).tocsr()
    is_load = np.array([key[0] == "n" for key in number])
    whole = np.array([key[0] != "y" for key in number])
    most = np.where(is_load, nodes * degree, 1)
    found = milp(
        is_load.astype(float),
        constraints=LinearConstraint(matrix, low, high),
        bounds=Bounds(0, most),
        integrality=whole.astype(int),
    )
    assert found.success
    return round(found.fun)


@pytest.mark.parametrize("extra", [0, 1])
@pytest.mark.parametrize(
    ("nodes", "degree", "seed"),
    [(5, 2, 1), (6, 2, 1), (6, 2, 2), (7, 2, 2), (7, 3, 1), (8, 3, 1)],
)
def test_the_search_finds_the_best_of_all_labels_of_small_random_digraphs(
    nodes, degree, seed, extra
):
    graph = random_regular(nodes, degree, seed)
    steps = diameter(graph) + extra
    best = Fraction(best_by_program(graph, steps), nodes)
    assert labels(graph, steps).cost.bandwidth == min(best, measure(graph).bandwidth)


@settings(max_examples=10)
@given(st.integers(4, 7), st.integers(0, 100), st.integers(0, 1))
def test_no_labels_go_below_the_best_of_all(nodes, seed, extra):
    graph = random_regular(nodes, 2, seed)
    steps = diameter(graph) + extra
    found = labels(graph, steps)
    if any(load.denominator > 1 for load in found.loads):
        assert found.cost == measure(graph)
        return
    assert found.cost.bandwidth >= Fraction(best_by_program(graph, steps), nodes)


# The check finds what is wrong.


def faulty():
    graph = random_regular(10, 3, 1)
    good = labels(graph, 4)
    assert good.cost == check_labels(graph, good)
    early, late, none = good.arrival.copy(), good.arrival.copy(), good.arrival.copy()
    first = good.arrival[0] == 2
    early[0, np.flatnonzero(first)[0]] = 1
    late[0, np.flatnonzero(first)[0]] = len(good.loads) + 1
    none[0, 0] = 1
    less = (*good.loads[:-1], good.loads[-1] - Fraction(1, 3))
    return graph, {
        "before any tail has it": replace(good, arrival=early),
        "after the last step": replace(good, arrival=late),
        "nowhere at first": replace(good, arrival=none),
        "more than links carry": replace(good, loads=less),
        "a root left out": replace(good, roots=good.roots[1:], arrival=good.arrival[1:]),
        "too few labels": replace(good, arrival=good.arrival[:, :-1]),
        "a root twice": replace(good, roots=np.append(good.roots[:-1], good.roots[0])),
    }


GRAPH, FAULTY = faulty()


@pytest.mark.parametrize("labels_", FAULTY.values(), ids=FAULTY)
def test_labels_that_prove_nothing_are_found_out(labels_):
    with pytest.raises(ClaimBroken):
        check_labels(GRAPH, labels_)


def test_labels_of_another_graph_are_found_out():
    with pytest.raises(ClaimBroken):
        check_labels(random_regular(10, 3, 2), labels(GRAPH, 4))


@given(st.data())
def test_a_changed_label_is_found_out_or_still_proves_the_cost(data):
    good = labels(GRAPH, 5)
    row, node = data.draw(st.tuples(st.integers(0, 9), st.integers(0, 9)))
    arrival = good.arrival.copy()
    arrival[row, node] = data.draw(st.integers(0, len(good.loads)))
    changed = replace(good, arrival=arrival)
    try:
        assert check_labels(GRAPH, changed) == good.cost
    except ClaimBroken:
        return
    # The plainest reading of the theorem agrees: every cell has an open link.
    for link in GRAPH.links:
        assert arrival[link.source, link.source] == 0
    into = {u: [link.source for link in GRAPH.links if link.target == u] for u in range(10)}
    for root, u in product(range(10), range(10)):
        assert root == u or min(arrival[root, w] for w in into[u]) < arrival[root, u]


# Domains.


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"steps": 1}, "steps"),
        ({"steps": 10_000}, "steps"),
        ({"steps": 5, "pieces": 0}, "pieces"),
        ({"steps": 5, "pieces": MAX_PIECES + 1}, "pieces"),
        ({"steps": 5, "moves": -1}, "moves"),
        ({"steps": 5, "seed": -1}, "seed"),
    ],
)
def test_numbers_out_of_their_domain_are_refused_by_name(arguments, field):
    with pytest.raises(OutOfDomain) as caught:
        labels(GRAPH, **arguments)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("graph", "error"),
    [
        (two_boxes(), NotMeasurable),
        (build(parse("Complete(11)")), NotMeasurable),
        (Topology(range(3), [(0, 1), (1, 2), (2, 1)]), Unreachable),
        (Topology(range(1), []), SynthError),
    ],
)
def test_graphs_that_labels_do_not_serve_are_refused(graph, error):
    with pytest.raises(error):
        labels(graph, 3)


# What they are for.


@pytest.mark.parametrize(
    ("nodes", "degree", "links", "steps"),
    [
        (61, 4, Links.UNIDIRECTIONAL, 5),
        (73, 4, Links.UNIDIRECTIONAL, 5),
        (61, 4, Links.BIDIRECTIONAL, 6),
        (100, 6, Links.UNIDIRECTIONAL, 4),
        (101, 3, Links.UNIDIRECTIONAL, 8),
    ],
)
def test_first_random_graphs_reach_the_bandwidth_bound(nodes, degree, links, steps):
    graph = random_regular(nodes, degree, 1, links)
    found = labels(graph, steps)
    assert check_labels(graph, found) == found.cost
    assert found.cost == Cost(min(steps, found.cost.steps), optimal_bandwidth(nodes))
    assert measure(graph).bandwidth > Fraction(11, 10)
    assert found.cost.steps <= lower_bound(nodes, degree, links).steps + 3


def test_a_budget_grows_with_the_cells():
    assert default_moves(10) < default_moves(1000)


TABLE = [
    (1009, 4, Links.UNIDIRECTIONAL, 2, 7, Fraction(1017, 1009)),
    (1009, 4, Links.UNIDIRECTIONAL, 2, 8, Fraction(1008, 1009)),
    (997, 4, Links.UNIDIRECTIONAL, 11, 7, Fraction(1002, 997)),
    (997, 4, Links.UNIDIRECTIONAL, 11, 8, Fraction(996, 997)),
    (211, 3, Links.UNIDIRECTIONAL, 1, 7, Fraction(212, 211)),
    (211, 3, Links.UNIDIRECTIONAL, 1, 8, Fraction(210, 211)),
    (401, 6, Links.UNIDIRECTIONAL, 1, 5, Fraction(400, 401)),
    (251, 4, Links.BIDIRECTIONAL, 6, 7, Fraction(252, 251)),
    (251, 4, Links.BIDIRECTIONAL, 6, 8, Fraction(250, 251)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("nodes", "degree", "links", "seed", "steps", "most"), TABLE)
def test_the_figures_of_the_benchmarks_are_reached(nodes, degree, links, seed, steps, most):
    graph = random_regular(nodes, degree, seed, links)
    found = labels(graph, steps)
    assert check_labels(graph, found).bandwidth <= most
    assert found.cost.steps <= steps
    # The optimum is optimal; that of breadth-first broadcast is far from it.
    assert optimal_bandwidth(nodes) <= most < measure(graph).bandwidth * Fraction(9, 10)


@pytest.mark.slow
def test_a_graph_full_of_twins_gains_by_moves():
    graph = build(parse("GeneralizedDeBruijnRewired(4, 1009)"))
    found = labels(graph, 6, moves=30_000_000)
    assert check_labels(graph, found).bandwidth <= Fraction(1049, 1009)
    assert measure(graph).bandwidth > Fraction(133, 100) - Fraction(1, 1009)


def test_labels_that_leave_a_step_unused_are_points_of_the_steps_they_were_found_within():
    graph = random_regular(23, 3, 0)
    for moves in (0, 2000):
        for turned in (graph, graph.transpose()):
            for point in points_of(turned, diameter(graph) + 3, moves=moves):
                assert labels(turned, point.steps, moves=moves).cost == point.gather.cost
