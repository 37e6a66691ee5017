"""All-to-all: the optimum against another linear program, bounds, routes and their times."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise, permutations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import linprog

from schedules import alltoall
from schedules.alltoall.cuts import cut_bound
from schedules.alltoall.demand import demand
from schedules.alltoall.spreading import length_bound, spread
from schedules.collectives import make, reverse
from schedules.errors import InvalidSchedule, NoSchedule, NotExportable, TooLarge
from schedules.execute.plan import plan
from schedules.formats import FORMATS, Options
from schedules.formats import write as write_as
from schedules.formats.msccl.write import render
from schedules.formats.schedule.binary import pack, unpack
from schedules.formats.schedule.read import from_document
from schedules.formats.schedule.write import to_document, write
from schedules.model import Collective, Route, RouteSchedule, SequenceSchedule
from schedules.simulate import Network, estimate, simulate
from schedules.verify import require_valid, route_inverse_rate, route_phases, violations
from synth.build import build
from synth.errors import Unreachable
from synth.fabrics import fabric
from synth.recipe import parse
from synth.topology import Topology
from tests.schedule_oracles import bidirectional_ring, direct_topologies, ring, two_boxes

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
    found = alltoall.optimum(topology)
    assert found.proved and found.gap == 0
    schedule = alltoall.schedule(topology)
    assert violations(schedule, topology) == []
    assert route_inverse_rate(schedule, topology) == found.inverse_rate
    assert max(len(route.path) for route in schedule.routes) == found.hops + 1


@settings(max_examples=25, deadline=None)
@given(direct_topologies(5))
def test_the_optimum_is_that_of_one_commodity_for_each_pair(topology):
    found = alltoall.optimum(topology)
    oracle = pairwise_optimum(topology)
    assert float(found.inverse_rate) == pytest.approx(oracle, rel=1e-7)
    assert found.lower <= found.inverse_rate
    assert float(found.gap) < 1e-6


@pytest.mark.parametrize("topology", [BOXES, two_boxes(3), SQUARE], ids=str)
def test_switches_and_unequal_links_are_served(topology):
    found = alltoall.optimum(topology)
    assert found.proved
    assert float(found.inverse_rate) == pytest.approx(pairwise_optimum(topology), rel=1e-7)
    require_valid(alltoall.schedule(topology), topology)


def test_two_boxes_are_held_up_by_what_joins_them():
    # Eight GPUs a box: 64 pairs each way over 8 links of 25.
    assert alltoall.optimum(fabric("dgx-a100-2")).inverse_rate == Fraction(64, 8 * 25)


@pytest.mark.parametrize("text", ["Hypercube(3)", "Torus(4, 4)", "Complete(5)"])
def test_equal_shares_of_shortest_paths_are_optimal_on_these(text):
    topology = build(parse(text))
    found = alltoall.shortest(topology)
    total = sum(
        length
        for _, lengths in nx.all_pairs_shortest_path_length(topology.to_networkx())
        for length in lengths.values()
    )
    assert found.proved and found.inverse_rate == Fraction(total, topology.link_count)


@settings(max_examples=25, deadline=None)
@given(direct_topologies(7))
def test_shortest_paths_take_the_diameter_and_prove_the_distance_bound(topology):
    found = alltoall.shortest(topology)
    graph = topology.to_networkx()
    assert found.hops == nx.diameter(graph)
    distances = sum(sum(row.values()) for _, row in nx.all_pairs_shortest_path_length(graph))
    assert found.lower >= Fraction(distances, topology.link_count)
    assert found.lower <= alltoall.optimum(topology).inverse_rate <= found.inverse_rate


@settings(max_examples=25, deadline=None)
@given(direct_topologies(6))
def test_any_lengths_prove_a_bound(topology):
    problem = demand(topology)
    optimum = alltoall.optimum(topology).inverse_rate
    for seed in range(3):
        random = np.random.default_rng(seed)
        lengths = random.integers(0, 4, len(problem.capacity))
        bound = length_bound(problem, lengths)
        assert bound <= optimum
        # Shared among ways that are shortest under these lengths, loads are whole again.
        found = spread(problem, lengths)
        assert found.lower == bound
        assert problem.most_loaded(found.loads, found.unit) >= optimum


@pytest.mark.parametrize("text", ["GeneralizedKautz(3, 50)", "LineGraph(1, Circulant(16, 3, 4))"])
def test_above_the_limit_the_bounds_close_in_on_the_optimum(text):
    topology = build(parse(text))
    exact = alltoall.optimum(topology)
    assert exact.proved
    bounded = alltoall.optimum(topology, max_variables=0)
    assert bounded.method == "shortest-paths"
    assert bounded.lower <= exact.inverse_rate <= bounded.inverse_rate
    assert bounded.inverse_rate < alltoall.shortest(topology).inverse_rate
    assert bounded.gap < Fraction(1, 10)
    schedule = alltoall.schedule(topology, max_variables=0)
    assert violations(schedule, topology) == []
    assert route_inverse_rate(schedule, topology) == bounded.inverse_rate


def test_symmetry_changes_no_answer():
    known = build(parse("Cayley(8, 3, 2, 1, 9)"))
    order = [5, 2, 11, 0, 7, 14, 1, 9, 3, 12, 15, 4, 8, 6, 13, 10]
    links = [(order[link.source], order[link.target]) for link in known.links]
    hidden = Topology(range(16), links)
    assert len(demand(known).sources) == 1
    assert len(demand(hidden).sources) == 16
    assert alltoall.optimum(known).inverse_rate == alltoall.optimum(hidden).inverse_rate


def test_the_same_question_has_the_same_answer():
    topology = build(parse("GeneralizedKautz(3, 13)"))
    assert alltoall.schedule(topology) == alltoall.schedule(topology)


def test_what_is_not_connected_or_too_large_is_refused(monkeypatch):
    with pytest.raises(Unreachable):
        alltoall.optimum(Topology(range(3), [(0, 1), (1, 0), (1, 2)]))
    monkeypatch.setattr(alltoall.routes, "MAX_HOPS", 5)
    with pytest.raises(TooLarge, match="/topology: needs"):
        alltoall.schedule(ring(4))
    monkeypatch.setattr(alltoall, "MAX_FLOWS", 3)
    with pytest.raises(TooLarge, match="flows"):
        alltoall.optimum(ring(4))


def routes_of(topology, *paths, units=1):
    routes = tuple(Route(path, 1) for path in paths)
    return RouteSchedule(
        Collective.ALL_TO_ALL, topology.digest, topology.compute_nodes, units, routes
    )


PAIR = ring(2)
WRONG = {
    "no link joins": routes_of(ring(3), (0, 1), (1, 0), (1, 2), (2, 0), (2, 0, 1), (0, 1, 2)),
    "must not pass a node twice": routes_of(PAIR, (0, 1, 0, 1), (1, 0)),
    "must lead from a rank to another": routes_of(PAIR, (0,), (1, 0)),
    "from 1 to 0 must add up to 1; they make 0": routes_of(PAIR, (0, 1)),
    "from 0 to 1 must add up to 1; they make 2": routes_of(PAIR, (0, 1), (0, 1), (1, 0)),
    "units_per_pair: must be at least 1": routes_of(PAIR, (0, 1), (1, 0), units=0),
    "the weight must be at least 1": replace(
        routes_of(PAIR, (0, 1), (1, 0)), routes=(Route((0, 1), 0), Route((1, 0), 1))
    ),
    "routes are for all-to-all only": replace(
        routes_of(PAIR, (0, 1), (1, 0)), collective=Collective.ALLGATHER
    ),
}


@pytest.mark.parametrize("sentence", WRONG)
def test_the_checker_says_what_is_wrong_with_routes(sentence):
    schedule = WRONG[sentence]
    topology = ring(len(schedule.ranks))
    found = violations(schedule, topology)
    assert any(sentence in str(violation) for violation in found)
    with pytest.raises(InvalidSchedule):
        require_valid(schedule, topology)


def test_an_all_to_all_is_by_routes_or_not_at_all():
    gather = make(PAIR, "allgather")
    claimed = replace(gather, collective=Collective.ALL_TO_ALL)
    assert "by routes" in str(violations(claimed, PAIR)[0])
    sequence = SequenceSchedule(Collective.ALL_TO_ALL, PAIR.digest, (claimed,))
    assert violations(sequence, PAIR)


def test_a_switch_is_no_end_of_a_route():
    paths = [(a, b) for a, b in permutations(BOXES.nodes, 2) if (a, b) in set(pairs_of(BOXES))]
    found = violations(routes_of(BOXES, *paths), BOXES)
    assert any("from a rank to another" in str(violation) for violation in found)


def pairs_of(topology):
    return [(link.source, link.target) for link in topology.links]


@pytest.mark.parametrize("topology", [SQUARE, BOXES, build(parse("Kautz(2, 2)"))], ids=str)
def test_routes_survive_every_form_they_are_written_in(topology):
    schedule = make(topology, "all-to-all", "mcf")
    document = to_document(schedule)
    assert document["kind"] == "routes" and document["collective"] == "all-to-all"
    assert from_document(document, topology) == schedule
    assert "".join(write(schedule)) == json.dumps(document)
    assert unpack(pack(schedule)) == schedule


BROKEN = {
    "/routes/0: must be an object": {"routes": [3]},
    "/routes/0/path: must be a list of 2": {"routes": [{"path": [0], "weight": 1}]},
    "/routes/0/path/1: must be the id": {"routes": [{"path": [0, 9], "weight": 1}]},
    "/routes/0/weight: must be an integer": {"routes": [{"path": [0, 1], "weight": 0}]},
    "/routes: must be a list": {"routes": 7},
    "/units_per_pair: must be an integer": {"units_per_pair": "1"},
}


@pytest.mark.parametrize("message", BROKEN)
def test_a_broken_document_is_refused_by_place_and_rule(message):
    document = to_document(make(PAIR, "all-to-all", "mcf")) | BROKEN[message]
    with pytest.raises(InvalidSchedule) as refused:
        from_document(document, PAIR)
    assert str(refused.value).startswith(message)


def test_other_algorithms_and_formats_say_no():
    with pytest.raises(NoSchedule, match="/algorithm: must be mcf or shortest-paths"):
        make(PAIR, "all-to-all", "bfb")
    with pytest.raises(NoSchedule, match="/trees_per_root: is not for all-to-all"):
        make(PAIR, "all-to-all", "mcf", 2)
    with pytest.raises(NoSchedule, match="/algorithm"):
        make(PAIR, "allgather", "mcf")
    routes = make(PAIR, "all-to-all", "mcf")
    with pytest.raises(NotExportable, match="/collective: must be one of allgather"):
        render(routes, PAIR)
    with pytest.raises(NoSchedule, match="/kind: must be steps"):
        plan(routes, 4, 1)
    with pytest.raises(NoSchedule, match="/collective"):
        reverse(routes, PAIR)


def test_the_time_is_that_of_the_phases_or_of_a_pipeline():
    schedule = make(ring(3), "all-to-all", "mcf")
    assert route_phases(schedule, ring(3)) == (2, 1)
    rates = {"alpha_seconds": 1.0, "unit_bytes_per_second": 1.0}
    # In one piece: two rounds, then the shares of 1 byte for each pair.
    small = estimate(schedule, ring(3), size_bytes=3, **rates)
    assert (small.seconds, small.rounds, small.pipeline_chunks) == (5.0, 2, 1)
    # Cut into P pieces: (2 + P - 1)(1 + 300 / P), least near sqrt(300).
    large = estimate(schedule, ring(3), size_bytes=300, pipeline_chunks=10, **rates)
    assert large.seconds == 11 * (1 + 300 / 10)
    best = estimate(schedule, ring(3), size_bytes=300, **rates)
    assert best.seconds <= min(large.seconds, 302.0)


def test_every_phase_loads_what_its_hops_carry():
    topology = build(parse("GeneralizedKautz(3, 11)"))
    schedule = alltoall.schedule(topology)
    loads = {}
    for route in schedule.routes:
        for place, hop in enumerate(pairwise(route.path)):
            loads[place, hop] = loads.get((place, hop), 0) + route.weight
    phases = route_phases(schedule, topology)
    for place, phase in enumerate(phases):
        heaviest = max(load for (at, _), load in loads.items() if at == place)
        assert phase == Fraction(heaviest, schedule.units_per_pair)
    assert sum(phases) >= route_inverse_rate(schedule, topology)


@pytest.mark.parametrize("topology", [SQUARE, BOXES, build(parse("Kautz(2, 2)"))], ids=str)
@pytest.mark.parametrize("size", [7, 5000])
def test_routes_simulated_take_no_longer_than_estimated(topology, size):
    schedule = make(topology, "all-to-all", "mcf")
    rates = {"alpha_seconds": 1.0, "unit_bytes_per_second": 2.0}
    network = Network(Fraction(1), Fraction(2))
    whole = estimate(schedule, topology, size_bytes=size, pipeline_chunks=1, **rates)
    locked = simulate(schedule, topology, network, size_bytes=size, chunks=1, synchronous=True)
    if not topology.switches:
        assert whole.seconds == pytest.approx(float(locked.seconds))
    free = simulate(schedule, topology, network, size_bytes=size)
    wire = route_inverse_rate(schedule, topology) * size / len(topology.compute_nodes) / 2
    assert wire < free.seconds
    assert free.seconds <= locked.seconds


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_writes_routes_or_says_that_it_cannot(form):
    schedule = make(PAIR, "all-to-all", "mcf")
    options = Options(bytes=64) if form == "chakra-et" else Options()
    if form == "json":
        text = "".join(write_as(form, schedule, PAIR, options))
        assert from_document(json.loads(text), PAIR) == schedule
        return
    with pytest.raises(NotExportable, match=r"/collective|/format"):
        list(write_as(form, schedule, PAIR, options))


def mesh(rows, columns):
    cells = [(row, column) for row in range(rows) for column in range(columns)]
    near = [(a, b) for a in cells for b in cells if abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1]
    return Topology(range(len(cells)), [(cells.index(a), cells.index(b)) for a, b in near])


@pytest.mark.parametrize(("rows", "columns"), [(2, 4), (3, 6), (4, 8), (8, 8)])
def test_the_bisection_of_a_mesh_is_found_as_a_bound(rows, columns):
    found = cut_bound(demand(mesh(rows, columns)))
    assert found == rows * (columns // 2) ** 2


@settings(max_examples=40, deadline=None)
@given(direct_topologies(6))
def test_no_cut_proves_more_than_the_optimum_or_than_the_best_of_all_cuts(topology):
    problem, found = demand(topology), cut_bound(demand(topology))
    best = alltoall.optimum(topology)
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
