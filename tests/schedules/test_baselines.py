from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedules.baselines import Workload, baselines, bound_seconds, double_binary_tree, shifted_ring
from schedules.model import Collective
from synth.cost import lower_bound

ALPHA = Fraction(1, 10**5)
RATE = Fraction(100 * 10**9, 8)


def workload(size, collective=Collective.ALLREDUCE, alpha=ALPHA):
    return Workload(collective, size, RATE, alpha)


sizes = st.integers(1, 10**10)
hosts = st.integers(2, 5000)
ports = st.integers(1, 16)


def pipelined_tree(height, chunks, chunk_seconds):
    """Simulate one tree: when is the last chunk at the last leaf?

    Level 0 is the root.  A host sends a chunk up when it has it from its children and
    its link is free, and down likewise.
    """
    up = [[0] * chunks for _ in range(height + 1)]
    for level in reversed(range(height)):
        free = 0
        for chunk in range(chunks):
            free = up[level][chunk] = max(free, up[level + 1][chunk]) + chunk_seconds
    down = [up[0][:]] + [[0] * chunks for _ in range(height)]
    for level in range(1, height + 1):
        free = 0
        for chunk in range(chunks):
            free = down[level][chunk] = max(free, down[level - 1][chunk]) + chunk_seconds
    return down[height][-1]


@pytest.mark.parametrize("nodes", [2, 3, 8, 12, 100, 1024])
@pytest.mark.parametrize("size", [1, 1000, 10**6, 10**8])
@pytest.mark.parametrize("degree", [4, 5, 8])
def test_the_tree_takes_what_a_simulated_pipeline_takes_and_no_chunk_count_is_better(
    nodes, size, degree
):
    tree = double_binary_tree(nodes, degree, workload(size))
    height = nodes.bit_length() - 1
    share = Fraction(size, 2 * (degree // 4))

    def time(chunks):
        step = ALPHA + share / chunks / (RATE / degree)
        return pipelined_tree(height, chunks, step)

    assert tree.seconds == time(tree.chunks)
    for chunks in {1, 2, 3, tree.chunks - 1, tree.chunks + 1, 2 * tree.chunks} - {0}:
        if chunks <= max(1, int(share)):
            assert tree.seconds <= time(chunks)


@given(hosts, ports, sizes, st.sampled_from(list(Collective)))
def test_no_baseline_beats_the_bound(nodes, degree, size, collective):
    bound = lower_bound(nodes, degree)
    work = workload(size, collective)
    for entry in baselines(nodes, degree, work):
        assert entry.seconds >= bound_seconds(bound.steps, bound.bandwidth, work)


@given(hosts, sizes)
def test_an_allreduce_over_rings_is_two_allgathers(nodes, size):
    once = shifted_ring(nodes, 4, workload(size, Collective.ALLGATHER))
    assert shifted_ring(nodes, 4, workload(size)).seconds == 2 * once.seconds
    assert once.seconds == (nodes - 1) * (ALPHA + Fraction(size, nodes) / RATE)


def test_ports_that_rings_cannot_use_are_idle():
    work = workload(10**9)
    even, odd = shifted_ring(8, 4, work), shifted_ring(8, 5, work)
    assert odd.steps == even.steps
    transfer = even.seconds - even.steps * ALPHA
    assert odd.seconds - odd.steps * ALPHA == transfer * Fraction(5, 4)
    single, pair = shifted_ring(8, 1, work), shifted_ring(8, 2, work)
    assert single.seconds == pair.seconds


def test_trees_are_for_allreduce_on_four_ports_or_more():
    names = {entry.name for entry in baselines(8, 3, workload(1000))}
    assert names == {"shifted-ring"}
    gather = workload(1000, Collective.ALLGATHER)
    assert {entry.name for entry in baselines(8, 4, gather)} == {"shifted-ring"}
    both = {entry.name for entry in baselines(8, 4, workload(1000))}
    assert both == {"shifted-ring", "double-binary-tree"}
