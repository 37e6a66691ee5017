import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.synth.plants import plants, topologies
from topoloom.synth.errors import DoesNotFit, InvalidPlant
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring import (
    apply,
    plan_moves,
    read_present,
    revert,
    to_document,
    uniform,
    violations,
)
from topoloom.synth.wiring.operations.repair import Faults, Way, lit_links, repairs, with_faults
from topoloom.synth.wiring.plans.stages import Limits, connected, stages_of
from topoloom.synth.wiring.plant import State


@st.composite
def plans(draw):
    plant = draw(plants(most_hosts=4, most_panels=2))
    try:
        return plan_moves(draw(topologies(plant)), plant)
    except DoesNotFit:
        return plan_moves(Topology([plant.hosts[0].id], []), plant)


LIMITS = st.builds(Limits, st.none() | st.integers(1, 3), st.booleans(), st.booleans())


@settings(deadline=None)
@given(plans(), LIMITS)
def test_stages_lead_to_the_plan_and_at_every_moment_each_port_is_in_one_pair(plan, limits):
    try:
        stages = stages_of(plan, limits)
    except DoesNotFit as error:
        assert limits.stay_connected and error.field == "/stay_connected"
        return
    plant, plugged = plan.plant, set(plan.present.pairs)
    for stage in stages:
        for pair in stage.removes:
            plugged.remove(pair)
        assert connected(stage.dark) or not limits.stay_connected
        for pair in stage.adds:
            used = {port for other in plugged for port in plant.ends(other)}
            assert used.isdisjoint(plant.ends(pair))
            plugged.add(pair)
        assert plant.present.foreign <= plugged
        assert stage.removes or stage.adds
        if limits.max_links_down is not None:
            ends = [tuple(plant.at.get(p, p) for p in plant.ends(r)) for r in stage.removes]
            double = any(port.duplex for host in plant.hosts for port in host.ports)
            units = {frozenset(pair) if double else pair for pair in ends}
            assert len(units) <= limits.max_links_down
    assert plugged == set(plan.final.pairs)


@settings(deadline=None)
@given(plans(), LIMITS)
def test_the_staged_document_is_carried_out_and_undone(plan, limits):
    try:
        document = to_document(plan, limits)
    except DoesNotFit:
        return
    after = apply(document, plan.present, plan.plant)
    assert after == plan.final == read_present(document, plan.plant)
    assert revert(document, after, plan.plant) == plan.present
    assert document["summary"]["stages"] == len(document["stages"])


def ring_and_chords(lanes):
    ring = Topology(range(6), [(i, (i + 1) % 6) for i in range(6)])
    wanted = Topology(range(6), [*ring.links, *((i, (i + 2) % 6) for i in range(6))])
    return plan_moves(
        wanted, uniform("single", 6, lanes), plan_moves(ring, uniform("single", 6, lanes)).final
    )


def test_what_waits_for_nothing_is_made_first():
    plan = ring_and_chords(3)
    stages = stages_of(plan, Limits(make_before_break=True))
    assert [(len(s.removes), len(s.adds)) for s in stages] == [(0, 6)]
    back = plan_moves(plan.topology.transpose(), plan.plant, plan.final)
    first = stages_of(back, Limits(make_before_break=True, max_links_down=2))
    assert not first[0].removes and first[0].adds
    assert all(len(s.removes) <= 2 for s in first)


def test_a_wiring_that_is_not_connected_cannot_stay_so():
    ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    plan = plan_moves(ring, uniform("single", 3, 1))
    with pytest.raises(DoesNotFit, match="does not connect"):
        stages_of(plan, Limits(stay_connected=True))


def test_seconds_follow_from_the_panels():
    from dataclasses import replace
    from fractions import Fraction

    plan = ring_and_chords(3)
    slow = replace(plan.plant.panels[0], move_seconds=Fraction(3), at_once=4)
    plant = replace(plan.plant, panels=(slow,), uniform=None)
    document = to_document(plan_moves(plan.topology, plant))
    assert document["stages"][0]["effect"]["seconds"] == 6.0  # 6 adds, 4 at a time
    assert document["summary"]["seconds"] == 6.0


def test_the_throughput_that_is_left_is_asked_for():
    plan = ring_and_chords(3)
    back = plan_moves(Topology(range(6), plan.topology.links[:-1]), plan.plant, plan.final)
    asked = []

    def rate(topology):
        asked.append(topology.link_count)
        return

    to_document(back, rate=rate)
    assert asked == [11]


@settings(deadline=None, max_examples=60)
@given(plans(), st.data())
def test_a_repair_carries_all_links_but_those_it_gives_up(plan, data):
    used = [port for pair in plan.wiring.pairs for port in plan.plant.ends(pair)]
    if not used:
        return
    faults = Faults(ports=(data.draw(st.sampled_from(used)),))
    hurt = with_faults(plan.plant.with_present(plan.final), faults)
    broken = set(range(plan.topology.link_count)) - set(lit_links(plan.topology, plan.wiring, hurt))
    assert broken
    found = repairs(plan, faults)
    assert [r.plan.moves for r in found] == sorted(r.plan.moves for r in found)
    for repair in found:
        assert violations(repair.plan.wiring, repair.plan.topology) == []
        assert not {p for pair in repair.plan.wiring.pairs for p in hurt.ends(pair)} & set(
            faults.ports
        )
        lost = set(repair.lost)
        assert lost == (broken if repair.way is Way.LEFT_OUT else set())
        assert repair.plan.topology.link_count == plan.topology.link_count - len(lost)


def test_a_dead_port_of_a_fabric_with_a_spare_lane_takes_two_moves():
    circulant = Topology(range(64), [(i, (i + s) % 64) for i in range(64) for s in (1, 5, 9, 20)])
    plan = plan_moves(circulant, uniform("per-port", 65, 5))
    fault = Faults(ports=plan.plant.ends(plan.wiring.routes[40][0])[:1])
    found = {repair.way: repair for repair in repairs(plan, fault)}
    assert found[Way.REPATCH].plan.moves == 2
    assert (found[Way.LEFT_OUT].plan.moves, found[Way.LEFT_OUT].lost) == (1, (40,))
    assert found[Way.SPARE_HOST].plan.moves == 16


def test_a_dead_host_is_replaced_or_left_out():
    ring = [(i, (i + 1) % 6) for i in range(6)]
    links = Topology(range(6), [*ring, *(end[::-1] for end in ring)])
    plan = plan_moves(links, uniform("single", 7, 2))
    found = {repair.way: repair for repair in repairs(plan, Faults(hosts=(2,)))}
    assert found[Way.SPARE_HOST].plan.wiring.hosts[2] == 6
    assert found[Way.SPARE_HOST].plan.moves == 8
    assert found[Way.LEFT_OUT].plan.topology.node_count == 5
    assert Way.REPATCH not in found


def test_spare_ports_are_used_for_repairs_only():
    from dataclasses import replace

    pair = Topology(range(2), [(0, 1), (1, 0)])
    plant = uniform("single", 2, 2)
    hosts = [
        replace(h, ports=(h.ports[0], replace(h.ports[1], state=State.SPARE))) for h in plant.hosts
    ]
    plan = plan_moves(pair, replace(plant, hosts=tuple(hosts), uniform=None))
    with pytest.raises(DoesNotFit):
        plan_moves(Topology(range(2), [(0, 1)] * 2), plan.plant)
    found = repairs(plan, Faults(host_ports=((0, 0),)))
    assert [repair.way for repair in found] == [Way.SPARE_PORTS]
    assert found[0].plan.moves == 4


def test_a_fault_of_what_is_not_there_is_refused():
    with pytest.raises(InvalidPlant):
        with_faults(uniform("single", 2, 1), Faults(host_ports=((0, 7),)))


@pytest.mark.slow
def test_a_dead_port_of_a_thousand_hosts_takes_four_moves_at_most():
    cycles = [np.random.default_rng(seed).permutation(1024) for seed in range(4)]
    ends = np.concatenate(cycles), np.concatenate([np.roll(cycle, -1) for cycle in cycles])
    plan = plan_moves(Topology.direct(1024, *ends), uniform("per-port", 1025, 5))
    start = time.process_time()
    for link in (0, 1023, 4095):
        fault = Faults(ports=plan.plant.ends(plan.wiring.routes[link][0])[:1])
        found = {repair.way: repair for repair in repairs(plan, fault)}
        assert found[Way.REPATCH].plan.moves <= 4
    assert time.process_time() - start < 120
