"""Today's wiring as a second axis of a design: time against moves."""

from dataclasses import replace
from fractions import Fraction
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topoloom.schedules.design import (
    Change,
    CurrentWiring,
    Generators,
    Hosts,
    Limits,
    Speed,
    Task,
    Workload,
    design,
)
from topoloom.schedules.design.answer import Weighed
from topoloom.schedules.design.rewiring import allowed_points, pareto_front, planned_changes
from topoloom.schedules.model.schedule import Collective
from topoloom.synth.errors import DoesNotFit
from topoloom.synth.recipes.build import build
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring import plan_moves, uniform
from topoloom.synth.wiring.plant import read_plant

HOSTS = Hosts(18, 4)
SPEED = Speed(Fraction(125 * 10**8), Fraction(1, 10**5))
SMALL, LARGE = (
    Workload((Task(Collective.ALLGATHER, size),), single=True) for size in (1000, 10**9)
)


def asked(work, today=None):
    return design(HOSTS, SPEED, work, Generators(), Limits(64, 16), today=today)


def wired(topology, lanes=4, **options):
    plant = uniform("per-port", topology.node_count, lanes)
    return CurrentWiring(plan_moves(topology, plant).plant.with_present(
        plan_moves(topology, plant).final), **options)  # fmt: skip


WEIGHED = get_args(Weighed)
LIMITS = {
    "moves": ("most_moves", "/max_moves"),
    "seconds": ("most_seconds", "/max_rewiring_seconds"),
    "drained": ("most_drained", "/max_drained"),
}
CHANGES = st.builds(
    lambda moves, seconds, drained: Change(
        moves, seconds=seconds, drained=drained, refused="" if moves is not None else "no room"
    ),
    st.none() | st.integers(0, 12),
    st.integers(0, 5).map(lambda halves: Fraction(halves, 2)),
    st.integers(0, 5),
)


@pytest.mark.parametrize("weighed", WEIGHED)
@given(rows=st.lists(st.tuples(st.integers(1, 9).map(Fraction), CHANGES), max_size=12))
def test_what_is_kept_is_what_no_other_point_beats_in_time_and_what_is_weighed(weighed, rows):
    times, changes = [row[0] for row in rows], [row[1] for row in rows]
    kept = pareto_front(times, changes, weighed)
    point = {
        n: (times[n], changes[n].taken(weighed))
        for n in range(len(rows))
        if changes[n].moves is not None
    }
    beaten = {
        n
        for n, (seconds, moves) in point.items()
        for other in point.values()
        if other != (seconds, moves) and other[0] <= seconds and other[1] <= moves
    }
    assert {point[n] for n in kept} == {point[n] for n in point.keys() - beaten}
    assert len({point[n] for n in kept}) == len(kept)
    assert [point[n] for n in kept] == sorted(point[n] for n in kept)


def paced(topology, paces, **options):
    """What is plugged after a topology was wired, on panels of different speeds."""
    plant = uniform("per-port", topology.node_count, len(paces))
    panels = [
        replace(panel, move_seconds=Fraction(pace))
        for panel, pace in zip(plant.panels, paces, strict=True)
    ]
    plant = replace(plant, panels=tuple(panels), uniform=None)
    return CurrentWiring(plant.with_present(plan_moves(topology, plant).final), **options)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    st.integers(3, 7),
    st.lists(st.sampled_from(["1", "3/2", "60"]), min_size=3, max_size=3),
    st.permutations(WEIGHED),
    st.randoms(use_true_random=False),
)
def test_what_a_change_takes_is_what_its_plan_takes_and_never_less_than_its_bound(
    nodes, paces, order, draw
):
    before, after = (
        Topology(range(nodes), [(u, v) for u in range(nodes) for v in draw.sample(
            [w for w in range(nodes) if w != u], 1)])
        for _ in range(2)
    )  # fmt: skip
    today = paced(Topology(range(nodes), [(i, (i + 1) % nodes) for i in range(nodes)]), paces)
    weighed, other, _ = order
    for topology in (before, after):
        free = {one: replace(today, weighed=one).change_to(topology) for one in WEIGHED}
        if free[weighed].moves is None:
            assert free[weighed].refused
            continue
        for one, change in free.items():
            bound = change.lower_bound if change.goal is None else change.goal.lower_bound
            assert bound <= change.taken(one) <= min(found.taken(one) for found in free.values())
            assert change.goal is None or change.goal.value == change.taken(one)
        # What a plan that was chosen for a limit keeps is kept whatever is weighed.
        name, _ = LIMITS[other]
        most = free[other].taken(other)
        tight = replace(today, weighed=weighed, **{name: most})
        assert tight.allows(tight.change_to(topology))
        assert free[weighed].taken(weighed) <= tight.change_to(topology).taken(weighed)


@pytest.fixture(scope="module")
def points():
    return asked(SMALL).points


@pytest.mark.parametrize("weighed", WEIGHED)
def test_within_what_each_point_takes_it_may_be_chosen_and_below_that_not(points, weighed):
    name, pointer = LIMITS[weighed]
    today = paced(build(points[1].measured.recipe), ["60", "1", "1", "1"], weighed=weighed)
    changes = planned_changes(points, today)
    fast, slow = (change.taken(weighed) for change in changes)
    assert fast > slow == 0
    for most, allowed in ((fast, points), (fast - 1, points[1:]), (0, points[1:])):
        assert allowed_points(points, changes, replace(today, **{name: most})) == allowed
    with pytest.raises(DoesNotFit, match=f"{pointer}: the least found .* is {float(fast):g} "):
        allowed_points(points[:1], changes[:1], replace(today, **{name: fast - 1}))


def test_limits_that_no_plan_keeps_together_are_named_together(points):
    today = CurrentWiring(uniform("per-port", 3, 1), most_moves=4, most_drained=2)
    changes = [Change(4, drained=3), Change(6, drained=2)]
    with pytest.raises(DoesNotFit, match=r"/max_moves: .* limits of moves and drained"):
        allowed_points(points, changes, today)


@pytest.mark.parametrize("work", [SMALL, LARGE], ids=["small", "large"])
@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.one_in(2)
def test_within_no_moves_the_best_is_what_is_plugged_and_without_a_limit_the_fastest(work, number):
    free = asked(work)
    assert len(free.points) == 2
    plugged = build(free.points[number].measured.recipe)
    found = asked(work, wired(plugged))
    assert found.points == free.points and found.best == free.best
    assert found.changes[number].moves == 0 and found.changes[number].optimal
    assert all(change.moves >= change.lower_bound for change in found.changes)
    stay = asked(work, wired(plugged, most_moves=0))
    assert stay.best == stay.co_design == free.points[number]
    assert stay.schedule.facts.steps == stay.points[number].measured.cost.steps


def test_with_hosts_chosen_a_renamed_wiring_takes_no_moves():
    plugged = build(asked(SMALL).points[1].measured.recipe)
    names = {node: (node * 7 + 3) % 18 for node in plugged.nodes}
    renamed = Topology(
        range(18), [(names[link.source], names[link.target]) for link in plugged.links]
    )
    assert asked(SMALL, wired(renamed)).changes[1].moves > 0
    assert asked(SMALL, wired(renamed, free_hosts=True)).changes[1].moves == 0


def test_a_limit_that_no_point_keeps_says_what_the_nearest_takes():
    ring = Topology(range(18), [(i, (i + 5) % 18) for i in range(18)])
    moves = [change.moves for change in asked(SMALL, wired(ring)).changes]
    message = f"/max_moves: the least found .* is {min(moves)} moves"
    with pytest.raises(DoesNotFit, match=message):
        asked(SMALL, wired(ring, most_moves=min(moves) - 1))
    assert asked(SMALL, wired(ring, most_moves=min(moves))).best


def test_a_plant_without_enough_ports_fits_no_point():
    hosts = [
        {"id": str(h), "ports": [{"id": "p", "tx": f"ocs/{h}A", "rx": f"ocs/{h}B"}]}
        for h in range(18)
    ]
    panel = {"id": "ocs", "kind": "switch", "a": 18, "b": 18}
    plant = read_plant({"schema": "plant/1", "panels": [panel], "hosts": hosts})
    with pytest.raises(DoesNotFit, match="/plant: no point of the frontier fits: host 0 has 4"):
        asked(SMALL, CurrentWiring(plant))
