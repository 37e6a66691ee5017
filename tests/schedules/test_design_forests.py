"""Trees in designs: weighed by what no forest can beat, packed where they may win."""

from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from topoloom.schedules.baselines import PASSES, Operation
from topoloom.schedules.compare.crossover import tree_candidate
from topoloom.schedules.compare.topology_algorithms import ORDER
from topoloom.schedules.design import (
    FOREST_NODES,
    Generators,
    Hosts,
    Limits,
    Speed,
    Task,
    Workload,
    design,
)
from topoloom.schedules.design.forest_pruning import (
    EVERY_SIZE_NODES,
    LEAST_GAIN,
    TreeBounds,
    forest_line,
    packed_trees,
)
from topoloom.schedules.design.sources import tree_bandwidths_on
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.simulate import Network, simulate
from topoloom.synth.errors import ImpossibleRequest
from topoloom.synth.evaluation.cost import Links
from topoloom.synth.evaluation.measure import diameter
from topoloom.synth.recipes.build import build
from topoloom.synth.topology.rates import node_capacity

SPEED = Speed(Fraction(125 * 10**8), Fraction(1, 10**5))
LIMITS = Limits(64, 16)
GATHER = Collective.ALLGATHER


class Counting(Generators):
    """The generators, which count the trees they were asked for."""

    def __init__(self):
        self.asked = []

    def forest(self, recipe, collective):
        self.asked.append((recipe, collective))
        return super().forest(recipe, collective)


def asked(hosts, collective, size, sources):
    work = Workload((Task(collective, size),), single=True)
    return design(hosts, SPEED, work, sources, LIMITS)


def points_of(hosts, sources):
    try:
        return sources.frontier(hosts).points
    except ImpossibleRequest:
        assume(False)


TIMES = st.fractions(0, 1, max_denominator=100)
HOSTS = st.builds(
    Hosts,
    st.integers(3, 16),
    st.integers(1, 4),
    st.sampled_from(Links),
    families=st.sampled_from([None, ("GeneralizedKautz",)]),
)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(HOSTS, st.data(), TIMES, TIMES, TIMES, st.integers(1, 10**9))
def test_no_forest_is_faster_than_its_bound(hosts, data, alpha, overhead, chunk, size):
    sources = Generators()
    recipe = data.draw(st.sampled_from(points_of(hosts, sources))).recipe
    collective = data.draw(st.sampled_from(list(PASSES)))
    topology = build(recipe)
    reach = TreeBounds(sources.hops(recipe), *sources.tree_bandwidths(recipe))
    assert reach == (diameter(topology), *tree_bandwidths_on(topology))
    speed = Speed(Fraction(10**6), alpha, overhead, chunk)
    work = Operation(collective, size, Fraction(10**6), alpha, overhead, chunk)
    bound = forest_line(reach, hosts.nodes, hosts.degree, work)
    passes = ORDER[collective]
    trees = packed_trees(recipe, passes, speed, sources)
    assert trees is not None
    parts = [one for one in trees if one is not None]
    assert len(parts) == len(passes)
    made = tree_candidate("forestcoll", parts, size)
    assert bound.seconds(size) <= made.seconds(size)
    assert bound.seconds(1) <= made.seconds(1)


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(HOSTS, st.data(), TIMES, st.integers(1, 10**9), st.integers(1, 40))
def test_no_forest_runs_faster_than_its_bound(hosts, data, alpha, size, chunks):
    sources = Generators()
    recipe = data.draw(st.sampled_from(points_of(hosts, sources))).recipe
    forest, topology = sources.forest(recipe, GATHER)
    work = Operation(GATHER, size, Fraction(10**6), alpha)
    reach = TreeBounds(sources.hops(recipe), *sources.tree_bandwidths(recipe))
    bound = forest_line(reach, hosts.nodes, hosts.degree, work)
    network = Network(alpha, Fraction(10**6) / node_capacity(topology))
    run = simulate(forest, topology, network, size_bytes=size, chunks=chunks, synchronous=True)
    assert bound.seconds(size) <= run.seconds


def test_trees_are_not_packed_where_the_optimum_is_no_better_than_broadcast():
    sources = Counting()
    # Its bandwidth is optimal both ways: no pipeline beats it, whatever the optimum.
    found = asked(Hosts(12, 4), Collective.ALLREDUCE, 10**6, sources)
    assert not sources.asked and found.trees_at_least is None
    # The best that trees can do there is above (N - 1) / N, and broadcast does it.
    hosts = Hosts(14, 3, families=("GeneralizedKautz",))
    found = asked(hosts, Collective.ALLREDUCE, 10**6, sources)
    (point,) = found.points
    assert point.measured.cost.bandwidth > found.bounds.bandwidth
    assert sources.tree_bandwidths(point.measured.recipe)[0] == point.measured.cost.bandwidth
    assert not sources.asked
    assert found.trees_at_least is not None
    assert found.trees_at_least >= found.co_design.seconds


def test_up_to_some_hosts_trees_are_packed_if_they_may_win_at_any_size():
    sources = Counting()
    hosts = Hosts(16, 3, families=("GeneralizedKautz",), schedule="bfb")
    found = asked(hosts, GATHER, 1, sources)
    (point,) = found.points
    assert sources.asked == [(point.measured.recipe, GATHER)]
    assert found.trees_at_least is None
    assert "forestcoll" in {way.name for way in point.candidates[0]}


@pytest.mark.slow
@pytest.mark.parametrize("collective", [GATHER, Collective.REDUCE_SCATTER])
def test_beyond_them_trees_are_packed_where_they_may_take_clearly_less(collective):
    sources = Counting()
    hosts = Hosts(EVERY_SIZE_NODES + 4, 3, families=("GeneralizedKautz",), schedule="bfb")
    small = asked(hosts, collective, 1, sources)
    assert not sources.asked
    least = small.trees_at_least
    assert least is not None
    assert (1 - LEAST_GAIN) * small.co_design.seconds < least < small.co_design.seconds
    large = asked(hosts, collective, 10**8, sources)
    (point,) = large.points
    assert sources.asked == [(point.measured.recipe, collective)]
    assert point.choices[0].algorithm == "forestcoll"
    assert large.co_design.seconds < point.usual_seconds


@pytest.mark.slow
def test_trees_of_a_thousand_hosts_are_weighed_without_being_packed():
    sources = Counting()
    for nodes in (FOREST_NODES - 4, FOREST_NODES + 4):
        hosts = Hosts(nodes, 3, families=("GeneralizedKautz",), schedule="bfb")
        found = asked(hosts, GATHER, 10**8, sources)
        assert not sources.asked
        (point,) = found.points
        if nodes > FOREST_NODES:
            assert found.trees_at_least is None
            continue
        reach = TreeBounds(
            sources.hops(point.measured.recipe), Fraction(nodes - 1, nodes), Fraction(1)
        )
        work = SPEED.operation(Task(GATHER, 10**8))
        bound = forest_line(reach, nodes, 3, work).seconds(10**8)
        least = found.trees_at_least
        assert least is not None
        assert bound <= least < point.seconds
