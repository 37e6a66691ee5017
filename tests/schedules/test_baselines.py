from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedules.baselines import (
    PASSES,
    Operation,
    baselines,
    bound_seconds,
    double_binary_tree,
    recursive_doubling,
    shifted_ring,
    torus_rings,
)
from schedules.collectives import reverse
from schedules.model import Collective
from schedules.simulate import Network, simulate
from schedules.simulate.messages import Messages
from schedules.simulate.running import run
from schedules.verify import violations
from synth.cost import lower_bound
from tests.baseline_schedules import hypercube, one_way_ring, rings, torus

ALPHA = Fraction(1, 10**5)
RATE = Fraction(100 * 10**9, 8)


def workload(size, collective=Collective.ALLREDUCE, alpha=ALPHA):
    return Operation(collective, size, RATE, alpha)


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


@given(hosts, ports, sizes, st.sampled_from(list(PASSES)))
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
    names = {entry.name for entry in baselines(7, 3, workload(1000))}
    assert names == {"shifted-ring"}
    gather = workload(1000, Collective.ALLGATHER)
    assert {entry.name for entry in baselines(7, 4, gather)} == {"shifted-ring"}
    both = {entry.name for entry in baselines(7, 4, workload(1000))}
    assert both == {"shifted-ring", "double-binary-tree"}
    every = {entry.name for entry in baselines(16, 4, workload(1000))}
    assert every == both | {"torus-rings", "recursive-doubling"}


def hosts_of(nodes, degree, schedule, topology, collective, baseline, size=10**6 + 3):
    """Simulate a baseline's allgather, or what follows from it, and compare."""
    made = {Collective.ALLGATHER: schedule}
    made[Collective.REDUCE_SCATTER] = reverse(schedule, topology.transpose())
    parts = [made.get(collective)]
    if collective is Collective.ALLREDUCE:
        parts = [made[Collective.REDUCE_SCATTER], schedule]
    taken = Fraction(0)
    for part in parts:
        graph = topology if part.collective is Collective.ALLGATHER else topology.transpose()
        assert violations(part, graph) == []
        network = Network(ALPHA, RATE / degree)
        taken += simulate(part, graph, network, size_bytes=size, synchronous=True).seconds
    found = baseline(nodes, degree, workload(size, collective))
    assert found.seconds == taken
    assert found.steps == sum(len(part.steps) for part in parts)


EVERY = pytest.mark.parametrize("collective", list(PASSES))


@EVERY
@pytest.mark.parametrize(
    ("nodes", "shifts", "degree"),
    [
        (5, (1, 2), 4),
        (8, (1, 3), 4),
        (8, (1, 3), 5),
        (12, (1, 5), 4),
        (13, (1, 2, 3), 6),
        (7, (1,), 3),
    ],
)
def test_rings_take_what_they_are_simulated_to_take(nodes, shifts, degree, collective):
    topology, schedule = rings(nodes, shifts)
    hosts_of(nodes, degree, schedule, topology, collective, shifted_ring)


@EVERY
def test_one_port_is_a_one_way_ring(collective):
    topology, schedule = one_way_ring(6)
    hosts_of(6, 1, schedule, topology, collective, shifted_ring)


@EVERY
@pytest.mark.parametrize(
    ("rows", "columns"), [(3, 3), (4, 3), (5, 3), (4, 4), (7, 3), (6, 5), (8, 8)]
)
@pytest.mark.parametrize("degree", [4, 7])
def test_a_torus_takes_what_it_is_simulated_to_take(rows, columns, degree, collective):
    topology, schedule = torus(rows, columns)
    hosts_of(rows * columns, degree, schedule, topology, collective, torus_rings)


@EVERY
@pytest.mark.parametrize(
    ("dimensions", "degree"),
    [(1, 1), (1, 3), (2, 2), (2, 4), (3, 3), (3, 4), (3, 7), (4, 4), (6, 6)],
)
def test_a_hypercube_takes_what_it_is_simulated_to_take(dimensions, degree, collective):
    topology, schedule = hypercube(dimensions, degree // dimensions)
    hosts_of(1 << dimensions, degree, schedule, topology, collective, recursive_doubling)


def test_a_collective_with_a_root_has_no_baseline():
    for collective in (Collective.BROADCAST, Collective.REDUCE):
        assert baselines(16, 4, workload(1000, collective)) == ()


@pytest.mark.parametrize(
    ("baseline", "nodes", "degree"),
    [
        (torus_rings, 16, 3),
        (torus_rings, 8, 4),
        (torus_rings, 13, 4),
        (torus_rings, 2, 4),
        (recursive_doubling, 12, 4),
        (recursive_doubling, 32, 4),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_hosts_that_cannot_run_a_baseline_have_none(baseline, nodes, degree):
    assert baseline(nodes, degree, workload(1000)) is None


def in_order_tree(nodes):
    """Parent of each host in the binary tree of least height, hosts numbered from left to right."""
    parent = {}

    def build(low, high, above):
        if low < high:
            # A left part that is full keeps the height at floor(log2).
            size = high - low
            full = (1 << (size.bit_length() - 1)) - 1
            left = max(full // 2, min(full, size - 1 - full // 2))
            parent[low + left] = above
            build(low, low + left, low + left)
            build(low + left + 1, high, low + left)

    build(0, nodes, None)
    return parent


def heights(parent):
    found = {}

    def depth(host):
        if host not in found:
            found[host] = 0 if parent[host] is None else depth(parent[host]) + 1
        return found[host]

    return {host: depth(host) for host in parent}


@pytest.mark.parametrize("nodes", [2, 3, 5, 7, 8, 12, 15, 31, 100])
@pytest.mark.parametrize("size", [1000, 10**7])
def test_a_double_binary_tree_takes_what_it_is_simulated_to_take(nodes, size):
    """Up to the root of each tree, down again at once; the second tree is the mirror image."""
    found = double_binary_tree(nodes, 4, workload(size))
    one = in_order_tree(nodes)
    height = nodes.bit_length() - 1
    assert max(heights(one).values()) == height
    mirror = {
        nodes - 1 - host: None if above is None else nodes - 1 - above
        for host, above in one.items()
    }
    rows = []
    for tree, parent in enumerate((one, mirror)):
        depths = heights(parent)
        for host, above in parent.items():
            if above is not None:
                rows.append((height - depths[host], (tree, "up", host)))
                rows.append((height + depths[host] - 1, (tree, "down", host)))
    rows.sort()
    place = {name: index for index, (_, name) in enumerate(rows)}
    needs = []
    for _, (tree, way, host) in rows:
        parent = (one, mirror)[tree]
        children = [child for child in parent if parent[child] == host]
        if way == "up":
            needs.append([place[tree, "up", child] for child in children])
        elif parent[parent[host]] is None:
            root = parent[host]
            needs.append([place[tree, "up", c] for c in parent if parent[c] == root])
        else:
            needs.append([place[tree, "down", parent[host]]])
    count = len(rows)
    messages = Messages(
        units=[1] * count,
        unit=Fraction(1, 2),
        hop_start=np.arange(count + 1),
        hops=np.arange(count),
        starts=np.searchsorted([level for level, _ in rows], np.arange(2 * height + 1)),
        need_start=np.cumsum([0, *map(len, needs)]),
        needs=np.array([need for some in needs for need in some], np.int64),
        first_chunk=np.zeros(count, np.int64),
        chunk_count=np.ones(count, np.int64),
        capacities=(1,) * count,
        sources=np.arange(count),
        link_of=np.arange(count),
        staggered=True,
    )
    # The baseline charges alpha for every chunk on a link: here the link's own overhead.
    taken = run(messages, Network(Fraction(0), RATE / 4, ALPHA), size, found.chunks, False)
    assert taken.seconds == found.seconds
    waiting = run(messages, Network(ALPHA, RATE / 4), size, found.chunks, True)
    assert waiting.seconds == found.seconds
