"""Kinds of groups that run at once: exact rates, valid schedules, one clock for all."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.schedule_oracles import grouped, joint_schedules
from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.groups.figures import traffic_figures
from topoloom.schedules.groups.joint_rate import joint_rate, traffic_rates
from topoloom.schedules.groups.joint_schedule import traffic_schedules
from topoloom.schedules.groups.process_groups import Placement, ProcessGroups
from topoloom.schedules.groups.rate import COLLECTIVES
from topoloom.schedules.groups.traffic import GroupTraffic
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.simulate import Network, simulate
from topoloom.schedules.simulate.joint_simulation import simulate_together
from topoloom.schedules.verify.groups import group_violations, joint_time
from topoloom.synth.fabrics import fabric
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse

TORUS = build(parse("Torus(4, 4)"))
RING = build(parse("BiRing(8)"))


def traffic_of(topology, sizes, **kinds):
    placed = Placement.in_order(ProcessGroups.parse(sizes), topology)
    return [GroupTraffic(kind, placed.groups(kind), *of) for kind, of in kinds.items()]


def times(topology, traffic):
    rates = traffic_rates(topology, traffic)
    assert all(rate.exact for rate in rates)
    return {one.size_bytes / rate.algbw for one, rate in zip(traffic, rates, strict=True)}


def sized_schedules(topology, traffic):
    found = traffic_schedules(topology, traffic)
    for schedules in found:
        assert group_violations(schedules, topology) == []
    return [
        (schedule, one.size_bytes)
        for one, schedules in zip(traffic, found, strict=True)
        for schedule in schedules
    ]


def test_rings_and_all_to_alls_on_separate_links_do_not_slow_each_other_down():
    traffic = traffic_of(
        TORUS,
        "tensor=4,expert=4",
        tensor=(Collective.ALLGATHER, 3 << 20),
        expert=(Collective.ALL_TO_ALL, 2 << 20),
    )
    # Rows alone take 3 MiB / (8/3), columns alone 2 MiB / 2: no longer together.
    assert times(TORUS, traffic) == {Fraction(9, 8) * 2**20}


def test_pairs_and_halves_of_a_ring_add_up_on_the_links_of_the_pairs():
    ring = build(parse("BiRing(4)"))
    traffic = traffic_of(
        ring,
        "tensor=2,data=2",
        tensor=(Collective.ALLREDUCE, 600),
        data=(Collective.ALLGATHER, 400),
    )
    # Each of the four links of pairs carries 600 of a pair, and half of the 400 of two shards.
    assert times(ring, traffic) == {Fraction(800)}


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_the_same_groups_twice_take_the_time_of_both_sizes_in_one_collective(collective):
    groups = ((0, 1, 2, 3), (4, 5, 6, 7))
    twice = [
        GroupTraffic("tensor", groups, collective, 500),
        GroupTraffic("data", groups, collective, 300),
    ]
    assert times(RING, twice) == {800 / joint_rate(RING, groups, collective).algbw}


def test_the_size_decides_how_kinds_share_the_links():
    for bytes_of_data in (1, 10**6, 10**9):
        traffic = traffic_of(
            TORUS,
            "tensor=4,data=4",
            tensor=(Collective.REDUCE_SCATTER, 10**6),
            data=(Collective.ALLREDUCE, bytes_of_data),
        )
        (time,) = times(TORUS, traffic)
        alone = [next(iter(times(TORUS, [one]))) for one in traffic]
        assert max(alone) <= time <= sum(alone)
        assert joint_time(sized_schedules(TORUS, traffic), TORUS) == time


@pytest.mark.slow
def test_the_joint_workload_of_eight_boxes_is_as_fast_as_a_box_receives():
    traffic = traffic_of(
        fabric("dgx-a100-8"),
        "tensor=8,expert=4,data=2",
        tensor=(Collective.ALL_TO_ALL, 64),
        expert=(Collective.ALLGATHER, 64),
        data=(Collective.ALL_TO_ALL, 32),
    )
    rates = traffic_rates(fabric("dgx-a100-8"), traffic)
    # A box of 8 receives 3 * 16 and 16 GB for every GPU, at 25 GB/s for every GPU.
    limit = Fraction(3 * 16 + 16, 25)
    for one, rate in zip(traffic, rates, strict=True):
        assert one.size_bytes / rate.algbw == one.size_bytes / rate.bound == limit


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(
    case=grouped(),
    first=st.sampled_from(COLLECTIVES),
    second=st.sampled_from(COLLECTIVES),
    sizes=st.tuples(st.integers(1, 1000), st.integers(1, 1000)),
)
def test_any_two_kinds_take_between_the_longer_time_and_the_sum(case, first, second, sizes):
    topology, groups = case
    across = tuple(zip(*groups, strict=True)) if len(groups) > 1 else groups
    both = [
        GroupTraffic("tensor", tuple(map(tuple, groups)), first, sizes[0]),
        GroupTraffic("data", across, second, sizes[1]),
    ]
    rates = traffic_rates(topology, both)
    bounds = [one.size_bytes / rate.bound for one, rate in zip(both, rates, strict=True)]
    alone = [traffic_rates(topology, [one])[0] for one in both]
    least = max(one.size_bytes / rate.bound for one, rate in zip(both, alone, strict=True))
    most = sum(one.size_bytes / rate.algbw for one, rate in zip(both, alone, strict=True))
    for one, rate in zip(both, rates, strict=True):
        assert least * Fraction(999, 1000) <= one.size_bytes / rate.algbw
        assert one.size_bytes / rate.bound <= most
    reached = joint_time(sized_schedules(topology, both), topology)
    assert max(bounds) <= reached <= max(bounds) * Fraction(1001, 1000)


def test_figures_state_every_rate_of_each_kind():
    traffic = traffic_of(
        TORUS,
        "tensor=4,data=4",
        tensor=(Collective.ALLREDUCE, 2**20),
        data=(Collective.ALLREDUCE, 2**20),
    )
    for one in traffic_figures(TORUS, traffic):
        assert one.all_kinds is not None
        assert one.all_kinds.algbw <= one.together.algbw <= one.alone.algbw
        assert one.size_bytes == 2**20


def test_joint_simulation_of_one_schedule_equals_its_simulation():
    network = Network(Fraction(1, 10**5), Fraction(10**9))
    for collective in COLLECTIVES:
        (one,) = joint_schedules(TORUS, [(0, 2, 8, 10)], collective)
        for chunks in (1, 7):
            expected = simulate(one, TORUS, network, size_bytes=10**6, chunks=chunks)
            found = simulate_together([(one, 10**6)], TORUS, network, chunks=chunks)
            assert found.seconds == expected.seconds
            assert found.busy_seconds == expected.busy_seconds


def test_joint_simulation_takes_the_joint_time_for_large_data():
    traffic = traffic_of(
        TORUS,
        "tensor=4,expert=4",
        tensor=(Collective.ALLREDUCE, 1 << 30),
        expert=(Collective.ALL_TO_ALL, 1 << 29),
    )
    sized = sized_schedules(TORUS, traffic)
    found = simulate_together(sized, TORUS, Network(Fraction(0), Fraction(10**9)), chunks=256)
    least = joint_time(sized, TORUS) / 10**9
    assert least <= found.seconds <= least * Fraction(11, 10)


@pytest.mark.parametrize(
    ("traffic", "rule"),
    [
        ([], "at least one kind"),
        ([GroupTraffic("data", ((0, 1),), Collective.ALLGATHER, 0)], "at least 1 byte"),
        ([GroupTraffic("data", ((0, 1),), Collective.ALLGATHER, 1)] * 2, "name data once"),
        ([GroupTraffic("data", ((0, 1),), Collective.BROADCAST, 1)], "must be one of allgather"),
        (
            [
                GroupTraffic("data", ((0, 1),), Collective.ALLGATHER, 2**40 + 1),
                GroupTraffic("tensor", ((0, 1),), Collective.ALLGATHER, 2),
            ],
            "differ too much",
        ),
    ],
)
def test_bad_traffic_is_named_with_its_rule(traffic, rule):
    with pytest.raises(NoSchedule, match=rule):
        traffic_rates(RING, traffic)
