"""Shards of unequal size, and collectives among some of the compute nodes."""

import json
import random
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import pytest

from schedules.collectives import make
from schedules.errors import InvalidSchedule, NoSchedule, NotExportable, TooLarge
from schedules.forestcoll import allgather, broadcast, optimum
from schedules.formats.msccl.write import render
from schedules.formats.schedule.binary import pack, unpack
from schedules.formats.schedule.read import from_document
from schedules.formats.schedule.write import to_document, write
from schedules.model import Collective, SequenceSchedule, Tree, TreeSchedule
from schedules.simulate import Network, estimate, simulate
from schedules.verify import tree_inverse_rate, violations
from synth.errors import Unreachable
from synth.fabrics import fabric
from synth.topology import NodeId, Topology
from tests.flow_oracles import flow_rate
from tests.oracles import data_cuts, forest_faults, random_topology, torus, worst_data_ratio
from tests.schedule_oracles import ring, two_boxes

BOXES = fabric("dgx-a100-2")
PAIRS = ["0.gpu0", "0.gpu1", "1.gpu0", "1.gpu1"]


def random_sizes(rng: random.Random, topology: Topology) -> dict[NodeId, int]:
    """Return sizes of the shards of some of the compute nodes, without a common factor."""
    nodes = topology.compute_nodes
    ranks = set(rng.sample(nodes, rng.randint(2, len(nodes))))
    sizes = {node: rng.choice([0, 1, 1, 2, 3, 7]) for node in nodes if node in ranks}
    return sizes | {rng.choice(list(sizes)): 1}


@pytest.mark.parametrize("seed", range(150))
def test_the_optimum_is_the_worst_of_all_cuts_between_data_and_ranks(seed: int) -> None:
    rng = random.Random(seed)
    topology = random_topology(rng)
    sizes = random_sizes(rng, topology)
    best = optimum(topology, shards=sizes, participants=sizes)
    assert best.trees_per_root * best.unit_bandwidth * best.inverse_rate == 1
    if best.proof is not None:
        assert best.inverse_rate > worst_data_ratio(topology, sizes)
        assert float(best.algbw) == pytest.approx(flow_rate(topology, sizes, "o"))
        return
    assert best.inverse_rate == worst_data_ratio(topology, sizes)
    found = {inside: (data, leaving) for inside, data, leaving in data_cuts(topology, sizes)}
    assert best.bottleneck is not None
    assert found[best.bottleneck] == (best.data_inside, best.exit_capacity)
    assert Fraction(best.data_inside) / best.exit_capacity == best.inverse_rate
    assert best.data == sum(sizes.values())


@pytest.mark.parametrize("trees", [None, 1, 2, 3])
@pytest.mark.parametrize("seed", range(60))
def test_on_balanced_networks_trees_reach_it_whoever_brings_what(
    seed: int, trees: int | None
) -> None:
    rng = random.Random(1000 + seed)
    topology = random_topology(rng)
    cables = [link for s, t, c in topology.links for link in ((s, t, c), (t, s, c))]
    topology = Topology(topology.nodes, cables, switches=topology.switches)
    sizes = random_sizes(rng, topology)
    schedule = allgather(topology, trees, shards=sizes, participants=sizes)
    best = optimum(topology, trees, shards=sizes, participants=sizes)
    assert forest_faults(schedule, topology, best.unit_bandwidth, sizes) == []
    assert violations(schedule, topology) == []
    if trees is None:
        assert tree_inverse_rate(schedule, topology) == worst_data_ratio(topology, sizes)


@pytest.mark.parametrize("seed", range(40))
def test_equal_sizes_are_equal_shards_and_all_ranks_are_no_group(seed: int) -> None:
    topology = random_topology(random.Random(seed), balanced=True)
    nodes = topology.compute_nodes
    plain = allgather(topology)
    assert allgather(topology, shards=dict.fromkeys(nodes, 6)) == plain
    assert allgather(topology, participants=nodes[::-1]) == plain
    assert (plain.shards, plain.idle) == ((), ())


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
@pytest.mark.parametrize(
    ("shards", "participants"),
    [
        ({"0.gpu0": 3, "1.gpu5": 1}, None),
        (None, PAIRS),
        ({"0.gpu1": 2, "1.gpu0": 1}, PAIRS),
    ],
)
def test_every_collective_runs_with_unequal_shards_and_in_groups(
    collective: str, shards: Mapping[NodeId, int] | None, participants: list[NodeId] | None
) -> None:
    schedule = make(BOXES, collective, "forestcoll", shards=shards, participants=participants)
    assert violations(schedule, BOXES) == []
    best = optimum(BOXES, shards=shards, participants=participants)
    passes = 2 if collective == "allreduce" else 1
    assert tree_inverse_rate(schedule, BOXES) == passes * best.inverse_rate
    text = "".join(write(schedule))
    assert json.loads(text) == to_document(schedule)
    assert from_document(json.loads(text), BOXES) == schedule
    assert unpack(pack(schedule)) == schedule


@pytest.mark.parametrize("collective", ["broadcast", "reduce"])
@pytest.mark.parametrize("participants", [None, PAIRS])
def test_one_root_survives_writing_and_reading(
    collective: str, participants: list[NodeId] | None
) -> None:
    schedule = make(BOXES, collective, "forestcoll", root="1.gpu1", participants=participants)
    document = json.loads("".join(write(schedule)))
    assert document["root"] == "1.gpu1"
    assert document.get("participants") == participants
    assert from_document(document, BOXES) == schedule == unpack(pack(schedule))


def test_two_gpus_of_a_box_have_its_whole_switch_to_themselves() -> None:
    assert optimum(BOXES, participants=["0.gpu0", "0.gpu5"]).algbw == 2 * 325
    assert optimum(BOXES, participants=["0.gpu0", "1.gpu0"]).algbw == 2 * 200


def test_bytes_take_the_same_time_however_sizes_are_scaled() -> None:
    work = {"alpha_seconds": 0.0, "unit_bytes_per_second": 1e9, "pipeline_chunks": 1}
    lopsided = allgather(ring(3), shards={0: 30, 1: 10})
    # Three quarters of 8 GB leave node 0 over its one link, and enter each other node.
    assert estimate(lopsided, ring(3), size_bytes=8 * 10**9, **work).seconds == pytest.approx(
        2 * 8.0
    )
    assert optimum(ring(3), shards={0: 30, 1: 10}).algbw == 1


def test_the_simulator_moves_unequal_shards_and_broadcasts_too() -> None:
    pair = Topology("ab", [("a", "b"), ("b", "a")])
    network = Network(Fraction(0), Fraction(1))
    whole = simulate(broadcast(pair, "a"), pair, network, size_bytes=1000)
    assert whole.seconds == 1000
    lopsided = allgather(pair, shards={"a": 3, "b": 1})
    assert simulate(lopsided, pair, network, size_bytes=1000).seconds == 750
    back = make(pair, "reduce", "forestcoll", root="a")
    assert simulate(back, pair, network, size_bytes=1000).seconds == 1000


def planted(schedule: TreeSchedule) -> dict[str, TreeSchedule]:
    """Return copies of a schedule among a group, each with one fault."""
    first, *rest = schedule.trees
    idle = schedule.idle[0]
    stranger = replace(first, edges=(*first.edges, (first.edges[-1][0], "0.nvswitch", idle)))
    through = next(rank for rank in schedule.ranks if rank not in first.edges[0])
    crossing = (first.edges[0][0], "0.nvswitch", through, "0.nvswitch", first.edges[0][-1])
    return {
        "too little of a shard": replace(schedule, trees=tuple(rest)),
        "a shard of another size": replace(schedule, shards=(2, 1, 1)),
        "no size at all": replace(schedule, shards=(0, 0, 0)),
        "a negative size": replace(schedule, shards=(3, -1, 1)),
        "one size too few": replace(schedule, shards=(1, 1)),
        "an idle node receives": replace(schedule, trees=(stranger, *rest)),
        "an idle node is a root": replace(
            schedule, trees=(*schedule.trees, Tree(idle, 1, first.edges))
        ),
        "a rank only forwards": replace(
            schedule, trees=(replace(first, edges=(crossing, *first.edges[1:])), *rest)
        ),
        "a node is missing": replace(schedule, idle=schedule.idle[1:]),
        "nobody is idle": replace(schedule, idle=()),
        "a rank is forgotten": replace(
            schedule, trees=(replace(first, edges=first.edges[:1]), *rest)
        ),
        "all at one root": replace(schedule, collective=Collective.BROADCAST),
    }


GROUP = ["0.gpu0", "0.gpu1", "0.gpu2"]


@pytest.mark.parametrize("fault", planted(allgather(fabric("dgx-a100-1"), participants=GROUP)))
def test_a_planted_fault_is_found(fault: str) -> None:
    box = fabric("dgx-a100-1")
    schedule = allgather(box, participants=GROUP)
    assert violations(schedule, box) == []
    assert violations(planted(schedule)[fault], box) != []


def test_two_roots_are_no_broadcast() -> None:
    schedule = broadcast(BOXES, "0.gpu0")
    other = replace(schedule.trees[0], root="0.gpu1")
    for wrong in (
        replace(schedule, shards=()),
        replace(schedule, shards=(2, *schedule.shards[1:])),
        replace(schedule, shards=(1, 1, *schedule.shards[2:])),
        replace(schedule, trees=(other, *schedule.trees[1:])),
        replace(schedule, collective=Collective.REDUCE),
    ):
        assert violations(wrong, BOXES) != []


def test_both_passes_of_an_allreduce_have_the_same_shards_and_ranks() -> None:
    whole = make(BOXES, "allreduce", "forestcoll", shards={"0.gpu0": 3, "1.gpu5": 1})
    assert isinstance(whole, SequenceSchedule)
    for gather in (
        allgather(BOXES),
        allgather(BOXES, shards={"0.gpu0": 1, "1.gpu5": 3}),
        allgather(BOXES, participants=["0.gpu0", "1.gpu5"]),
    ):
        mixed = replace(whole, parts=(whole.parts[0], gather))
        assert [found.place for found in violations(mixed, BOXES)] == ["/parts"]


@pytest.mark.parametrize(
    ("options", "field", "rule"),
    [
        ({"shards": {"0.gpu9": 1}}, "shards", "no node"),
        ({"shards": {"0.nvswitch": 1}}, "shards", "is a switch"),
        ({"shards": {"0.gpu0": -1}}, "shards", "integer from 0"),
        ({"shards": {"0.gpu0": Fraction(1, 2)}}, "shards", "integer from 0"),
        ({"shards": {"0.gpu0": True}}, "shards", "integer from 0"),
        ({"shards": {"0.gpu0": 0}}, "shards", "above 0"),
        ({"shards": {}}, "shards", "above 0"),
        ({"shards": {"0.gpu0": 1, "0.gpu5": 1}, "participants": PAIRS}, "shards", "no part"),
        ({"participants": ["0.gpu0"]}, "participants", "at least two"),
        ({"participants": []}, "participants", "at least two"),
        ({"participants": ["0.gpu0", "0.gpu1", "0.gpu0"]}, "participants", "once"),
        ({"participants": ["0.gpu0", "1.nvswitch"]}, "participants", "is a switch"),
        ({"participants": ["0.gpu0", "somebody"]}, "participants", "no node"),
        ({"participants": [0, True]}, "participants", "no node"),
        ({"root": "0.gpu5", "participants": PAIRS}, "root", "no part"),
        ({"root": "0.gpu5", "shards": {"0.gpu5": 1}}, "shards", "together"),
        ({"trees_per_root": 0}, "trees_per_root", "at least 1"),
        ({"trees_per_root": 2, "max_gap": 1}, "max_gap", "together"),
        ({"max_gap": 0.5}, "max_gap", "fraction"),
        ({"max_gap": -1}, "max_gap", "negative"),
    ],
)
def test_a_wrong_request_is_refused_by_name(options, field, rule) -> None:
    with pytest.raises(NoSchedule, match=rule) as caught:
        optimum(BOXES, **options)
    assert caught.value.field == field
    if "root" not in options:
        with pytest.raises(NoSchedule, match=rule) as caught:
            allgather(BOXES, **options)
        assert caught.value.field == field
        if field in ("shards", "participants"):
            with pytest.raises(NoSchedule, match=rule) as caught:
                make(BOXES, "allreduce", "forestcoll", **options)
            assert caught.value.field == field


def test_a_group_must_reach_itself_and_no_one_else() -> None:
    links = [("a", "b"), ("b", "a"), ("b", "c")]
    topology = Topology("abc", links)
    assert violations(make(topology, "allreduce", "forestcoll", participants="ab"), topology) == []
    with pytest.raises(Unreachable, match="'c' must reach 'b'"):
        make(topology, "allgather", "forestcoll", participants="bc")
    assert optimum(topology, shards={"a": 2, "b": 1}).inverse_rate == 3
    with pytest.raises(Unreachable):
        make(topology, "reduce-scatter", "forestcoll", shards={"a": 2, "b": 1})


def test_breadth_first_broadcast_refuses_both() -> None:
    for options in ({"shards": {0: 1}}, {"participants": [0, 1]}):
        with pytest.raises(NoSchedule) as caught:
            make(ring(4), "allgather", "bfb", **options)
        assert caught.value.field.strip("/") in options


def test_numbers_beyond_62_bits_are_refused_at_once() -> None:
    with pytest.raises(TooLarge) as caught:
        optimum(ring(3), shards={0: 1 << 61, 1: (1 << 61) + 1})
    assert caught.value.field == "shards"
    huge = Topology(range(2), [(0, 1, (1 << 61) - 1), (1, 0, (1 << 61) - 3)])
    for topology, options in (
        (torus(3, 3), {"shards": {0: (1 << 61) - 1, 1: 1}}),
        (huge, {}),
        (huge, {"shards": {0: 7, 1: 3}}),
        (torus(3, 3), {"trees_per_root": 1 << 62}),
    ):
        with pytest.raises(TooLarge):
            optimum(topology, **options)
        with pytest.raises(TooLarge):
            allgather(topology, **options)


def test_large_sizes_take_no_longer_than_small_ones() -> None:
    sizes = {node: 10**9 + 7 * index for index, node in enumerate(range(16))}
    schedule = allgather(torus(4, 4), shards=sizes)
    assert violations(schedule, torus(4, 4)) == []
    best = optimum(torus(4, 4), shards=sizes)
    assert tree_inverse_rate(schedule, torus(4, 4)) == best.inverse_rate
    assert len(schedule.trees) < 1000


def test_what_msccl_programs_are_not_written_for_is_refused() -> None:
    for schedule, field in (
        (allgather(BOXES, shards={"0.gpu0": 1, "0.gpu1": 2}), "/shards"),
        (allgather(BOXES, participants=PAIRS), "/shards"),
        (broadcast(BOXES, "0.gpu0"), "/collective"),
    ):
        with pytest.raises(NotExportable) as caught:
            render(schedule, BOXES)
        assert caught.value.field == field


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"participants": PAIRS[:3] + PAIRS[:1]}, "/participants/3"),
        ({"participants": ["0.nvswitch"]}, "/participants/0"),
        ({"participants": []}, "/participants"),
        ({"participants": "0.gpu0"}, "/participants"),
        ({"shards": [{"rank": "0.gpu7", "size": 1}]}, "/shards/0/rank"),
        ({"shards": [{"rank": "0.gpu0", "size": 0}]}, "/shards/0/size"),
        ({"shards": [{"rank": "0.gpu0", "size": 1}] * 2}, "/shards/1/rank"),
        ({"shards": [3]}, "/shards/0"),
        ({"shards": []}, "/shards"),
        ({"collective": "broadcast"}, "/root"),
        ({"collective": "broadcast", "root": "0.gpu7"}, "/root"),
    ],
)
def test_a_document_that_divides_data_wrongly_is_refused(change, place) -> None:
    document = to_document(allgather(two_boxes(8), participants=PAIRS))
    with pytest.raises(InvalidSchedule) as caught:
        from_document(document | change, two_boxes(8))
    assert caught.value.field == place
