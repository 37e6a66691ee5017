"""Steps whose messages and chunks cost time: what is chosen is what the schedule takes."""

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topoloom.schedules.baselines import Operation
from topoloom.schedules.compare.topology_algorithms import TopologyCosts, topology_candidates
from topoloom.schedules.design import Generators, Hosts, Limits, Speed, Task, Workload, design
from topoloom.schedules.design.sources import loads_on
from topoloom.schedules.generate.collectives import make
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.simulate import Network, simulate
from topoloom.schedules.steps.chunking import best_chunks, chunk_options, exact_chunks, whole_loads
from topoloom.synth.evaluation.measure import measure_both
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.search.frontier import Point, frontier
from topoloom.synth.topology.rates import node_capacity

ALPHA, RATE = Fraction(1, 10**5), Fraction(125 * 10**8)
loads = st.lists(st.fractions(Fraction(1, 4), 20, max_denominator=12), min_size=1, max_size=5)


@given(loads, st.integers(1, 40))
def test_a_ladder_holds_every_number_of_chunks_that_is_the_best_of_some_bound(parts, most):
    rungs = {one.chunks: one.carried for one in chunk_options(parts, most)}
    for bound in range(1, most + 1):
        chosen = best_chunks(parts, bound)
        assert rungs[chosen] == sum(whole_loads(parts, chosen))
    assert max(rungs) == exact_chunks(parts)
    assert rungs[exact_chunks(parts)] == exact_chunks(parts) * sum(parts)


@pytest.mark.parametrize("recipe", ["BiRing(4)", "GeneralizedKautz(3, 11)", "Torus(3, 4)"])
@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
def test_every_line_is_the_simulated_time_of_its_schedule(recipe, collective):
    topology = build(parse(recipe))
    costs = measure_both(topology)
    told = loads_on(topology, Point(parse(recipe), *costs))
    work = Operation(Collective(collective), 10**6, RATE, ALPHA, ALPHA / 7, ALPHA / 50)
    network = Network(ALPHA, RATE / node_capacity(topology), ALPHA / 7, None, ALPHA / 50)
    for way in topology_candidates(
        TopologyCosts(topology.node_count, *costs, loads=told), work, 2**20
    ):
        assert len({line.max_chunks for line in way.lines}) == len(way.lines)
        for line in way.lines[:2] + way.lines[-1:]:
            schedule = make(topology, collective, way.name, max_chunks=line.max_chunks)
            found = simulate(schedule, topology, network, size_bytes=10**6, synchronous=True)
            assert line.seconds(10**6) == found.seconds


def test_labels_are_counted_as_their_schedule_sends_them():
    point = next(one for one in frontier(18, 3).points if one.algorithm == "slack")
    topology = build(point.recipe)
    told = loads_on(topology, point)
    for part, graph in zip(told, (topology, topology.transpose()), strict=True):
        schedule = make(graph, "allgather", "slack", steps=point.within)
        full = part.rungs()[-1]
        assert schedule.chunks_per_shard == full.chunks
        most = 0
        for step in schedule.steps:
            load = Counter()
            for source, target, _, _, count, link, _ in step.tolist():
                load[source, target, link] += count
            most += max(load.values())
        assert most == full.carried


def test_dear_chunks_make_for_few_of_them_and_the_schedule_of_a_design_has_so_many():
    hosts = Hosts(14, 3, families=("GeneralizedKautz",), schedule="bfb")
    task = Workload((Task(Collective.ALLGATHER, 10**5),), single=True)
    chosen = []
    for chunk in (Fraction(0), ALPHA / 100, ALPHA):
        speed = Speed(RATE, ALPHA, chunk_seconds=chunk)
        found = design(hosts, speed, task, Generators(), Limits(64, 16))
        chosen.append(found.schedule.facts.chunks_per_shard)
        assert found.co_design.seconds <= found.best_seconds
    assert chosen[0] > chosen[2]
    assert chosen == sorted(chosen, reverse=True)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 100), st.integers(0, 100), st.integers(0, 30).map(lambda power: 2**power))
def test_what_costs_more_is_never_faster(overhead, chunk, size):
    hosts, task = Hosts(11, 3, families=("GeneralizedKautz",)), Task(Collective.ALLREDUCE, size)
    work = Workload((task,), single=True)
    free = design(hosts, Speed(RATE, ALPHA), work, Generators(), Limits(2, 2))
    speed = Speed(RATE, ALPHA, overhead * ALPHA / 50, chunk * ALPHA / 500)
    dear = design(hosts, speed, work, Generators(), Limits(2, 2))
    assert dear.best_seconds >= free.best_seconds
    assert dear.co_design.seconds >= free.co_design.seconds
    assert dear.floor_seconds <= dear.co_design.seconds
    assert dear.bound_seconds <= dear.best_seconds
    for one, other in zip(free.baselines, dear.baselines, strict=True):
        assert other.seconds >= one.seconds
