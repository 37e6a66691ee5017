"""Designs of boxes: the best topology between boxes, the others, and the value of more cables."""

from fractions import Fraction

import pytest

from tests.cases import for_every
from topoloom.schedules.design.box_candidates import BoxHosts, known_candidates
from topoloom.schedules.design.box_designs import BoxDesign, box_design
from topoloom.schedules.errors import TooLarge, UnknownCollective
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.optimum.collective_optimum import collective_optimum
from topoloom.schedules.options import Options
from topoloom.schedules.verify import require_valid
from topoloom.schedules.workloads.tasks import Task
from topoloom.synth.boxes.expression import topology_of_boxes
from topoloom.synth.errors import ImpossibleRequest, InvalidRecipe
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse

ALPHA = Fraction(1, 10**5)
GIB = 2**30


def designed(hosts: BoxHosts, collective=Collective.ALLREDUCE, size=GIB, **limits) -> BoxDesign:
    return box_design(hosts, Task(collective, size), ALPHA, **limits)


@pytest.fixture(scope="module")
def nine() -> BoxDesign:
    return designed(BoxHosts("dgx-h100", 9, 4, boxes_per_rack=3))


def test_the_rate_of_every_topology_is_its_exact_optimum(nine) -> None:
    assert len(nine.rows) >= 4
    for row in nine.rows:
        topology = topology_of_boxes(row.text)
        passes = (Collective.REDUCE_SCATTER, Collective.ALLGATHER)
        inverse = [1 / collective_optimum(topology, one, Options()).algbw for one in passes]
        assert row.algbw == 1 / sum(inverse)


def test_the_best_topology_is_the_fastest_without_switches_and_has_a_valid_schedule(nine) -> None:
    best = nine.best
    assert not best.candidate.switched
    assert best.schedule is not None
    assert best.seconds is not None
    require_valid(best.schedule.schedule, best.topology)
    for row in nine.rows:
        if not row.candidate.switched:
            assert best.seconds <= (row.least_seconds if row.seconds is None else row.seconds)


def test_no_time_is_below_its_bounds(nine) -> None:
    for row in nine.rows:
        assert row.seconds is None or row.seconds >= row.least_seconds * (1 - 1e-12)
        if not row.candidate.switched:
            assert row.least_seconds >= nine.bound_seconds


def test_ring_tori_full_mesh_and_switch_stand_beside_the_frontier(nine) -> None:
    kinds = {row.candidate.kind for row in nine.rows}
    assert {"frontier", "switch", "ring"} <= kinds
    assert {one.kind for one in known_candidates(BoxHosts("mi300x", 9, 8))} == {
        *("ring", "torus", "full-mesh", "switch")
    }


@for_every(("boxes", "cables"), [(2, 1), (2, 5), (3, 2), (3, 7), (9, 8), (16, 5), (8, 1)])
def test_well_known_topologies_use_at_most_the_cables_of_a_box(boxes: int, cables: int) -> None:
    for one in known_candidates(BoxHosts("mi300x", boxes, cables)):
        if not one.switched:
            topology = build(parse(one.between))
            assert topology.node_count == boxes
            assert topology.degree <= cables
            assert topology.is_bidirectional


def test_cables_of_a_rack_are_copper_and_all_cables_are_counted(nine) -> None:
    for row in nine.rows:
        if row.candidate.kind == "frontier":
            assert row.cables.copper + row.cables.optics == 9 * 4 / 2
        if row.candidate.kind == "ring":
            # Two parallel cables between neighbors; six of nine pairs are in one rack.
            assert (row.cables.copper, row.cables.optics) == (12, 6)


def test_more_cables_are_worth_their_exact_rate(nine) -> None:
    assert [one.cables for one in nine.more] == [5, 12]
    one_more, one_for_each = nine.more
    assert one_more.row is None
    assert "even" in one_more.reason
    # Four cables of 50 GB/s bring 8/9 of the data into a box, twelve bring 600 GB/s.
    assert nine.best.algbw == Fraction(9, 8) * 200 / 2
    assert one_for_each.row is not None
    assert nine.best.algbw < one_for_each.row.algbw <= Fraction(9, 8) * 600 / 2


def test_small_data_needs_few_hops_and_large_data_a_high_rate() -> None:
    small = designed(BoxHosts("mi300x", 4, 8), Collective.ALLGATHER, 1000)
    assert small.best.hops == min(row.hops for row in small.rows if not row.candidate.switched)
    large = designed(BoxHosts("mi300x", 4, 8), Collective.ALLGATHER, 10**12)
    assert large.best.algbw == max(row.algbw for row in large.rows if not row.candidate.switched)


def test_boxes_beyond_the_limit_of_schedules_are_ordered_by_their_bounds() -> None:
    found = designed(BoxHosts("mi300x", 6, 4), max_scheduled=47)
    assert all(row.schedule is None for row in found.rows)
    assert [row.least_seconds for row in found.rows] == sorted(
        row.least_seconds for row in found.rows
    )


@for_every(
    ("hosts", "error", "field"),
    [
        (BoxHosts("dgx-z", 4, 4), InvalidRecipe, "/box"),
        (BoxHosts("Complete(4)", 4, 4), InvalidRecipe, "/box"),
        (BoxHosts("dgx-1v", 4, 4), InvalidRecipe, "/cable_bandwidth"),
        (BoxHosts("mi300x", 5, 3), ImpossibleRequest, "degree"),
    ],
)
def test_a_box_that_cannot_be_designed_is_refused_with_the_field(hosts, error, field) -> None:
    with pytest.raises(error) as refused:
        designed(hosts)
    assert refused.value.field == field


def test_too_many_nodes_and_other_collectives_are_refused() -> None:
    with pytest.raises(TooLarge, match="at most 40 nodes"):
        designed(BoxHosts("mi300x", 6, 4), max_nodes=40)
    with pytest.raises(UnknownCollective):
        designed(BoxHosts("mi300x", 6, 4), Collective.ALL_TO_ALL)


@pytest.mark.slow
def test_the_frontier_is_faster_than_ring_and_torus_between_32_boxes() -> None:
    found = designed(BoxHosts("mi300x", 32, 8))
    best = found.best
    assert best.seconds is not None
    others = [row for row in found.rows if row.candidate.kind in ("ring", "torus")]
    assert others
    assert all(row.least_seconds > best.seconds for row in others)
