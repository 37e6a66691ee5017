"""All-to-all: the optimum against another linear program, its routes, its symmetry."""

from fractions import Fraction
from itertools import permutations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import linprog

from tests.schedule_oracles import bidirectional_ring, direct_topologies, ring, two_boxes
from topoloom.schedules.errors import TooLarge
from topoloom.schedules.routes import all_to_all, flow_decomposition
from topoloom.schedules.routes.demand import all_to_all_demand
from topoloom.schedules.verify import require_valid, route_inverse_rate, violations
from topoloom.synth.errors import Unreachable
from topoloom.synth.fabrics import fabric
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.topology.topology import Topology

BOXES = two_boxes()


SQUARE = bidirectional_ring(4)


RECIPES = (
    "Circulant(12, 2, 3)",
    "GeneralizedKautz(3, 11)",
    "GeneralizedKautz(4, 20)",
    "Kautz(2, 3)",
    "DeBruijn(2, 3)",
    "Torus(3, 4)",
    "LineGraph(1, Diamond())",
    "UniRing(5, 2)",
    "DegreeExpansion(2, UniRing(3))",
)


def pairwise_optimum(topology):
    """One commodity for each ordered pair, link by link: large, slow and plain."""
    ranks = topology.compute_nodes
    pairs = list(permutations(ranks, 2))
    links = topology.links
    columns = len(pairs) * len(links) + 1
    balance, wanted = [], []
    for index, (source, target) in enumerate(pairs):
        for node in topology.nodes:
            row = np.zeros(columns)
            for at, link in enumerate(links):
                row[index * len(links) + at] += (link.source == node) - (link.target == node)
            balance.append(row)
            wanted.append((node == source) - (node == target))
    loads = np.zeros((len(links), columns))
    for at, link in enumerate(links):
        loads[at, at : len(pairs) * len(links) : len(links)] = 1
        loads[at, -1] = -float(link.capacity)
    cost = np.zeros(columns)
    cost[-1] = 1
    return linprog(cost, loads, np.zeros(len(links)), np.array(balance), wanted).fun


@pytest.mark.parametrize("text", RECIPES)
def test_the_optimum_is_proved_and_carried_out_by_routes(text):
    topology = build(parse(text))
    found = all_to_all.optimum(topology)
    assert found.proved and found.gap == 0
    schedule = all_to_all.schedule(topology)
    assert violations(schedule, topology) == []
    assert route_inverse_rate(schedule, topology) == found.inverse_rate
    assert max(len(route.path) for route in schedule.routes) == found.hops + 1


@settings(max_examples=25, deadline=None)
@given(direct_topologies(5))
def test_the_optimum_is_that_of_one_commodity_for_each_pair(topology):
    found = all_to_all.optimum(topology)
    oracle = pairwise_optimum(topology)
    assert float(found.inverse_rate) == pytest.approx(oracle, rel=1e-7)
    assert found.lower <= found.inverse_rate
    assert float(found.gap) < 1e-6


@pytest.mark.parametrize("topology", [BOXES, two_boxes(3), SQUARE], ids=str)
def test_switches_and_unequal_links_are_served(topology):
    found = all_to_all.optimum(topology)
    assert found.proved
    assert float(found.inverse_rate) == pytest.approx(pairwise_optimum(topology), rel=1e-7)
    require_valid(all_to_all.schedule(topology), topology)


def test_two_boxes_are_held_up_by_what_joins_them():
    # Eight GPUs a box: 64 pairs each way over 8 links of 25.
    assert all_to_all.optimum(fabric("dgx-a100-2")).inverse_rate == Fraction(64, 8 * 25)


@pytest.mark.parametrize("text", ["Hypercube(3)", "Torus(4, 4)", "Complete(5)"])
def test_equal_shares_of_shortest_paths_are_optimal_on_these(text):
    topology = build(parse(text))
    found = all_to_all.shortest(topology)
    total = sum(
        length
        for _, lengths in nx.all_pairs_shortest_path_length(topology.to_networkx())
        for length in lengths.values()
    )
    assert found.proved and found.inverse_rate == Fraction(total, topology.link_count)


@settings(max_examples=25, deadline=None)
@given(direct_topologies(7))
def test_shortest_paths_take_the_diameter_and_prove_the_distance_bound(topology):
    found = all_to_all.shortest(topology)
    graph = topology.to_networkx()
    assert found.hops == nx.diameter(graph)
    distances = sum(sum(row.values()) for _, row in nx.all_pairs_shortest_path_length(graph))
    assert found.lower >= Fraction(distances, topology.link_count)
    assert found.lower <= all_to_all.optimum(topology).inverse_rate <= found.inverse_rate


def test_symmetry_changes_no_answer():
    known = build(parse("Cayley(8, 3, 2, 1, 9)"))
    order = [5, 2, 11, 0, 7, 14, 1, 9, 3, 12, 15, 4, 8, 6, 13, 10]
    links = [(order[link.source], order[link.target]) for link in known.links]
    hidden = Topology(range(16), links)
    assert len(all_to_all_demand(known).sources) == 1
    assert len(all_to_all_demand(hidden).sources) == 16
    assert all_to_all.optimum(known).inverse_rate == all_to_all.optimum(hidden).inverse_rate


def test_the_same_question_has_the_same_answer():
    topology = build(parse("GeneralizedKautz(3, 13)"))
    assert all_to_all.schedule(topology) == all_to_all.schedule(topology)


def test_what_is_not_connected_or_too_large_is_refused(monkeypatch):
    with pytest.raises(Unreachable):
        all_to_all.optimum(Topology(range(3), [(0, 1), (1, 0), (1, 2)]))
    monkeypatch.setattr(flow_decomposition, "MAX_HOPS", 5)
    with pytest.raises(TooLarge, match="/topology: needs"):
        all_to_all.schedule(ring(4))
    monkeypatch.setattr(all_to_all, "MAX_FLOWS", 3)
    with pytest.raises(TooLarge, match="flows"):
        all_to_all.optimum(ring(4))
