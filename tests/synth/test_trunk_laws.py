"""Links led over trunks: laws that hold on every plant, against trying everything."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.plant_tables import plant_csv
from tests.synth.plants import meshes, shuffled, topologies
from topoloom.synth.errors import DoesNotFit
from topoloom.synth.wiring import Present, apply, plan_moves, revert, to_document, violations
from topoloom.synth.wiring.ilp.objective import Objective, worth
from topoloom.synth.wiring.limits import MAX_TRUNKS
from topoloom.synth.wiring.plans.stages import Limits, stages_of
from topoloom.synth.wiring.plant import Mode, plant_document, read_plant, read_plant_text
from topoloom.synth.wiring.plant.free_ports import ours
from topoloom.synth.wiring.plant.light_paths import ways
from topoloom.synth.wiring.routes.resources import resources_of


def planned(topology, plant):
    try:
        return plan_moves(topology, plant)
    except DoesNotFit as error:
        return error


def strands_led(plant, start, end, used, most=MAX_TRUNKS):
    """Yield the pairs of every way from one port to another over trunks that are not used."""
    panel = plant.panels[start.panel]
    if start.panel == end.panel and panel.opposite(start.side) == end.side and start != end:
        yield (panel.join(start, end),)
    for near, far in plant.trunk_ends.items() if most else ():
        forward = any((t.source, t.target) == (near, far) for t in plant.folded.trunks)
        one_way = panel.mode is Mode.DIRECTED
        facing = near.panel == start.panel and panel.opposite(start.side) == near.side
        if not facing or used & {near, far} or (one_way and not forward):
            continue
        if plant.panels[far.panel].mode is not panel.mode:
            continue
        for rest in strands_led(plant, far, end, used | {near, far}, most - 1):
            yield (panel.join(start, near), *rest)


def wirings(topology, plant, hosts):
    """Yield the pairs of every way to plug a topology, links one after the other."""
    duplex = any(port.duplex for host in plant.hosts for port in host.ports)
    rows = zip(topology.sources.tolist(), topology.targets.tolist(), strict=True)
    rows = [(u, v) for u, v in rows if u < v or not duplex]
    ports = [plant.folded.hosts[host].ports for host in hosts]

    def joined(lanes, used):
        if not lanes:
            yield ()
            return
        for pairs in strands_led(plant, *lanes[0], used):
            taken = {port for pair in pairs for port in plant.ends(pair)}
            for rest in joined(lanes[1:], used | taken):
                yield (*pairs, *rest)

    def go(rows, used):
        if not rows:
            yield frozenset()
            return
        u, v = rows[0]
        for one, other in product(ports[u], ports[v]):
            lanes = list(zip(one.tx, other.rx, strict=True))
            if duplex and one.tx != one.rx:
                lanes += zip(other.tx, one.rx, strict=True)
            takes = {*one.fibres, *other.fibres} if duplex else {*one.tx, *other.rx}
            if takes & used or not lanes:
                continue
            for pairs in joined(lanes, used | takes):
                taken = {port for pair in pairs for port in plant.ends(pair)}
                for rest in go(rows[1:], used | takes | taken):
                    yield rest | set(pairs)

    yield from go(rows, frozenset())


def least(objective, topology, plant):
    """Try every port and trunk for every link; None if nothing fits."""
    hosts = [plant.host_index[node] for node in topology.nodes]
    there, mine = set(plant.present.pairs), set(ours(plant, hosts))
    return min(
        (
            worth(objective, plant, mine - pairs, pairs - there)
            for pairs in wirings(topology, plant, hosts)
        ),
        default=None,
    )


@pytest.mark.slow
@given(st.data(), meshes())
def test_a_plan_over_trunks_keeps_the_laws(data, plant):
    topology = data.draw(topologies(plant))
    plan = planned(topology, plant)
    if isinstance(plan, DoesNotFit):
        return
    assert violations(plan.wiring, topology) == []
    assert plan.moves >= plan.lower_bound
    document = to_document(plan)
    assert apply(document, plan.present, plant) == plan.final
    assert revert(document, plan.final, plant) == plan.present
    assert plan.present.foreign <= set(plan.final.pairs)
    plugged = [port for pair in plan.final.pairs for port in plant.ends(pair)]
    assert len(plugged) == len(set(plugged))
    assert plan_moves(topology, plant.with_present(plan.final)).moves == 0


@pytest.mark.parametrize("objective", Objective)
@settings(deadline=None, max_examples=60)
@given(data=st.data())
@pytest.mark.slow
def test_fit_and_what_is_least_are_those_of_trying_everything(objective, data):
    plant = data.draw(meshes(most_hosts=3, most_trunks=3))
    topology = data.draw(topologies(plant, most_links=2))
    hosts = [plant.host_index[node] for node in topology.nodes]
    lit = [pair for way in ways(plant, plant.present.pairs) for pair in way.pairs]
    plant = plant.with_present(Present.of(lit if data.draw(st.booleans()) else []))
    resources = resources_of(plant, hosts)
    if resources is None or not resources.trunks:
        return
    best = least(objective, topology, plant)
    try:
        plan = plan_moves(topology, plant, objective=objective)
    except DoesNotFit:
        assert best is None
        return
    value = plan.moves if plan.goal is None else plan.goal.value
    bound = plan.lower_bound if plan.goal is None else plan.goal.lower_bound
    assert bound == best == value


@pytest.mark.slow
@given(st.data(), meshes())
def test_a_shuffle_panel_on_the_way_changes_nothing_but_the_way(data, plant):
    through_glass = data.draw(shuffled(plant))
    assert through_glass.folded.hosts == plant.hosts
    cables = {frozenset((trunk.source, trunk.target)) for trunk in plant.trunks}
    assert {frozenset(t[:2]) for t in map(ends_of, through_glass.folded.trunks)} == cables
    topology = data.draw(topologies(plant))
    first, second = planned(topology, plant), planned(topology, through_glass)
    assert isinstance(first, DoesNotFit) == isinstance(second, DoesNotFit)
    if not isinstance(first, DoesNotFit):
        assert (first.moves, first.final) == (second.moves, second.final)


def ends_of(trunk):
    return trunk.source, trunk.target


@pytest.mark.slow
@given(st.data(), meshes())
def test_plants_of_glass_are_written_and_read_back(data, plant):
    plant = data.draw(shuffled(plant))
    assert read_plant(plant_document(plant)) == plant
    assert read_plant_text(plant_csv(plant)) == plant


@given(st.data(), meshes())
def test_light_is_lost_together_stage_by_stage(data, plant):
    """A pair of a way over trunks never moves without the others."""
    topology = data.draw(topologies(plant))
    plan = planned(topology, plant)
    if isinstance(plan, DoesNotFit):
        return
    led = ways(plant, plan.present.pairs)
    for stage in stages_of(plan, Limits(max_links_down=1)):
        gone = set(stage.removes)
        assert stage.links_down == bool(gone)
        lost = [way for way in led if gone & set(way.pairs)]
        assert len({frozenset(plant.at[port] for port in way[:2]) for way in lost}) <= 1
        assert len(gone.difference(*(way.pairs for way in lost))) <= (not lost)
        assert all(set(way.pairs) & set(plan.removes) <= gone for way in lost)
        for route in plan.wiring.routes:
            added = set(route) & set(stage.adds)
            assert not added or added == set(route) & set(plan.adds)
