"""Every fault that is planted in steps or in trees is found."""

from dataclasses import replace

import numpy as np
import pytest

from tests.cases import for_every
from tests.damaged_schedules import BOXES, RING, dropped, edited, misrouted, steps_of, with_steps
from tests.schedule_oracles import every_schedule, ring
from topoloom.schedules.errors import InvalidSchedule
from topoloom.schedules.model.schedule import COPY, REDUCE, Collective
from topoloom.schedules.verify import require_valid, violations


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


@pytest.mark.slow
@for_every("name", ["steps-allgather", "steps-reduce-scatter"])
@for_every("fault", STEP_FAULTS)
def test_every_planted_fault_in_steps_is_found_wherever_it_is(fault, name):
    schedule = steps_of(name)
    for step, sends in enumerate(schedule.steps):
        for send in range(len(sends)):
            wrong = fault(schedule, step, send)
            found = violations(wrong, RING)
            assert found, (step, send)
            with pytest.raises(InvalidSchedule):
                require_valid(wrong, RING)


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


@for_every("name", ["trees-allgather", "trees-reduce-scatter"])
@for_every("topology", [RING, BOXES])
@for_every("fault", TREE_FAULTS.values())
def test_every_planted_fault_in_trees_is_found(fault, topology, name):
    schedule = every_schedule(topology)[name]
    for index in range(len(schedule.trees)):
        assert violations(fault(schedule, index), topology), index
