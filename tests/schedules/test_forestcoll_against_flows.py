"""Optima and forests held against a plain linear program over flows, on fabrics of all kinds.

The fabrics have switches, unequal and one-way links, and groups that do not use all of them.
"""

import random
from collections.abc import Mapping
from fractions import Fraction

import pytest

from schedules.collectives import make
from schedules.model import Collective, Schedule, parts_of
from schedules.optima import collective_optimum
from schedules.options import Options
from schedules.verify import tree_inverse_rate, violations
from synth.topology import NodeId, Topology
from tests.flow_oracles import flow_rate
from tests.oracles import random_topology

COLLECTIVES = ("allgather", "reduce-scatter", "allreduce", "broadcast", "reduce")

SEEDS = [*range(30), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(30, 500))]


def question(seed: int) -> tuple[Topology, tuple[NodeId, ...]]:
    rng = random.Random(seed)
    topology = random_topology(rng, balanced=seed % 5 == 0)
    nodes = topology.compute_nodes
    chosen = set(rng.sample(nodes, rng.randint(2, len(nodes)))) if seed % 3 else set(nodes)
    return topology, tuple(node for node in nodes if node in chosen)


def algbw(schedule: Schedule, topology: Topology) -> Fraction:
    return sum(parts_of(schedule)[0].sizes) / tree_inverse_rate(schedule, topology)


def oracle(topology: Topology, collective: Collective, ranks: Mapping[NodeId, int]) -> float:
    if collective is not Collective.ALLREDUCE:
        return flow_rate(topology, ranks, "o" if collective.outward else "i")
    return flow_rate(topology, ranks, "oi", free=True)


@pytest.mark.parametrize("seed", SEEDS)
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
