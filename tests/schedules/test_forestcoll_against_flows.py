"""Optima and forests held against a plain linear program over flows, on fabrics of all kinds.

The fabrics have switches, which may copy and add up, unequal and one-way links, and groups that do
not use all of them.
"""

import random
from collections.abc import Mapping
from fractions import Fraction
from itertools import product

import pytest

from tests.flow_oracles import copying_rate, flow_rate
from tests.oracles import random_topology
from topoloom.schedules.errors import InvalidSchedule
from topoloom.schedules.generate.collectives import make
from topoloom.schedules.model.schedule import Collective, Schedule, TreeSchedule, schedule_parts
from topoloom.schedules.optimum.collective_optimum import CollectiveOptimum, collective_optimum
from topoloom.schedules.options import Options
from topoloom.schedules.trees.forestcoll import optimum
from topoloom.schedules.verify import tree_inverse_rate, violations
from topoloom.schedules.verify.cuts import pattern_inverse_rate
from topoloom.synth.topology.topology import NodeId, Topology

COLLECTIVES = ("allgather", "reduce-scatter", "allreduce", "broadcast", "reduce")


def question(seed: int) -> tuple[Topology, tuple[NodeId, ...]]:
    rng = random.Random(seed)
    topology = random_topology(rng, balanced=seed % 5 == 0)
    nodes = topology.compute_nodes
    chosen = set(rng.sample(nodes, rng.randint(2, len(nodes)))) if seed % 3 else set(nodes)
    return topology, tuple(node for node in nodes if node in chosen)


def algbw(schedule: Schedule, topology: Topology) -> Fraction:
    first = schedule_parts(schedule)[0]
    assert isinstance(first, TreeSchedule)
    return sum(first.sizes) / tree_inverse_rate(schedule, topology)


def oracle(topology: Topology, collective: Collective, ranks: Mapping[NodeId, int]) -> float:
    if collective is not Collective.ALLREDUCE:
        return flow_rate(topology, ranks, "o" if collective.outward else "i")
    return flow_rate(topology, ranks, "oi", free=True)


# Seeds that are multiples of 3 and of 5 are variants.
@pytest.mark.one_in(91, slow=7)
@pytest.mark.parametrize("seed", range(500))
def test_the_optimum_is_that_of_the_flows_and_the_schedule_reaches_it(seed: int) -> None:
    topology, ranks = question(seed)
    for collective in map(Collective.of, COLLECTIVES):
        root = ranks[seed % len(ranks)] if collective.has_root else None
        best = collective_optimum(topology, collective, Options(root=root, participants=ranks))
        sizes = {rank: int(root in (None, rank)) for rank in ranks}
        assert float(best.algbw) == pytest.approx(oracle(topology, collective, sizes), rel=1e-7)
        schedule = make(topology, collective, "forestcoll", root=root, participants=ranks)
        assert violations(schedule, topology) == []
        assert algbw(schedule, topology) == best.algbw


def copying_fabric(rng: random.Random) -> Topology:
    """Return ranks around switches most of which copy, and let out more than they take in."""
    ranks = [f"c{i}" for i in range(rng.randint(2, 4))]
    switches = [f"w{i}" for i in range(rng.randint(1, 3))]
    while True:
        links: list[tuple[str, str, int]] = []
        for rank, switch in product(ranks, switches):
            if rng.random() < 0.6:
                links += [(rank, switch, rng.randint(1, 4)), (switch, rank, rng.randint(1, 6))]
        for _ in range(rng.randint(0, 4)):
            source, target = rng.sample(ranks + switches, 2)
            links.append((source, target, rng.randint(1, 4)))
        able = [switch for switch in switches if rng.random() < 0.8]
        topology = Topology(ranks + switches, links, switches=switches, multicast=able)
        try:
            topology.require_connected()
        except ValueError:
            continue
        return topology


def proven(best: CollectiveOptimum) -> tuple[Fraction, bool]:
    """Return what nothing beats, in bytes per unit of time, and whether it is reached."""
    if best.together is not None:
        return best.together.algbw, best.together.exact
    only = best.passes[0]
    return only.data / (only.bound or only.inverse_rate), only.bound is None


@pytest.mark.one_in(19, slow=7)
@pytest.mark.parametrize("seed", range(150))
def test_what_switches_that_copy_allow_is_proven_and_reached_where_it_says_so(seed: int) -> None:
    topology = copying_fabric(random.Random(seed))
    ranks = topology.compute_nodes
    for collective in map(Collective.of, COLLECTIVES):
        root = ranks[seed % len(ranks)] if collective.has_root else None
        best = collective_optimum(topology, collective, Options(root=root))
        sizes = {rank: int(root in (None, rank)) for rank in ranks}
        most, exact = proven(best)
        assert float(most) <= oracle(topology, collective, sizes) * (1 + 1e-7)
        if collective is not Collective.ALLREDUCE:
            assert exact
            way = "o" if collective.outward else "i"
            assert float(most) == pytest.approx(copying_rate(topology, sizes, way), rel=1e-7)
        schedule = make(topology, collective, "forestcoll", root=root)
        assert violations(schedule, topology) == []
        assert algbw(schedule, topology) == best.algbw
        assert not exact or best.algbw == most


def test_a_switch_that_copies_lets_out_more_than_it_takes_in() -> None:
    links = [(rank, "w", 1) for rank in "abcd"] + [("w", rank, 2) for rank in "abcd"]
    plain = Topology("abcdw", links, switches="w")
    able = Topology("abcdw", links, switches="w", multicast="w")
    rates = [
        collective_optimum(one, Collective.ALLGATHER, Options()).algbw for one in (plain, able)
    ]
    assert rates == [Fraction(4, 3), Fraction(8, 3)]
    # Nothing is added up on the way out.
    backwards = collective_optimum(able, Collective.REDUCE_SCATTER, Options())
    assert backwards.algbw == Fraction(4, 3)


def test_trees_of_a_butterfly_are_copied_at_different_switches() -> None:
    # The cuts allow 2; with copying alone 3/2 can be sent, half of it over each of three trees.
    wires = [("s", "u"), ("s", "v"), ("u", "a"), ("v", "b"), ("u", "m"), ("v", "m")]
    wires += [("m", "n"), ("n", "a"), ("n", "b")]
    butterfly = Topology("sabuvmn", wires, switches="uvmn", multicast="uvmn")
    best = collective_optimum(butterfly, Collective.BROADCAST, Options(root="s"))
    assert proven(best) == (Fraction(3, 2), True)
    only = best.passes[0]
    assert only.trees_per_root == 3
    assert only.proof is not None
    assert len(only.proof.patterns) == 16
    schedule = make(butterfly, "broadcast", "forestcoll", root="s")
    assert violations(schedule, butterfly) == []
    assert algbw(schedule, butterfly) == best.algbw
    turned = butterfly.transpose()
    assert algbw(make(turned, "reduce", "forestcoll", root="s"), turned) == Fraction(3, 2)


def test_a_proof_by_patterns_of_copies_needs_every_pattern() -> None:
    links = [("a", "w", 1), ("w", "b", 1), ("w", "c", 1), ("b", "a", 3), ("c", "a", 3)]
    lame = Topology("abcw", links, switches="w", multicast="w")
    best = optimum(lame)
    assert best.proof is not None
    patterns = {
        frozenset(one.copying): ([(cut.nodes, cut.weight) for cut in one.cuts], one.prices)
        for one in best.proof.pattern_cuts
    }
    ranks = dict.fromkeys("abc", 1)
    assert pattern_inverse_rate(lame, patterns, ranks) == best.inverse_rate == 3
    del patterns[frozenset()]
    with pytest.raises(InvalidSchedule, match="every set of the multicast switches"):
        pattern_inverse_rate(lame, patterns, ranks)
