from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedules.errors import InvalidSchedule, NoSchedule, TooLarge
from schedules.model import COPY, NO_LINK, SEND, Collective, StepSchedule, Tree, TreeSchedule
from schedules.simulate import (
    MAX_MESSAGES,
    Lockstep,
    Network,
    best_chunks,
    estimate,
    lockstep,
    simulate,
    tree_depth,
)
from schedules.simulate.messages import messages_of
from schedules.simulate.running import _durations, _run_direct, _run_switched
from schedules.verify import step_cost, tree_inverse_rate
from schedules.verify.costs import node_capacity
from synth.build import build
from synth.fabrics import fabric
from synth.recipe import parse
from synth.topology import Topology
from tests.schedule_oracles import (
    bidirectional_ring,
    direct_topologies,
    every_schedule,
    ring,
    shortest_steps,
    shortest_trees,
    two_boxes,
)

NETWORK = Network(Fraction(1, 10**5), Fraction(25, 8) * 10**9)
SLOW = Network(Fraction(3), Fraction(2))

networks = st.builds(
    Network,
    st.fractions(0, 5, max_denominator=6),
    st.fractions(Fraction(1, 3), 7, max_denominator=6),
    st.just(Fraction(0)) | st.fractions(0, 2, max_denominator=4),
    st.none() | st.integers(1, 3),
)
sizes = st.integers(0, 1000)


def parts_of(schedule):
    return getattr(schedule, "parts", (schedule,))


def closed_steps(schedule, topology, network, size):
    cost = step_cost(schedule, topology)
    rate = node_capacity(topology) * network.unit_bytes_per_second
    return cost.steps * network.alpha_seconds + cost.bandwidth * size / rate


def chain(length):
    """One tree that is a path of ``length`` edges, for a single root's shard."""
    topology = Topology(range(length + 1), [(i, i + 1) for i in range(length)] + [(length, 0)])
    tree = Tree(0, 1, tuple((i, i + 1) for i in range(length)))
    schedule = TreeSchedule(Collective.ALLGATHER, topology.digest, topology.nodes, 1, (tree,))
    return topology, schedule


@settings(max_examples=60, deadline=None)
@given(direct_topologies(), st.integers(1, 4), sizes)
def test_synchronous_steps_take_exactly_what_the_cost_model_says(topology, chunks, size):
    made = every_schedule(topology, chunks)
    for name in ("steps-allgather", "steps-reduce-scatter", "steps-allreduce"):
        found = simulate(made[name], topology, SLOW, size_bytes=size, synchronous=True)
        assert found.seconds == closed_steps(made[name], topology, SLOW, size)


@settings(max_examples=60, deadline=None)
@given(direct_topologies(), st.integers(1, 4), networks, sizes, st.integers(1, 5))
def test_nobody_is_slower_for_not_waiting(topology, chunks, network, size, pieces):
    for name, schedule in every_schedule(topology, chunks).items():
        cut = pieces if name.startswith("trees") else None
        slow = simulate(schedule, topology, network, size_bytes=size, chunks=cut, synchronous=True)
        fast = simulate(schedule, topology, network, size_bytes=size, chunks=cut)
        assert fast.seconds <= slow.seconds
        assert sum(fast.busy_seconds) == sum(slow.busy_seconds)


@settings(max_examples=40, deadline=None)
@given(direct_topologies(6), networks, sizes, st.integers(2, 5))
def test_sends_cut_finer_are_never_later_without_overhead(topology, network, size, pieces):
    free = replace(network, overhead_seconds=Fraction(0))
    schedule = shortest_steps(topology, 2)
    whole = simulate(schedule, topology, free, size_bytes=size)
    cut = simulate(schedule, topology, free, size_bytes=size, chunks=pieces)
    assert cut.seconds <= whole.seconds
    assert cut.busy_seconds == whole.busy_seconds


@settings(max_examples=40, deadline=None)
@given(direct_topologies(), networks, sizes, st.integers(1, 6))
def test_lock_step_takes_exactly_its_closed_form(topology, network, size, chunks):
    bare = replace(network, overhead_seconds=Fraction(0), channels=None)
    for outward in (True, False):
        trees = shortest_trees(topology, (2, 1), outward)
        closed = lockstep(trees, topology, bare, size_bytes=size)
        found = simulate(trees, topology, bare, size_bytes=size, chunks=chunks, synchronous=True)
        assert found.seconds == closed.seconds(chunks)
        assert closed.depth == tree_depth(trees)
        rate = bare.unit_bytes_per_second * topology.node_count
        assert closed.transfer_seconds == tree_inverse_rate(trees, topology) * size / rate


@settings(max_examples=40, deadline=None)
@given(direct_topologies(), st.integers(0, 10**6), st.fractions(0, 3, max_denominator=5))
def test_no_number_of_chunks_is_better_in_lock_step_than_the_best(topology, size, alpha):
    closed = lockstep(
        shortest_trees(topology, (2, 1)), topology, Network(alpha, 7), size_bytes=size
    )
    most = 300
    best = closed.best_chunks(most)
    times = [closed.seconds(chunks) for chunks in range(1, most + 1)]
    assert times[best - 1] == min(times)
    assert best == times.index(min(times)) + 1


def test_the_estimate_is_the_lock_step_in_which_every_round_is_full():
    topology = bidirectional_ring(7)
    trees = shortest_trees(topology, (2, 1))
    closed = lockstep(trees, topology, NETWORK, size_bytes=2**20)
    for chunks in (1, 2, 5, 40):
        found = estimate(
            trees,
            topology,
            size_bytes=2**20,
            alpha_seconds=float(NETWORK.alpha_seconds),
            unit_bytes_per_second=float(NETWORK.unit_bytes_per_second),
            pipeline_chunks=chunks,
        )
        assert float(closed.seconds(chunks)) <= found.seconds * (1 + 1e-12)


@pytest.mark.parametrize("length", [1, 2, 5, 30])
@pytest.mark.parametrize("chunks", [1, 2, 7, 100])
@pytest.mark.parametrize("overhead", [0, Fraction(1, 3)])
def test_a_chain_is_a_pipeline(length, chunks, overhead):
    topology, schedule = chain(length)
    network = replace(SLOW, overhead_seconds=overhead)
    size = 60 * (length + 1)
    link = overhead + Fraction(60, 2 * chunks)
    found = simulate(schedule, topology, network, size_bytes=size, chunks=chunks)
    assert found.seconds == length * 3 + (length + chunks - 1) * link
    slow = simulate(schedule, topology, network, size_bytes=size, chunks=chunks, synchronous=True)
    assert slow.seconds == (length + chunks - 1) * (3 + link)
    assert found.messages == length * chunks == found.events


@pytest.mark.parametrize("count", [2, 3, 8, 64])
def test_a_ring_takes_n_less_one_steps_whether_or_not_anybody_waits(count):
    # Every link is busy with one shard in each step, so nobody could be earlier.
    schedule, topology = shortest_steps(ring(count)), ring(count)
    for synchronous in (True, False):
        found = simulate(schedule, topology, SLOW, size_bytes=10 * count, synchronous=synchronous)
        assert found.seconds == (count - 1) * (3 + 5)
        assert found.busiest == found.mean == Fraction(5, 8)


@pytest.mark.parametrize("name", ["BiRing(5)", "Torus(3, 4)", "Kautz(2, 2)", "Hypercube(3)"])
@pytest.mark.parametrize("outward", [True, False])
def test_a_single_tree_is_as_slow_as_its_deepest_branch(name, outward):
    # Each edge has a link of its own, so nothing but the data is waited for.
    topology = build(parse(name))
    tree = shortest_trees(topology, (1,), outward).trees[0]
    collective = Collective.ALLGATHER if outward else Collective.REDUCE_SCATTER
    schedule = TreeSchedule(collective, topology.digest, topology.nodes, 1, (tree,))
    depth = tree_depth(schedule)
    for chunks in (1, 3, 10):
        found = simulate(
            schedule, topology, SLOW, size_bytes=12 * len(topology.nodes), chunks=chunks
        )
        assert found.seconds == depth * 3 + (depth + chunks - 1) * Fraction(6, chunks)


@settings(max_examples=50, deadline=None)
@given(direct_topologies() | st.just(two_boxes()), networks, sizes, st.integers(1, 6))
def test_a_forest_is_never_faster_than_its_depth_or_its_busiest_link(
    topology, network, size, chunks
):
    for outward in (True, False):
        trees = shortest_trees(topology, (2, 1), outward)
        found = simulate(trees, topology, network, size_bytes=size, chunks=chunks)
        rate = network.unit_bytes_per_second * len(topology.compute_nodes)
        busiest = tree_inverse_rate(trees, topology) * size / rate
        assert found.seconds >= tree_depth(trees) * network.alpha_seconds
        assert found.seconds >= busiest + network.alpha_seconds
        if not network.overhead_seconds:
            assert max(found.busy_seconds) == busiest


def longest_path(schedule, topology, network, size, chunks=1):
    """Each piece is a node of a graph, each reason to wait an arc; time is the longest path."""
    weight, arcs, queues = {}, [], defaultdict(list)
    if isinstance(schedule, StepSchedule):
        unit = Fraction(size, len(schedule.ranks) * schedule.chunks_per_shard)
        arrived = defaultdict(list)
        for step in schedule.steps:
            news = []
            for send in step.tolist():
                source, target, shard, first, count, link, _ = send
                piece = (len(weight),)
                weight[piece] = unit * count
                queues[source, target, max(link, 0)].append(piece)
                for chunk in range(first, first + count):
                    arcs += [(other, piece) for other in arrived[source, shard, chunk]]
                    news.append(((target, shard, chunk), piece))
            for key, piece in news:
                arrived[key].append(piece)
    else:
        unit = Fraction(size, len(schedule.ranks) * schedule.trees_per_root * chunks)
        outward = schedule.collective is Collective.ALLGATHER
        deepest, rows = tree_depth(schedule), []
        for number, tree in enumerate(schedule.trees):
            depth = {tree.root: 0}
            for place, (a, b) in enumerate(tree.edges):
                near, far = (a, b) if outward else (b, a)
                depth[far] = depth[near] + 1
                level = depth[near] if outward else deepest - depth[far]
                rows += [
                    (level + chunk, level, number, place, chunk, (a, b), tree.weight)
                    for chunk in range(chunks)
                ]
        for _, _, number, _, chunk, (a, b), units in sorted(rows):
            piece = (number, chunk, a, b)
            queues[a, b].append(piece)
            weight[piece] = unit * units
        for other in weight:
            arcs += [
                (other, piece)
                for piece in weight
                if piece[:2] == other[:2] and piece[2] == other[3] and piece[3] != other[2]
            ]
    capacity = {(link.source, link.target): link.capacity for link in topology.links}
    ranks = topology.compute_nodes
    where = {piece: queue for queue, pieces in queues.items() for piece in pieces}
    graph = nx.DiGraph()
    for piece, data in weight.items():
        a, b = where[piece][:2]
        link = capacity[(ranks[a], ranks[b]) if len(piece) == 1 else (a, b)]
        busy = network.overhead_seconds + data / (link * network.unit_bytes_per_second)
        graph.add_edge((piece, "begins"), (piece, "leaves"), weight=busy)
    for pieces in queues.values():
        for before, after in pairwise(pieces):
            graph.add_edge((before, "leaves"), (after, "begins"), weight=Fraction(0))
    for before, after in arcs:
        graph.add_edge((before, "leaves"), (after, "begins"), weight=network.alpha_seconds)
    if not len(graph):
        return Fraction(0)
    return nx.dag_longest_path_length(graph, weight="weight") + network.alpha_seconds


@settings(max_examples=60, deadline=None)
@given(direct_topologies(5), st.integers(1, 3), networks, sizes)
def test_steps_take_the_longest_chain_of_waiting(topology, chunks, network, size):
    bare = replace(network, channels=None)
    made = every_schedule(topology, chunks)
    for name in ("steps-allgather", "steps-reduce-scatter"):
        found = simulate(made[name], topology, bare, size_bytes=size)
        assert found.seconds == longest_path(made[name], topology, bare, size)


@settings(max_examples=40, deadline=None)
@given(direct_topologies(4), st.integers(1, 4), networks, sizes)
def test_trees_take_the_longest_chain_of_waiting(topology, chunks, network, size):
    if topology.has_parallel_links:
        topology = Topology(topology.nodes, {(k.source, k.target) for k in topology.links})
    bare = replace(network, channels=None)
    for outward in (True, False):
        trees = shortest_trees(topology, (2, 1), outward)
        found = simulate(trees, topology, bare, size_bytes=size, chunks=chunks)
        assert found.seconds == longest_path(trees, topology, bare, size, chunks)


@settings(max_examples=60, deadline=None)
@given(direct_topologies(), networks, sizes, st.integers(1, 5), st.booleans())
def test_both_loops_agree_where_there_is_no_switch(topology, network, size, chunks, synchronous):
    for outward in (True, False):
        messages = messages_of(shortest_trees(topology, (2, 1), outward), topology)
        clock, durations = _durations(messages, network, size, chunks)
        arguments = (messages, network, durations, clock.ticks(network.alpha_seconds), chunks)
        one, one_busy = _run_direct(*arguments, synchronous)
        other, other_busy = _run_switched(*arguments, synchronous)
        assert one == other
        assert one_busy.tolist() == other_busy.tolist()


def star(rates):
    """Hosts a, b, ... joined to one switch; rates are (up, down) by host."""
    hosts = "abcdef"[: len(rates)]
    links = [
        link
        for host, (up, down) in zip(hosts, rates, strict=True)
        for link in ((host, "s", up), ("s", host, down))
    ]
    return Topology([*hosts, "s"], links, switches=["s"])


def across(topology, *pairs):
    """One edge through the switch for each pair, each its own tree; not a whole collective."""
    trees = tuple(Tree(a, 1, ((a, "s", b),)) for a, b in pairs)
    return TreeSchedule(Collective.ALLGATHER, topology.digest, topology.compute_nodes, 1, trees)


@pytest.mark.parametrize("synchronous", [True, False])
@pytest.mark.parametrize(
    ("rates", "pairs", "seconds"),
    [
        # A switch cuts through: 12 bytes at 1 byte/s, once, and alpha once.
        ([(1, 1), (1, 1)], ["ab"], 1 + 12),
        # The slower link decides, whichever comes first.
        ([(2, 1), (1, 3)], ["ab"], 1 + 6),
        ([(3, 1), (1, 2)], ["ab"], 1 + 6),
        # Two senders share what leads to the receiver, or do not meet.
        ([(1, 1), (1, 1), (1, 1)], ["ac", "bc"], 1 + 24),
        ([(1, 1), (1, 1), (1, 2)], ["ac", "bc"], 1 + 6 + 12),
        ([(1, 1), (1, 1), (1, 1), (1, 1)], ["ac", "bd"], 1 + 12),
        # What comes later does not hold up what is there: b's message to d passes first.
        ([(1, 1), (1, 1), (1, 1), (1, 1)], ["ac", "ad", "bd"], 1 + 24),
    ],
)
def test_switches_cut_through_and_serve_who_comes_first(rates, pairs, seconds, synchronous):
    topology = star(rates)
    found = simulate(
        across(topology, *pairs),
        topology,
        Network(1, 1),
        size_bytes=12 * len(rates),
        chunks=1,
        synchronous=synchronous,
    )
    assert found.seconds == seconds


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 5), networks, sizes, st.booleans())
def test_every_link_of_a_switched_fabric_is_busy_for_exactly_its_bytes(
    chunks, network, size, synchronous
):
    topology = two_boxes()
    bare = replace(network, overhead_seconds=Fraction(0))
    for outward in (True, False):
        trees = shortest_trees(topology, (2, 1), outward)
        load = defaultdict(int)
        for tree in trees.trees:
            for edge in tree.edges:
                for hop in pairwise(edge):
                    load[hop] += tree.weight
        found = simulate(
            trees, topology, bare, size_bytes=size, chunks=chunks, synchronous=synchronous
        )
        unit = Fraction(size, 3 * 4) / bare.unit_bytes_per_second
        for link, busy in zip(topology.links, found.busy_seconds, strict=True):
            assert busy == load[link.source, link.target] * unit / link.capacity
        closed = lockstep(trees, topology, bare, size_bytes=size).seconds(chunks)
        if synchronous:
            assert found.seconds >= closed


@pytest.mark.parametrize("name", ["dgx-a100-2", "mi250-1", "dgx-h100-2"])
def test_finer_chunks_bring_a_switched_forest_near_its_busiest_link(name):
    from schedules.forestcoll import allgather

    topology = fabric(name)
    trees = allgather(topology)
    network = Network(Fraction(0), 10**9)
    shares = [
        simulate(trees, topology, network, size_bytes=10**9, chunks=chunks).busiest
        for chunks in (1, 8, 64)
    ]
    assert shares[0] < shares[2] <= 1
    assert shares[2] > Fraction(9, 10)


@settings(max_examples=30, deadline=None)
@given(direct_topologies(6), networks, sizes)
def test_fewer_channels_are_never_faster(topology, network, size):
    schedule = shortest_steps(topology, 2)
    times = [
        simulate(schedule, topology, replace(network, channels=c), size_bytes=size).seconds
        for c in (1, topology.degree, None)
    ]
    assert times[0] >= times[1] == times[2]


def test_a_node_with_one_channel_sends_one_message_at_a_time():
    topology = Topology(range(4), [(0, 1), (0, 2), (0, 3), (1, 0), (2, 0), (3, 0)])
    rows = [(0, k, 0, 0, 1, NO_LINK, COPY) for k in (1, 2, 3)]
    schedule = StepSchedule(
        Collective.ALLGATHER, topology.digest, topology.nodes, 1, (np.array(rows, SEND),)
    )
    for channels, seconds in ((None, 3 + 5), (3, 3 + 5), (2, 3 + 10), (1, 3 + 15)):
        for synchronous in (True, False):
            found = simulate(
                schedule,
                topology,
                replace(SLOW, channels=channels),
                size_bytes=40,
                synchronous=synchronous,
            )
            assert found.seconds == seconds


def test_a_send_that_needs_half_of_another_waits_for_half_of_it():
    line = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    whole = np.array([(0, 1, 0, 0, 4, NO_LINK, COPY)], SEND)
    halves = {first: np.array([(1, 2, 0, first, 2, NO_LINK, COPY)], SEND) for first in (0, 2)}
    # 8 bytes in 4 pieces arrive after 3, 5, 7, 9 s; each gives two pieces of one byte.
    for first, seconds in ((0, 9), (2, 9 + 1 + 1 + 1)):
        schedule = StepSchedule(
            Collective.ALLGATHER, line.digest, line.nodes, 4, (whole, halves[first])
        )
        found = simulate(schedule, line, Network(1, 1), size_bytes=24, chunks=4)
        assert found.seconds == seconds
        assert simulate(schedule, line, Network(1, 1), size_bytes=24).seconds == 8 + 1 + 4 + 1


def test_a_sequence_takes_the_time_of_its_parts():
    made = every_schedule(bidirectional_ring(6))
    for kind in ("steps", "trees"):
        one, other, whole = (
            simulate(made[f"{kind}-{name}"], bidirectional_ring(6), NETWORK, size_bytes=2**20)
            for name in ("reduce-scatter", "allgather", "allreduce")
        )
        assert whole.seconds == one.seconds + other.seconds
        assert whole.messages == one.messages + other.messages
        assert whole.busy_seconds == tuple(
            map(sum, zip(one.busy_seconds, other.busy_seconds, strict=True))
        )


def test_parallel_links_are_one_link_for_trees_and_several_for_sends():
    topology = Topology(range(2), [(0, 1), (0, 1), (1, 0), (1, 0)])
    trees = simulate(shortest_trees(topology), topology, SLOW, size_bytes=80, chunks=1)
    assert trees.seconds == 3 + 10
    assert trees.busy_seconds == (10, 10, 10, 10)
    steps = simulate(shortest_steps(topology, 2), topology, SLOW, size_bytes=80)
    assert steps.seconds == 3 + 10


@pytest.mark.parametrize("outward", [True, False])
def test_the_searched_number_of_chunks_is_the_best_of_all(outward):
    topology = bidirectional_ring(6)
    network = Network(Fraction(1), Fraction(1), Fraction(1, 2))
    trees = shortest_trees(topology, (1,), outward)
    chunks, seconds = best_chunks(trees, topology, network, size_bytes=600, most=64)
    times = [
        simulate(trees, topology, network, size_bytes=600, chunks=c).seconds for c in range(1, 65)
    ]
    assert seconds == times[chunks - 1] == min(times)


@pytest.mark.parametrize(
    "change",
    [
        {"alpha_seconds": -1},
        {"alpha_seconds": float("nan")},
        {"unit_bytes_per_second": 0},
        {"unit_bytes_per_second": float("inf")},
        {"overhead_seconds": Fraction(-1, 2)},
        {"channels": 0},
    ],
    ids=str,
)
def test_impossible_networks_are_refused(change):
    with pytest.raises(NoSchedule) as caught:
        replace(NETWORK, **change)
    assert caught.value.field == f"/{next(iter(change))}"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"size_bytes": -1}, "/size_bytes"),
        ({"chunks": 0}, "/chunks"),
        ({"chunks": 2, "synchronous": True}, "/chunks"),
    ],
    ids=str,
)
def test_impossible_simulations_are_refused(change, field):
    with pytest.raises(NoSchedule) as caught:
        simulate(shortest_steps(ring(3)), ring(3), NETWORK, **({"size_bytes": 1} | change))
    assert caught.value.field == field


def test_more_pieces_than_the_limit_are_refused():
    with pytest.raises(TooLarge) as caught:
        simulate(shortest_trees(ring(3)), ring(3), NETWORK, size_bytes=1, chunks=MAX_MESSAGES)
    assert caught.value.field == "/chunks"


def test_times_that_no_clock_of_62_bits_tells_are_refused():
    odd = Network(Fraction(1, 2**61 - 1), Fraction(2**31 - 1, 3**30))
    with pytest.raises(TooLarge) as caught:
        simulate(shortest_steps(ring(3)), ring(3), odd, size_bytes=7**20)
    assert caught.value.field == "/size_bytes"
    # One message fits, two one after the other do not.
    long = Network(Fraction(1), Fraction(1, 2**50))
    topology, schedule = chain(2)
    assert simulate(schedule, topology, long, size_bytes=3, chunks=1).seconds == 2**51 + 2
    with pytest.raises(TooLarge):
        simulate(schedule, topology, replace(long, alpha_seconds=2**61 + 1), size_bytes=3, chunks=1)
    with pytest.raises(TooLarge):
        star_ = star([(1, 1), (1, 1)])
        simulate(across(star_, "ab"), star_, Network(2**62, 1), size_bytes=3, chunks=1)


def test_what_runs_over_no_link_is_refused():
    schedule = shortest_steps(ring(4))
    schedule.steps[0]["target"][0] = 2
    with pytest.raises(InvalidSchedule):
        simulate(schedule, ring(4), NETWORK, size_bytes=1)
    with pytest.raises(InvalidSchedule):
        simulate(shortest_trees(ring(4)), two_boxes(), NETWORK, size_bytes=1)
    loose = TreeSchedule(
        Collective.ALLGATHER, ring(4).digest, (0, 1, 2, 3), 1, (Tree(0, 1, ((1, 2),)),)
    )
    with pytest.raises(InvalidSchedule):
        simulate(loose, ring(4), NETWORK, size_bytes=1)


@pytest.mark.parametrize(
    "change",
    [{"first": -1}, {"count": 0}, {"count": -3}, {"source": -1}, {"target": 9}, {"link": 4}],
    ids=str,
)
def test_sends_that_mean_nothing_are_refused(change):
    schedule = shortest_steps(ring(4))
    for name, value in change.items():
        schedule.steps[1][name][2] = value
    with pytest.raises(InvalidSchedule):
        simulate(schedule, ring(4), NETWORK, size_bytes=1)


@pytest.mark.parametrize("made", ["steps-allgather", "trees-reduce-scatter"])
@pytest.mark.parametrize("ranks", [(), (0, 1, 2, 9)])
def test_ranks_that_are_not_there_are_refused(made, ranks):
    schedule = replace(every_schedule(ring(4))[made], ranks=ranks)
    with pytest.raises(InvalidSchedule) as caught:
        simulate(schedule, ring(4), NETWORK, size_bytes=1)
    assert caught.value.field == "/ranks"


@pytest.mark.parametrize("edge", [(), (1,)])
def test_an_edge_without_two_ends_is_refused(edge):
    trees = shortest_trees(ring(4))
    broken = replace(trees, trees=(replace(trees.trees[0], edges=(edge,)), *trees.trees[1:]))
    with pytest.raises(InvalidSchedule) as caught:
        simulate(broken, ring(4), NETWORK, size_bytes=1)
    assert caught.value.field == "/trees/0"


@pytest.mark.parametrize("overhead", [0, Fraction(1)])
def test_the_chunks_nobody_asked_for_are_best_in_lock_step(overhead):
    topology, trees = chain(6)
    network = Network(Fraction(1), Fraction(1), overhead)
    closed = lockstep(trees, topology, Network(1 + overhead, 1), size_bytes=6000)
    found = simulate(trees, topology, network, size_bytes=6000)
    assert found.chunks == closed.best_chunks() > 1


def test_a_weight_that_is_none_is_refused():
    trees = shortest_trees(ring(4))
    broken = replace(trees, trees=(replace(trees.trees[0], weight=0), *trees.trees[1:]))
    with pytest.raises(InvalidSchedule) as caught:
        simulate(broken, ring(4), NETWORK, size_bytes=1)
    assert caught.value.field == "/trees/0/weight"


def test_an_empty_schedule_takes_no_time():
    none = StepSchedule(Collective.ALLGATHER, ring(3).digest, (0, 1, 2), 1, ())
    found = simulate(none, ring(3), NETWORK, size_bytes=9)
    assert (found.seconds, found.messages, found.busiest, found.mean) == (0, 0, 0, 0)
    bare = TreeSchedule(Collective.ALLGATHER, ring(3).digest, (0, 1, 2), 1, ())
    assert simulate(bare, ring(3), NETWORK, size_bytes=9).seconds == 0
    assert lockstep(bare, ring(3), NETWORK, size_bytes=9).best_chunks() == 1


def test_the_clock_of_a_lock_step_holds_any_number_of_chunks():
    closed = Lockstep(Fraction(0), 2, ((Fraction(8), Fraction(8)), (Fraction(8),)))
    assert closed.best_chunks(1000) == 1000
    with pytest.raises(NoSchedule):
        closed.seconds(0)


def outward_chain(topology, root, way):
    """A broadcast (or, turned round, a reduce) along a line, by hand."""
    order = [root, *[node for node in topology.nodes if node != root]]
    edges = [(a, b) if way else (b, a) for a, b in pairwise(order)]
    collective = Collective.BROADCAST if way else Collective.REDUCE
    sizes = tuple(int(node == root) for node in topology.nodes)
    tree = Tree(root, 1, tuple(edges))
    return TreeSchedule(collective, topology.digest, topology.nodes, 1, (tree,), sizes)


@pytest.mark.parametrize("way", [True, False])
@pytest.mark.parametrize("chunks", [1, 3, 8])
def test_a_broadcast_and_a_reduce_move_all_data_along_their_tree(way, chunks):
    line = Topology(range(4), [(i, i + 1) for i in range(3)] + [(i + 1, i) for i in range(3)])
    found = simulate(outward_chain(line, 0, way), line, SLOW, size_bytes=48, chunks=chunks)
    assert found.seconds == 3 * 3 + (3 + chunks - 1) * Fraction(24, chunks)


def test_shards_carry_their_share_and_idle_nodes_only_forward():
    line = Topology("abc", [("a", "b"), ("b", "a"), ("b", "c"), ("c", "b")])
    trees = (Tree("a", 3, (("a", "b", "c"),)), Tree("c", 1, (("c", "b", "a"),)))
    schedule = TreeSchedule(Collective.ALLGATHER, line.digest, ("a", "c"), 1, trees, (3, 1), ("b",))
    # Three quarters of 80 bytes cut through b, at 2 bytes/s; alpha once.
    assert simulate(schedule, line, SLOW, size_bytes=80, chunks=1).seconds == 3 + 30
    closed = lockstep(schedule, line, SLOW, size_bytes=80)
    assert closed.seconds(1) == 33
    assert closed.transfer_seconds == tree_inverse_rate(schedule, line) / 4 * 80 / 2
