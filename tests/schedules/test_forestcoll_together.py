"""Allreduces whose two passes share the links: proven, reached, and understood everywhere."""

import json
import random
from fractions import Fraction

import numpy as np
import pytest

from tests.oracles import random_topology
from tests.schedule_documents import to_document
from topoloom.schedules.errors import InvalidSchedule
from topoloom.schedules.execute.programs.plan import plan
from topoloom.schedules.formats.msccl.replay import replay
from topoloom.schedules.formats.msccl.write import render
from topoloom.schedules.formats.schedule.binary import pack, unpack
from topoloom.schedules.formats.schedule.read import from_document
from topoloom.schedules.formats.schedule.write import write
from topoloom.schedules.generate.collectives import make
from topoloom.schedules.generate.make_and_verify import verified_schedule
from topoloom.schedules.model.schedule import REDUCE, Collective, SequenceSchedule, Tree
from topoloom.schedules.optimum.collective_optimum import collective_optimum
from topoloom.schedules.options import Options
from topoloom.schedules.simulate import tree_depth
from topoloom.schedules.simulate.clock import Network
from topoloom.schedules.simulate.closed_form import estimate
from topoloom.schedules.simulate.engine import simulate
from topoloom.schedules.simulate.link_utilization import busy_shares
from topoloom.schedules.trees import concurrent_passes, limits
from topoloom.schedules.trees.flow.network import network_of
from topoloom.schedules.trees.limits import MANY_TREES, MANY_TREES_GAP
from topoloom.schedules.trees.multicast import spliced_tree
from topoloom.schedules.trees.rates.allreduce_rate import allreduce_bound
from topoloom.schedules.trees.symmetry.rank_order import rank_order
from topoloom.schedules.trees.symmetry.rotations import rotations
from topoloom.schedules.verify import tree_inverse_rate, violations
from topoloom.synth.fabrics import fabric
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.topology.degrade import degraded
from topoloom.synth.topology.topology import Topology

LOST = {
    ("dgx-1v", "0.gpu0", "0.gpu4"): ("400/7", "550/7"),
    ("dgx-h100-2", "0.gpu3", "plane1"): ("240", "265"),
    ("dgx-a100-4", "2.gpu6", "plane0"): ("350/3", "775/6"),
    ("trainium2", "0.0", "0.1"): ("1024/5", "3968/15"),
    ("dgx-h100-sharp-2", "0.gpu3", "plane1"): ("240", "350"),
}
SLOW = {
    ("gb200-nvl72", "0.gpu0", "0.nvswitch", "1/2"): ("16200/71", "450"),
    ("gh200-nvl32", "0.gpu5", "0.nvswitch", "1/3"): ("2400/31", "150"),
    ("dgx-h100-2", "0.gpu3", "0.nvswitch", "1/10"): ("152/3", "95"),
}


def faulty() -> dict[str, tuple[Topology, Fraction, Fraction]]:
    """Return every degraded fabric with the rates of its passes, apart and at once."""
    found = {}
    for (name, one, other), rates in LOST.items():
        found[f"{name} without {one}-{other}"] = (
            degraded(fabric(name), without_links=[(one, other)]),
            *map(Fraction, rates),
        )
    for (name, one, other, factor), rates in SLOW.items():
        slow = (one, other, Fraction(factor))
        found[f"{name} with {one} at {factor}"] = (
            degraded(fabric(name), slow_links=[slow]),
            *map(Fraction, rates),
        )
    return found


FAULTY = faulty()


def made(topology: Topology) -> SequenceSchedule:
    schedule = make(topology, "allreduce", "forestcoll")
    assert isinstance(schedule, SequenceSchedule)
    return schedule


def algbw(schedule, topology) -> Fraction:
    return sum(schedule.parts[0].sizes) / tree_inverse_rate(schedule, topology)


@pytest.mark.parametrize("name", FAULTY)
@pytest.mark.one_in(3)
def test_a_degraded_fabric_gets_the_allreduce_that_the_proof_allows(name: str) -> None:
    topology, apart, at_once = FAULTY[name]
    best = collective_optimum(topology, Collective.ALLREDUCE, Options())
    assert best.together is not None
    assert best.together.exact
    assert (best.data / best.sequential, best.algbw) == (apart, at_once)
    found = verified_schedule(topology, Collective.ALLREDUCE, "forestcoll", Options())
    assert found.facts.together
    assert algbw(found.schedule, topology) == at_once


@pytest.mark.parametrize(
    ("name", "rate"), [("dgx-h100-sharp-2", 400), ("dgx-h100-sharp-4", Fraction(800, 3))]
)
def test_boxes_whose_switches_copy_and_add_are_as_fast_as_their_bound(name, rate) -> None:
    topology = fabric(name)
    bound = allreduce_bound(topology)
    assert bound.rate == bound.feasible == rate
    schedule = made(topology)
    assert violations(schedule, topology) == []
    assert algbw(schedule, topology) == rate


def test_a_copying_switch_that_one_tree_reaches_is_used_for_more_than_one_rank() -> None:
    """On a butterfly every rank sends over two switches, and what is proven is told apart."""
    ranks, middle = [f"r{i}" for i in range(4)], ["u", "v"]
    links = [(rank, switch) for rank in ranks for switch in middle]
    both = [*links, *((t, s) for s, t in links), ("u", "v"), ("v", "u")]
    topology = Topology([*ranks, *middle], both, switches=middle, multicast=middle)
    bound = allreduce_bound(topology)
    schedule = made(topology)
    assert violations(schedule, topology) == []
    assert algbw(schedule, topology) == bound.feasible <= bound.rate


@pytest.mark.slow
def test_roots_have_unequal_shares_only_where_equal_ones_are_slower() -> None:
    kautz = build(parse("GeneralizedKautz(4, 64)"))
    found = collective_optimum(kautz, Collective.ALLREDUCE, Options()).together
    assert found is not None
    assert (found.exact, found.at_once, found.algbw) == (True, True, 2)
    assert 0 < len(found.shares) < 64
    assert sum(dict(found.shares).values()) == 1
    slow, _, _ = FAULTY["gb200-nvl72 with 0.gpu0 at 1/2"]
    schedule = made(slow)
    assert schedule.parts[0].shards == ()
    assert max(map(tree_depth, schedule.parts)) == 2


@pytest.mark.parametrize(
    ("name", "link", "height"),
    [
        ("dgx-a100-2", ("0.gpu0", "0.nvswitch"), 3),
        ("rail-4-8", ("0.gpu0", "0.nvswitch"), 3),
        ("ndv2-2", ("0.gpu0", "0.gpu1"), 3),
        # No rank is farther than 14 hops away.
        pytest.param("tpu-v5e-8x8", ("0.0", "0.1"), 14, marks=pytest.mark.slow),
    ],
)
def test_links_that_no_pass_fills_leave_room_for_few_and_low_trees(name, link, height) -> None:
    topology = degraded(fabric(name), without_links=[link])
    schedule = made(topology)
    assert [part.trees_per_root for part in schedule.parts] == [1, 1]
    assert max(map(tree_depth, schedule.parts)) <= height
    bound = allreduce_bound(topology)
    assert algbw(schedule, topology) == bound.feasible == bound.rate


DIVIDED = {
    "mi250-2": {"without_links": [("0.gpu9", "fabric")]},
    "dgx-h100-2": {"slow_links": [("0.gpu6", "0.nvswitch", Fraction(1, 4))]},
    "mi300x-4": {"without_links": [("0.gpu1", "0.gpu6")]},
    "dgx-a100-2": {"without_nodes": ["0.gpu3"]},
}


@pytest.mark.parametrize("name", DIVIDED)
@pytest.mark.slow
def test_in_every_order_of_nodes_trees_are_as_few_and_as_low(name) -> None:
    listed = degraded(fabric(name), **DIVIDED[name])
    draw, found = random.Random(name), set()
    for _ in range(3):
        nodes = draw.sample(listed.nodes, len(listed.nodes))
        links = draw.sample(listed.links, len(listed.links))
        shuffled = Topology(nodes, links, switches=listed.switches)
        made = verified_schedule(shuffled, Collective.ALLREDUCE, "forestcoll", Options())
        parts = made.schedule.parts
        found.add(
            (
                tree_inverse_rate(made.schedule, shuffled),
                *((p.trees_per_root, tree_depth(p)) for p in parts),
            )
        )
    [(rate, *parts)] = found
    assert all(trees <= MANY_TREES and depth <= 14 for trees, depth in parts)
    bound = len(listed.compute_nodes) / allreduce_bound(listed).rate
    assert bound <= rate <= bound * (1 + MANY_TREES_GAP)


@pytest.mark.parametrize("option", [{"trees_per_root": 2}, {"max_gap": Fraction(1, 5)}])
def test_a_number_of_trees_is_one_of_passes_one_after_the_other(option) -> None:
    topology, _, _ = FAULTY["dgx-1v without 0.gpu0-0.gpu4"]
    found = verified_schedule(topology, Collective.ALLREDUCE, "forestcoll", Options(**option))
    best = collective_optimum(topology, Collective.ALLREDUCE, Options(**option))
    assert not found.facts.together
    assert found.facts.inverse_rate == best.inverse_rate == best.sequential


@pytest.fixture(scope="module")
def joint() -> tuple[Topology, SequenceSchedule]:
    topology, _, _ = FAULTY["dgx-1v without 0.gpu0-0.gpu4"]
    return topology, made(topology)


def test_documents_and_bytes_keep_that_parts_run_together(joint) -> None:
    topology, schedule = joint
    document = json.loads("".join(write(schedule)))
    assert document["together"] is True
    assert document == json.loads(json.dumps(to_document(schedule)))
    assert from_document(document, topology) == unpack(pack(schedule)) == schedule
    del document["together"]
    apart = from_document(document, topology)
    assert not apart.together
    assert tree_inverse_rate(apart, topology) > tree_inverse_rate(schedule, topology)
    with pytest.raises(InvalidSchedule, match="/together: must be true or false"):
        from_document(document | {"together": 1}, topology)


def test_parts_in_steps_cannot_run_together() -> None:
    ring = build(parse("BiRing(4)"))
    steps = make(ring, "allreduce", "bfb")
    claimed = SequenceSchedule(steps.collective, steps.topology, steps.parts, together=True)
    assert [found.place for found in violations(claimed, ring)] == ["/parts/0"]


def test_the_busiest_link_never_rests_and_time_comes_near_it(joint) -> None:
    topology, schedule = joint
    assert max(busy_shares(schedule, topology).values()) == 1
    wire = tree_inverse_rate(schedule, topology) / sum(schedule.parts[0].sizes)
    alpha = Fraction(1, 10**6)
    size = 1 << 30
    seconds = simulate(schedule, topology, Network(alpha, 10**9), size_bytes=size).seconds
    assert wire * size / 10**9 < seconds < wire * size / 10**9 * Fraction(11, 10)
    told = estimate(
        schedule, topology, size_bytes=size, alpha_seconds=1e-6, unit_bytes_per_second=1e9
    )
    assert float(seconds) <= told.seconds * 1.01
    depths = sum(map(tree_depth, schedule.parts))
    assert told.rounds == depths + told.pipeline_chunks - 1


def replayed(schedule: SequenceSchedule, elements: int, pieces: int) -> bool:
    """Run the rounds of a plan on numbers; say whether every rank ends with all sums."""
    found, count = plan(schedule, elements, pieces), len(schedule.parts[0].ranks)
    rng = np.random.default_rng(1)
    held = rng.integers(0, 1000, (count, elements))
    wanted = held.sum(axis=0)
    for messages in found.rounds:
        before = held.copy()
        for message in messages:
            for first, past, op in message.ranges.tolist():
                data = before[message.source, first:past]
                if op == REDUCE:
                    held[message.target, first:past] += data
                else:
                    held[message.target, first:past] = data
    return bool((held == wanted).all())


@pytest.mark.parametrize("pieces", [1, 2, 7])
def test_slices_that_follow_one_another_leave_every_sum_on_every_rank(joint, pieces) -> None:
    _, schedule = joint
    assert replayed(schedule, 1009, pieces)
    kautz = make(build(parse("GeneralizedKautz(3, 11)")), "allreduce", "forestcoll")
    assert kautz.together
    assert replayed(kautz, 1009, pieces)


def test_a_program_for_runtimes_leaves_every_sum_too(joint) -> None:
    topology, schedule = joint
    program = replay(render(schedule, topology, "msccl"), "msccl")
    assert program.collective is Collective.ALLREDUCE


@pytest.mark.parametrize("name", ["dgx-a100-16", "dgx-h100-8"])
def test_ranks_in_any_order_get_images_of_a_few_trees(name: str) -> None:
    boxes = fabric(name)
    nodes = list(boxes.nodes)
    random.Random(3).shuffle(nodes)
    mixed = network_of(Topology(nodes, boxes.links, switches=boxes.switches))
    assert rotations(mixed) is None
    listed = rank_order(mixed)
    assert listed is not None
    assert sorted(listed.terminals.tolist()) == sorted(mixed.terminals.tolist())
    action = rotations(listed)
    assert action is not None
    assert len(action.roots) <= 8  # those of one box


@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", range(30))
def test_what_is_feasible_is_a_schedule_where_some_switches_copy(seed: int) -> None:
    rng = random.Random(7000 + seed)
    plain = random_topology(rng, balanced=True)
    able = [node for node in plain.nodes if node in plain.switches and rng.random() < 0.7]
    topology = Topology(plain.nodes, plain.links, switches=plain.switches, multicast=able)
    bound = allreduce_bound(topology)
    schedule = made(topology)
    assert violations(schedule, topology) == []
    assert algbw(schedule, topology) >= bound.feasible / (1 + MANY_TREES_GAP)
    assert bound.feasible <= bound.rate


def test_ways_over_a_copying_switch_become_one_edge_each() -> None:
    tree = Tree("a", 2, (("a", "w"), ("w", "u"), ("w", "b"), ("b", "x", "c")))
    assert spliced_tree(tree, {"w", "u"}).edges == (("a", "w", "b"), ("b", "x", "c"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "fault", "trees", "height"),
    [
        ("dgx-a100-20", {"without_links": [("3.gpu5", "plane1")]}, 2, 12),
        ("dgx-a100-20", {"without_nodes": ["3.gpu5"]}, 2, 12),
        ("dgx-h100-32", {"without_nodes": ["3.gpu5"]}, 2, 12),
        ("mi250-12", {"without_links": [("3.gpu5", "fabric")]}, 3, 30),
        ("mi250-12", {"without_links": [("3.gpu0", "3.gpu4")]}, 3, 30),
        ("rail-20-8", {"without_links": [("3.gpu5", "rail5")]}, 2, 32),
    ],
)
def test_many_boxes_with_a_fault_get_both_passes_by_images_close_to_the_proof(
    name: str, fault: dict[str, list[object]], trees: int, height: int
) -> None:
    topology = degraded(fabric(name), **fault)
    best = allreduce_bound(topology)
    assert best.rate == best.feasible > best.sequential
    found = verified_schedule(topology, Collective.ALLREDUCE, "forestcoll", Options())
    assert found.facts.together
    assert best.rate / (1 + MANY_TREES_GAP) <= algbw(found.schedule, topology) <= best.rate
    # Images of a few trees: one or two for most roots, where packing makes many.
    for part in found.schedule.parts:
        assert len(part.trees) < trees * len(topology.compute_nodes)
        assert tree_depth(part) <= height


def test_passes_too_long_to_pack_at_once_run_in_turn_and_say_what_that_costs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    topology, apart, at_once = FAULTY["dgx-h100-2 without 0.gpu3-plane1"]
    monkeypatch.setattr(concurrent_passes, "_images", lambda *_: None)
    monkeypatch.setattr(limits, "MAX_PACKED_RANKS", len(topology.compute_nodes) - 1)
    packed = verified_schedule(topology, Collective.ALLREDUCE, "forestcoll", Options())
    assert (packed.facts.together, packed.losses.gap) == (True, None)
    monkeypatch.setattr(limits, "MAX_JOINT_WORK", 1)
    found = verified_schedule(topology, Collective.ALLREDUCE, "forestcoll", Options())
    assert not found.facts.together
    assert found.losses.gap == at_once / apart - 1
    limited = verified_schedule(
        topology, Collective.ALLREDUCE, "forestcoll", Options(trees_per_root=1)
    )
    assert limited.losses.gap is None
