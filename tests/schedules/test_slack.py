"""Label schedules: valid, at exactly the cost of the labels, in few chunks, lifted and reversed."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import for_every
from tests.schedule_oracles import direct_topologies, gather_works, two_boxes
from tests.synth.test_slack import capacitated, served
from topoloom.schedules.errors import NoSchedule, TooLarge
from topoloom.schedules.generate.collectives import make, reverse
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.simulate import Network, simulate
from topoloom.schedules.steps import bfb, lift, slack
from topoloom.schedules.steps.lift import cartesian_product, line_graph
from topoloom.schedules.steps.lift import degree_expansion as degree
from topoloom.schedules.steps.send_arrays import arrivals, normalized_schedule
from topoloom.schedules.verify import step_cost, violations
from topoloom.synth.edge_swaps.random_regular import random_regular
from topoloom.synth.evaluation.cost import (
    Links,
    expand_degree,
    expand_line_graph,
    expand_product,
    optimal_bandwidth,
)
from topoloom.synth.evaluation.measure import diameter, measure, step_loads
from topoloom.synth.fabrics import fabric
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.slack import (
    MAX_DEGREE,
    SlackSchedule,
    check_slack_schedule,
    slack_frontier,
    slack_schedule,
)
from topoloom.synth.topology.rates import node_capacity
from topoloom.synth.topology.topology import Topology

GRAPHS = [
    "Circulant(12, 2, 3)",
    "UniRing(5, 3)",
    "Torus(3, 4, 2)",
    "GeneralizedKautz(3, 20)",
    "GeneralizedDeBruijnRewired(2, 11)",
    "LineGraph(2, CompleteBipartite(2))",
    "ModifiedDeBruijn(2, 4)",
]


@for_every("text", GRAPHS)
@for_every("extra", [0, 1, 2])
def test_the_schedule_is_valid_and_costs_what_the_labels_claim(text, extra):
    graph = build(parse(text))
    found = slack_schedule(graph, diameter(graph) + extra)
    schedule = slack.from_slack_schedule(graph, found)
    assert violations(schedule, graph) == []
    assert gather_works(schedule)
    assert step_cost(schedule, graph) == found.cost == check_slack_schedule(graph, found)


@given(direct_topologies(7).filter(served), st.integers(0, 2), st.integers(1, 3))
def test_random_digraphs_get_valid_schedules_at_the_cost_of_their_labels(graph, extra, pieces):
    found = slack_schedule(graph, diameter(graph) + extra, pieces=pieces, moves=500)
    schedule = slack.from_slack_schedule(graph, found)
    assert violations(schedule, graph) == []
    assert step_cost(schedule, graph) == found.cost


@given(capacitated().filter(served), st.integers(0, 2))
def test_links_of_unequal_capacities_carry_no_more_than_claimed(graph, extra):
    found = slack_schedule(graph, diameter(graph) + extra, moves=500)
    schedule = slack.from_slack_schedule(graph, found)
    assert violations(schedule, graph) == []
    cost = step_cost(schedule, graph)
    assert cost.steps == found.cost.steps
    assert cost.bandwidth <= found.cost.bandwidth


@given(direct_topologies(6).filter(served), st.integers(1, 4), st.data())
def test_every_rank_gets_every_shard_in_the_step_of_its_label(graph, pieces, data):
    seed = data.draw(st.integers(0, 3))
    found = slack_schedule(graph, diameter(graph) + 1, pieces=pieces, moves=300, seed=seed)
    schedule = slack.from_slack_schedule(graph, found)
    whole = found.unfolded()
    grain = schedule.chunks_per_shard
    for step, sent in enumerate(schedule.steps, start=1):
        for send in sent:
            piece = int(send["first"]) * pieces // grain
            assert whole[piece, send["target"], send["shard"]] == step
            assert whole[piece, send["source"], send["shard"]] < step


@pytest.mark.parametrize(("nodes", "degree", "links"), [
    (31, 4, Links.UNIDIRECTIONAL), (61, 4, Links.UNIDIRECTIONAL), (40, 3, Links.BIDIRECTIONAL),
    (60, 5, Links.UNIDIRECTIONAL),
])  # fmt: skip
def test_a_shard_is_cut_into_at_most_as_many_chunks_as_there_are_ports(nodes, degree, links):
    graph = random_regular(nodes, degree, 1, links)
    for found in slack_frontier(graph)[1:]:
        schedule = slack.from_slack_schedule(graph, found)
        assert schedule.chunks_per_shard <= degree
        assert violations(schedule, graph) == []


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
@pytest.mark.parametrize("nodes", [31, 61])
def test_every_collective_reaches_the_bound_on_a_random_digraph(collective, nodes):
    graph = random_regular(nodes, 4, 1)
    steps = diameter(graph) + 1
    schedule = make(graph, collective, "slack", steps=steps)
    assert violations(schedule, graph) == []
    cost = step_cost(schedule, graph)
    times = 2 if collective == "allreduce" else 1
    assert cost.steps <= times * steps
    assert cost.bandwidth == times * optimal_bandwidth(nodes)


def test_reversed_it_is_the_reduce_scatter_of_the_transpose_at_the_same_cost():
    graph = random_regular(40, 3, 2)
    gather = slack.allgather(graph, diameter(graph) + 1)
    scatter = reverse(gather, graph.transpose())
    assert scatter.collective is Collective.REDUCE_SCATTER
    assert violations(scatter, graph.transpose()) == []
    assert step_cost(scatter, graph.transpose()) == step_cost(gather, graph)


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
def test_the_simulator_takes_the_time_of_the_cost(collective):
    graph = random_regular(31, 4, 1)
    schedule = make(graph, collective, "slack", steps=4)
    cost, network = step_cost(schedule, graph), Network(Fraction(3), Fraction(2))
    found = simulate(schedule, graph, network, size_bytes=1000, synchronous=True)
    assert found.seconds == cost.steps * 3 + cost.bandwidth * 1000 / (4 * 2)
    assert simulate(schedule, graph, network, size_bytes=1000).seconds <= found.seconds


def test_fewer_chunks_lose_no_more_than_rounding():
    graph = random_regular(61, 4, 1)
    found = slack_schedule(graph, 4 + 1)
    full = slack.from_slack_schedule(graph, found)
    for most in (1, 2, 3, 4):
        schedule = slack.from_slack_schedule(graph, found, most)
        assert schedule.chunks_per_shard <= most
        assert violations(schedule, graph) == []
        loss = step_cost(schedule, graph).bandwidth - found.cost.bandwidth
        assert 0 <= loss <= Fraction(len(found.loads) * graph.degree, 61)
    assert full.chunks_per_shard <= 4


# Lifted, by the unchanged theorems.

SMALL = random_regular(13, 3, 1)


def gathered(extra=1):
    return partial(slack.allgather, steps=diameter(SMALL) + extra)


@pytest.mark.parametrize("turned", [False, True], ids=["graph", "transpose"])
def test_a_line_graph_costs_one_step_and_one_nth_more(turned):
    base = SMALL.transpose() if turned else SMALL
    whole = line_graph_of(SMALL)
    whole = whole.transpose() if turned else whole
    schedule = slack.allgather(base, diameter(base) + 1)
    lifted = normalized_schedule(line_graph.lift(schedule, SMALL, turned), whole)
    assert violations(lifted, whole) == []
    cost = step_cost(schedule, base)
    assert cost.bandwidth == optimal_bandwidth(13)
    assert step_cost(lifted, whole) == expand_line_graph(cost, 13, 3)
    assert step_cost(lifted, whole).bandwidth < measure(whole).bandwidth


def line_graph_of(graph):
    links = list(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True))
    ends = enumerate(links)
    after = [(i, j) for i, (_, at) in ends for j, (start, _) in enumerate(links) if at == start]
    return Topology(range(len(links)), after)


def test_a_product_of_optimal_schedules_is_optimal():
    other = random_regular(7, 2, 2)
    parts = [(graph, slack.allgather(graph, diameter(graph) + 2)) for graph in (SMALL, other)]
    assert all(arrivals(schedule).together for _, schedule in parts)
    links = [
        ((a * 7 + b), (c * 7 + b))
        for a, c in zip(SMALL.sources.tolist(), SMALL.targets.tolist(), strict=True)
        for b in range(7)
    ]
    links += [
        ((a * 7 + b), (a * 7 + c))
        for b, c in zip(other.sources.tolist(), other.targets.tolist(), strict=True)
        for a in range(13)
    ]
    whole = Topology(range(91), links)
    lifted = normalized_schedule(cartesian_product.product(parts), whole)
    assert violations(lifted, whole) == []
    costs = [step_cost(schedule, graph) for graph, schedule in parts]
    assert step_cost(lifted, whole) == expand_product(costs, [13, 7])


@pytest.mark.parametrize("factor", [2, 3])
@pytest.mark.parametrize("extra", [0, 1])
def test_a_degree_expansion_costs_what_the_theorem_says_in_at_most_a_step_more(factor, extra):
    links = [
        (a + 13 * i, b + 13 * j)
        for a, b in zip(SMALL.sources.tolist(), SMALL.targets.tolist(), strict=True)
        for i in range(factor)
        for j in range(factor)
    ]
    whole = Topology(range(13 * factor), links)
    schedule = gathered(extra)(SMALL)
    lifted = normalized_schedule(degree.lift(schedule, SMALL, factor), whole)
    assert violations(lifted, whole) == []
    claimed = expand_degree(step_cost(schedule, SMALL), 13, 3, factor)
    found = step_cost(lifted, whole)
    assert found.bandwidth == claimed.bandwidth
    assert found.steps <= claimed.steps


@pytest.mark.parametrize(
    "text",
    [
        "LineGraph(1, GeneralizedKautz(3, 20))",
        "DegreeExpansion(2, GeneralizedKautz(3, 10))",
        "Product(GeneralizedKautz(2, 5), UniRing(4))",
        "Power(2, GeneralizedKautz(2, 5))",
        "Bidirected(GeneralizedKautz(2, 17))",
    ],
)
@pytest.mark.parametrize("turned", [False, True], ids=["graph", "transpose"])
def test_recipes_are_lifted_from_label_schedules_too(text, turned):
    recipe = parse(text)
    whole = build(recipe).transpose() if turned else build(recipe)
    lifted = lift.allgather(recipe, transposed=turned, gather=slack.allgather)
    assert violations(lifted, whole) == []


# Domains.


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"steps": 2}, "/steps"),
        ({"steps": 1000}, "/steps"),
        ({"steps": 5, "max_chunks": 0}, "/max_chunks"),
        ({"steps": 5, "moves": -1}, "/moves"),
        ({"steps": 5, "seed": -1}, "/seed"),
    ],
)
def test_numbers_out_of_their_domain_are_refused_by_name(arguments, field):
    with pytest.raises(NoSchedule) as caught:
        slack.allgather(random_regular(20, 3, 1), **arguments)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("graph", "error"),
    [
        (two_boxes(), NoSchedule),
        (build(parse(f"Complete({MAX_DEGREE + 2})")), NoSchedule),
        (random_regular(6000, 2, 1), TooLarge),
    ],
    ids=["switches", "degree", "nodes"],
)
def test_what_it_does_not_serve_is_refused(graph, error):
    with pytest.raises(error):
        slack.allgather(graph)


def test_chunks_cannot_be_bounded_for_shards_in_pieces():
    graph = random_regular(7, 2, 1)
    found = slack_schedule(graph, 4, pieces=2)
    with pytest.raises(NoSchedule) as caught:
        slack.from_slack_schedule(graph, found, 2)
    assert caught.value.field == "/max_chunks"


def test_breadth_first_broadcast_is_the_labels_that_are_distances():
    graph = build(parse("LineGraph(2, CompleteBipartite(2))"))
    eager = bfb.allgather(graph)
    nodes = np.arange(graph.node_count)
    loads = tuple(load * graph.degree for load in step_loads(graph))
    distances = arrivals(eager).step.T.astype(np.int8, order="C")
    found = SlackSchedule(nodes[None], nodes, distances, loads)
    assert check_slack_schedule(graph, found) == measure(graph)
    schedule = slack.from_slack_schedule(graph, found)
    assert step_cost(schedule, graph) == measure(graph)
    assert np.array_equal(arrivals(schedule).step, arrivals(eager).step)


@pytest.mark.parametrize("turned", [False, True])
def test_dgx_1v_takes_the_two_steps_three_rounds_and_two_chunks_of_sccl(turned):
    """Cai et al., "Synthesizing optimal collective algorithms", PPoPP 2021, table 4."""
    box = fabric("dgx-1v")
    graph = box.transpose() if turned else box
    schedule = slack.allgather(graph, 2)
    assert violations(schedule, graph) == []
    cost = step_cost(schedule, graph)
    # A round sends one chunk over one NVLink.
    seconds = cost.bandwidth * graph.node_count / node_capacity(graph)
    rounds = seconds * min(graph.capacities) * schedule.chunks_per_shard
    assert (cost.steps, rounds, schedule.chunks_per_shard) == (2, 3, 2)


@pytest.mark.parametrize("slow", [Fraction(1, 2), Fraction(1, 3), 2])
def test_a_torus_with_a_slow_dimension_keeps_the_fewest_steps(slow):
    links = build(parse("Torus(4, 4)")).links
    torus = Topology(range(16), [(a, b, slow if a // 4 == b // 4 else 1) for a, b, _ in links])
    schedule = slack.allgather(torus, 4)
    assert violations(schedule, torus) == []
    cost = step_cost(schedule, torus)
    assert cost.steps == 4
    # Each host takes in 15 shards; and no worse than all links at the slower speed.
    slowest = Fraction(15, 16) * node_capacity(torus) / (4 * min(1, slow))
    assert Fraction(15, 16) <= cost.bandwidth <= slowest
