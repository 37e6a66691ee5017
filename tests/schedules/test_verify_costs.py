"""What a schedule costs, counted on every link."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.damaged_schedules import BOXES, DOUBLE, RING, edited, misrouted
from tests.schedule_oracles import (
    direct_topologies,
    every_schedule,
    ring,
    shortest_steps,
    shortest_trees,
)
from topoloom.schedules.errors import InvalidSchedule
from topoloom.schedules.model.schedule import NO_LINK
from topoloom.schedules.verify import step_cost, tree_inverse_rate, violations
from topoloom.synth.evaluation.cost import Cost
from topoloom.synth.topology.topology import Topology


def test_between_parallel_links_a_send_must_choose():
    schedule = shortest_steps(DOUBLE, 2)
    assert violations(schedule, DOUBLE) == []
    assert step_cost(schedule, DOUBLE) == Cost(2, Fraction(2, 3))
    for link in (NO_LINK, 2):
        found = violations(edited(schedule, 0, 0, link=link), DOUBLE)
        assert [violation.place for violation in found] == ["/steps/0/0"]
    one_link = edited(schedule, 0, 0, link=1)
    assert violations(one_link, DOUBLE) == []
    assert step_cost(one_link, DOUBLE).bandwidth == Fraction(3, 3)


@pytest.mark.parametrize("count", [2, 3, 8])
def test_a_ring_costs_what_is_known_of_rings(count):
    assert step_cost(shortest_steps(ring(count)), ring(count)) == Cost(
        count - 1, Fraction(count - 1, count)
    )


def test_links_of_unequal_capacity_are_weighed_by_it():
    topology = Topology(range(2), [(0, 1, 3), (1, 0, Fraction(1, 2))])
    # The slow link takes 2 units of time, B is 3, N is 2.
    assert step_cost(shortest_steps(topology), topology) == Cost(1, Fraction(3))


@settings(max_examples=40, deadline=None)
@given(direct_topologies(), st.integers(1, 3))
def test_the_cost_is_that_of_counting_chunks_on_every_link(topology, chunks):
    schedule = shortest_steps(topology, chunks)
    total = 0
    for step in schedule.steps:
        load = {}
        for source, target, _, _, count, link, _ in step.tolist():
            key = (source, target, max(link, 0))
            load[key] = load.get(key, 0) + count
        total += max(load.values())
    scale = Fraction(topology.degree, topology.node_count * chunks)
    assert step_cost(schedule, topology) == Cost(len(schedule.steps), total * scale)


def test_a_sequence_costs_the_sum_of_its_parts():
    made = every_schedule(RING)
    gather = step_cost(made["steps-allgather"], RING)
    scatter = step_cost(made["steps-reduce-scatter"], RING)
    assert step_cost(made["steps-allreduce"], RING) == Cost(
        gather.steps + scatter.steps, gather.bandwidth + scatter.bandwidth
    )
    rates = [
        tree_inverse_rate(made[f"trees-{name}"], RING)
        for name in ["allgather", "reduce-scatter", "allreduce"]
    ]
    assert rates[2] == rates[0] + rates[1]


def test_a_cost_of_the_other_kind_is_refused():
    made = every_schedule(RING)
    with pytest.raises(InvalidSchedule):
        step_cost(made["trees-allgather"], RING)
    with pytest.raises(InvalidSchedule):
        tree_inverse_rate(made["steps-allreduce"], RING)
    with pytest.raises(InvalidSchedule):
        step_cost(misrouted(made["steps-allgather"], 0, 0), RING)
    with pytest.raises(InvalidSchedule):
        tree_inverse_rate(made["trees-allgather"], BOXES)


def test_a_tree_schedule_is_as_slow_as_its_busiest_link():
    schedule = shortest_trees(BOXES, (2, 1))
    load = {}
    for tree in schedule.trees:
        for edge in tree.edges:
            for hop in pairwise(edge):
                load[hop] = load.get(hop, 0) + tree.weight
    capacity = {(link.source, link.target): link.capacity for link in BOXES.links}
    assert tree_inverse_rate(schedule, BOXES) == max(
        Fraction(weight, 3 * capacity[hop]) for hop, weight in load.items()
    )
