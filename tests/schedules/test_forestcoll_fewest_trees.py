import random
from fractions import Fraction

import pytest

from tests.cases import for_every
from tests.oracles import cuts, random_topology, torus, worst_ratio
from topoloom.schedules.errors import NoSchedule, TooLarge
from topoloom.schedules.generate.collectives import make
from topoloom.schedules.trees import limits
from topoloom.schedules.trees.forestcoll import allgather, optimum
from topoloom.schedules.verify import tree_inverse_rate, violations
from topoloom.schedules.verify.cuts import cut_inverse_rate
from topoloom.synth.fabrics import fabric
from topoloom.synth.topology.topology import Topology

GAPS = [Fraction(0), Fraction(1, 100), Fraction(1, 10), Fraction(1, 2), Fraction(3)]


def slowdown(topology: Topology, trees: int) -> Fraction:
    """Return how much longer than the optimum the best forest of k trees per root takes.

    Every cut by itself: its least scale is the first jump j / capacity that lets out enough.
    """
    worst = Fraction(0)
    for _, count, leaving in cuts(topology):
        jumps = sorted({Fraction(j) / c for c in leaving for j in range(1, trees * count + 1)})
        worst = max(
            worst,
            next(u for u in jumps if sum(int(u * c) for c in leaving) >= trees * count),
        )
    return worst / trees / worst_ratio(topology) - 1


def test_four_boxes_of_mi250_need_three_trees_and_cuts_forbid_fewer() -> None:
    boxes = fabric("mi250-4")
    best = optimum(boxes)
    assert (best.trees_per_root, best.inverse_rate, best.least) == (3, Fraction(3, 16), True)
    # With eight, all links are full.
    assert optimum(boxes, 8).inverse_rate == best.inverse_rate
    sizes = dict.fromkeys(boxes.compute_nodes, 1)
    for fewer in (1, 2):
        slower = optimum(boxes, fewer)
        proven = cut_inverse_rate(boxes, slower.bottleneck, sizes, trees_per_root=fewer)
        assert proven == slower.inverse_rate > best.inverse_rate
    schedule = allgather(boxes)
    assert schedule.trees_per_root == 3
    assert violations(schedule, boxes) == []
    assert tree_inverse_rate(schedule, boxes) == best.inverse_rate


@for_every("gap", GAPS)
@for_every("seed", range(6))
def test_the_number_of_trees_is_the_first_that_is_within_the_gap(seed: int, gap: Fraction) -> None:
    rng = random.Random(6000 + seed)
    topology = random_topology(rng)
    while topology.node_count > 6 or optimum(topology).trees_per_root > 12:
        topology = random_topology(rng)
    found = optimum(topology, max_gap=gap)
    first = next(k for k in range(1, 13) if slowdown(topology, k) <= gap)
    assert found.trees_per_root == first
    assert found.gap == slowdown(topology, first)
    if not gap:
        least = optimum(topology)
        assert not least.least or least.trees_per_root == first


def test_the_best_rate_may_fall_with_more_trees_and_none_are_skipped() -> None:
    wheel = Topology(range(3), [(i, (i + step) % 3, 1 + step) for i in range(3) for step in (1, 2)])
    gaps = [optimum(wheel, k).gap for k in range(1, 8)]
    assert gaps != sorted(gaps, reverse=True)
    for most in {*gaps, Fraction(1, 10), Fraction(1, 23)}:
        found = optimum(wheel, max_gap=most)
        assert found.trees_per_root == 1 + next(i for i, gap in enumerate(gaps) if gap <= most)


@for_every("seed", range(30))
def test_the_number_that_is_enough_is_within_the_gap(seed: int) -> None:
    topology = random_topology(random.Random(7000 + seed))
    least = optimum(topology)
    for gap in GAPS[1:]:
        found = optimum(topology, max_gap=gap)
        totals: dict[object, Fraction] = {}
        for source, target, capacity in topology.links:
            totals[source, target] = totals.get((source, target), Fraction(0)) + capacity
        enough = 1 / (least.inverse_rate * gap * min(totals.values()))
        bound = min(least.trees_per_root, -(-enough.numerator // enough.denominator))
        assert found.trees_per_root <= bound
        assert optimum(topology, bound).gap <= gap
        assert found.gap <= gap


def test_links_that_no_bottleneck_needs_are_left_unused_for_fewer_trees() -> None:
    # The way back is the bottleneck; with five trees the way there would be full too.
    pair = Topology(range(2), [(0, 1, 7), (1, 0, 5)])
    best = optimum(pair)
    assert (best.trees_per_root, best.least) == (1, True)
    assert best.inverse_rate == optimum(pair, 5).inverse_rate
    assert allgather(pair).trees_per_root == 1


def lopsided() -> Topology:
    """A fabric where one tree passes every cut, but a switch would have to copy."""
    cables = [("c0", "w1", 4, 8), ("c1", "w1", 7, 7), ("c2", "w0", 3, 3), ("c2", "w1", 10, 10)]
    return Topology(
        ["c0", "c1", "c2", "w0", "w1"],
        [link for s, t, room, back in cables for link in ((s, t, room), (t, s, back))],
        switches=["w0", "w1"],
    )


def test_a_number_of_trees_that_would_make_a_switch_copy_is_passed_over_and_said() -> None:
    fabric_with_trap = lopsided()
    best = optimum(fabric_with_trap)
    assert (best.trees_per_root, best.least) == (7, False)
    with pytest.raises(NoSchedule, match="only forwards"):
        allgather(fabric_with_trap, 1)
    for schedule in (allgather(fabric_with_trap), allgather(fabric_with_trap, max_gap=0)):
        assert schedule.trees_per_root == 7
        assert violations(schedule, fabric_with_trap) == []
        assert tree_inverse_rate(schedule, fabric_with_trap) == best.inverse_rate


@for_every("gap", [Fraction(0), Fraction(1, 1000), Fraction(1, 20)])
def test_every_gap_has_trees_where_a_link_is_lost_in_one_direction(gap: Fraction) -> None:
    whole = fabric("dgx-h100-2")
    links = [link for link in whole.links if link[:2] != ("0.gpu0", "0.nvswitch")]
    topology = Topology(whole.nodes, links, switches=whole.switches)
    found = optimum(topology, max_gap=gap)
    schedule = allgather(topology, max_gap=gap)
    assert schedule.trees_per_root == found.trees_per_root
    assert violations(schedule, topology) == []
    # The rate of the optimum counts the capacities that switches can use; links may have more.
    assert tree_inverse_rate(schedule, topology) <= found.inverse_rate
    assert found.inverse_rate <= optimum(topology).inverse_rate * (1 + gap)


def test_where_telling_would_take_long_all_links_are_full_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "MAX_TREE_COUNT_VISITS", 0)
    best = optimum(fabric("mi250-4"))
    assert (best.trees_per_root, best.least) == (8, False)
    # Where the bottleneck alone forbids fewer, nothing is tried.
    assert optimum(fabric("mi250-2")).least


@pytest.mark.parametrize(
    ("name", "gap", "trees", "proven"),
    [
        ("dgx-a100-2", Fraction(1, 100), 7, Fraction(1, 1260)),
        ("dgx-a100-2", Fraction(1, 90), 1, Fraction(1, 90)),
        ("mi250-2", Fraction(1, 100), 9, Fraction(28, 3375)),
        ("dgx-h100-4", Fraction(1, 100), 1, Fraction(1, 279)),
    ],
)
def test_few_trees_serve_known_fabrics(
    name: str, gap: Fraction, trees: int, proven: Fraction
) -> None:
    topology = fabric(name)
    found = optimum(topology, max_gap=gap)
    assert (found.trees_per_root, found.gap) == (trees, proven)
    assert found.inverse_rate == optimum(topology).inverse_rate * (1 + proven)
    schedule = allgather(topology, max_gap=gap)
    assert schedule.trees_per_root == trees
    assert violations(schedule, topology) == []
    assert tree_inverse_rate(schedule, topology) == found.inverse_rate


def test_the_optimum_has_no_gap_and_a_given_number_of_trees_its_own() -> None:
    assert optimum(torus(3, 3)).gap == 0
    best = optimum(fabric("dgx-a100-2"))
    few = optimum(fabric("dgx-a100-2"), 1)
    assert few.gap == few.inverse_rate / best.inverse_rate - 1 == Fraction(1, 90)


def test_every_part_of_an_allreduce_is_within_the_gap() -> None:
    topology = fabric("dgx-a100-2")
    both = make(topology, "allreduce", "forestcoll", max_gap=Fraction(1, 50))
    assert violations(both, topology) == []
    least = optimum(topology).inverse_rate + optimum(topology.transpose()).inverse_rate
    assert tree_inverse_rate(both, topology) <= least * Fraction(51, 50)


@pytest.mark.parametrize("gap", [-1, Fraction(-1, 100), 0.01, "1/100", True])
def test_a_gap_that_is_negative_or_not_exact_is_refused(gap) -> None:
    with pytest.raises(NoSchedule) as caught:
        optimum(torus(3), max_gap=gap)
    assert caught.value.field == "max_gap"


def test_a_gap_goes_neither_with_a_number_of_trees_nor_with_bfb() -> None:
    with pytest.raises(NoSchedule) as caught:
        optimum(torus(3), 2, max_gap=1)
    assert caught.value.field == "max_gap"
    with pytest.raises(NoSchedule) as caught:
        make(torus(3), "allgather", "bfb", max_gap=1)
    assert caught.value.field == "/max_gap"


def test_a_search_that_would_not_end_soon_is_refused_with_a_number_that_is_enough(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "MAX_TREES_TRIED", 3)
    wheel = Topology(range(3), [(i, (i + step) % 3, 1 + step) for i in range(3) for step in (1, 2)])
    with pytest.raises(TooLarge, match=r"more than 3 trees per root.*5 suffice"):
        optimum(wheel, max_gap=0)
