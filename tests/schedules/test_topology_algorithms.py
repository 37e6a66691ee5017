"""Co-design: what is offered, when it changes, and which baselines are faster."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import codesign as pages
from topoloom.schedules.baselines import PASSES, Operation, baselines
from topoloom.schedules.compare.crossover import fastest_ranges
from topoloom.schedules.compare.topology_algorithms import (
    ONE_SHOT,
    Routing,
    TopologyCosts,
    floor_seconds,
    topology_candidates,
)
from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.simulate import Lockstep
from topoloom.synth.errors import ImpossibleRequest
from topoloom.synth.evaluation.cost import Cost, Links, all_to_all_bound, lower_bound
from topoloom.synth.search.frontier import frontier

ALPHA, RATE = Fraction(1, 10**5), Fraction(125 * 10**8)
SIZES = [2**power for power in (*range(0, 41, 2), 15)]


def work(collective, size=1):
    return Operation(collective, size, RATE, ALPHA)


def offers(nodes, degree, links=Links.UNIDIRECTIONAL):
    found = frontier(nodes, degree, links)
    return found, [TopologyCosts(nodes, point.cost, point.transpose) for point in found.points]


PARTIAL_SUMS = {"torus-rings", "recursive-doubling", "single-tree", "full-mesh-2d", "full-mesh-3d"}
"""Baselines whose allreduce in one pass sends partial sums; ours sends whole contributions."""


@pytest.mark.slow
@pytest.mark.one_in(3)
@pytest.mark.parametrize("links", Links)
@pytest.mark.parametrize("degree", [1, 2, 3, 4, 5, 8])
def test_only_partial_sums_below_a_mebibyte_are_faster_by_at_most_40_percent(degree, links):
    for nodes in (3, 4, 6, 9, 12, 16, 20, 32, 64):
        try:
            found, made = offers(nodes, degree, links)
        except ImpossibleRequest:
            continue
        for collective in PASSES:
            ways = [
                way for one in made for way in topology_candidates(one, work(collective), 2**30)
            ]
            for size in SIZES:
                ours = min(way.seconds(size) for way in ways)
                asked = work(collective, size)
                for baseline in baselines(nodes, degree, asked, links):
                    summed = baseline.name in PARTIAL_SUMS and size < 1 << 20
                    lost = summed and collective is Collective.ALLREDUCE
                    most = baseline.seconds * (Fraction(7, 5) if lost else 1)
                    assert ours <= most, (nodes, baseline.name, collective, size)
                assert ours >= floor_seconds(found.bounds, Fraction(0), asked)


@pytest.mark.slow
@given(
    st.integers(2, 300),
    st.integers(1, 6),
    st.fractions(1, 2, max_denominator=64),
    st.sampled_from(list(PASSES)),
    st.integers(1, 10**10),
)
def test_the_fastest_by_size_is_the_fastest_there(nodes, steps, bandwidth, collective, size):
    cost = Cost(steps, bandwidth)
    whole = bandwidth / RATE
    rows = tuple((whole,) * (steps - level) for level in range(steps))
    trees = Lockstep(ALPHA, steps, rows)
    ways = topology_candidates(
        TopologyCosts(nodes, cost, cost, (trees, trees)), work(collective), 10**10
    )
    parts = fastest_ranges(ways)
    assert parts[0].first_bytes == 1
    name = [part.name for part in parts if part.first_bytes <= size][-1]
    times = {way.name: way.seconds(size) for way in ways}
    assert times[name] == min(times.values())


def test_an_allreduce_in_one_pass_takes_half_the_steps_and_all_the_data():
    offer = TopologyCosts(12, Cost(2, Fraction(11, 12)), Cost(3, Fraction(1)))
    times = {way.name: way for way in topology_candidates(offer, work(Collective.ALLREDUCE), 2**30)}
    assert times["bfb"].seconds(0) == 5 * ALPHA
    assert times[ONE_SHOT["bfb"]].seconds(0) == 2 * ALPHA
    assert times[ONE_SHOT["bfb"]].seconds(1200) - 2 * ALPHA == Fraction(11, 12) * 12 * 1200 / RATE


def test_a_reduce_scatter_costs_what_the_transpose_does():
    offer = TopologyCosts(12, Cost(2, Fraction(11, 12)), Cost(3, Fraction(1)))
    (way,) = topology_candidates(offer, work(Collective.REDUCE_SCATTER), 2**30)
    assert way.seconds(0) == 3 * ALPHA


def test_all_to_all_is_pipelined_over_its_hops():
    routings = (Routing("near", Cost(2, Fraction(3))), Routing("flow", Cost(4, Fraction(2))))
    offer = TopologyCosts(12, Cost(2, Fraction(1)), Cost(2, Fraction(1)), routings=routings)
    ways = topology_candidates(offer, work(Collective.ALL_TO_ALL), 10**9)
    size = 10**7
    for way, routing in zip(ways, routings, strict=True):
        hops, wire = routing.cost.steps, routing.cost.bandwidth * size / RATE
        times = [(hops + p - 1) * (ALPHA + wire / p) for p in range(1, 200)]
        assert way.seconds(size) == min(times)
    assert [part.name for part in fastest_ranges(ways)] == ["near", "flow"]


def test_what_is_not_offered_is_refused():
    offer = TopologyCosts(12, Cost(2, Fraction(1)), Cost(2, Fraction(1)))
    for collective in (Collective.ALL_TO_ALL, Collective.BROADCAST):
        with pytest.raises(NoSchedule, match="/collective: nothing is offered"):
            topology_candidates(offer, work(collective), 2**30)


@settings(max_examples=60)
@given(st.integers(2, 200), st.integers(1, 6), st.sampled_from(Links))
def test_the_bound_of_all_to_all_is_the_least_sum_of_distances(nodes, degree, links):
    if links is Links.BIDIRECTIONAL and degree == 1 and nodes > 2:
        return
    growth = degree if links is Links.UNIDIRECTIONAL else degree - 1
    left, total, distance = nodes - 1, 0, 0
    while left:
        distance += 1
        found = min(left, degree * growth ** (distance - 1))
        total, left = total + distance * found, left - found
    assert all_to_all_bound(nodes, degree, links) == Fraction(total, nodes)
    assert distance == lower_bound(nodes, degree, links).steps


def test_rings_send_all_to_all_the_shorter_way_round():
    (ring,) = baselines(12, 2, work(Collective.ALL_TO_ALL, 12))
    distances = sum(min(offset, 12 - offset) for offset in range(12))
    assert ring.seconds == 6 * ALPHA + Fraction(distances, 12) * 12 / RATE
    (single,) = baselines(12, 1, work(Collective.ALL_TO_ALL, 12))
    assert single.seconds == 11 * ALPHA + Fraction(66, 12) * 12 / RATE
    assert not baselines(12, 4, replace(work(Collective.BROADCAST), size_bytes=5))


def test_the_table_of_twelve_hosts_in_the_documentation_is_what_is_computed():
    text = pages.PAGE.read_text()
    assert f"<!-- table: 12 hosts -->\n{pages.table(12, 4)}\n<!-- end -->" in text


@pytest.mark.slow
def test_every_table_in_the_documentation_is_what_is_computed():
    text = pages.PAGE.read_text()
    assert pages.page(text) == text
