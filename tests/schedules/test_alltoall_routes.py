"""All-to-all by routes: checked, written, timed."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, permutations

import pytest

from tests.schedule_documents import to_document
from tests.schedule_oracles import bidirectional_ring, ring, two_boxes
from topoloom.schedules.errors import InvalidSchedule, NoSchedule
from topoloom.schedules.execute.programs.plan import plan
from topoloom.schedules.formats.schedule.binary import pack, unpack
from topoloom.schedules.formats.schedule.read import from_document
from topoloom.schedules.formats.schedule.write import write
from topoloom.schedules.generate.collectives import make, reverse
from topoloom.schedules.model.schedule import Collective, Route, RouteSchedule, SequenceSchedule
from topoloom.schedules.routes import all_to_all
from topoloom.schedules.simulate import Network, estimate, simulate
from topoloom.schedules.verify import require_valid, route_inverse_rate, route_phases, violations
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse

BOXES = two_boxes()


SQUARE = bidirectional_ring(4)


def routes_of(topology, *paths, units=1):
    routes = tuple(Route(path, 1) for path in paths)
    return RouteSchedule(
        Collective.ALL_TO_ALL, topology.digest, topology.compute_nodes, units, routes
    )


PAIR = ring(2)


WRONG = {
    "no link joins": routes_of(ring(3), (0, 1), (1, 0), (1, 2), (2, 0), (2, 0, 1), (0, 1, 2)),
    "must not pass a node twice": routes_of(PAIR, (0, 1, 0, 1), (1, 0)),
    "must lead from a rank to another": routes_of(PAIR, (0,), (1, 0)),
    "from 1 to 0 must add up to 1; they make 0": routes_of(PAIR, (0, 1)),
    "from 0 to 1 must add up to 1; they make 2": routes_of(PAIR, (0, 1), (0, 1), (1, 0)),
    "units_per_pair: must be at least 1": routes_of(PAIR, (0, 1), (1, 0), units=0),
    "the weight must be at least 1": replace(
        routes_of(PAIR, (0, 1), (1, 0)), routes=(Route((0, 1), 0), Route((1, 0), 1))
    ),
    "routes are for all-to-all only": replace(
        routes_of(PAIR, (0, 1), (1, 0)), collective=Collective.ALLGATHER
    ),
}


@pytest.mark.parametrize("sentence", WRONG)
def test_the_checker_says_what_is_wrong_with_routes(sentence):
    schedule = WRONG[sentence]
    topology = ring(len(schedule.ranks))
    found = violations(schedule, topology)
    assert any(sentence in str(violation) for violation in found)
    with pytest.raises(InvalidSchedule):
        require_valid(schedule, topology)


def test_an_all_to_all_is_by_routes_or_not_at_all():
    gather = make(PAIR, "allgather")
    claimed = replace(gather, collective=Collective.ALL_TO_ALL)
    assert "by routes" in str(violations(claimed, PAIR)[0])
    sequence = SequenceSchedule(Collective.ALL_TO_ALL, PAIR.digest, (claimed,))
    assert violations(sequence, PAIR)


def test_a_switch_is_no_end_of_a_route():
    paths = [(a, b) for a, b in permutations(BOXES.nodes, 2) if (a, b) in set(pairs_of(BOXES))]
    found = violations(routes_of(BOXES, *paths), BOXES)
    assert any("from a rank to another" in str(violation) for violation in found)


def pairs_of(topology):
    return [(link.source, link.target) for link in topology.links]


@pytest.mark.parametrize("topology", [SQUARE, BOXES, build(parse("Kautz(2, 2)"))], ids=str)
def test_routes_survive_every_form_they_are_written_in(topology):
    schedule = make(topology, "all-to-all", "mcf")
    document = to_document(schedule)
    assert document["kind"] == "routes" and document["collective"] == "all-to-all"
    assert from_document(document, topology) == schedule
    assert "".join(write(schedule)) == json.dumps(document)
    assert unpack(pack(schedule)) == schedule


BROKEN = {
    "/routes/0: must be an object": {"routes": [3]},
    "/routes/0/path: must be a list of 2": {"routes": [{"path": [0], "weight": 1}]},
    "/routes/0/path/1: must be the id": {"routes": [{"path": [0, 9], "weight": 1}]},
    "/routes/0/weight: must be an integer": {"routes": [{"path": [0, 1], "weight": 0}]},
    "/routes: must be a list": {"routes": 7},
    "/units_per_pair: must be an integer": {"units_per_pair": "1"},
}


@pytest.mark.parametrize("message", BROKEN)
def test_a_broken_document_is_refused_by_place_and_rule(message):
    document = to_document(make(PAIR, "all-to-all", "mcf")) | BROKEN[message]
    with pytest.raises(InvalidSchedule) as refused:
        from_document(document, PAIR)
    assert str(refused.value).startswith(message)


def test_other_algorithms_and_formats_say_no():
    with pytest.raises(NoSchedule, match="/algorithm: must be mcf or shortest-paths"):
        make(PAIR, "all-to-all", "bfb")
    with pytest.raises(NoSchedule, match="/trees_per_root: is not for all-to-all"):
        make(PAIR, "all-to-all", "mcf", 2)
    with pytest.raises(NoSchedule, match="/algorithm"):
        make(PAIR, "allgather", "mcf")
    routes = make(PAIR, "all-to-all", "mcf")
    with pytest.raises(NoSchedule, match="/kind: must be steps"):
        plan(routes, 4, 1)
    with pytest.raises(NoSchedule, match="/collective"):
        reverse(routes, PAIR)


def test_the_time_is_that_of_the_phases_or_of_a_pipeline():
    schedule = make(ring(3), "all-to-all", "mcf")
    assert route_phases(schedule, ring(3)) == (2, 1)
    rates = {"alpha_seconds": 1.0, "unit_bytes_per_second": 1.0}
    # In one piece: two rounds, then the shares of 1 byte for each pair.
    small = estimate(schedule, ring(3), size_bytes=3, **rates)
    assert (small.seconds, small.rounds, small.pipeline_chunks) == (5.0, 2, 1)
    # Cut into P pieces: (2 + P - 1)(1 + 300 / P), least near sqrt(300).
    large = estimate(schedule, ring(3), size_bytes=300, pipeline_chunks=10, **rates)
    assert large.seconds == 11 * (1 + 300 / 10)
    best = estimate(schedule, ring(3), size_bytes=300, **rates)
    assert best.seconds <= min(large.seconds, 302.0)


def test_every_phase_loads_what_its_hops_carry():
    topology = build(parse("GeneralizedKautz(3, 11)"))
    schedule = all_to_all.schedule(topology)
    loads = {}
    for route in schedule.routes:
        for place, hop in enumerate(pairwise(route.path)):
            loads[place, hop] = loads.get((place, hop), 0) + route.weight
    phases = route_phases(schedule, topology)
    for place, phase in enumerate(phases):
        heaviest = max(load for (at, _), load in loads.items() if at == place)
        assert phase == Fraction(heaviest, schedule.units_per_pair)
    assert sum(phases) >= route_inverse_rate(schedule, topology)


@pytest.mark.parametrize("topology", [SQUARE, BOXES, build(parse("Kautz(2, 2)"))], ids=str)
@pytest.mark.parametrize("size", [7, 5000])
def test_routes_simulated_take_no_longer_than_estimated(topology, size):
    schedule = make(topology, "all-to-all", "mcf")
    rates = {"alpha_seconds": 1.0, "unit_bytes_per_second": 2.0}
    network = Network(Fraction(1), Fraction(2))
    whole = estimate(schedule, topology, size_bytes=size, pipeline_chunks=1, **rates)
    locked = simulate(schedule, topology, network, size_bytes=size, chunks=1, synchronous=True)
    if not topology.switches:
        assert whole.seconds == pytest.approx(float(locked.seconds))
    free = simulate(schedule, topology, network, size_bytes=size)
    wire = route_inverse_rate(schedule, topology) * size / len(topology.compute_nodes) / 2
    assert wire < free.seconds
    assert free.seconds <= locked.seconds
