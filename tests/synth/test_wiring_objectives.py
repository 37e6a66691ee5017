"""Least time and fewest drained hosts beside fewest moves: found, bounded, and proven."""

from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.synth.plants import plants, topologies
from topoloom.synth.errors import DoesNotFit
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring import apply, plan_moves, to_document, violations
from topoloom.synth.wiring.ilp.objective import Objective, worth
from topoloom.synth.wiring.placement.host_placement import plan_placed
from topoloom.synth.wiring.plans.stages import stages_of
from topoloom.synth.wiring.plant import Present, uniform
from topoloom.synth.wiring.routes.lead_links import edges_of
from topoloom.synth.wiring.routes.link_wiring import Wiring

OTHERS = [Objective.SECONDS, Objective.DRAINED]


def ways_to_plug(topology, plant):
    """Yield every wiring of a topology: every pair of ports of every link, one after the other."""
    hosts = [plant.host_index[node] for node in topology.nodes]
    ports = [[port for port in plant.hosts[host].ports if port.tx and port.rx] for host in hosts]
    duplex = any(port.duplex for row in ports for port in row)
    ends = list(zip(topology.sources.tolist(), topology.targets.tolist(), strict=True))
    edges = edges_of(topology) if duplex else [(index, None) for index in range(len(ends))]

    def joined(one, other):
        rows = list(zip(one.tx, other.rx, strict=True))
        if any(
            a.panel != b.panel or plant.panels[a.panel].opposite(a.side) != b.side or a == b
            for a, b in rows
        ):
            return None
        return tuple(plant.panels[a.panel].join(a, b) for a, b in rows)

    def go(number, routes, used):
        if number == len(edges):
            yield Wiring(plant, tuple(hosts), tuple(routes))
            return
        there, back = edges[number]
        u, v = ends[there]
        for one, other in product(ports[u], ports[v]):
            ahead, away = joined(one, other), joined(other, one) if duplex else ()
            takes = {*one.fibres, *other.fibres} if duplex else {*one.tx, *other.rx}
            if ahead is None or away is None or takes & used:
                continue
            found = list(routes)
            found[there] = ahead
            if back is not None:
                found[back] = away
            yield from go(number + 1, found, used | takes)

    yield from go(0, [()] * topology.link_count, frozenset())


def least(objective, topology, plant):
    """Try everything; None if nothing fits."""
    used = {plant.host_index[node] for node in topology.nodes}
    mine = [pair for pair in plant.present.pairs if used & set(plant.hosts_of(pair))]
    found = []
    for wiring in ways_to_plug(topology, plant):
        target = set(wiring.pairs)
        gone = [pair for pair in mine if pair not in target]
        found.append(worth(objective, plant, gone, target - set(plant.present.pairs)))
    return min(found, default=None)


def small(data):
    return data.draw(plants(most_hosts=4, most_panels=3, states=False))


@settings(deadline=None, max_examples=40)
@given(data=st.data(), objective=st.sampled_from(OTHERS))
def test_no_plan_takes_less_than_the_bound_whatever_is_plugged(data, objective):
    plant = small(data)
    plant = plant.with_present(Present.of(plant.present.pairs))
    topology = data.draw(topologies(plant, most_links=3))
    best = least(objective, topology, plant)
    try:
        plan = plan_moves(topology, plant, objective=objective)
    except DoesNotFit:
        assert best is None
        return
    assert plan.goal.lower_bound <= best <= plan.goal.value
    assert violations(plan.wiring, topology) == []


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(data=st.data(), objective=st.sampled_from(OTHERS))
def test_from_another_topology_what_a_plan_takes_is_the_least_of_trying_everything(data, objective):
    plant = small(data).with_present(Present())
    try:
        before = plan_moves(data.draw(topologies(plant)), plant)
        plant = plant.with_present(before.final)
        topology = data.draw(topologies(plant, most_links=3))
        plan = plan_moves(topology, plant, objective=objective)
    except DoesNotFit:
        return
    assert plan.goal.value == plan.goal.lower_bound == least(objective, topology, plant)


@pytest.mark.slow
@settings(deadline=None, max_examples=25)
@given(data=st.data(), objective=st.sampled_from(OTHERS))
def test_no_placing_takes_less_than_the_bound_of_all_placings(data, objective):
    plant = small(data)
    topology = data.draw(topologies(plant, most_links=3))
    best = None
    for hosts in permutations(range(len(plant.hosts)), topology.node_count):
        try:
            plan = plan_moves(topology, plant, hosts=hosts, objective=objective)
        except DoesNotFit:
            continue
        best = plan.goal.value if best is None else min(best, plan.goal.value)
    try:
        placed = plan_placed(topology, plant, objective=objective)
    except DoesNotFit:
        return
    assert placed.goal.lower_bound <= best <= placed.goal.value
    assert placed.moves >= placed.lower_bound


def two_speeds(slow, fast, at_once=1):
    """Two lanes of every host, each on a panel of its own: one slow, one fast."""
    plant = uniform("per-port", hosts=6, lanes=2)
    paces = zip(plant.panels, (slow, fast), strict=True)
    panels = tuple(replace(p, move_seconds=Fraction(s), at_once=at_once) for p, s in paces)
    return replace(plant, panels=panels, uniform=None)


def test_links_go_to_the_panel_that_is_plugged_soonest():
    ring = Topology(range(6), [(i, (i + 1) % 6) for i in range(6)])
    plan = plan_moves(ring, two_speeds(60, 2), objective=Objective.SECONDS)
    assert plan.goal.value == plan.goal.lower_bound == 12
    assert {pair.panel for pair in plan.adds} == {1}
    shared = plan_moves(ring, two_speeds(2, 2), objective=Objective.SECONDS)
    assert shared.goal.value == 6
    at_once = plan_moves(ring, two_speeds(60, 2, at_once=3), objective=Objective.SECONDS)
    assert at_once.goal.value == 4


def test_the_document_says_what_a_plan_was_chosen_for_and_stages_take_as_long():
    ring = Topology(range(6), [(i, (i + 1) % 6) for i in range(6)])
    plant = two_speeds(60, 2)
    plan = plan_moves(ring, plant, objective=Objective.SECONDS)
    document = to_document(plan)
    assert document["summary"]["objective"] == {
        "least": "seconds", "value": 12.0, "lower_bound": 12.0, "gap": 0.0, "optimal": True
    }  # fmt: skip
    assert document["summary"]["seconds"] == 12.0
    assert "objective" not in to_document(plan_moves(ring, plant))["summary"]
    again = plan_moves(ring.transpose(), plant, plan.final, objective=Objective.DRAINED)
    (stage,) = stages_of(again)
    assert len(stage.drained) == again.goal.value == 6
    assert apply(to_document(again), plan.final, plant) == again.final


@pytest.mark.slow
def test_a_large_plan_of_least_time_is_no_worse_than_that_of_fewest_moves():
    rng = np.random.default_rng(1)
    size = 96
    ends = [np.concatenate([rng.permutation(size) for _ in range(4)]) for _ in range(2)]
    around = [np.concatenate([np.roll(c, -1) for c in side.reshape(4, size)]) for side in ends]
    before, after = (Topology.direct(size, *two) for two in zip(ends, around, strict=True))
    plant = uniform("per-port", size, 4)
    panels = tuple(
        replace(p, move_seconds=Fraction(1 + n), at_once=1 + n) for n, p in enumerate(plant.panels)
    )
    plant = replace(plant, panels=panels, uniform=None)
    today = plan_moves(before, plant).final
    few = plan_moves(after, plant, today)
    for objective in OTHERS:
        plan = plan_moves(after, plant, today, objective=objective)
        assert violations(plan.wiring, after) == []
        assert plan.goal.lower_bound <= plan.goal.value
        assert plan.goal.value <= worth(objective, few.plant, few.removes, few.adds)
