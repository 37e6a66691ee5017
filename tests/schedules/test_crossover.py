from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.schedule_oracles import bidirectional_ring, every_schedule, shortest_trees
from topoloom.schedules.baselines import PASSES, Operation, bound_seconds
from topoloom.schedules.compare.crossover import (
    Candidate,
    Line,
    fastest_ranges,
    tree_candidate,
)
from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.simulate import Network, lockstep, simulate

ALPHA = Fraction(1, 10**5)
RATE = Fraction(100 * 10**9, 8)

numbers = st.fractions(0, 6, max_denominator=4)
lines = st.lists(st.builds(Line, numbers, numbers), min_size=1, max_size=4).map(tuple)
candidate_lists = st.lists(lines, min_size=1, max_size=4).map(
    lambda all_: [Candidate(f"c{i}", some) for i, some in enumerate(all_)]
)


def steps_of(name, steps, bandwidth):
    """The candidate of a step schedule."""
    return Candidate(name, (Line(steps * ALPHA, bandwidth / RATE),))


def least(candidates, size):
    return min(one.seconds(size) for one in candidates)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(candidate_lists)
def test_in_every_range_its_candidate_is_the_fastest_and_before_it_is_not(candidates):
    found = fastest_ranges(candidates)
    by_name = {one.name: one for one in candidates}
    assert 0 <= found[0].start < found[0].first_bytes == 1
    for at, each in enumerate(found):
        end = found[at + 1].first_bytes if at + 1 < len(found) else each.first_bytes + 50
        for size in range(each.first_bytes, end):
            assert by_name[each.name].seconds(size) == least(candidates, size)
        if at:
            before = found[at - 1]
            assert each.start < each.first_bytes <= each.start + 1
            assert by_name[each.name].seconds(each.first_bytes) < by_name[before.name].seconds(
                each.first_bytes
            )
            assert before.name != each.name


@given(st.integers(1, 60), st.integers(1, 60))
def test_two_lines_change_places_where_they_meet(steps, more):
    few = steps_of("few", steps, Fraction(4, 3))
    lean = steps_of("lean", steps + more, Fraction(1))
    meeting = more * ALPHA / (Fraction(1, 3) / RATE)
    first, second = fastest_ranges([lean, few])
    assert (first.name, second.name, second.start) == ("few", "lean", meeting)
    assert few.seconds(meeting) == lean.seconds(meeting)


def test_of_equals_the_first_named_wins():
    pair = [Candidate(name, (Line(Fraction(1), Fraction(1)),)) for name in "ab"]
    assert [each.name for each in fastest_ranges(pair)] == ["a"]
    assert [each.name for each in fastest_ranges(pair[::-1])] == ["b"]


@pytest.mark.parametrize("size", [1, 1000, 10**6, 10**9])
@pytest.mark.parametrize("name", list(PASSES))
def test_trees_take_their_best_lock_step(size, name):
    topology = bidirectional_ring(6)
    schedule = every_schedule(topology)[f"trees-{name}"]
    parts = getattr(schedule, "parts", (schedule,))
    network = Network(ALPHA, RATE / 2)
    closed = [lockstep(part, topology, network, size_bytes=1) for part in parts]
    candidate = tree_candidate("trees", closed, 10**9)
    best = candidate.best(size)
    at_size = [part.scaled(size) for part in closed]
    times = [sum(part.seconds(chunks) for part in at_size) for chunks in range(1, 400)]
    assert best.seconds(size) == min(times)
    found = simulate(
        schedule, topology, network, size_bytes=size, chunks=best.chunks, synchronous=True
    )
    assert found.seconds == candidate.seconds(size)


def test_few_steps_win_small_messages_and_fine_pipelines_large_ones():
    topology = bidirectional_ring(8)
    closed = lockstep(shortest_trees(topology), topology, Network(ALPHA, RATE / 2), size_bytes=1)
    found = fastest_ranges(
        [
            tree_candidate("trees", [closed], 2**30),
            steps_of("star", 1, Fraction(7)),
            steps_of("hypercube", 3, Fraction(21, 8)),
            steps_of("never", 9, Fraction(9)),
        ]
    )
    assert [each.name for each in found] == ["star", "hypercube", "trees"]


@pytest.mark.parametrize(
    ("steps", "bandwidth", "microseconds"),
    [
        (5, Fraction(341, 256), 323.48),
        (6, Fraction(261, 256), 291.05),
        (5, Fraction(1023, 1024), 267.61),
    ],
)
def test_an_allreduce_of_a_mebibyte_takes_the_published_times(steps, bandwidth, microseconds):
    work = Operation(Collective.ALLREDUCE, 2**20, RATE, ALPHA)
    assert round(float(bound_seconds(steps, bandwidth, work)) * 1e6, 2) == microseconds


@pytest.mark.parametrize("count", [0, 2])
def test_candidates_have_different_names(count):
    with pytest.raises(NoSchedule):
        fastest_ranges([steps_of("a", 1, Fraction(1))] * count)
