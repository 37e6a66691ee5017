"""SlackSchedule beside all labels of a small graph, and linear and integer programs."""

from fractions import Fraction
from itertools import chain, combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import coo_array

from topoloom.synth.edge_swaps.random_regular import random_regular
from topoloom.synth.evaluation.measure import diameter, measure
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.slack import slack_schedule
from topoloom.synth.symmetry.semiregular_groups import semiregular_group


def best_of_all(graph, steps):
    """Return the least bandwidth by labels, for shards in one piece, on the grid of 1/d.

    Every root's labels are listed; the loads of one node and step depend on all roots, so that
    all combinations would have to be tried.  With a group acting regularly one root is enough.
    """
    nodes, degree = graph.node_count, graph.degree
    images = semiregular_group(graph)
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
    assert slack_schedule(graph, steps).cost.bandwidth == expected


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
    found = slack_schedule(graph, steps, pieces=2, moves=5000)
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


@pytest.mark.one_in(3)
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
    assert slack_schedule(graph, steps).cost.bandwidth == min(best, measure(graph).bandwidth)


@settings(max_examples=10)
@given(st.integers(4, 7), st.integers(0, 100), st.integers(0, 1))
def test_no_labels_go_below_the_best_of_all(nodes, seed, extra):
    graph = random_regular(nodes, 2, seed)
    steps = diameter(graph) + extra
    found = slack_schedule(graph, steps)
    if any(load.denominator > 1 for load in found.loads):
        assert found.cost == measure(graph)
        return
    assert found.cost.bandwidth >= Fraction(best_by_program(graph, steps), nodes)
