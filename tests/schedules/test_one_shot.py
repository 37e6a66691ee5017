"""Allreduces in one pass: every rank gathers all contributions and adds them up by itself."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topoloom.schedules.baselines import Operation
from topoloom.schedules.compare.topology_algorithms import (
    ONE_SHOT,
    TopologyCosts,
    topology_candidates,
)
from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.execute import execute
from topoloom.schedules.formats import Options, write
from topoloom.schedules.formats.schedule.read import from_document
from topoloom.schedules.generate.collectives import GATHERS, make
from topoloom.schedules.generate.make_and_verify import verified_schedule
from topoloom.schedules.model.schedule import Collective, Tree, TreeSchedule
from topoloom.schedules.options import Options as Make
from topoloom.schedules.simulate import Network, simulate
from topoloom.schedules.simulate.link_utilization import busy_shares
from topoloom.schedules.steps.bfb import allgather
from topoloom.schedules.verify import step_cost, violations
from topoloom.synth.edge_swaps.random_regular import random_regular
from topoloom.synth.evaluation.measure import measure
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse

ALPHA, RATE = Fraction(1, 10**5), Fraction(125 * 10**8)
GRAPHS = {
    recipe: build(parse(recipe))
    for recipe in ("Circulant(12, 2, 3)", "LineGraph(1, Complete(4))", "GeneralizedKautz(2, 9)")
}


@pytest.mark.parametrize("algorithm", GATHERS)
@pytest.mark.parametrize("recipe", GRAPHS)
def test_it_takes_the_steps_of_an_allgather_and_n_times_its_bytes(recipe, algorithm):
    graph = GRAPHS[recipe]
    once = verified_schedule(graph, Collective.ALLREDUCE, algorithm, Make())
    gather = verified_schedule(graph, Collective.ALLGATHER, GATHERS[algorithm], Make())
    assert once.schedule.collective is Collective.ALLREDUCE
    assert once.facts.steps == gather.facts.steps
    assert once.facts.bandwidth == graph.node_count * gather.facts.bandwidth


@settings(max_examples=20, deadline=None)
@given(st.integers(4, 24), st.integers(2, 4), st.integers(1, 10**7), st.integers(0, 99))
def test_its_time_is_the_one_that_a_design_names(nodes, degree, size, seed):
    graph = random_regular(nodes, min(degree, nodes - 1), seed=seed)
    cost = measure(graph)
    network = Network(ALPHA, RATE / graph.degree)
    schedule = make(graph, "allreduce", "bfb-one-shot")
    taken = simulate(schedule, graph, network, size_bytes=size, synchronous=True)
    work = Operation(Collective.ALLREDUCE, size, RATE, ALPHA)
    ways = {
        way.name: way for way in topology_candidates(TopologyCosts(nodes, cost, cost), work, size)
    }
    assert taken.seconds == ways[ONE_SHOT["bfb"]].seconds(size)
    assert simulate(schedule, graph, network, size_bytes=size).seconds <= taken.seconds


def test_every_rank_must_get_every_contribution():
    graph = GRAPHS["Circulant(12, 2, 3)"]
    whole = make(graph, "allreduce", "bfb-one-shot")
    assert violations(whole, graph) == []
    lacking = replace(whole, steps=(whole.steps[0], whole.steps[1][1:]))
    assert {"never arrives" in found.sentence for found in violations(lacking, graph)} == {True}
    summed = [step.copy() for step in whole.steps]
    summed[0]["op"] = 1
    found = violations(replace(whole, steps=tuple(summed)), graph)
    assert "op must be copy in allreduce" in found[0].sentence


def test_trees_that_claim_to_be_an_allreduce_are_reported():
    pair = build(parse("Complete(2)"))
    trees = (Tree(0, 1, ((0, 1),)), Tree(1, 1, ((1, 0),)))
    claimed = TreeSchedule(Collective.ALLREDUCE, pair.digest, (0, 1), 1, trees)
    assert "must be a sequence" in violations(claimed, pair)[0].sentence


@pytest.mark.parametrize("recipe", GRAPHS)
def test_it_is_read_as_it_was_written(recipe):
    graph = GRAPHS[recipe]
    schedule = make(graph, "allreduce", "bfb-one-shot")
    document = json.loads("".join(write("json", schedule, graph, Options())))
    assert (document["kind"], document["collective"]) == ("steps", "allreduce")
    again = from_document(document, graph)
    assert violations(again, graph) == []
    assert step_cost(again, graph) == step_cost(schedule, graph)
    assert all((a == b).all() for a, b in zip(again.steps, schedule.steps, strict=True))


def test_links_are_as_busy_as_in_the_allgather():
    graph = GRAPHS["GeneralizedKautz(2, 9)"]
    once = make(graph, "allreduce", "bfb-one-shot")
    assert busy_shares(once, graph) == busy_shares(allgather(graph), graph)


def test_other_collectives_are_refused():
    for algorithm in GATHERS:
        with pytest.raises(NoSchedule, match=f"/algorithm: {algorithm} makes an allreduce only"):
            make(GRAPHS["Circulant(12, 2, 3)"], "allgather", algorithm)


def test_options_are_those_of_what_gathers():
    square = build(parse("BiRing(4)"))
    assert make(square, "allreduce", "bfb-one-shot", max_chunks=1).chunks_per_shard == 1
    assert len(make(square, "allreduce", "slack-one-shot", steps=3).steps) <= 3
    with pytest.raises(NoSchedule, match="/steps"):
        make(square, "allreduce", "bfb-one-shot", steps=3)
    lost = verified_schedule(
        square, Collective.ALLREDUCE, "bfb-one-shot", Make(max_chunks=1)
    ).losses
    assert lost.bandwidth == 4 * Fraction(1, 4)


@pytest.mark.slow
def test_processes_that_run_it_hold_the_sum_bit_for_bit():
    graph = GRAPHS["LineGraph(1, Complete(4))"]
    schedule = make(graph, "allreduce", "bfb-one-shot")
    done = execute(schedule, size_bytes=400, repeat=2)
    assert done.exact and done.rounds == 2 and done.size_bytes == 400
    wrong = [step.copy() for step in schedule.steps]
    wrong[-1] = np.delete(wrong[-1], 0)
    assert not execute(replace(schedule, steps=tuple(wrong)), size_bytes=400).exact
