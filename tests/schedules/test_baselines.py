"""Every baseline's closed form is the time of its own verified schedule."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.baseline_runs import RUNS
from tests.cases import for_every
from topoloom.schedules.baselines import (
    ASSUMED_BASELINES,
    BASELINES,
    PASSES,
    Operation,
    assumed_baselines,
    baselines,
)
from topoloom.schedules.baselines.two_tree_schedule import LEAST_PIECE_BYTES
from topoloom.schedules.compare.topology_algorithms import floor_seconds
from topoloom.schedules.errors import InvalidSchedule
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.model.transcript import Transcript
from topoloom.schedules.simulate import Network, simulate
from topoloom.schedules.verify import violations
from topoloom.synth.evaluation.cost import all_to_all_bound, lower_bound

ALPHA = Fraction(1, 10**5)
RATE = Fraction(100 * 10**9, 8)
EVERY = {one.name: one for one in BASELINES + ASSUMED_BASELINES}


def test_every_baseline_has_a_run():
    assert RUNS.keys() == EVERY.keys()


def workload(size, collective=Collective.ALLREDUCE, alpha=ALPHA):
    return Operation(collective, size, RATE, alpha)


def require_valid(running):
    """A schedule by the verifier; what no schedule can say, contribution by contribution."""
    if isinstance(running.schedule, Transcript):
        require_summed(running.schedule)
    else:
        assert violations(running.schedule, running.topology) == []


def require_summed(transcript):
    """Every rank ends with every contribution to every unit, each counted once."""
    ranks = len(transcript.ranks)
    everything = (1 << ranks) - 1
    cuts = sorted({cut for message in transcript.messages for cut in message.spans[0][:2]})
    held = {(rank, unit): 1 << rank for rank in range(ranks) for unit in cuts[:-1]}
    for message in transcript.messages:
        ((first, past, mask),) = message.spans
        known = [transcript.messages[need] for need in message.needs]
        assert all(need.target == message.source for need in known)
        for unit in cuts[cuts.index(first) : cuts.index(past)]:
            used = [s.contributions for need in known for s in need.spans if s[0] <= unit < s[1]]
            # The sender passes on what it got, or adds up each contribution once.
            assert mask in (*used, sum(used), sum(used, 1 << message.source))
            if mask == everything:
                held[message.target, unit] = everything
            else:
                assert not held[message.target, unit] & mask
                held[message.target, unit] |= mask
    assert set(held.values()) == {everything}


FIXED = st.sampled_from([Fraction(0), Fraction(1, 10**6), Fraction(7, 10**7)])
"""Seconds that every message, or every chunk, may cost."""

sizes = st.integers(1, 10**7)
hosts = st.integers(2, 40)
ports = st.integers(1, 10)


@pytest.mark.one_in(6)
@settings(max_examples=60, deadline=None)
@given(hosts, ports, sizes, st.sampled_from(list(PASSES)), FIXED, FIXED)
@pytest.mark.parametrize("name", EVERY)
def test_a_baseline_takes_what_its_schedule_is_simulated_to_take(
    name, nodes, degree, size, collective, overhead, chunk
):
    work = Operation(collective, size, RATE, ALPHA, overhead, chunk)
    timed, running = (ask(nodes, degree, work) for ask in (EVERY[name].time, RUNS[name]))
    assert (timed is None) == (running is None)
    if timed is not None:
        require_valid(running)
        assert timed.seconds == running.seconds(degree, work)


SERVED = {
    "shifted-ring": [(2, 1), (2, 3), (7, 2), (12, 4), (12, 6)],
    "double-binary-tree": [(6, 4), (7, 8), (33, 5), (64, 4)],
    "double-tree": [(11, 5), (27, 6), (40, 9)],
    "single-tree": [(2, 1), (2, 3), (3, 2), (5, 3), (12, 4), (40, 5)],
    "torus-rings": [(9, 4), (12, 8), (20, 5), (27, 6), (64, 6), (36, 6), (35, 4), (24, 4)],
    "twisted-torus": [(8, 4), (18, 5), (32, 4)],
    "full-mesh-2d": [(4, 2), (8, 4), (9, 5), (12, 10)],
    "full-mesh-3d": [(8, 3), (12, 4), (12, 5), (8, 7), (24, 6)],
    "recursive-doubling": [(2, 3), (8, 3), (16, 9)],
    "permutation-rings": [(3, 3), (8, 5), (10, 4)],
    "direct": [(2, 1), (5, 4), (5, 9)],
    "switch-bruck": [(2, 1), (13, 2), (40, 4)],
    "switch-rabenseifner": [(2, 1), (16, 4)],
    "routed-swing": [(4, 2), (8, 3), (16, 4), (64, 6)],
    "routed-trivance": [(3, 2), (9, 4), (27, 2), (27, 6)],
}
"""Hosts and ports that every baseline runs on."""


@pytest.mark.slow
@for_every("size", [1, 5000, 10**7])
@for_every("name", EVERY)
def test_every_baseline_runs_where_it_should(name, size):
    for nodes, degree in SERVED[name]:
        work = Operation(Collective.ALLREDUCE, size, RATE, ALPHA, ALPHA / 10, ALPHA / 30)
        running = RUNS[name](nodes, degree, work)
        require_valid(running)
        assert EVERY[name].time(nodes, degree, work).seconds == running.seconds(degree, work)


@pytest.mark.parametrize("name", [one.name for one in BASELINES])
def test_a_baseline_plugs_no_more_ports_than_hosts_have(name):
    for nodes, degree in SERVED[name]:
        topology = RUNS[name](nodes, degree, workload(1000)).topology
        assert max(*topology.out_degrees, *topology.in_degrees) <= degree


@pytest.mark.parametrize(("nodes", "degree"), [(2, 4), (13, 2), (40, 4), (27, 3), (16, 4)])
@pytest.mark.parametrize("name", ["switch-bruck", "switch-rabenseifner"])
def test_behind_a_switch_no_host_uses_more_ports_at_a_time_than_it_has(name, nodes, degree):
    running = RUNS[name](nodes, degree, workload(1000, Collective.ALLGATHER))
    if running is None:
        return
    width = {(link.source, link.target): link.capacity for link in running.topology.links}
    for step in running.schedule.steps:
        columns = (step[name].tolist() for name in ("source", "target", "link"))
        used = set(zip(*columns, strict=True))
        for host in range(nodes):
            assert sum(width[link[:2]] for link in used if link[0] == host) <= degree
            assert sum(width[link[:2]] for link in used if link[1] == host) <= degree


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.integers(2, 24), st.integers(1, 8), sizes, FIXED)
def test_no_baseline_is_billed_more_for_all_to_all_than_its_routes_take(
    nodes, degree, size, overhead
):
    work = Operation(Collective.ALL_TO_ALL, size, RATE, ALPHA, overhead)
    for one in BASELINES:
        timed, running = one.time(nodes, degree, work), RUNS[one.name](nodes, degree, work)
        assert (timed is None) == (running is None)
        if timed is not None:
            require_valid(running)
            assert timed.seconds <= running.seconds(degree, work)
            # And no link is idle that would have to be busy: much data takes T_B.
            far = workload(size, Collective.ALL_TO_ALL, Fraction(0))
            whole = one.time(nodes, degree, far).seconds
            busy = simulate(
                running.schedule, running.topology, Network(0, RATE / degree), size_bytes=size
            ).busy_seconds
            assert max(busy) == whole


def test_rings_and_tori_go_both_ways():
    steps = {one.name: one.steps for one in baselines(12, 4, workload(1, Collective.ALLGATHER))}
    assert steps["shifted-ring"] == 6
    steps = {one.name: one.steps for one in baselines(256, 4, workload(1, Collective.ALLGATHER))}
    assert steps["torus-rings"] == 16


def test_a_torus_of_unequal_sides_is_used_as_well_as_rings_can():
    """Two-way rings, half one way and half the other as they were billed before, or better."""
    for short, long in ((3, 4), (3, 5), (4, 6), (3, 12), (5, 8)):
        work = workload(1, Collective.ALLGATHER, Fraction(0))
        nodes = short * long
        best = EVERY["torus-rings"].time(nodes, 4, work).seconds / work.transfer_seconds
        before = Fraction(2 * (short * long**2 + nodes - long - short**2), nodes * (short + long))
        assert Fraction(nodes - 1, nodes) <= best <= before


def test_trees_overlap_up_and_down():
    times = {one.name: one.seconds for one in baselines(1024, 4, workload(2**20))}
    assert round(float(times["double-binary-tree"]) * 1e6, 1) == 392.7


def test_a_torus_sends_all_to_all_along_its_dimensions():
    work = workload(2**20, Collective.ALL_TO_ALL, Fraction(0))
    wire = {one.name: one.seconds / work.transfer_seconds for one in baselines(64, 4, work)}
    assert wire == {"shifted-ring": 16, "torus-rings": 4}


def test_no_piece_of_a_tree_is_smaller_than_a_packet():
    for size in (1, LEAST_PIECE_BYTES, 2 * LEAST_PIECE_BYTES, 10**9):
        tree = EVERY["double-binary-tree"].time(100, 4, workload(size))
        assert tree.chunks == 1 or Fraction(size, 2) / tree.chunks >= LEAST_PIECE_BYTES


@given(
    st.integers(2, 5000), st.integers(1, 16), st.integers(1, 10**10), st.sampled_from(list(PASSES))
)
def test_no_baseline_beats_the_bound(nodes, degree, size, collective):
    bound = lower_bound(nodes, degree)
    work = workload(size, collective)
    floor = floor_seconds(bound, all_to_all_bound(nodes, degree), work)
    for entry in baselines(nodes, degree, work):
        assert entry.seconds >= floor


@given(hosts, sizes)
def test_an_allreduce_over_rings_is_two_allgathers_or_one_of_whole_buffers(nodes, size):
    ring = EVERY["shifted-ring"].time
    once = ring(nodes, 4, workload(size, Collective.ALLGATHER))
    whole = ring(nodes, 4, workload(nodes * size, Collective.ALLGATHER))
    assert ring(nodes, 4, workload(size)).seconds == min(2 * once.seconds, whole.seconds)
    assert once.seconds == nodes // 2 * ALPHA + Fraction(nodes - 1, nodes) * size / RATE


@pytest.mark.parametrize("name", EVERY)
def test_what_is_assumed_is_said(name):
    said = {one.name: one.assumption for one in assumed_baselines(27, 4, workload(1000))}
    said |= {one.name: one.assumption for one in assumed_baselines(16, 4, workload(1000))}
    assert bool(said.get(name)) == name.startswith(("switch", "routed"))


def test_a_collective_with_a_root_has_no_baseline():
    for collective in (Collective.BROADCAST, Collective.REDUCE):
        assert baselines(16, 4, workload(1000, collective)) == ()
        assert assumed_baselines(16, 4, workload(1000, collective)) == ()


@pytest.mark.parametrize(
    ("name", "nodes", "degree"),
    [
        ("torus-rings", 16, 3),
        ("torus-rings", 8, 4),
        ("torus-rings", 13, 4),
        ("recursive-doubling", 12, 4),
        ("recursive-doubling", 32, 4),
        ("double-binary-tree", 5, 4),
        ("double-binary-tree", 12, 3),
        ("double-tree", 12, 4),
        ("twisted-torus", 16, 4),
        ("full-mesh-3d", 12, 3),
        ("full-mesh-2d", 7, 5),
        ("full-mesh-2d", 12, 4),
        ("direct", 12, 10),
        ("switch-rabenseifner", 12, 4),
        ("routed-swing", 32, 1),
        ("routed-trivance", 8, 2),
    ],
)
def test_hosts_that_cannot_run_a_baseline_have_none(name, nodes, degree):
    assert EVERY[name].time(nodes, degree, workload(1000)) is None
    assert RUNS[name](nodes, degree, workload(1000)) is None


def test_double_trees_send_down_piece_by_piece_what_their_roots_have_summed_up():
    tree = RUNS["double-binary-tree"](12, 4, workload(10**6))
    network = Network(ALPHA, RATE / 4)
    ways = {"size_bytes": 10**6, "chunks": 8}
    assert tree.schedule.together
    one_by_one = replace(tree.schedule, together=False)
    after = simulate(one_by_one, tree.topology, network, **ways)
    together = simulate(tree.schedule, tree.topology, network, **ways)
    assert together.seconds < after.seconds
    assert together.busy_seconds == after.busy_seconds
    assert together.messages == after.messages
    in_step = simulate(tree.schedule, tree.topology, network, **ways, synchronous=True)
    assert in_step.seconds >= together.seconds


def test_steps_do_not_run_together():
    ring = RUNS["shifted-ring"](12, 4, workload(10**7))
    network = Network(ALPHA, RATE / 4)
    with pytest.raises(InvalidSchedule, match="/parts: must be two, by trees"):
        simulate(replace(ring.schedule, together=True), ring.topology, network, size_bytes=1)
