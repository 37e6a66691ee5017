import json
from fractions import Fraction

import pytest

from tests.cases import for_every
from tests.schedule_documents import to_document
from tests.schedule_oracles import bidirectional_ring, ring, two_boxes
from topoloom.schedules.errors import NoSchedule, UnknownCollective
from topoloom.schedules.formats.msccl.program import Dialect
from topoloom.schedules.formats.msccl.replay import replay
from topoloom.schedules.formats.msccl.write import render
from topoloom.schedules.formats.schedule.binary import pack, unpack
from topoloom.schedules.formats.schedule.read import from_document
from topoloom.schedules.formats.schedule.write import write
from topoloom.schedules.generate.collectives import ALGORITHMS, make
from topoloom.schedules.model.schedule import Collective, SequenceSchedule
from topoloom.schedules.verify import step_cost, tree_inverse_rate, violations
from topoloom.synth.errors import SynthError, Unreachable
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.topology.topology import Topology

UNEQUAL = Topology(
    range(3), [(0, 1, 1), (0, 1, 3), (1, 2, 2), (2, 0, 1), (2, 0, Fraction(1, 2)), (1, 0, 5)]
)


def cost_of(schedule, topology):
    parts = schedule.parts if isinstance(schedule, SequenceSchedule) else (schedule,)
    by_steps = hasattr(parts[0], "steps")
    return (step_cost if by_steps else tree_inverse_rate)(schedule, topology)


ROOTLESS = [Collective.ALLGATHER, Collective.REDUCE_SCATTER, Collective.ALLREDUCE]

TOPOLOGIES = {
    "ring": build(parse("UniRing(5)")),
    "bidirectional ring": build(parse("BiRing(6)")),
    "unequal parallel links": UNEQUAL,
    "doubled ring": build(parse("UniRing(3, 2)")),
    "lopsided": Topology("abcd", [*zip("abcd", "bcda", strict=True), ("a", "c"), ("a", "d")]),
    "expanded": build(parse("LineGraph(1, DegreeExpansion(2, UniRing(2)))")),
}
UNSERVED = {
    "bfb": [UNEQUAL],
    "forestcoll": [],
    "lifted": [UNEQUAL, TOPOLOGIES["lopsided"]],
    "slack": [],
}
# What is not its own transpose.
ONE_WAY = dict.fromkeys(ALGORITHMS, TOPOLOGIES["lopsided"]) | {"lifted": TOPOLOGIES["expanded"]}


@for_every("topology", TOPOLOGIES.values())
@for_every("collective", ROOTLESS)
@for_every("algorithm", ALGORITHMS)
def test_every_algorithm_makes_every_collective_right(algorithm, collective, topology):
    if any(topology is unserved for unserved in UNSERVED[algorithm]):
        with pytest.raises(NoSchedule):
            make(topology, collective, algorithm)
        return
    schedule = make(topology, collective, algorithm)
    assert schedule.collective is collective
    assert schedule.topology == topology.digest
    assert violations(schedule, topology) == []


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_reduce_scatter_costs_the_allgather_of_the_transpose(algorithm):
    topology = ONE_WAY[algorithm]
    scatter = make(topology, "reduce-scatter", algorithm)
    turned = topology.transpose()
    assert cost_of(scatter, topology) == cost_of(make(turned, "allgather", algorithm), turned)


@pytest.mark.parametrize("collective", ROOTLESS)
def test_forestcoll_serves_fabrics_with_switches(collective):
    boxes = two_boxes()
    assert violations(make(boxes, collective, "forestcoll"), boxes) == []


@pytest.mark.parametrize("collective", ROOTLESS)
def test_bfb_refuses_switches(collective):
    with pytest.raises((NoSchedule, SynthError)):
        make(two_boxes(), collective, "bfb")


def test_the_number_of_trees_can_be_given_to_forestcoll_only():
    schedule = make(ring(3), "allgather", "forestcoll", trees_per_root=2)
    assert schedule.trees_per_root == 2
    for algorithm, count in (("bfb", 2), ("lifted", 2), ("forestcoll", 0)):
        with pytest.raises(NoSchedule) as caught:
            make(ring(3), "allgather", algorithm, trees_per_root=count)
        assert caught.value.field == "/trees_per_root"


def test_a_number_of_steps_can_be_given_to_slack_only():
    wheel = build(parse("GeneralizedKautz(2, 9)"))
    both = make(wheel, "allreduce", "slack", steps=4)
    assert max(len(part.steps) for part in both.parts) <= 4
    assert violations(both, wheel) == []
    for algorithm, count in (("bfb", 4), ("forestcoll", 4), ("lifted", 4), ("slack", 2)):
        with pytest.raises(NoSchedule) as caught:
            make(wheel, "allgather", algorithm, steps=count)
        assert caught.value.field == "/steps"


def test_a_largest_number_of_chunks_can_be_given_to_bfb_and_slack_only():
    square = bidirectional_ring(4)
    both = make(square, "allreduce", "bfb", max_chunks=1)
    assert [part.chunks_per_shard for part in both.parts] == [1, 1]
    assert violations(both, square) == []
    assert make(square, "allgather", "bfb").chunks_per_shard == 2
    assert make(square, "allgather", "slack", max_chunks=1).chunks_per_shard == 1
    for algorithm, count in (("forestcoll", 1), ("lifted", 1), ("bfb", 0), ("bfb", 2**40)):
        with pytest.raises(NoSchedule) as caught:
            make(square, "allgather", algorithm, max_chunks=count)
        assert caught.value.field == "/max_chunks"


def test_unknown_names_are_refused():
    with pytest.raises(NoSchedule) as caught:
        make(ring(3), "allgather", "magic")
    assert caught.value.field == "/algorithm"
    with pytest.raises(UnknownCollective):
        make(ring(3), "gossip")


@pytest.mark.parametrize("collective", ROOTLESS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_topology_that_is_not_connected_is_refused_in_its_own_terms(algorithm, collective):
    line = Topology(range(3), [(0, 1), (1, 2), (2, 1)])
    with pytest.raises(Unreachable, match="compute node 1 must reach 0"):
        make(line, collective, algorithm)


SERVED = [
    *((algorithm, TOPOLOGIES["ring"]) for algorithm in ALGORITHMS),
    ("forestcoll", two_boxes()),
]


@for_every("inplace", [False, True])
@for_every("collective", ROOTLESS)
@for_every("dialect", Dialect)
@for_every(("algorithm", "topology"), SERVED)
def test_what_every_algorithm_makes_runs_in_every_dialect(
    algorithm, topology, dialect, collective, inplace
):
    schedule = make(topology, collective, algorithm)
    program = replay(render(schedule, topology, dialect, inplace=inplace), dialect, slots=0)
    assert program.collective is collective


@pytest.mark.parametrize("collective", ROOTLESS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_what_is_made_survives_writing_and_reading(algorithm, collective):
    topology = ONE_WAY[algorithm]
    schedule = make(topology, collective, algorithm)
    again = from_document(json.loads("".join(write(schedule))), topology)
    assert violations(again, topology) == []
    assert to_document(again) == to_document(schedule) == to_document(unpack(pack(schedule)))
