from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.schedule_oracles import (
    bidirectional_ring,
    every_schedule,
    ring,
    shortest_steps,
    shortest_trees,
    two_boxes,
)
from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.simulate import MAX_PIPELINE_CHUNKS, estimate, tree_depth
from topoloom.schedules.verify import tree_inverse_rate
from topoloom.synth.topology.topology import Topology

WORK = {"size_bytes": 2**20, "alpha_seconds": 1e-5, "unit_bytes_per_second": 3.125e9}


def test_steps_take_latency_per_step_and_the_bandwidth_term():
    # 7 steps, 7/8 of M over a link that carries B.
    found = estimate(shortest_steps(ring(8)), ring(8), **WORK)
    assert found.seconds == pytest.approx(7e-5 + 7 / 8 * 2**20 / 3.125e9, rel=1e-12)
    assert (found.rounds, found.pipeline_chunks) == (7, 1)


def test_unequal_links_are_timed_by_their_own_capacity():
    pair = Topology(range(2), [(0, 1, 3), (1, 0, Fraction(1, 2))])
    found = estimate(
        shortest_steps(pair), pair, size_bytes=1000, alpha_seconds=0, unit_bytes_per_second=1
    )
    assert found.seconds == pytest.approx(1000)


def test_trees_are_pipelined_round_by_round():
    boxes = two_boxes()
    trees = shortest_trees(boxes, (1,))
    depth = tree_depth(trees)
    transfer = float(tree_inverse_rate(trees, boxes)) / 4 * 2**20 / 3.125e9
    for chunks in (1, 2, 17):
        found = estimate(trees, boxes, **WORK, pipeline_chunks=chunks)
        assert found.rounds == depth + chunks - 1
        assert found.seconds == pytest.approx(found.rounds * (1e-5 + transfer / chunks), rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 7), st.integers(0, 2**34), st.sampled_from([0.0, 1e-9, 1e-6, 1e-3]))
def test_no_number_of_chunks_is_better_than_the_chosen_one(count, size_bytes, alpha_seconds):
    topology = ring(count)
    trees = shortest_trees(topology)
    work = {
        "size_bytes": size_bytes,
        "alpha_seconds": alpha_seconds,
        "unit_bytes_per_second": 1e10,
    }
    best = estimate(trees, topology, **work)
    near = {best.pipeline_chunks + change for change in (-2, -1, 1, 2)}
    for chunks in near | {1, 2, 3, 10, 1000, MAX_PIPELINE_CHUNKS}:
        if 1 <= chunks <= MAX_PIPELINE_CHUNKS:
            other = estimate(trees, topology, **work, pipeline_chunks=chunks)
            assert best.seconds <= other.seconds * (1 + 1e-12)


def test_a_sequence_takes_the_time_of_its_parts():
    made = every_schedule(bidirectional_ring(6))
    for kind in ("steps", "trees"):
        parts = [
            estimate(made[f"{kind}-{name}"], bidirectional_ring(6), **WORK)
            for name in ("reduce-scatter", "allgather")
        ]
        whole = estimate(made[f"{kind}-allreduce"], bidirectional_ring(6), **WORK)
        assert whole.seconds == pytest.approx(sum(part.seconds for part in parts))
        assert whole.rounds == sum(part.rounds for part in parts)


def test_depth_is_the_same_in_both_directions():
    made = every_schedule(ring(5))
    assert tree_depth(made["trees-allgather"]) == tree_depth(made["trees-reduce-scatter"]) == 4


@pytest.mark.parametrize(
    "change",
    [
        {"size_bytes": -1},
        {"alpha_seconds": -1.0},
        {"unit_bytes_per_second": 0.0},
        {"unit_bytes_per_second": float("nan")},
        {"pipeline_chunks": 0},
        {"pipeline_chunks": MAX_PIPELINE_CHUNKS + 1},
    ],
    ids=str,
)
def test_impossible_workloads_are_refused(change):
    with pytest.raises(NoSchedule):
        estimate(shortest_trees(ring(3)), ring(3), **(WORK | change))
