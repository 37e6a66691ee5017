"""All algorithms of a collective on a fabric: their judge, the fastest, and what is left out."""

import random
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import random_topology
from tests.schedule_oracles import direct_topologies
from topoloom.schedules.baselines.nccl import nccl_runs
from topoloom.schedules.compare.compare_algorithms import (
    DEEP_RANKS,
    MAX_RANKS,
    compare_algorithms,
    large_message_rate,
)
from topoloom.schedules.compare.judged_ranges import judged_ranges
from topoloom.schedules.errors import NoSchedule, TooLarge
from topoloom.schedules.generate.collectives import make
from topoloom.schedules.model.schedule import Collective, SequenceSchedule
from topoloom.schedules.simulate import Judge, Network, simulate
from topoloom.synth.fabrics import fabric
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.topology.topology import Topology

FREE = Network(Fraction(1, 10**5), Fraction(10**9))
COSTLY = Network(
    Fraction(1, 10**5), Fraction(10**9), Fraction(1, 10**6), chunk_seconds=Fraction(1, 10**7)
)
LARGEST = 1 << 20

networks = st.builds(
    Network,
    st.fractions(Fraction(1, 4), 5, max_denominator=4),
    st.fractions(Fraction(1, 3), 7, max_denominator=6),
)


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(
    topology=direct_topologies(),
    network=networks,
    size=st.integers(1, 5000),
    collective=st.sampled_from(["allgather", "reduce-scatter", "allreduce"]),
)
def test_a_judged_time_is_the_simulated_time_of_its_number_of_chunks(
    topology, network, size, collective
):
    for algorithm in ("bfb", "forestcoll"):
        schedule = make(topology, collective, algorithm)
        judge = Judge(schedule, topology, network)
        judged = judge.time(size)
        assert judge.floor(size) <= judged.seconds
        again = simulate(schedule, topology, network, size_bytes=size, chunks=judged.chunks)
        assert judged.seconds == again.seconds
        if not isinstance(schedule, SequenceSchedule) or schedule.together:
            assert judged.seconds <= simulate(schedule, topology, network, size_bytes=size).seconds


@pytest.mark.one_in(2)
@pytest.mark.parametrize("size", [4000, 10**6, 64 * 10**6])
@pytest.mark.parametrize("name", ["dgx-a100-1", "mi300x", "dgx-h100-sharp-1"])
def test_comparison_and_baselines_have_one_judge(name, size):
    topology = fabric(name)
    found = compare_algorithms(topology, Collective.ALLREDUCE, FREE, largest_bytes=size)
    ours = {way.name: (way.seconds(size), way.judge.judged_by) for way in found.ways}
    for run in nccl_runs(topology, Collective.ALLREDUCE, FREE, size).runs:
        if run.name in ours:
            assert ours[run.name] == (run.seconds, run.judged_by)
        else:
            # Of equal algorithms only the first is listed.
            assert run.seconds in {seconds for seconds, _ in ours.values()}


def test_only_switches_that_copy_and_shared_limits_are_judged_by_full_rounds():
    copying = fabric("dgx-h100-sharp-1")
    judges = {
        run.name: run.judged_by
        for run in nccl_runs(copying, Collective.ALLREDUCE, FREE, 10**6).runs
    }
    assert judges["nccl-nvls"] == "full rounds"
    assert judges["nccl-ring"] == judges["nccl-tree"] == "simulation"


@pytest.mark.parametrize(
    ("name", "collective"),
    [
        pytest.param("dgx-a100-2", "allreduce", marks=pytest.mark.slow),
        ("dgx-1v", "allgather"),
        ("dgx-h100-sharp-1", "allreduce"),
        pytest.param("mi250-1", "reduce-scatter", marks=pytest.mark.slow),
        pytest.param("dgx-a100-2", "broadcast", marks=pytest.mark.slow),
        ("dgx-1v", "broadcast"),
        ("Torus(3, 3)", "allreduce"),
        ("Hypercube(3)", "all-to-all"),
    ],
)
@pytest.mark.parametrize("network", [FREE, COSTLY], ids=["free", "costly"])
def test_each_range_starts_where_its_algorithm_becomes_the_fastest(name, collective, network):
    topology = build(parse(name)) if "(" in name else fabric(name)
    wanted = Collective.of(collective)
    root = topology.compute_nodes[1] if wanted.has_root else None
    found = compare_algorithms(topology, wanted, network, root=root, largest_bytes=LARGEST)
    by_name = {way.name: way for way in found.ways}
    before = ""
    for part in found.ranges:
        for size, owner in ((part.first_bytes - 1, before), (part.first_bytes, part.name)):
            if owner:
                best = min(way.seconds(size) for way in found.ways)
                assert by_name[owner].seconds(size) == best
                assert found.fastest(size).seconds(size) == best
        before = part.name
    assert by_name[before].seconds(LARGEST) == min(way.seconds(LARGEST) for way in found.ways)
    assert all(way.judge.floor(LARGEST) <= way.seconds(LARGEST) for way in found.ways)


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (0, *range(2, 8)))]
)
def test_random_fabrics_have_trees_at_the_optimum_and_a_reason_for_all_that_is_left_out(seed):
    topology = random_topology(random.Random(seed), balanced=seed % 2 == 0)
    for collective in (Collective.ALLGATHER, Collective.ALLREDUCE, Collective.REDUCE):
        root = topology.compute_nodes[0] if collective.has_root else None
        found = compare_algorithms(topology, collective, FREE, root=root, largest_bytes=LARGEST)
        best = large_message_rate(make(topology, collective, "forestcoll", root=root), topology)
        by_name = {way.name: way for way in found.ways}
        assert by_name["forestcoll"].rate == best * FREE.unit_bytes_per_second
        assert all(one.reason for one in found.left_out)
        if topology.switches and not collective.has_root:
            assert "bfb" in {one.name for one in found.left_out}


def test_a_ring_of_one_way_links_is_run_in_one_pass_only_where_data_is_little():
    ring = Topology(range(5), [(i, (i + 1) % 5) for i in range(5)])
    found = compare_algorithms(ring, Collective.ALLREDUCE, FREE)
    assert found.ranges[0].name == "bfb-one-shot"
    assert "bfb-one-shot" not in {part.name for part in found.ranges[1:]}
    times = {way.name: way.seconds for way in found.ways}
    # 4 steps fewer against 4 M at once instead of 8 shards of M / 5, one host sends 1 GB/s.
    equal = Fraction(4, 10**5) * 10**9 / (4 - Fraction(8, 5))
    assert times["bfb-one-shot"](int(equal)) < times["bfb"](int(equal))
    assert times["bfb-one-shot"](int(equal) + 1) > times["bfb"](int(equal) + 1)


def test_what_does_not_make_sense_is_refused():
    ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    with pytest.raises(NoSchedule, match="root"):
        compare_algorithms(ring, Collective.BROADCAST, FREE)
    with pytest.raises(NoSchedule, match="root"):
        compare_algorithms(ring, Collective.ALLGATHER, FREE, root=1)
    with pytest.raises(NoSchedule, match="bytes"):
        compare_algorithms(ring, Collective.ALLGATHER, FREE, largest_bytes=0)
    for ranks, rule in ((MAX_RANKS + 1, "1024 ranks"), (DEEP_RANKS + 1, "diameter of at most 64")):
        many = Topology(range(ranks), [(i, (i + 1) % ranks) for i in range(ranks)])
        with pytest.raises(TooLarge, match=rule):
            compare_algorithms(many, Collective.ALLGATHER, FREE)
    with pytest.raises(TooLarge, match="256 ranks to compare an all-to-all"):
        compare_algorithms(fabric("dgx-a100-33"), Collective.ALL_TO_ALL, FREE)


@pytest.mark.slow
def test_the_algorithms_of_a_thousand_gpus_are_compared_without_rings():
    boxes = fabric("dgx-a100-128")
    found = compare_algorithms(boxes, Collective.ALLREDUCE, Network(None, Fraction(10**9)))
    assert {way.name for way in found.ways} == {"forestcoll", "nccl-tree"}
    reasons = {one.name: one.reason for one in found.left_out}
    assert reasons["nccl-ring"] == "rings are compared up to 256 ranks"
    # Every hop of a tree inside a box takes 0.6 us, between boxes 5 us (`fabrics`).
    ours = next(way for way in found.ways if way.name == "forestcoll")
    assert ours.seconds(1) > 2 * Fraction(56, 10**7)
    assert ours.rate == found.fastest(2**30).rate


@given(
    st.lists(
        st.tuples(st.fractions(0, 50, max_denominator=8), st.fractions(0, 3, max_denominator=8)),
        min_size=1,
        max_size=5,
    )
)
def test_ranges_agree_with_the_fastest_at_all_given_sizes_and_at_every_change(lines):
    names = [str(at) for at in range(len(lines))]
    times = [lambda size, line=line: line[0] + line[1] * size for line in lines]
    sizes = [1, 3, 10, 40, 1000]
    found = judged_ranges(names, times, sizes)

    def winner(size):
        return names[min(range(len(times)), key=lambda at: (times[at](size), at))]

    def owner(size):
        return [part.name for part in found if part.first_bytes <= size][-1]

    floors = [lambda size, time=time: time(size) * Fraction(9, 10) for time in times]
    assert judged_ranges(names, times, sizes, floors) == found
    assert all(owner(size) == winner(size) for size in sizes)
    for before, part in pairwise(found):
        assert winner(part.first_bytes) == part.name
        assert winner(part.first_bytes - 1) == before.name
        assert times[int(part.name)](part.start) == times[int(before.name)](part.start)
