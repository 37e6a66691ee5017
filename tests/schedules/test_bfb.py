"""Breadth-first-broadcast schedules: valid, as cheap as measured, cut no finer than needed."""

from collections import Counter
from fractions import Fraction
from math import lcm

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import for_every
from tests.synth.catalogue import LARGER, MATCHED
from topoloom.schedules.errors import NoSchedule, TooLarge
from topoloom.schedules.model.schedule import NO_LINK, Collective, StepSchedule
from topoloom.schedules.steps import bfb
from topoloom.schedules.verify import step_cost, violations
from topoloom.synth.errors import Unreachable
from topoloom.synth.evaluation.measure import measure, step_loads
from topoloom.synth.families import FAMILIES
from topoloom.synth.recipes.build import build, size
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.topology.topology import Topology

TOPOLOGIES = [
    "Circulant(12, 2, 3)",
    "CompleteBipartite(4)",
    "Complete(7)",
    "Diamond()",
    "GeneralizedKautz(3, 20)",
    "GeneralizedKautz(5, 31)",
    "Hypercube(5)",
    "LineGraph(2, CompleteBipartite(2))",
    "ModifiedDeBruijn(2, 4)",
    "Power(2, BiRing(5))",
    "Product(UniRing(3), UniRing(4))",
    "Torus(3, 4, 2)",
    "UniRing(5, 3)",
]


def run(schedule: StepSchedule, topology: Topology) -> list[Counter[tuple[int, int, int]]]:
    """Play an allgather chunk by chunk; return the chunks over each link, by step.

    Raises AssertionError if a chunk is sent before it is held, or missing at the end.
    """
    chunks = schedule.chunks_per_shard
    nodes = topology.node_count
    links = Counter(zip(topology.sources.tolist(), topology.targets.tolist(), strict=True))
    held = [{(rank, chunk) for chunk in range(chunks)} for rank in range(nodes)]
    loads = []
    for step in schedule.steps:
        arriving: list[set[tuple[int, int]]] = [set() for _ in range(nodes)]
        load: Counter[tuple[int, int, int]] = Counter()
        for source, target, shard, first, count, link, _ in step.tolist():
            pieces = {(shard, chunk) for chunk in range(first, first + count)}
            assert pieces <= held[source], "sent before it was held"
            assert (link == NO_LINK) == (links[source, target] == 1)
            assert max(link, 0) < links[source, target]
            arriving[target] |= pieces
            load[source, target, link] += count
        held = [old | new for old, new in zip(held, arriving, strict=True)]
        loads.append(load)
    assert all(len(pieces) == nodes * chunks for pieces in held), "a chunk is missing"
    return loads


@pytest.mark.parametrize("text", TOPOLOGIES)
def test_every_rank_ends_with_every_chunk_at_the_measured_load_of_each_step(text: str) -> None:
    topology = build(parse(text))
    schedule = bfb.allgather(topology)
    loads = run(schedule, topology)
    heaviest = tuple(Fraction(max(load.values()), schedule.chunks_per_shard) for load in loads)
    assert heaviest == step_loads(topology)


@pytest.mark.parametrize("text", TOPOLOGIES)
def test_the_checker_finds_nothing_wrong_and_derives_the_measured_cost(text: str) -> None:
    topology = build(parse(text))
    schedule = bfb.allgather(topology)
    assert schedule.collective is Collective.ALLGATHER
    assert violations(schedule, topology) == []
    assert step_cost(schedule, topology) == measure(topology)


@pytest.mark.slow
@for_every("family", FAMILIES)
def test_every_family_of_the_catalogue_gets_a_valid_schedule(family) -> None:
    members = [base for base in [*MATCHED, *LARGER] if type(base) is family]
    members.sort(key=lambda base: (size(base), str(base)))
    for base in members[:4]:
        topology = build(base)
        schedule = bfb.allgather(topology)
        assert violations(schedule, topology) == []
        assert step_cost(schedule, topology) == measure(topology)


@pytest.mark.parametrize("text", TOPOLOGIES)
def test_chunks_are_as_few_as_the_loads_allow(text: str) -> None:
    topology = build(parse(text))
    schedule = bfb.allgather(topology)
    loads = step_loads(topology)
    assert schedule.chunks_per_shard == lcm(*(load.denominator for load in loads))
    fewer = range(1, schedule.chunks_per_shard)
    assert all(any((load * chunks).denominator > 1 for load in loads) for chunks in fewer)


@given(st.integers(2, 9), st.randoms(use_true_random=False))
def test_random_digraphs_get_valid_schedules(nodes: int, rng) -> None:
    ring = [(i, (i + 1) % nodes) for i in range(nodes)]
    pairs = [(i, j) for i in range(nodes) for j in range(nodes) if i != j]
    topology = Topology(range(nodes), ring + rng.choices(pairs, k=2 * nodes))
    schedule = bfb.allgather(topology)
    run(schedule, topology)
    assert step_cost(schedule, topology) == measure(topology)


def test_the_same_topology_gets_the_same_schedule() -> None:
    topology = build(parse("GeneralizedKautz(4, 60)"))
    once, again = bfb.allgather(topology), bfb.allgather(topology)
    assert all(np.array_equal(a, b) for a, b in zip(once.steps, again.steps, strict=True))


def test_ids_need_not_be_numbers() -> None:
    named = Topology(["x", "y"], [("x", "y"), ("y", "x")])
    assert bfb.allgather(named).ranks == ("x", "y")


def test_switches_and_unequal_links_are_left_to_forestcoll() -> None:
    switched = Topology("abs", [("a", "s"), ("s", "a"), ("b", "s"), ("s", "b")], switches="s")
    with pytest.raises(NoSchedule, match=r"/algorithm: .*use forestcoll"):
        bfb.allgather(switched)
    with pytest.raises(NoSchedule, match="one capacity; use slack for few steps or forestcoll"):
        bfb.allgather(Topology("ab", [("a", "b", 2), ("b", "a", 1)]))


def test_a_graph_that_is_not_connected_is_refused() -> None:
    with pytest.raises(Unreachable):
        bfb.allgather(Topology(range(3), [(0, 1), (1, 0), (0, 2)]))


def test_too_many_sends_are_refused_before_any_work() -> None:
    with pytest.raises(TooLarge, match="/topology: needs at least 24995000 sends"):
        bfb.allgather(build(parse("UniRing(5000)")))
