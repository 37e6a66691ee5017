"""What the simulator refuses, and by which name."""

from dataclasses import replace
from fractions import Fraction

import pytest

from tests.schedule_oracles import every_schedule, ring, shortest_steps, shortest_trees, two_boxes
from tests.simulation_inputs import NETWORK, across, chain, star
from topoloom.schedules.errors import InvalidSchedule, NoSchedule, TooLarge
from topoloom.schedules.model.schedule import Collective, Tree, TreeSchedule
from topoloom.schedules.simulate import MAX_MESSAGES, Network, simulate


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


def test_a_weight_that_is_none_is_refused():
    trees = shortest_trees(ring(4))
    broken = replace(trees, trees=(replace(trees.trees[0], weight=0), *trees.trees[1:]))
    with pytest.raises(InvalidSchedule) as caught:
        simulate(broken, ring(4), NETWORK, size_bytes=1)
    assert caught.value.field == "/trees/0/weight"
