"""Routes as arrays: the same routes, the same verdicts and the same loads as route by route."""

import pickle
from collections import defaultdict
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.schedule_oracles import direct_topologies, ring, two_boxes
from topoloom.schedules.errors import TooLarge
from topoloom.schedules.formats.schedule.binary import pack, unpack
from topoloom.schedules.model.route_table import RouteTable, route_table
from topoloom.schedules.model.schedule import Collective, Route, RouteSchedule
from topoloom.schedules.routes import all_to_all, flow_decomposition
from topoloom.schedules.verify import route_inverse_rate, route_phases, violations
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.topology.topology import Topology

NODES = ("a", 3, "c", 7)
ROUTES = st.lists(
    st.builds(
        Route,
        st.lists(st.sampled_from(NODES), max_size=5).map(tuple),
        st.integers(-3, 2**70),
    ),
    max_size=8,
)


@given(ROUTES)
def test_a_table_is_the_sequence_of_its_routes(routes):
    table = route_table(routes, NODES)
    assert table == tuple(routes) and tuple(routes) == table
    assert list(table) == [table[at] for at in range(len(table))] == list(routes)
    assert table[1:-1] == tuple(routes[1:-1])
    assert pickle.loads(pickle.dumps(table)) == table
    assert hash(table) == hash(tuple(routes))
    assert route_table(table, NODES) is table
    assert route_table(table, NODES[::-1]) == tuple(routes)
    with pytest.raises(IndexError):
        table[len(routes)]


def plain_problem(route, topology):
    path = route.path
    links = {(link.source, link.target) for link in topology.links}
    if route.weight < 1:
        return "the weight must be at least 1"
    ends = topology.compute_nodes
    if len(path) < 2 or path[0] not in ends or path[-1] not in ends:
        return "the path must lead from a rank to another"
    if len(set(path)) < len(path):
        return "the path must not pass a node twice"
    for hop in pairwise(path):
        if hop not in links:
            return f"no link joins {hop[0]!r} to {hop[1]!r}"
    return None


def plain_verdict(schedule, topology):
    said, fine = [], []
    for index, route in enumerate(schedule.routes):
        problem = plain_problem(route, topology)
        if problem:
            said.append(f"/routes/{index}: {problem}")
        else:
            fine.append(route)
    sums = defaultdict(int)
    for route in fine:
        sums[route.path[0], route.path[-1]] += route.weight
    unit = schedule.units_per_pair
    said += [
        f"/routes: the weights from {source!r} to {target!r} must add up to {unit}; "
        f"they make {sums[source, target]}"
        for source in schedule.ranks
        for target in schedule.ranks
        if source != target and sums[source, target] != unit
    ]
    return said


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(direct_topologies(5), st.data())
def test_the_checker_says_of_damaged_routes_what_it_says_route_by_route(topology, data):
    whole = all_to_all.schedule(topology)
    routes = list(whole.routes)
    strangers = [*topology.nodes, "nobody"]
    for _ in range(data.draw(st.integers(0, 4))):
        at = data.draw(st.integers(0, len(routes) - 1))
        path = data.draw(st.lists(st.sampled_from(strangers), max_size=4))
        weight = data.draw(st.sampled_from([routes[at].weight, 0, -1, 2**65]))
        routes[at] = Route(tuple(path) or routes[at].path, weight)
    damaged = RouteSchedule(
        whole.collective, whole.topology, whole.ranks, whole.units_per_pair, tuple(routes)
    )
    found = [str(one) for one in violations(damaged, topology, limit=10**6)]
    assert found == plain_verdict(damaged, topology)


@pytest.mark.parametrize("factor", [1, 2**61, 2**80])
@pytest.mark.parametrize("topology", [ring(4), two_boxes(), two_boxes(3)], ids=str)
def test_loads_are_exact_however_large_the_weights(topology, factor):
    made = all_to_all.schedule(topology)
    routes = tuple(Route(route.path, route.weight * factor) for route in made.routes)
    large = RouteSchedule(
        made.collective, made.topology, made.ranks, made.units_per_pair * factor, routes
    )
    assert violations(large, topology) == []
    assert route_inverse_rate(large, topology) == all_to_all.optimum(topology).inverse_rate
    phases = []
    for route in routes:
        place = 0
        for hop in pairwise(route.path):
            if place == len(phases):
                phases.append(defaultdict(int))
            phases[place][hop] += route.weight
            place += hop[1] not in topology.switches
    room = defaultdict(Fraction)
    for link in topology.links:
        room[link.source, link.target] += link.capacity
    assert route_phases(large, topology) == tuple(
        max(Fraction(load) / room[hop] for hop, load in phase.items()) / large.units_per_pair
        for phase in phases
    )


@settings(max_examples=30, deadline=None)
@given(direct_topologies(6))
def test_packed_routes_come_back_as_they_were(topology):
    made = all_to_all.schedule(topology)
    assert isinstance(made.routes, RouteTable)
    assert unpack(pack(made)) == made
    plain = RouteSchedule(
        made.collective, made.topology, made.ranks, made.units_per_pair, tuple(made.routes)
    )
    assert unpack(pack(plain)) == plain == made


def test_more_hops_than_memory_has_room_for_are_refused(monkeypatch):
    monkeypatch.setattr(flow_decomposition, "MAX_HOPS", 23)
    with pytest.raises(TooLarge, match="needs 24 hops of routes; at most 23"):
        all_to_all.schedule(ring(4))


@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["GeneralizedKautz(4, 1024)", "Torus(32, 32)"])
def test_a_thousand_hosts_have_their_routes(recipe):
    topology = build(parse(recipe))
    made = all_to_all.schedule(topology, fewest_hops=True)
    assert violations(made, topology) == []
    assert len(made.routes) >= 1024 * 1023
    assert route_inverse_rate(made, topology) == all_to_all.shortest(topology).inverse_rate


def test_an_empty_schedule_has_no_loads():
    one = Topology([0], [])
    nothing = RouteSchedule(Collective.ALL_TO_ALL, one.digest, (0,), 1, ())
    assert violations(nothing, one) == []
    assert route_inverse_rate(nothing, one) == 0
