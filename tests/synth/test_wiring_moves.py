import json
import time
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topoloom.synth.errors import DoesNotFit, InvalidPlant
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring import (
    Layout,
    Pair,
    Present,
    assign_ports,
    plan_moves,
    smallest_plant,
    uniform,
    violations,
)
from topoloom.synth.wiring.plant import read_plant

PORTS = ("a0", "a1", "b0", "b1")


@st.composite
def present_wirings(draw, panels):
    """Any partial permutation on every panel."""
    ports = range(len(panels.panels[0].a))
    pairs = []
    for panel in range(len(panels.panels)):
        count = draw(st.integers(0, len(panels.panels[0].a)))
        a = draw(st.permutations(ports))[:count]
        b = draw(st.permutations(ports))[:count]
        pairs += [(panel, *ends) for ends in zip(a, b, strict=True)]
    return Present.of(pairs)


@st.composite
def instances(draw, most_nodes=5, most_links=14, most_spare=1):
    nodes = draw(st.integers(2, most_nodes))
    ends = st.tuples(st.integers(0, nodes - 1), st.integers(1, nodes - 1))
    links = [(i, (i + k) % nodes) for i, k in draw(st.lists(ends, max_size=most_links))]
    topology = Topology(range(nodes), links)
    panels = uniform(
        draw(st.sampled_from(Layout)),
        nodes + draw(st.integers(0, most_spare)),
        max(1, topology.degree) + draw(st.integers(0, most_spare)),
    )
    return topology, panels, draw(present_wirings(panels))


def regular(nodes, degree, seed):
    rng = np.random.default_rng(seed)
    cycles = [rng.permutation(nodes) for _ in range(degree)]
    return Topology.direct(
        nodes, np.concatenate(cycles), np.concatenate([np.roll(cycle, -1) for cycle in cycles])
    )


def all_wirings(topology, panels):
    """Every set of pairs that wires the topology, by trying all pairs for every link."""
    pairs = [
        Pair(number, a, b)
        for number, panel in enumerate(panels.panels)
        for a in range(len(panel.a))
        for b in range(len(panel.b))
    ]
    choices = [
        [pair for pair in pairs if panels.hosts_of(pair) == (source, target)]
        for source, target in zip(topology.sources, topology.targets, strict=True)
    ]

    def extend(index, used):
        if index == len(choices):
            yield frozenset(used)
            return
        for pair in choices[index]:
            if all(
                pair.panel != other.panel or (pair.a != other.a and pair.b != other.b)
                for other in used
            ):
                yield from extend(index + 1, [*used, pair])

    return extend(0, [])


def fewest_moves(topology, panels, present):
    ours = {pair for pair in present.pairs if min(panels.hosts_of(pair)) < topology.node_count}
    return min(len(ours ^ pairs) for pairs in all_wirings(topology, panels))


@given(instances())
def test_the_plan_leads_to_a_wiring_of_the_topology(instance):
    topology, panels, present = instance
    plan = plan_moves(topology, panels, present)
    assert violations(plan.wiring, topology) == []
    untouched = {p for p in present.pairs if min(panels.hosts_of(p)) >= topology.node_count}
    assert set(plan.final.pairs) == set(plan.wiring.pairs) | untouched
    assert plan.moves == len(set(present.pairs) ^ set(plan.final.pairs))
    assert plan.kept + len(plan.adds) == topology.link_count
    assert plan.moves >= plan.lower_bound
    assert panels.with_present(plan.final).present == plan.final


@settings(max_examples=150)
@given(instances(most_nodes=3, most_links=4))
def test_on_tiny_instances_no_wiring_needs_fewer_moves(instance):
    topology, panels, present = instance
    plan = plan_moves(topology, panels, present)
    assert plan.optimal
    assert plan.moves == fewest_moves(topology, panels, present)


@given(instances())
def test_a_plan_on_the_final_state_has_no_moves(instance):
    topology, panels, present = instance
    final = plan_moves(topology, panels, present).final
    again = plan_moves(topology, panels, final)
    assert (again.moves, again.lower_bound, again.optimal) == (0, 0, True)
    assert again.final == final


@pytest.mark.parametrize("layout", Layout)
def test_any_valid_wiring_of_the_topology_needs_no_moves(layout):
    topology = regular(200, 5, seed=3)
    panels = smallest_plant(topology, layout)
    present = Present.of(assign_ports(topology, panels).pairs)
    assert plan_moves(topology, panels, present).moves == 0


@given(instances())
def test_one_panel_always_meets_the_lower_bound(instance):
    topology, panels, present = instance
    panels = uniform(Layout.SINGLE, panels.uniform.hosts, panels.uniform.lanes)
    pairs = [(0, pair.a, pair.b) for pair in present.pairs if pair.panel == 0]
    plan = plan_moves(topology, panels, Present.of(pairs))
    assert plan.optimal and plan.moves == plan.lower_bound
    today = Counter(panels.hosts_of(pair) for pair in plan.present.pairs)
    target = Counter(zip(topology.sources.tolist(), topology.targets.tolist(), strict=True))
    assert plan.kept == (today & target).total()


@pytest.mark.parametrize(("nodes", "degree"), [(12, 3), (20, 4)])
def test_the_integer_program_is_never_beaten_by_the_search(nodes, degree, monkeypatch):
    before = regular(nodes, degree, seed=1)
    # Some neighbouring links exchange their targets, as when a fabric is improved.
    targets = before.targets.copy()
    for first in range(0, len(targets) - degree, 2 * degree):
        second = first + degree
        if targets[first] != before.sources[second] and targets[second] != before.sources[first]:
            targets[[first, second]] = targets[[second, first]]
    after = Topology.direct(nodes, before.sources, targets)
    assert after != before
    panels = uniform(Layout.PER_PORT, nodes, degree)
    present = plan_moves(before, panels).final
    exact = plan_moves(after, panels, present)
    monkeypatch.setattr("topoloom.synth.wiring.limits.MAX_EXACT_VARIABLES", 0)
    found = plan_moves(after, panels, present)
    assert exact.optimal
    assert found.lower_bound <= exact.lower_bound == exact.moves <= found.moves
    assert violations(found.wiring, after) == []
    assert found.optimal == (found.moves == found.lower_bound)


def test_few_links_on_several_ports_of_a_panel_cost_few_moves():
    hosts = [
        {
            "id": host,
            "ports": [{"id": port, "at": f"{port[0]}/{2 * host + int(port[1])}"} for port in PORTS],
        }
        for host in range(150)
    ]
    panels = [{"id": name, "mode": "bidirectional", "ports": 300} for name in "ab"]
    plant = read_plant({"schema": "plant/1", "panels": panels, "hosts": hosts})
    edges = [(host, (host + step) % 150) for host in range(150) for step in (1, 7)]
    others = [(0, 40), (1, 41), *(edge for edge in edges if edge not in ((0, 1), (40, 41)))]
    before, after = (
        Topology(range(150), [*each, *((v, u) for u, v in each)]) for each in (edges, others)
    )
    plan = plan_moves(after, plant, plan_moves(before, plant).final)
    assert plan.optimal and plan.moves <= 30


def test_what_the_integer_program_proves_is_the_lower_bound():
    # Both present pairs carry a link of the topology, but with both kept the link from
    # 0 to 2 finds A port 0 taken on panel 0 and B port 2 taken on panel 1.
    topology = Topology(range(3), [(0, 1), (0, 2), (1, 2)])
    panels = smallest_plant(topology)
    present = Present.of([(0, 0, 1), (1, 1, 2)])
    plan = plan_moves(topology, panels, present)
    assert (plan.kept, plan.moves, plan.lower_bound) == (1, 3, 3)
    assert plan.moves == fewest_moves(topology, panels, present)
    assert plan.optimal


def test_pairs_of_other_hosts_are_left_alone_and_half_foreign_ones_removed():
    ring = Topology(range(2), [(0, 1), (1, 0)])
    panels = uniform(Layout.PER_PORT, hosts=4, lanes=1)
    present = Present.of([(0, 2, 3), (0, 0, 2), (0, 3, 1)])
    plan = plan_moves(ring, panels, present)
    assert plan.removes == (Pair(0, 0, 2), Pair(0, 3, 1))
    assert plan.final.pairs == (Pair(0, 0, 1), Pair(0, 1, 0), Pair(0, 2, 3))


def test_a_stray_pair_between_nodes_is_removed():
    line = Topology(range(3), [(0, 1)])
    panels = uniform(Layout.SINGLE, hosts=3, lanes=1)
    plan = plan_moves(line, panels, Present.of([(0, 0, 1), (0, 2, 0)]))
    assert plan.removes == (Pair(0, 2, 0),) and plan.adds == ()
    assert plan.moves == 1


@pytest.mark.slow
def test_the_same_question_gets_the_same_plan():
    before, after = regular(40, 4, seed=5), regular(40, 4, seed=6)
    panels = smallest_plant(before)
    present = plan_moves(before, panels).final
    plans = [plan_moves(after, panels, present) for _ in range(2)]
    assert json.dumps(plans[0].wiring.pairs) == json.dumps(plans[1].wiring.pairs)


@pytest.mark.parametrize(
    ("pairs", "place"),
    [
        ([(2, 0, 0)], "/0/panel"),
        ([(0, 3, 0)], "/0/a"),
        ([(0, 0, -1)], "/0/b"),
        ([(0, 0, 1), (0, 0, 2)], "/1/a"),
        ([(1, 0, 1), (1, 2, 1)], "/1/b"),
    ],
)
def test_a_present_wiring_that_cannot_be_is_refused(pairs, place):
    ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    with pytest.raises(InvalidPlant) as caught:
        plan_moves(ring, uniform(Layout.PER_PORT, 3, 2), Present.of(pairs))
    assert caught.value.field == f"/cross_connects{place}"


def test_a_topology_that_does_not_fit_gets_no_plan():
    with pytest.raises(DoesNotFit):
        plan_moves(Topology(range(3), [(0, 1), (0, 2)]), uniform(Layout.PER_PORT, 3, 1))


@pytest.mark.slow
@pytest.mark.parametrize("layout", Layout)
def test_a_thousand_hosts_are_planned_in_seconds(layout):
    before, after = regular(1024, 4, seed=1), regular(1024, 4, seed=2)
    panels = smallest_plant(before, layout)
    present = plan_moves(before, panels).final
    start = time.process_time()
    plan = plan_moves(after, panels, present)
    assert time.process_time() - start < 60
    assert violations(plan.wiring, after) == []
    assert plan.lower_bound <= plan.moves <= 2 * after.link_count
