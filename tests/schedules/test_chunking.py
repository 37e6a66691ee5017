"""Chunks: no fewer reach the best bandwidth, and with a bound the loss is the least, exactly."""

from fractions import Fraction
from functools import cache
from math import lcm

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

from tests.cases import for_every
from tests.cost_oracles import distances_to
from tests.schedule_oracles import gather_works
from topoloom.schedules.errors import NoSchedule, TooLarge
from topoloom.schedules.steps import bfb, chunking
from topoloom.schedules.verify import step_cost, violations
from topoloom.synth.evaluation.measure import measure, step_loads
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.topology.topology import Topology

SMALL = [
    "BiRing(6)",
    "Circulant(7, 1, 2)",
    "Circulant(8, 1, 3)",
    "CompleteBipartite(3)",
    "DeBruijn(2, 3)",
    "Diamond()",
    "GeneralizedKautz(3, 10)",
    "Hypercube(3)",
    "Torus(3, 4)",
    "UniRing(4, 3)",
]


def least_whole_load(ways, shards, links, chunks):
    """Return the least L such that each shard's chunks can be sent, at most L over a link.

    ``ways`` are (shard, link) pairs that may be used; an integer program.
    """
    count = len(ways)
    rows, columns = np.array(ways).T
    supplied = np.zeros((shards, count + 1))
    supplied[rows, np.arange(count)] = 1
    within = np.zeros((links, count + 1))
    within[columns, np.arange(count)] = 1
    within[:, count] = -1
    solved = milp(
        np.r_[np.zeros(count), 1],
        integrality=np.ones(count + 1),
        bounds=Bounds(0, np.inf),
        constraints=[
            LinearConstraint(supplied, chunks, chunks),
            LinearConstraint(within, -np.inf, 0),
        ],
    )
    assert solved.success
    return round(solved.fun)


def whole_loads_by_integer_programs(topology, chunks):
    """Return the largest load of each step, in chunks: one program per destination and step."""
    loads, into = {}, [[] for _ in range(topology.node_count)]
    for source, target in zip(topology.sources.tolist(), topology.targets.tolist(), strict=True):
        into[target].append(source)
    distance = [distances_to(into, goal) for goal in range(topology.node_count)]
    for goal, before in enumerate(into):
        for step in range(1, max(distance[goal].values()) + 1):
            nodes = [node for node, away in distance[goal].items() if away == step]
            ways = [
                (row, link)
                for row, node in enumerate(nodes)
                for link, last in enumerate(before)
                if distance[last][node] == step - 1
            ]
            load = least_whole_load(ways, len(nodes), len(before), chunks)
            loads[step] = max(load, loads.get(step, 0))
    return [loads[step] for step in sorted(loads)]


@cache
def built(text):
    return build(parse(text))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("chunks", [1, 2, 3, 5])
@pytest.mark.parametrize("text", SMALL)
def test_whole_loads_are_those_of_the_integer_programs(text, chunks):
    loads = step_loads(built(text))
    found = whole_loads_by_integer_programs(built(text), chunks)
    assert chunking.whole_loads(loads, chunks) == found


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize("text", SMALL)
def test_fewer_chunks_always_cost_more(text):
    topology = built(text)
    least, needed = sum(step_loads(topology)), bfb.allgather(topology).chunks_per_shard
    for chunks in range(1, needed):
        assert Fraction(sum(whole_loads_by_integer_programs(topology, chunks)), chunks) > least
    assert Fraction(sum(whole_loads_by_integer_programs(topology, needed)), needed) == least


@pytest.mark.slow
@given(st.integers(2, 6), st.integers(1, 4), st.randoms(use_true_random=False))
def test_random_digraphs_have_the_whole_loads_of_the_integer_programs(nodes, chunks, rng):
    ring = [(i, (i + 1) % nodes) for i in range(nodes)]
    pairs = [(i, j) for i in range(nodes) for j in range(nodes) if i != j]
    topology = Topology(range(nodes), ring + rng.choices(pairs, k=2 * nodes))
    found = whole_loads_by_integer_programs(topology, chunks)
    assert chunking.whole_loads(step_loads(topology), chunks) == found


@for_every("most", [1, 2, 3, 4, 7, 100])
@for_every("text", SMALL)
def test_a_bounded_schedule_is_valid_and_costs_what_was_foretold(text, most):
    topology = built(text)
    schedule = bfb.allgather(topology, most)
    assert schedule.chunks_per_shard <= most
    assert violations(schedule, topology) == []
    assert gather_works(schedule)
    cost = step_cost(schedule, topology)
    assert cost == bfb.cost(topology, most)
    assert cost.steps == measure(topology).steps
    needed = bfb.allgather(topology).chunks_per_shard
    assert (cost == measure(topology)) == (most >= needed)


@pytest.mark.parametrize("text", SMALL)
def test_a_higher_bound_never_loses_more(text):
    topology = built(text)
    costs = [bfb.cost(topology, most).bandwidth for most in range(1, 20)]
    assert costs == sorted(costs, reverse=True)
    # Rounding up adds less than a chunk to a step.
    scale = Fraction(topology.degree, topology.node_count)
    for most, found in enumerate(costs, start=1):
        steps = len(step_loads(topology))
        assert found - measure(topology).bandwidth < steps * scale / most


FRACTIONS = st.lists(st.fractions(Fraction(1, 8), 20, max_denominator=12), min_size=1, max_size=8)


@given(FRACTIONS, st.integers(1, 40))
def test_the_best_number_of_chunks_is_found(loads, most):
    def total(chunks):
        return sum(Fraction(load) for load in chunking.whole_loads(loads, chunks)) / chunks

    assert chunking.best_chunks(loads, most) == min(range(1, most + 1), key=lambda c: (total(c), c))


@given(FRACTIONS)
def test_the_fewest_chunks_make_every_load_whole(loads):
    found = chunking.exact_chunks(loads)
    assert found == lcm(*(load.denominator for load in loads))
    assert chunking.best_chunks(loads, chunking.MAX_GIVEN) == found
    assert [Fraction(load, found) for load in chunking.whole_loads(loads, found)] == loads


@pytest.mark.parametrize("most", [0, -1, chunking.MAX_GIVEN + 1])
def test_a_bound_out_of_range_is_refused(most):
    with pytest.raises(NoSchedule) as caught:
        bfb.allgather(built("BiRing(6)"), most)
    assert caught.value.field == "/max_chunks"


def test_where_too_many_chunks_are_needed_a_bound_helps(monkeypatch):
    monkeypatch.setattr(bfb, "MAX_CHUNKS", 2)
    cube = built("Hypercube(3)")
    with pytest.raises(TooLarge, match="needs 3 chunks per shard, over 2; set max_chunks"):
        bfb.allgather(cube)
    assert bfb.allgather(cube, 2).chunks_per_shard == 2
