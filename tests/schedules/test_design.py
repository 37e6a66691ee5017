"""Designs from values to values: no database, no JSON, the generators themselves."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topoloom.schedules.baselines import PASSES, baselines
from topoloom.schedules.compare.topology_algorithms import ONE_SHOT
from topoloom.schedules.design import (
    Generators,
    Hosts,
    Limits,
    Speed,
    Task,
    Workload,
    collective_cost,
    design,
    require_cost,
)
from topoloom.schedules.errors import TooLarge
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.model.verified_schedule import ScheduleCosts
from topoloom.schedules.options import DEFAULT_OPTIONS
from topoloom.synth.errors import ClaimBroken, ImpossibleRequest
from topoloom.synth.evaluation.cost import Cost, Links, lower_bound
from topoloom.synth.evaluation.measure import measure_both
from topoloom.synth.recipes.build import build

SPEED = Speed(Fraction(125 * 10**8), Fraction(1, 10**5))
LIMITS = Limits(64, 16)
ALLREDUCE = Collective.ALLREDUCE


class Remembered(Generators):
    """The generators, which tell what they were asked for."""

    def __init__(self):
        self.asked = []

    def schedule(self, recipe, collective, algorithm, options=DEFAULT_OPTIONS):
        self.asked.append((recipe, collective, algorithm))
        return super().schedule(recipe, collective, algorithm, options)


def single(collective, size):
    return Workload((Task(collective, size),), single=True)


def asked(hosts, workload, sources=None, limits=LIMITS, **options):
    return design(hosts, SPEED, workload, sources or Generators(), limits, **options)


HOSTS = st.builds(
    Hosts, st.integers(3, 24), st.integers(1, 4), st.sampled_from(Links), st.booleans()
)
COLLECTIVES = st.sampled_from([*PASSES, Collective.ALL_TO_ALL])
SIZES = st.integers(0, 36).map(lambda power: 2**power)
TASKS = st.builds(Task, COLLECTIVES, SIZES, st.integers(1, 100))
WORKLOADS = st.builds(single, COLLECTIVES, SIZES) | st.builds(
    Workload, st.lists(TASKS, min_size=1, max_size=4, unique=True).map(tuple)
)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(HOSTS, WORKLOADS)
def test_a_design_is_the_best_of_its_frontier_and_nothing_undercuts_its_bounds(hosts, workload):
    try:
        found = asked(hosts, workload)
    except ImpossibleRequest:
        return
    frontier = Generators().frontier(hosts)
    assert tuple(point.measured for point in found.points) == frontier.points
    assert found.bounds == lower_bound(hosts.nodes, hosts.degree, hosts.links)
    assert found.co_design.seconds == min(point.seconds for point in found.points)
    assert found.best_seconds == min(
        point.usual_seconds if workload.single else point.seconds for point in found.points
    )
    for point in found.points:
        assert point.seconds <= point.usual_seconds
        assert found.floor_seconds <= point.seconds
        assert found.bound_seconds <= point.usual_seconds
        assert tuple(choice.task for choice in point.choices) == workload.tasks
        for choice in point.choices:
            ways = point.candidates[workload.collectives.index(choice.task.collective)]
            assert choice.seconds == min(way.seconds(choice.task.size_bytes) for way in ways)
            assert choice.floor_seconds <= choice.seconds


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(HOSTS, WORKLOADS)
def test_every_algorithm_in_use_has_a_schedule_at_the_cost_it_was_chosen_for(hosts, workload):
    sources = Remembered()
    try:
        found = asked(hosts, workload, sources)
    except ImpossibleRequest:
        return
    in_use = {(one.task.collective, one.algorithm) for one in found.co_design.choices}
    assert {(used.collective, used.algorithm) for used in found.used} == in_use
    measured = found.co_design.measured
    assert {recipe for recipe, *_ in sources.asked} <= {
        measured.recipe,
        found.best.measured.recipe,
    }
    for used in found.used:
        assert used.facts is not None and used.facts.collective is used.collective
        if used.algorithm == measured.algorithm:
            assert used.options.steps == measured.within
            cost = collective_cost(measured.cost, measured.transpose, used.collective)
            assert (used.facts.steps, used.facts.bandwidth) == (cost.steps, cost.bandwidth)
        if used.algorithm in ONE_SHOT.values():
            steps, bandwidth = measured.cost.steps, hosts.nodes * measured.cost.bandwidth
            assert (used.facts.steps, used.facts.bandwidth) == (steps, bandwidth)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(HOSTS, WORKLOADS)
def test_baselines_take_the_sum_of_their_tasks_or_the_rings_time_for_what_they_cannot(
    hosts, workload
):
    try:
        found = asked(hosts, workload)
    except ImpossibleRequest:
        return
    for baseline in found.baselines:
        total = Fraction(0)
        for task in workload.tasks:
            served = baselines(hosts.nodes, hosts.degree, SPEED.operation(task))
            times = {one.name: one.seconds for one in served}
            total += task.count * times.get(baseline.name, times["shifted-ring"])
        assert baseline.seconds == total
    assert "shifted-ring" in {baseline.name for baseline in found.baselines}


@pytest.mark.parametrize("collective", PASSES)
def test_the_time_of_one_collective_is_that_of_the_cost_model(collective):
    found = asked(Hosts(10, 3), single(collective, 10**6))
    for point in found.points:
        forth, back = measure_both(build(point.measured.recipe))
        cost = collective_cost(forth, back, collective)
        transfer = Fraction(10**6) / SPEED.bytes_per_second
        expected = cost.steps * SPEED.alpha_seconds + cost.bandwidth * transfer
        assert point.usual_seconds == expected
    assert found.schedule is not None and found.schedule.facts is not None


def test_of_equal_times_the_simpler_point_is_best():
    found = asked(Hosts(16, 3), single(ALLREDUCE, 1))
    fewest = min(point.measured.cost.steps for point in found.points)
    equal = [point for point in found.points if point.usual_seconds == found.best.usual_seconds]
    assert found.best.simplicity == min(point.simplicity for point in equal)
    assert found.best.measured.cost.steps == fewest


def test_beyond_the_limit_the_schedule_is_left_out_and_it_is_said_why():
    found = asked(Hosts(12, 4), single(ALLREDUCE, 10**6), limits=Limits(8, 256))
    assert found.schedule is not None and found.schedule.facts is None
    assert found.schedule.left_out == "schedules are generated for at most 8 nodes here"
    exchange = single(Collective.ALL_TO_ALL, 10**6)
    found = asked(Hosts(12, 4), exchange, limits=Limits(2048, 11))
    assert "at most 11 nodes" in found.schedule.left_out


def test_a_schedule_that_is_refused_as_too_large_is_left_out_with_the_reason():
    class Refusing(Generators):
        def schedule(self, recipe, collective, algorithm, options=DEFAULT_OPTIONS):
            raise TooLarge("/topology", "must have at most 3 nodes here; it has 12")

    found = asked(Hosts(12, 4), Workload((Task(ALLREDUCE, 10**6),)), Refusing())
    assert [used.left_out for used in found.used] == ["must have at most 3 nodes here; it has 12"]
    assert found.schedule is None


def test_a_schedule_that_costs_something_else_than_measured_is_no_answer():
    class Slower(Generators):
        def schedule(self, recipe, collective, algorithm, options=DEFAULT_OPTIONS):
            facts = super().schedule(recipe, collective, algorithm, options)
            return replace(facts, steps=facts.steps + 1)

    with pytest.raises(ClaimBroken, match="costs 5 steps and 11/6, not 4 and 11/6"):
        asked(Hosts(12, 4), single(ALLREDUCE, 10**6), Slower())
    facts = ScheduleCosts(ALLREDUCE, 4, Fraction(11, 6))
    require_cost(facts, Cost(4, Fraction(11, 6)))
    with pytest.raises(ClaimBroken, match="costs 4 steps and 11/6, not 4 and 2"):
        require_cost(facts, Cost(4, Fraction(2)))


def test_all_to_all_is_looked_at_where_it_is_run_or_asked_for():
    plain = asked(Hosts(8, 2), single(ALLREDUCE, 10**6))
    assert all(point.exchange is None for point in plain.points)
    told = asked(Hosts(8, 2), single(ALLREDUCE, 10**6), all_to_all=True)
    assert all(point.exchange is not None for point in told.points)
    assert [point.seconds for point in told.points] == [point.seconds for point in plain.points]
    run = asked(Hosts(8, 2), single(Collective.ALL_TO_ALL, 10**6))
    assert [point.exchange for point in run.points] == [point.exchange for point in told.points]
