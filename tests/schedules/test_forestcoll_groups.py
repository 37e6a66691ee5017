"""Shards of unequal size, and collectives among some of the compute nodes."""

import json
import random
from collections.abc import Mapping
from fractions import Fraction

import pytest

from tests.cases import for_every
from tests.flow_oracles import flow_rate
from tests.oracles import data_cuts, forest_faults, random_topology, worst_data_ratio
from tests.schedule_documents import to_document
from tests.schedule_oracles import ring
from topoloom.schedules.formats.schedule.binary import pack, unpack
from topoloom.schedules.formats.schedule.read import from_document
from topoloom.schedules.formats.schedule.write import write
from topoloom.schedules.generate.collectives import make
from topoloom.schedules.simulate import Network, estimate, simulate
from topoloom.schedules.trees.forestcoll import allgather, broadcast, optimum
from topoloom.schedules.verify import tree_inverse_rate, violations
from topoloom.synth.fabrics import fabric
from topoloom.synth.topology.topology import NodeId, Topology

BOXES = fabric("dgx-a100-2")
PAIRS = ["0.gpu0", "0.gpu1", "1.gpu0", "1.gpu1"]


def random_sizes(rng: random.Random, topology: Topology) -> dict[NodeId, int]:
    """Return sizes of the shards of some of the compute nodes, without a common factor."""
    nodes = topology.compute_nodes
    ranks = set(rng.sample(nodes, rng.randint(2, len(nodes))))
    sizes = {node: rng.choice([0, 1, 1, 2, 3, 7]) for node in nodes if node in ranks}
    return sizes | {rng.choice(list(sizes)): 1}


@for_every("seed", range(150))
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


@pytest.mark.slow
@for_every("trees", [None, 1, 2, 3])
@for_every("seed", range(60))
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


@pytest.mark.slow
@for_every("seed", range(40))
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
