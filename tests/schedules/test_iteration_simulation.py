"""Simulations and searches of iterations equal their oracles on jobs drawn at random."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.iteration_oracles import fair_speeds, shares_of, simulated
from topoloom.schedules.groups.process_groups import ProcessGroups
from topoloom.schedules.iterations.best_topology import Speeds, fastest, placements
from topoloom.schedules.iterations.communications import FreeNetwork, OnlyExchanges, Row
from topoloom.schedules.iterations.event_simulation import simulate
from topoloom.schedules.iterations.group_loads import RoutedGroups
from topoloom.schedules.iterations.iteration import layer_seconds
from topoloom.schedules.iterations.job_operations import job_plan
from topoloom.schedules.iterations.least_time import TimeBound
from topoloom.schedules.iterations.link_sharing import LinkShares, _greatest
from topoloom.schedules.iterations.operations import Operation
from topoloom.schedules.iterations.path_loads import ShortestPaths
from topoloom.schedules.iterations.training_job import (
    Layer,
    PipelineOrder,
    Sharding,
    TrainingJob,
)
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse

F = Fraction
ROUNDING = F(1, 10**15)
"""A duration at a shared speed rounds up to a tick, each below a femtosecond / 5,040."""

seconds = st.builds(F, st.integers(0, 12), st.integers(1, 6))
share = st.builds(F, st.integers(0, 6), st.sampled_from((6, 7, 11, 13))).filter(
    lambda one: one <= 1
)
rows = (
    st.integers(1, 5)
    .flatmap(
        lambda links: st.lists(
            st.lists(share, min_size=links, max_size=links), min_size=1, max_size=6
        )
    )
    .map(lambda lists: [Row.of(*one) for one in lists])
)


@st.composite
def work(draw):
    """Rows, and operations in streams: a communication's stream is that of its row."""
    drawn = draw(rows)
    made = []
    for index in range(draw(st.integers(1, 12))):
        after = tuple(draw(st.sets(st.integers(0, index - 1), max_size=2))) if index else ()
        row = draw(st.none() | st.integers(0, len(drawn) - 1))
        stream = f"row {row}" if row is not None else draw(st.sampled_from("ab"))
        transfer = F(0) if row is None else draw(seconds)
        made.append(Operation(stream, "work", draw(seconds), after, row, transfer))
    return drawn, made


@given(rows)
def test_speeds_are_those_of_raising_all_until_a_link_is_full(drawn):
    expected = fair_speeds({row: shares_of(one) for row, one in enumerate(drawn)})
    assert LinkShares(drawn).speeds(range(len(drawn))) == expected


@given(work())
def test_a_simulation_equals_one_event_after_another(drawn):
    shares, operations = LinkShares(drawn[0]), drawn[1]
    found = simulate(operations, shares)
    for index, (start, end) in enumerate(simulated(operations, drawn[0])):
        assert 0 <= found.start(index) - start <= ROUNDING
        assert 0 <= found.end(index) - end <= ROUNDING


@given(st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), max_size=8))
def test_links_below_another_are_left_out(lines):
    found = {tuple(one) for one in _greatest(np.array(lines, np.int64).reshape(-1, 3)).tolist()}
    distinct = {tuple(one) for one in lines}
    assert found == {
        one
        for one in distinct
        if not any(
            all(own <= more for own, more in zip(one, other, strict=True))
            for other in distinct - {one}
        )
    }


TOPOLOGIES = ("BiRing(8)", "UniRing(8)", "Torus(2, 4)", "Circulant(8, 1, 3)", "Kautz(2, 2)")


@st.composite
def networks(draw):
    """A plan, and its placements on a topology."""
    name = draw(st.sampled_from(TOPOLOGIES))
    topology = build(parse(name))
    accelerators = draw(st.sampled_from((1, 2, 4)))
    ranks = len(topology.compute_nodes) * accelerators
    pipeline = draw(st.sampled_from((2, 4) if ranks % 4 == 0 else (2,)))
    expert = draw(st.sampled_from([one for one in (1, 2, 4) if ranks % (pipeline * one) == 0]))
    sizes = f"expert={expert},data={ranks // pipeline // expert},pipeline={pipeline}"
    experts = {"experts": expert, "expert_bytes": (2,), "expert_backward_bytes": (3,)}
    layers = tuple(
        Layer(
            "layer",
            draw(st.integers(0, 9)),
            forward_seconds=draw(seconds),
            backward_seconds=draw(seconds),
            expert_parameters=draw(st.sampled_from((0, 4))) if expert > 1 else 0,
            **(experts if expert > 1 else {}),
        )
        for _ in range(2 * pipeline)
    )
    order = draw(st.sampled_from((PipelineOrder.ONE_F_ONE_B, PipelineOrder.DUALPIPE)))
    job = TrainingJob(
        "job",
        layers,
        ProcessGroups.parse(sizes),
        microbatches=2 * pipeline,
        width=draw(st.integers(0, 5)),
        bucket_bytes=8,
        sharding=draw(st.sampled_from((Sharding.NONE, Sharding.OPTIMIZER))),
        order=order,
    )
    speeds = Speeds(F(draw(st.integers(1, 20))), F(1, 7), accelerators, F(9))
    fabric = speeds.fabric(topology, 2)
    paths = ShortestPaths(topology)
    plan = job_plan(job, layer_seconds(job))
    return plan, [RoutedGroups(fabric, one, paths) for one in placements(job.processes, fabric)]


def time_on(plan, network):
    """The time of a simulation."""
    routed = plan.on(network)
    return simulate(routed.operations, routed.shares, plan.order).seconds


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(networks())
def test_the_search_finds_what_simulations_of_all_placements_find(drawn):
    plan, tried = drawn
    times = [time_on(plan, network) for network in tried]
    ranked = sorted(range(len(tried)), key=lambda place: (times[place], place))
    for count in (1, 2):
        found = fastest(plan, tried, count)
        assert [tried.index(one.network) for one in found] == ranked[:count]
        assert [one.timeline.seconds for one in found] == [times[at] for at in ranked[:count]]


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(networks())
def test_no_simulation_is_below_its_bounds(drawn):
    plan, tried = drawn
    bound = TimeBound(plan)
    for network in tried:
        few = bound.seconds(plan.times(OnlyExchanges(network)))
        most = bound.seconds(plan.times(network))
        assert max(few, most) <= time_on(plan, network)
    free = bound.seconds(plan.times(FreeNetwork()))
    assert 0 <= time_on(plan, FreeNetwork()) - free <= F(1, 2**20)
