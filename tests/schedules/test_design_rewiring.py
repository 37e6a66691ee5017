"""Today's wiring as a second axis of a design: time against moves."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedules.design import Change, Generators, Hosts, Limits, Speed, Task, Today, Workload, design
from schedules.design.rewiring import not_beaten
from schedules.model import Collective
from synth.build import build
from synth.errors import DoesNotFit
from synth.topology import Topology
from synth.wiring import plan_moves, uniform
from synth.wiring.plant import read_plant

HOSTS = Hosts(18, 4)
SPEED = Speed(Fraction(125 * 10**8), Fraction(1, 10**5))
SMALL, LARGE = (
    Workload((Task(Collective.ALLGATHER, size),), single=True) for size in (1000, 10**9)
)


def asked(work, today=None):
    return design(HOSTS, SPEED, work, Generators(), Limits(64, 16), today=today)


def wired(topology, lanes=4, **options):
    plant = uniform("per-port", topology.node_count, lanes)
    return Today(plan_moves(topology, plant).plant.with_present(
        plan_moves(topology, plant).final), **options)  # fmt: skip


CHANGES = st.builds(
    lambda moves: Change(moves, refused="" if moves is not None else "no room"),
    st.none() | st.integers(0, 12),
)


@given(st.lists(st.tuples(st.integers(1, 9).map(Fraction), CHANGES), max_size=12))
def test_what_is_kept_is_what_no_other_point_beats_in_time_and_moves(rows):
    times, changes = [row[0] for row in rows], [row[1] for row in rows]
    kept = not_beaten(times, changes)
    point = {
        n: (times[n], changes[n].moves) for n in range(len(rows)) if changes[n].moves is not None
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


@pytest.mark.parametrize("work", [SMALL, LARGE], ids=["small", "large"])
@pytest.mark.parametrize("number", [0, 1])
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
    message = f"/max_moves: .* below {min(moves)} moves"
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
        asked(SMALL, Today(plant))
