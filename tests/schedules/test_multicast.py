"""Switches that copy and add up: what is sent once, and that trees make the most of it."""

import json
import random
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest

from tests.cases import for_every
from tests.oracles import random_topology
from tests.schedule_documents import to_document
from topoloom.schedules.formats.schedule.read import from_document
from topoloom.schedules.generate.collectives import make
from topoloom.schedules.model.schedule import Collective, Tree, TreeSchedule
from topoloom.schedules.simulate import tree_depth
from topoloom.schedules.simulate.link_utilization import busy_shares
from topoloom.schedules.trees.forestcoll import allgather, optimum
from topoloom.schedules.trees.multicast import without_detours, without_repeated_sends
from topoloom.schedules.trees.rates.allreduce_rate import allreduce_bound
from topoloom.schedules.verify import (
    together_inverse_rate,
    tree_inverse_rate,
    tree_loads,
    violations,
)
from topoloom.synth.errors import InvalidTopology
from topoloom.synth.fabrics import fabric
from topoloom.synth.recipes.topology_document import topology_from_document
from topoloom.synth.topology.degrade import degraded
from topoloom.synth.topology.topology import Topology


def able(topology: Topology, rng: random.Random | None = None) -> Topology:
    """Return the topology with all of its switches multicast, or some at random."""
    chosen = [
        w for w in topology.nodes if w in topology.switches and (not rng or rng.random() < 0.6)
    ]
    return Topology(
        topology.nodes,
        topology.links,
        switches=topology.switches,
        multicast=chosen,
        bandwidth_unit=topology.bandwidth_unit,
    )


def slow_loads(schedule: TreeSchedule, topology: Topology) -> dict:
    """Count hops from the receivers up: a switch that copies needs one copy, others all."""
    load = defaultdict(int)
    outward = schedule.collective.outward
    for tree in schedule.trees:
        below = defaultdict(set)
        for edge in tree.edges:
            path = edge if outward else edge[::-1]
            for end in range(1, len(path)):
                below[path[:end]].add(path[: end + 1])

        def copies(prefix, below=below):
            if prefix not in below:
                return 1
            needed = sum(cross(longer) for longer in sorted(below[prefix], key=repr))
            return 1 if prefix[-1] in topology.multicast else needed

        def cross(prefix, tree=tree):
            hop = prefix[-2:] if outward else prefix[:-3:-1]
            needed = copies(prefix)
            load[hop] += needed * tree.weight
            return needed

        for sender in {path[:1] for path in below}:
            copies(sender)
    return dict(load)


@pytest.mark.slow
@for_every("collective", ["allgather", "reduce-scatter"])
@for_every("seed", range(60))
def test_what_shares_a_way_to_a_copying_switch_is_counted_once(seed: int, collective: str) -> None:
    rng = random.Random(seed)
    topology = able(random_topology(rng, balanced=True), rng)
    plain = Topology(topology.nodes, topology.links, switches=topology.switches)
    forest = replace(make(plain, collective, "forestcoll"), topology=topology.digest)
    best = without_repeated_sends(forest, topology)
    for schedule in (forest, best):
        assert tree_loads(schedule, topology) == slow_loads(schedule, topology)
        assert violations(schedule, topology) == []
    before, after = tree_loads(forest, topology), tree_loads(best, topology)
    apart = tree_loads(forest, topology, shared=False)
    assert all(weight <= before[hop] <= apart[hop] for hop, weight in after.items())
    assert tree_depth(best) <= tree_depth(forest)
    assert without_repeated_sends(best, topology) == best
    assert [(tree.root, tree.weight) for tree in best.trees] == [
        (tree.root, tree.weight) for tree in forest.trees
    ]
    rate = optimum(topology, inward=collective != "allgather").inverse_rate
    assert tree_inverse_rate(best, topology) <= tree_inverse_rate(forest, topology) == rate


@for_every("seed", range(40))
def test_a_tree_sends_to_a_copying_switch_once_at_most(seed: int) -> None:
    rng = random.Random(seed)
    topology = able(random_topology(rng, balanced=True), rng)
    for tree in make(topology, "allgather", "forestcoll").trees:
        ways = defaultdict(set)
        for edge in tree.edges:
            for at, node in enumerate(edge):
                if node in topology.multicast:
                    ways[node].add(edge[: at + 1])
        assert all(len(found) == 1 for found in ways.values())


def test_without_such_switches_nothing_changes() -> None:
    boxes = fabric("dgx-a100-2")
    forest = allgather(boxes)
    assert without_repeated_sends(forest, boxes) is forest
    assert tree_loads(forest, boxes) == tree_loads(forest, boxes, shared=False)


def test_a_switch_that_cannot_copy_gets_every_copy() -> None:
    links = [("a", "u"), ("u", "w"), ("w", "b"), ("w", "c")]
    tree = Tree("a", 3, (("a", "u", "w", "b"), ("a", "u", "w", "c")))
    for multicast, into_u, into_w in (("w", 3, 3), ("u", 3, 6), ("", 6, 6), ("uw", 3, 3)):
        chain = Topology("abcuw", links, switches="uw", multicast=multicast)
        forest = TreeSchedule(
            Collective.BROADCAST, chain.digest, tuple("abc"), 3, (tree,), shards=(1, 0, 0)
        )
        assert violations(forest, chain) == []
        loads = tree_loads(forest, chain)
        assert (loads["a", "u"], loads["u", "w"]) == (into_u, into_w)
        assert (loads["w", "b"], loads["w", "c"]) == (3, 3)


@pytest.mark.parametrize(("name", "rate"), [("gb200-nvl72-sharp", 900), ("dgx-h100-sharp-1", 450)])
def test_an_allreduce_behind_one_copying_switch_is_as_fast_as_a_link(name: str, rate: int) -> None:
    rack = fabric(name)
    schedule = make(rack, "allreduce", "forestcoll")
    assert violations(schedule, rack) == []
    ranks = len(rack.compute_nodes)
    assert ranks / together_inverse_rate(schedule, rack) == rate
    bound = allreduce_bound(rack)
    assert bound.rate == bound.feasible == rate
    one_after_the_other = Fraction(ranks * rate, 2 * (ranks - 1))
    assert bound.sequential == one_after_the_other
    assert ranks / tree_inverse_rate(schedule, rack) == rate
    gather = schedule.parts[1]
    assert (
        sum(
            weight for (source, _), weight in tree_loads(gather, rack).items() if source == "0.gpu0"
        )
        == gather.trees_per_root
    )


def test_the_attribute_is_part_of_the_topology() -> None:
    rack = fabric("gb200-nvl72-sharp")
    plain = fabric("gb200-nvl72")
    assert rack != plain
    assert rack.digest != plain.digest
    assert rack.transpose().multicast == rack.multicast == {"0.nvswitch"}
    assert rack.transpose() == rack
    document = json.loads(json.dumps(rack.to_document()))
    assert document["nodes"][-1] == {"id": "0.nvswitch", "kind": "switch", "multicast": True}
    assert topology_from_document(document) == rack
    assert "multicast" not in json.dumps(plain.to_document())
    schedule = make(rack, "allgather", "forestcoll")
    assert from_document(to_document(schedule), rack) == schedule
    assert violations(schedule, plain) != []


@pytest.mark.parametrize(
    ("node", "pointer"),
    [
        ({"id": "w", "kind": "switch", "multicast": "yes"}, "/nodes/1/multicast"),
        ({"id": "w", "kind": "switch", "multicast": 1}, "/nodes/1/multicast"),
        ({"id": "w", "multicast": True}, "/nodes/1/multicast"),
        ({"id": "w", "kind": "compute", "multicast": True}, "/nodes/1/multicast"),
    ],
)
def test_only_switches_are_multicast(node: dict, pointer: str) -> None:
    document = {"schema": "topology/1", "nodes": [{"id": "a"}, node], "links": []}
    with pytest.raises(InvalidTopology) as caught:
        topology_from_document(document)
    assert caught.value.field == pointer
    with pytest.raises(InvalidTopology, match="only switches"):
        Topology("ab", [], multicast="a")


def test_what_is_lost_takes_no_other_switch_with_it() -> None:
    boxes = degraded(fabric("dgx-h100-sharp-2"), without_nodes=["0.nvswitch"])
    assert boxes.multicast == {"1.nvswitch"}


def test_the_share_of_time_that_a_link_is_busy_counts_a_shared_way_once() -> None:
    box = fabric("dgx-h100-sharp-1")
    busy = busy_shares(make(box, "allgather", "forestcoll"), box)
    assert busy["0.gpu0", "0.nvswitch"] == Fraction(1, 7)
    assert busy["0.nvswitch", "0.gpu0"] == 1


def test_an_allgather_counts_on_copies_and_proves_more_than_cuts() -> None:
    links = [("a", "w", 1), ("w", "b", 1), ("w", "c", 1), ("b", "a", 3), ("c", "a", 3)]
    lame = Topology("abcw", links, switches="w", multicast="w")
    schedule = make(lame, "allgather", "forestcoll")
    assert violations(schedule, lame) == []
    # The switch takes in every shard once; without copies, one of them twice.
    best = optimum(lame)
    assert tree_inverse_rate(schedule, lame) == best.inverse_rate == 3
    assert best.bound is None
    assert best.proof is not None
    plain = Topology("abcw", links, switches="w")
    assert optimum(plain).inverse_rate == 4


def test_an_edge_passes_a_plain_switch_twice_only_where_links_have_no_room() -> None:
    edges = (("a", "s", "w", "s", "b"), ("a", "s", "w", "c"))
    tree = Tree("a", 1, edges)
    for room, first in ((2, ("a", "s", "b")), (1, edges[0])):
        links = [("a", "s", room), ("s", "w", 1), ("w", "s", 1), ("s", "b", 1), ("w", "c", 1)]
        leaf = Topology("abcsw", links, switches="sw", multicast="w")
        forest = TreeSchedule(
            Collective.BROADCAST, leaf.digest, tuple("abc"), 1, (tree,), shards=(1, 0, 0)
        )
        direct = without_detours(forest, leaf)
        assert direct.trees[0].edges == (first, edges[1])
        assert violations(direct, leaf) == []
        assert tree_inverse_rate(direct, leaf) == tree_inverse_rate(forest, leaf)


def test_hops_of_an_edge_lie_on_links_after_pruning_too() -> None:
    boxes = fabric("dgx-h100-sharp-2")
    joined = {(link.source, link.target) for link in boxes.links}
    for part in make(boxes, "allreduce", "forestcoll").parts:
        for tree in part.trees:
            assert all(hop in joined for edge in tree.edges for hop in pairwise(edge))
