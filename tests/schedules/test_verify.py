from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedules.errors import InvalidSchedule, NoSchedule, TooLarge
from schedules.model import COPY, NO_LINK, REDUCE, SEND, Collective, SequenceSchedule, Tree
from schedules.verify import require_valid, step_cost, steps, tree_inverse_rate, violations
from synth.cost import Cost
from synth.topology import Topology
from tests.schedule_oracles import (
    bidirectional_ring,
    direct_topologies,
    every_schedule,
    gather_works,
    reversed_steps,
    ring,
    scatter_works,
    shortest_steps,
    shortest_trees,
    two_boxes,
)

RING = bidirectional_ring(6)
BOXES = two_boxes()
DOUBLE = Topology(range(3), [(i, (i + 1) % 3) for i in range(3) for _ in range(2)])


def steps_of(name):
    return every_schedule(RING)[name]


def with_steps(schedule, steps):
    return replace(schedule, steps=tuple(steps))


def edited(schedule, step, send, **fields):
    steps = [array.copy() for array in schedule.steps]
    for field, value in fields.items():
        steps[step][send][field] = value
    return with_steps(schedule, steps)


@pytest.mark.parametrize("topology", [ring(3), RING, DOUBLE, BOXES], ids=str)
def test_a_right_schedule_has_no_violations(topology):
    for name, schedule in every_schedule(topology).items():
        assert violations(schedule, topology) == [], name
        require_valid(schedule, topology)


@settings(max_examples=60, deadline=None)
@given(direct_topologies(), st.integers(1, 4))
def test_schedules_along_shortest_paths_are_valid_on_any_graph(topology, chunks):
    for name, schedule in every_schedule(topology, chunks).items():
        assert violations(schedule, topology) == [], name


def dropped(schedule, step, send):
    steps = list(schedule.steps)
    steps[step] = np.delete(steps[step], send)
    return with_steps(schedule, steps)


def duplicated(schedule, step, send):
    steps = list(schedule.steps)
    steps[step] = np.append(steps[step], steps[step][send])
    return with_steps(schedule, steps)


def repeated_later(schedule, step, send):
    return with_steps(schedule, [*schedule.steps, schedule.steps[step][[send]]])


def two_steps_swapped(schedule, step, send):
    return with_steps(schedule, schedule.steps[::-1])


def all_steps_at_once(schedule, step, send):
    return with_steps(schedule, [np.concatenate(schedule.steps)])


def misrouted(schedule, step, send):
    source = int(schedule.steps[step][send]["source"])
    return edited(schedule, step, send, target=(source + 3) % 6)


def of_another_shard(schedule, step, send):
    shard = int(schedule.steps[step][send]["shard"])
    return edited(schedule, step, send, shard=(shard + 1) % 6)


def of_a_shard_that_is_none(schedule, step, send):
    return edited(schedule, step, send, shard=6)


def from_a_rank_that_is_none(schedule, step, send):
    return edited(schedule, step, send, source=-1, target=2**31 - 1)


def past_the_end_of_the_shard(schedule, step, send):
    return edited(schedule, step, send, first=2**31 - 1, count=2**31 - 1)


def of_no_chunk(schedule, step, send):
    return edited(schedule, step, send, count=0)


def of_the_other_op(schedule, step, send):
    op = int(schedule.steps[step][send]["op"])
    return edited(schedule, step, send, op=COPY if op == REDUCE else REDUCE)


def over_a_second_link(schedule, step, send):
    return edited(schedule, step, send, link=1)


def over_a_link_before_the_first(schedule, step, send):
    return edited(schedule, step, send, link=-2)


def without_any_step(schedule, step, send):
    return with_steps(schedule, [])


def cut_into_no_chunks(schedule, step, send):
    return replace(schedule, chunks_per_shard=0)


def cut_finer_than_is_sent(schedule, step, send):
    return replace(schedule, chunks_per_shard=2**31 - 1)


def for_another_topology(schedule, step, send):
    return replace(schedule, topology=ring(6).digest)


def with_ranks_in_another_order(schedule, step, send):
    return replace(schedule, ranks=schedule.ranks[::-1])


def called_an_all_to_all(schedule, step, send):
    return replace(schedule, collective=Collective.ALL_TO_ALL)


STEP_FAULTS = [
    dropped,
    duplicated,
    repeated_later,
    two_steps_swapped,
    all_steps_at_once,
    misrouted,
    of_another_shard,
    of_a_shard_that_is_none,
    from_a_rank_that_is_none,
    past_the_end_of_the_shard,
    of_no_chunk,
    of_the_other_op,
    over_a_second_link,
    over_a_link_before_the_first,
    without_any_step,
    cut_into_no_chunks,
    cut_finer_than_is_sent,
    for_another_topology,
    with_ranks_in_another_order,
    called_an_all_to_all,
]


@pytest.mark.parametrize("name", ["steps-allgather", "steps-reduce-scatter"])
@pytest.mark.parametrize("fault", STEP_FAULTS, ids=lambda fault: fault.__name__)
def test_every_planted_fault_in_steps_is_found_wherever_it_is(fault, name):
    schedule = steps_of(name)
    for step, sends in enumerate(schedule.steps):
        for send in range(len(sends)):
            wrong = fault(schedule, step, send)
            found = violations(wrong, RING)
            assert found, (step, send)
            with pytest.raises(InvalidSchedule):
                require_valid(wrong, RING)


def test_what_is_wrong_with_a_part_is_said_of_the_part():
    made = every_schedule(RING)
    wrong = misrouted(made["steps-reduce-scatter"], 0, 0)
    sequence = SequenceSchedule(Collective.ALLREDUCE, RING.digest, (wrong, made["steps-allgather"]))
    assert [violation.place for violation in violations(sequence, RING)] == ["/parts/0/steps/0/0"]


@settings(max_examples=150, deadline=None)
@given(direct_topologies(5), st.data())
def test_a_damaged_schedule_is_accepted_only_if_it_still_works(topology, data):
    chunks = data.draw(st.integers(1, 3))
    outward = data.draw(st.booleans())
    schedule = (
        shortest_steps(topology, chunks)
        if outward
        else reversed_steps(shortest_steps(topology.transpose(), chunks), topology)
    )
    ranks = len(schedule.ranks)
    steps = [array.copy() for array in schedule.steps]
    for _ in range(data.draw(st.integers(1, 3))):
        step = data.draw(st.integers(0, len(steps) - 1))
        if not len(steps[step]):
            continue
        send = data.draw(st.integers(0, len(steps[step]) - 1))
        field = data.draw(st.sampled_from(["source", "target", "shard", "first", "step", "copy"]))
        moved = steps[step][[send]]
        if field in ("step", "copy"):
            if field == "step":
                steps[step] = np.delete(steps[step], send)
            other = data.draw(st.integers(0, len(steps) - 1))
            steps[other] = np.append(steps[other], moved)
        else:
            most = chunks if field == "first" else ranks
            steps[step][send][field] = data.draw(st.integers(0, most - 1))
    damaged = with_steps(schedule, steps)
    found = violations(damaged, topology)
    if outward:
        links_hold = not any("link" in violation.sentence for violation in found)
        assert bool(found) == (not gather_works(damaged)) or not links_hold
    elif not found:
        assert scatter_works(damaged)


def test_the_violation_names_step_send_rank_shard_and_chunk():
    schedule = dropped(steps_of("steps-allgather"), 0, 0)
    lost = steps_of("steps-allgather").steps[0][0]
    found = violations(schedule, RING)
    last = found[-1]
    assert (last.place, last.rank, last.shard, last.chunk) == (
        "/steps",
        int(lost["target"]),
        int(lost["shard"]),
        int(lost["first"]),
    )
    assert found[0].place.startswith("/steps/1/") and "before it holds it" in found[0].sentence


def test_no_more_violations_are_listed_than_asked_for():
    empty = with_steps(steps_of("steps-allgather"), [])
    assert len(violations(empty, RING)) == 30
    assert len(violations(empty, RING, limit=7)) == 7


def test_a_list_of_no_violations_is_refused():
    with pytest.raises(NoSchedule) as caught:
        violations(with_steps(steps_of("steps-allgather"), []), RING, limit=0)
    assert caught.value.field == "/limit"


@pytest.mark.parametrize("limit", ["MAX_LOOKS", "MAX_STATE_BITS"])
def test_a_check_beyond_its_limits_is_refused(limit, monkeypatch):
    monkeypatch.setattr(steps, limit, 10)
    with pytest.raises(TooLarge) as caught:
        violations(steps_of("steps-allgather"), RING)
    assert caught.value.field == "/steps"


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


def test_a_send_may_not_cross_a_switch():
    gather = shortest_steps(bidirectional_ring(4))
    moved = replace(gather, topology=BOXES.digest, ranks=BOXES.compute_nodes)
    assert any("no link" in violation.sentence for violation in violations(moved, BOXES))


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


def with_tree(schedule, index, **fields):
    trees = list(schedule.trees)
    trees[index] = replace(trees[index], **fields)
    return replace(schedule, trees=tuple(trees))


def with_edges(schedule, index, change):
    return with_tree(schedule, index, edges=tuple(change(list(schedule.trees[index].edges))))


def other(schedule, node):
    ranks = schedule.ranks
    return ranks[(ranks.index(node) + 1) % len(ranks)]


TREE_FAULTS = {
    "edge missing at the end": lambda s, i: with_edges(s, i, lambda e: e[:-1]),
    "edge missing at the start": lambda s, i: with_edges(s, i, lambda e: e[1:]),
    "edge twice": lambda s, i: with_edges(s, i, lambda e: [*e, e[-1]]),
    "order turned round": lambda s, i: with_edges(s, i, lambda e: e[::-1]),
    "last edge first": lambda s, i: with_edges(s, i, lambda e: [e[-1], *e[:-1]]),
    "edge turned round": lambda s, i: with_edges(s, i, lambda e: [*e[:-1], e[-1][::-1]]),
    "empty edge": lambda s, i: with_edges(s, i, lambda e: [*e[:-1], ()]),
    "edge of one node": lambda s, i: with_edges(s, i, lambda e: [*e, e[0][:1]]),
    "unknown node": lambda s, i: with_edges(s, i, lambda e: [*e[:-1], ("x", "y")]),
    "back to the root": lambda s, i: with_edges(s, i, lambda e: [*e, e[0][::-1]]),
    "wrong root": lambda s, i: with_tree(s, i, root=other(s, s.trees[i].root)),
    "root that is no rank": lambda s, i: with_tree(s, i, root="nobody"),
    "weight one more": lambda s, i: with_tree(s, i, weight=s.trees[i].weight + 1),
    "weight one less": lambda s, i: with_tree(s, i, weight=s.trees[i].weight - 1),
    "weight below zero": lambda s, i: with_tree(s, i, weight=-(10**30)),
    "tree missing": lambda s, i: replace(s, trees=s.trees[:i] + s.trees[i + 1 :]),
    "tree twice": lambda s, i: replace(s, trees=(*s.trees, s.trees[i])),
    "more trees promised": lambda s, i: replace(s, trees_per_root=s.trees_per_root + 1),
    "none promised": lambda s, i: replace(s, trees_per_root=0),
    "other collective": lambda s, i: replace(
        s,
        collective=Collective.REDUCE_SCATTER
        if s.collective is Collective.ALLGATHER
        else Collective.ALLGATHER,
    ),
    "called an allreduce": lambda s, i: replace(s, collective=Collective.ALLREDUCE),
    "other topology": lambda s, i: replace(s, topology="sha256:0"),
    "other ranks": lambda s, i: replace(s, ranks=s.ranks[1:]),
}


@pytest.mark.parametrize("name", ["trees-allgather", "trees-reduce-scatter"])
@pytest.mark.parametrize("topology", [RING, BOXES], ids=["ring", "boxes"])
@pytest.mark.parametrize("fault", TREE_FAULTS.values(), ids=TREE_FAULTS)
def test_every_planted_fault_in_trees_is_found(fault, topology, name):
    schedule = every_schedule(topology)[name]
    for index in range(len(schedule.trees)):
        assert violations(fault(schedule, index), topology), index


def test_a_path_through_a_compute_node_is_no_edge():
    tree = Tree(0, 1, ((0, 1), (0, 1, 2)))
    line = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    schedule = replace(shortest_trees(line), trees=(tree, *shortest_trees(line).trees[1:]))
    found = violations(schedule, line)
    assert [violation.place for violation in found] == ["/trees/0/edges/1"]


@pytest.mark.parametrize(
    "parts",
    [
        (),
        ("steps-allgather", "steps-reduce-scatter"),
        ("steps-reduce-scatter",),
        ("steps-reduce-scatter", "trees-allgather", "trees-allgather"),
    ],
)
def test_an_allreduce_of_other_parts_is_found(parts):
    made = every_schedule(RING)
    sequence = SequenceSchedule(
        Collective.ALLREDUCE, RING.digest, tuple(made[name] for name in parts)
    )
    assert [violation.place for violation in violations(sequence, RING)] == ["/parts"]


def test_a_sequence_inside_a_sequence_is_found():
    made = every_schedule(RING)
    inner = SequenceSchedule(Collective.ALLGATHER, RING.digest, (made["steps-allgather"],))
    outer = SequenceSchedule(
        Collective.ALLREDUCE, RING.digest, (made["steps-reduce-scatter"], inner)
    )
    assert [violation.place for violation in violations(outer, RING)] == ["/parts/1"]


def test_steps_and_trees_may_follow_one_another():
    made = every_schedule(RING)
    parts = (made["trees-reduce-scatter"], made["steps-allgather"])
    assert violations(SequenceSchedule(Collective.ALLREDUCE, RING.digest, parts), RING) == []


def test_shards_cut_as_finely_as_integers_allow_are_followed():
    most = 2**31 - 1
    pair = ring(2)
    halves = [(0, most // 2), (most // 2, most - most // 2)]
    rows = [(a, 1 - a, a, first, count, 0, COPY) for a in (0, 1) for first, count in halves]
    schedule = replace(
        shortest_steps(pair), chunks_per_shard=most, steps=(np.array(rows, dtype=SEND),)
    )
    assert violations(schedule, pair) == []
    assert step_cost(schedule, pair) == Cost(1, Fraction(1, 2))
