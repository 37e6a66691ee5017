"""What the verifier accepts, and what it says of the rest."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.damaged_schedules import BOXES, DOUBLE, RING, dropped, misrouted, steps_of, with_steps
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
)
from topoloom.schedules.errors import NoSchedule, TooLarge
from topoloom.schedules.model.schedule import COPY, SEND, Collective, SequenceSchedule, Tree
from topoloom.schedules.verify import require_valid, step_cost, steps, violations
from topoloom.synth.evaluation.cost import Cost
from topoloom.synth.topology.topology import Topology


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


def test_what_is_wrong_with_a_part_is_said_of_the_part():
    made = every_schedule(RING)
    wrong = misrouted(made["steps-reduce-scatter"], 0, 0)
    sequence = SequenceSchedule(Collective.ALLREDUCE, RING.digest, (wrong, made["steps-allgather"]))
    assert [violation.place for violation in violations(sequence, RING)] == ["/parts/0/steps/0/0"]


@pytest.mark.slow
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


def test_a_send_may_not_cross_a_switch():
    gather = shortest_steps(bidirectional_ring(4))
    moved = replace(gather, topology=BOXES.digest, ranks=BOXES.compute_nodes)
    assert any("no link" in violation.sentence for violation in violations(moved, BOXES))


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
