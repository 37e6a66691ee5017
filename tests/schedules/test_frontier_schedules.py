"""Every topology that a frontier answers with has schedules that keep its promise in time."""

from collections import Counter
from fractions import Fraction

import pytest

from topoloom.schedules.generate.collectives import make
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.simulate import Network, lockstep, simulate
from topoloom.schedules.trees.forestcoll import optimum
from topoloom.schedules.verify import tree_inverse_rate, violations
from topoloom.synth.evaluation.cost import Links
from topoloom.synth.recipes.build import build
from topoloom.synth.search.frontier import frontier

ALPHA = Fraction(10, 10**6)
RATE = Fraction(100 * 10**9, 8)
DEGREE = 4
SIZE = 2**20
NETWORK = Network(ALPHA, RATE / DEGREE)

LARGE = (128, 256)
BY_LABELS = [
    (61, 3, Links.UNIDIRECTIONAL),
    (53, 4, Links.UNIDIRECTIONAL),
    (29, 2, Links.UNIDIRECTIONAL),
    (46, 3, Links.BIDIRECTIONAL),
    (59, 4, Links.BIDIRECTIONAL),
]
"""Sizes, primes among them, at which labels win."""
SAMPLE = (5, 6, 9, 12, 16, 21, 31, 32, 45, 64)


def check(nodes, links):
    found = frontier(nodes, DEGREE, links)
    for point in found.points:
        topology = build(point.recipe)
        steps = make(topology, Collective.ALLREDUCE, point.algorithm, steps=point.within)
        assert violations(steps, topology) == [], point
        taken = [
            simulate(part, topology, NETWORK, size_bytes=SIZE, synchronous=True)
            for part in steps.parts
        ]
        for cost, part in zip((point.transpose, point.cost), taken, strict=True):
            assert part.seconds == cost.steps * ALPHA + cost.bandwidth * SIZE / RATE, point
        assert (
            simulate(steps, topology, NETWORK, size_bytes=SIZE).seconds
            <= taken[0].seconds + taken[1].seconds
        )
        check_forest(topology)


def check_forest(topology):
    both = make(topology, Collective.ALLREDUCE, "forestcoll")
    assert violations(both, topology) == []
    in_turn = 0
    passes = {Collective.REDUCE_SCATTER: topology.transpose(), Collective.ALLGATHER: topology}
    for collective, graph in passes.items():
        part = make(topology, collective, "forestcoll")
        rate = optimum(graph).inverse_rate
        in_turn += rate
        assert tree_inverse_rate(part, topology) == rate
        closed = lockstep(part, topology, NETWORK, size_bytes=SIZE)
        for chunks in {1, closed.best_chunks()}:
            waiting = simulate(
                part, topology, NETWORK, size_bytes=SIZE, chunks=chunks, synchronous=True
            )
            assert waiting.seconds == closed.seconds(chunks)
            free = simulate(part, topology, NETWORK, size_bytes=SIZE, chunks=chunks)
            bound = rate / topology.node_count * SIZE / NETWORK.unit_bytes_per_second
            assert max(closed.depth * ALPHA, bound + ALPHA) <= free.seconds <= waiting.seconds
            assert max(free.busy_seconds) == bound
    assert tree_inverse_rate(both, topology) <= in_turn


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize("links", list(Links))
@pytest.mark.parametrize("nodes", SAMPLE)
def test_schedules_of_a_frontier_take_what_it_says(nodes, links):
    check(nodes, links)


@pytest.mark.parametrize(("nodes", "degree", "links"), BY_LABELS)
def test_points_by_labels_are_better_than_those_by_broadcast_and_their_schedules_keep_it(
    nodes, degree, links
):
    found = frontier(nodes, degree, links)
    eager = frontier(nodes, degree, links, schedule="bfb")
    assert {point.algorithm for point in eager.points} == {"bfb"}
    slack = [point for point in found.points if point.algorithm == "slack"]
    assert slack
    for point in slack:
        within = [one.cost.bandwidth for one in eager.points if one.cost.steps <= point.within]
        assert point.cost.bandwidth < min(within, default=nodes)
        assert max(point.cost.steps, point.transpose.steps) <= point.within
        topology = build(point.recipe)
        for collective, turned, cost in (
            ("allgather", topology, point.cost),
            ("reduce-scatter", topology.transpose(), point.transpose),
        ):
            schedule = make(topology, collective, point.algorithm, steps=point.within)
            assert violations(schedule, topology) == []
            assert busiest(schedule, degree) == (cost.steps, cost.bandwidth)
            assert turned.node_count == nodes


def busiest(schedule, degree):
    """Return steps and T_B, summed here from the sends alone."""
    total = Fraction(0)
    for step in schedule.steps:
        load = Counter()
        for row in step:
            load[row["source"], row["target"], row["link"]] += int(row["count"])
        total += Fraction(max(load.values()), schedule.chunks_per_shard)
    return len(schedule.steps), total * degree / len(schedule.ranks)


@pytest.mark.slow
@pytest.mark.parametrize("links", list(Links))
@pytest.mark.parametrize("nodes", LARGE)
def test_schedules_of_a_large_frontier_take_what_it_says(nodes, links):
    check(nodes, links)


@pytest.mark.exhaustive
@pytest.mark.parametrize("links", list(Links))
@pytest.mark.parametrize("nodes", sorted(set(range(5, 257)) - {*SAMPLE, *LARGE}))
def test_schedules_of_every_frontier_take_what_it_says(nodes, links):
    check(nodes, links)
