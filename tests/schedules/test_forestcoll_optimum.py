import random
from fractions import Fraction

import pytest

from tests.cases import for_every
from tests.flow_oracles import flow_rate
from tests.oracles import (
    least_packing_scale,
    packs,
    random_topology,
    torus,
    worst_ratio,
)
from topoloom.schedules.errors import NoSchedule, TooLarge
from topoloom.schedules.trees.flow.optimality import least_scale
from topoloom.schedules.trees.forestcoll import optimum
from topoloom.schedules.verify.cuts import weighted_inverse_rate
from topoloom.synth.errors import InvalidTopology, Unreachable
from topoloom.synth.fabrics import fabric
from topoloom.synth.topology.topology import Topology

KNOWN = [
    ("dgx-1v", None, 6, Fraction(1200, 7)),
    ("dgx-a100-1", None, 1, Fraction(2400, 7)),
    ("dgx-a100-2", None, 13, Fraction(1040, 3)),
    ("dgx-a100-2", 1, 1, Fraction(2400, 7)),
    ("dgx-a100-3", None, 1, Fraction(300)),
    ("dgx-a100-4", None, 1, Fraction(800, 3)),
    ("dgx-a100-8", None, 1, Fraction(1600, 7)),
    ("dgx-h100-1", None, 1, Fraction(3600, 7)),
    ("dgx-h100-2", None, 2, Fraction(1600, 3)),
    ("dgx-h100-4", None, 10, Fraction(16000, 31)),
    ("dgx-h100-8", None, 1, Fraction(3200, 7)),
    ("gb200-nvl72", None, 1, Fraction(72 * 900, 71)),
    ("mi250-1", None, 3, Fraction(2400, 7)),
    ("mi250-1", 1, 1, Fraction(800, 3)),
    ("mi250-2", None, 83, Fraction(354125, 1000) + Fraction(1, 120)),
    ("mi250-2", 1, 1, Fraction(320)),
    ("mi300x", None, 1, Fraction(512)),
]


@pytest.mark.parametrize(("name", "given", "trees", "algbw"), KNOWN)
def test_a_known_fabric_has_its_known_optimum(
    name: str, given: int | None, trees: int, algbw: Fraction
) -> None:
    best = optimum(fabric(name), given)
    assert (best.trees_per_root, best.algbw) == (trees, algbw)


@pytest.mark.parametrize(
    ("sides", "trees", "algbw"),
    [((4, 4), 4, Fraction(640, 3)), ((4, 4, 4), 2, Fraction(64 * 300, 63))],
)
def test_a_torus_is_limited_by_what_enters_a_node(
    sides: tuple[int, ...], trees: int, algbw: Fraction
) -> None:
    best = optimum(torus(*sides, capacity=50))
    assert (best.trees_per_root, best.algbw) == (trees, algbw)


@for_every("seed", range(200))
def test_the_optimum_is_the_worst_of_all_cuts(seed: int) -> None:
    topology = random_topology(random.Random(seed))
    best = optimum(topology)
    if best.proof is None:
        assert best.inverse_rate == worst_ratio(topology)
        return
    # Some node that only forwards cannot pass on what the cuts count.
    assert best.inverse_rate > worst_ratio(topology)
    ranks = dict.fromkeys(topology.compute_nodes, 1)
    assert float(best.algbw) == pytest.approx(flow_rate(topology, ranks, "o"))
    proven = weighted_inverse_rate(
        topology,
        [(cut.nodes, cut.weight) for cut in best.proof.cuts],
        best.proof.copying,
        ranks,
    )
    assert proven == best.inverse_rate


@for_every("seed", range(40))
def test_the_bottleneck_is_a_cut_that_attains_the_optimum(seed: int) -> None:
    topology = random_topology(random.Random(seed))
    best = optimum(topology)
    inside = best.bottleneck
    computes = set(topology.compute_nodes)
    assert inside is not None
    assert computes - inside
    exits = sum(c for s, t, c in topology.links if s in inside and t not in inside)
    assert (best.compute_inside, best.exit_capacity) == (len(inside & computes), exits)
    assert Fraction(best.compute_inside) / best.exit_capacity == best.inverse_rate


@for_every("seed", range(40))
def test_the_trees_per_root_are_the_fewest_that_reach_the_optimum(seed: int) -> None:
    topology = random_topology(random.Random(seed))
    best = optimum(topology)
    trees = best.trees_per_root
    assert best.unit_bandwidth * trees * best.inverse_rate == 1
    assert packs(topology, 1 / best.unit_bandwidth, trees)
    totals: dict[object, Fraction] = {}
    for source, target, capacity in topology.links:
        totals[source, target] = totals.get((source, target), Fraction(0)) + capacity
    for fewer in range(1, min(trees, 40)):
        scale = fewer * best.inverse_rate
        # Whole on every link is what the paper asks of the best k.
        assert any((scale * total).denominator > 1 for total in totals.values())


@pytest.mark.slow
@for_every("trees", [1, 2, 3, 5])
@for_every("seed", range(30))
def test_with_given_trees_the_scale_is_the_least_that_packs(seed: int, trees: int) -> None:
    topology = random_topology(random.Random(1000 + seed))
    best = optimum(topology, trees)
    if best.trimmed:
        assert 1 / best.unit_bandwidth >= least_packing_scale(topology, trees)
        return
    assert 1 / best.unit_bandwidth == least_packing_scale(topology, trees)
    assert best.inverse_rate * trees * best.unit_bandwidth == 1
    assert best.trees_per_root == trees


@for_every("seed", range(20))
def test_with_given_trees_the_bottleneck_cannot_carry_them_any_faster(seed: int) -> None:
    topology = random_topology(random.Random(2000 + seed), balanced=seed % 2 == 0)
    best = optimum(topology, 2)
    if best.trimmed:
        return
    inside = best.bottleneck
    assert inside is not None
    totals: dict[object, Fraction] = {}
    for source, target, capacity in topology.links:
        if source in inside and target not in inside:
            totals[source, target] = totals.get((source, target), Fraction(0)) + capacity
    scale = 1 / best.unit_bandwidth

    def trees_out(at: Fraction) -> int:
        return sum(int(at * total) for total in totals.values())

    # Just below the scale: closer than any two multiples of the capacities can be.
    before = scale - Fraction(1, 10**9)
    assert trees_out(scale) >= 2 * best.compute_inside > trees_out(before)


@pytest.mark.parametrize("factor", [Fraction(1, 7), Fraction(22, 3), Fraction(10**9)])
def test_the_rate_scales_with_the_capacities(factor: Fraction) -> None:
    topology = random_topology(random.Random(5))
    scaled = Topology(
        topology.nodes,
        [(s, t, c * factor) for s, t, c in topology.links],
        switches=topology.switches,
    )
    before, after = optimum(topology), optimum(scaled)
    assert after.inverse_rate == before.inverse_rate / factor
    assert after.trees_per_root == before.trees_per_root
    assert after.bottleneck == before.bottleneck


def test_more_trees_than_needed_keep_the_optimum_at_multiples_of_the_fewest() -> None:
    best = optimum(fabric("dgx-h100-2"))
    assert best.trees_per_root == 2
    assert optimum(fabric("dgx-h100-2"), 6).inverse_rate == best.inverse_rate


@for_every("demand", range(1, 40))
def test_the_least_scale_of_a_cut_is_the_first_jump_that_suffices(demand: int) -> None:
    capacities = [2, 3, 3, 7]
    jumps = sorted({Fraction(j, b) for b in capacities for j in range(1, 60)})
    first = next(u for u in jumps if sum(int(u * b) for b in capacities) >= demand)
    assert least_scale(capacities, demand) == first


def test_a_single_compute_node_has_no_collective() -> None:
    with pytest.raises(InvalidTopology, match="two compute nodes"):
        optimum(Topology(["a", "s"], [("a", "s"), ("s", "a")], switches=["s"]))


def test_compute_nodes_must_reach_each_other() -> None:
    with pytest.raises(Unreachable):
        optimum(Topology(range(3), [(0, 1), (1, 0), (1, 2)]))


@pytest.mark.parametrize("trees", [0, -3])
def test_less_than_one_tree_per_root_is_refused(trees: int) -> None:
    with pytest.raises(NoSchedule) as caught:
        optimum(torus(3), trees)
    assert caught.value.field == "trees_per_root"


def test_capacities_that_do_not_fit_the_machine_are_refused() -> None:
    with pytest.raises(TooLarge, match=r"2\*\*62"):
        optimum(Topology(range(2), [(0, 1, 2**62), (1, 0, 1)]))
    with pytest.raises(TooLarge):
        tiny = Fraction(1, 2**40) + Fraction(1, 3**30)
        optimum(Topology(range(2), [(0, 1, tiny), (1, 0, 1)]))
