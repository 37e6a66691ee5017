"""Schedules of groups that run at once: valid, disjoint, and as fast as the joint rate."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.schedule_oracles import grouped, joint_algbw, joint_schedules
from topoloom.schedules.errors import InvalidSchedule, NotExportable
from topoloom.schedules.formats import Options
from topoloom.schedules.formats import write as export
from topoloom.schedules.formats.schedule.binary import pack, unpack
from topoloom.schedules.formats.schedule.read import from_document
from topoloom.schedules.formats.schedule.write import write
from topoloom.schedules.generate.make_and_verify import schedule_costs
from topoloom.schedules.groups.joint_rate import joint_rate
from topoloom.schedules.groups.process_groups import Placement, ProcessGroups
from topoloom.schedules.groups.rate import COLLECTIVES
from topoloom.schedules.model.schedule import Collective, TreeSchedule
from topoloom.schedules.simulate import Network, estimate, simulate
from topoloom.schedules.verify import violations
from topoloom.schedules.verify.groups import (
    group_violations,
    joint_time,
    require_valid_groups,
)
from topoloom.synth.fabrics import fabric
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse


def placed(topology, sizes, kind):
    return Placement.in_order(ProcessGroups.parse(sizes), topology).groups(kind)


CASES = {
    "rows of a torus": (build(parse("Torus(4, 4)")), "tensor=4,data=4", "tensor"),
    "columns of a torus": (build(parse("Torus(4, 4)")), "tensor=4,data=4", "data"),
    "halves of a ring": (build(parse("BiRing(8)")), "tensor=4,data=2", "tensor"),
    "boxes of GPUs": (fabric("dgx-a100-2"), "tensor=8,data=2", "tensor"),
    "GPUs across boxes": (fabric("dgx-a100-2"), "tensor=8,data=2", "data"),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize("case", CASES)
def test_schedules_of_groups_are_valid_and_reach_the_joint_rate(case, collective):
    topology, sizes, kind = CASES[case]
    groups = placed(topology, sizes, kind)
    schedules = joint_schedules(topology, groups, collective)
    assert len(schedules) == len(groups)
    assert group_violations(schedules, topology) == []
    best = joint_rate(topology, groups, collective).algbw
    # Weights with more than a million parts are rounded.
    assert best * Fraction(9999, 10000) <= joint_algbw(schedules, topology) <= best


@pytest.mark.slow
@pytest.mark.parametrize("collective", COLLECTIVES)
def test_schedules_of_a_large_torus_reach_the_joint_rate(collective):
    torus = build(parse("Torus(16, 16)"))
    groups = placed(torus, "tensor=16,data=16", "tensor")
    schedules = joint_schedules(torus, groups, collective)
    assert group_violations(schedules, torus) == []
    assert joint_algbw(schedules, torus) == joint_rate(torus, groups, collective).algbw


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(case=grouped(), collective=st.sampled_from(COLLECTIVES))
def test_schedules_of_any_groups_are_valid_and_lose_less_than_a_thousandth(case, collective):
    topology, groups = case
    schedules = joint_schedules(topology, groups, collective)
    assert group_violations(schedules, topology) == []
    best = joint_rate(topology, groups, collective).bound
    assert best * Fraction(999, 1000) <= joint_algbw(schedules, topology) <= best


def test_the_schedule_of_one_group_runs_in_the_simulator():
    torus = build(parse("Torus(4, 4)"))
    (alone,) = joint_schedules(torus, [(0, 2, 8, 10)], Collective.ALLGATHER)
    assert isinstance(alone, TreeSchedule) and alone.idle
    size, unit = 1 << 30, Fraction(10**9)
    found = simulate(alone, torus, Network(Fraction(0), unit), size_bytes=size, chunks=256)
    least = size / (joint_algbw([alone], torus) * unit)
    assert least <= found.seconds <= least * Fraction(11, 10)


def test_a_host_in_two_schedules_is_a_violation():
    ring = build(parse("BiRing(8)"))
    first, _ = joint_schedules(ring, [(0, 1, 2, 3), (4, 5, 6, 7)], Collective.ALLGATHER)
    found = group_violations([first, first], ring)
    assert {str(one) for one in found} >= {
        "/groups/1/ranks: must be hosts of no other group; 0 is in two groups"
    }
    with pytest.raises(InvalidSchedule, match="must be hosts of no other group"):
        require_valid_groups([first, first], ring)


def test_a_missing_tree_is_a_violation_of_its_group():
    ring = build(parse("BiRing(8)"))
    first, other = joint_schedules(ring, [(0, 1, 2, 3), (4, 5, 6, 7)], Collective.ALLGATHER)
    assert isinstance(other, TreeSchedule)
    broken = replace(other, trees=other.trees[1:])
    assert group_violations([first, broken], ring)[0].place.startswith("/groups/1/trees")


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_the_schedule_of_a_group_survives_both_file_formats(collective):
    torus = build(parse("Torus(4, 4)"))
    one, _ = joint_schedules(torus, [(0, 1, 2, 3), (8, 9, 10, 11)], collective)
    for read in (unpack(pack(one)), from_document(json.loads("".join(write(one))), torus)):
        assert violations(read, torus) == []
        assert joint_time([(read, 48)], torus) == joint_time([(one, 48)], torus)


def test_an_all_to_all_of_a_group_takes_the_time_of_its_own_ranks():
    torus = build(parse("Torus(4, 4)"))
    (pair,) = joint_schedules(torus, [(0, 1)], Collective.ALL_TO_ALL)
    whole = joint_time([(pair, 1 << 20)], torus)
    unit = {"size_bytes": 1 << 20, "alpha_seconds": 0.0, "unit_bytes_per_second": 1.0}
    found = estimate(pair, torus, pipeline_chunks=1 << 20, **unit)
    assert found.seconds == pytest.approx(float(whole), rel=1e-4)
    assert schedule_costs(pair, torus).ranks == 2


@pytest.mark.parametrize("form", ["msccl-xml", "mscclpp-json", "chakra-et", "goal"])
def test_an_all_to_all_beside_idle_hosts_is_refused_by_formats_of_all_hosts(form):
    torus = build(parse("Torus(4, 4)"))
    (pair,) = joint_schedules(torus, [(0, 1)], Collective.ALL_TO_ALL)
    options = Options(bytes=64) if form in ("chakra-et", "goal") else Options()
    with pytest.raises(NotExportable, match="must be all compute nodes in an all-to-all"):
        export(form, pair, torus, options)
