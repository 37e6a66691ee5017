"""All-to-all: what lengths and cuts prove that no routing can undercut."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings

from tests.schedule_oracles import direct_topologies
from topoloom.schedules.routes import all_to_all
from topoloom.schedules.routes.cut_bound import cut_bound
from topoloom.schedules.routes.demand import all_to_all_demand
from topoloom.schedules.routes.shortest_path_bound import length_bound, split_evenly
from topoloom.schedules.verify import route_inverse_rate, violations
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.topology.topology import Topology


@settings(max_examples=25, deadline=None)
@given(direct_topologies(6))
def test_any_lengths_prove_a_bound(topology):
    problem = all_to_all_demand(topology)
    optimum = all_to_all.optimum(topology).inverse_rate
    for seed in range(3):
        random = np.random.default_rng(seed)
        lengths = random.integers(0, 4, len(problem.capacity))
        bound = length_bound(problem, lengths)
        assert bound <= optimum
        # Shared among ways that are shortest under these lengths, loads are whole again.
        found = split_evenly(problem, lengths)
        assert found.lower == bound
        assert problem.most_loaded(found.loads, found.unit) >= optimum


@pytest.mark.parametrize("text", ["GeneralizedKautz(3, 50)", "LineGraph(1, Circulant(16, 3, 4))"])
def test_above_the_limit_the_bounds_close_in_on_the_optimum(text):
    topology = build(parse(text))
    exact = all_to_all.optimum(topology)
    assert exact.proved
    bounded = all_to_all.optimum(topology, max_variables=0)
    assert bounded.method == "shortest-paths"
    assert bounded.lower <= exact.inverse_rate <= bounded.inverse_rate
    assert bounded.inverse_rate < all_to_all.shortest(topology).inverse_rate
    assert bounded.gap < Fraction(1, 10)
    schedule = all_to_all.schedule(topology, max_variables=0)
    assert violations(schedule, topology) == []
    assert route_inverse_rate(schedule, topology) == bounded.inverse_rate


def mesh(rows, columns):
    cells = [(row, column) for row in range(rows) for column in range(columns)]
    near = [(a, b) for a in cells for b in cells if abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1]
    return Topology(range(len(cells)), [(cells.index(a), cells.index(b)) for a, b in near])


@pytest.mark.parametrize(("rows", "columns"), [(2, 4), (3, 6), (4, 8), (8, 8)])
def test_the_bisection_of_a_mesh_is_found_as_a_bound(rows, columns):
    found = cut_bound(all_to_all_demand(mesh(rows, columns)))
    assert found == rows * (columns // 2) ** 2


@settings(max_examples=40, deadline=None)
@given(direct_topologies(6))
def test_no_cut_proves_more_than_the_optimum_or_than_the_best_of_all_cuts(topology):
    problem, found = all_to_all_demand(topology), cut_bound(all_to_all_demand(topology))
    best = all_to_all.optimum(topology)
    assert found <= best.inverse_rate
    nodes = range(topology.node_count)
    arcs = list(zip(problem.tail.tolist(), problem.head.tolist(), strict=True))
    capacity = problem.capacity[problem.orbit].tolist()
    every = [
        Fraction(size * (len(nodes) - size)) * problem.scale / leaving
        for size in range(1, len(nodes))
        for inside in map(set, combinations(nodes, size))
        if (
            leaving := sum(
                room
                for (a, b), room in zip(arcs, capacity, strict=True)
                if a in inside and b not in inside
            )
        )
    ]
    assert best.inverse_rate >= max(every)
    if len(problem.images) == 1:
        # Without symmetry no average is taken: what is proved is a cut, or longer distances.
        assert found == 0 or found >= min(every)
