"""Symmetric fabrics: groups that are groups, and forests that are images of a few trees."""

import random
import subprocess
import sys
from itertools import pairwise, product

import networkx as nx
import numpy as np
import pytest

from tests.cases import for_every
from topoloom.schedules.simulate import tree_depth
from topoloom.schedules.trees.flow.network import network_of
from topoloom.schedules.trees.flow.optimality import best_rate, tree_capacities
from topoloom.schedules.trees.forestcoll import allgather, optimum
from topoloom.schedules.trees.symmetry.neighbor_order import neighbor_order, renumbered
from topoloom.schedules.trees.symmetry.rank_order import rank_order
from topoloom.schedules.trees.symmetry.rotations import rotations
from topoloom.schedules.trees.symmetry.symmetric_forest import star_fits, symmetric_trees
from topoloom.schedules.verify import tree_inverse_rate, violations
from topoloom.synth.fabrics import fabric
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.topology.topology import Link, Topology

ELEMENTS = {
    "dgx-1v": 4,
    "dgx-a100-1": 8,
    "dgx-a100-3": 24,
    "dgx-h100-4": 32,
    "gb200-nvl72": 72,
    "mi250-1": 2,
    "mi250-4": 8,
    "Torus(3, 4)": 12,
    "CompleteBipartite(3)": 6,
    "GeneralizedKautz(2, 11)": 1,
}


def named(text: str) -> Topology:
    return build(parse(text)) if "(" in text else fabric(text)


def relabelled(topology: Topology, seed: int) -> Topology:
    """The same network with its nodes listed in another order."""
    nodes = [
        topology.nodes[i] for i in np.random.default_rng(seed).permutation(len(topology.nodes))
    ]
    return Topology(
        nodes, topology.links, switches=topology.switches, bandwidth_unit=topology.bandwidth_unit
    )


@pytest.mark.parametrize(("text", "elements"), ELEMENTS.items())
def test_as_many_elements_as_are_known_are_found(text: str, elements: int) -> None:
    action = rotations(network_of(named(text)))
    assert (1 if action is None else len(action.images)) == elements


@pytest.mark.parametrize("text", [text for text, elements in ELEMENTS.items() if elements > 1])
def test_the_elements_are_automorphisms_that_form_a_group_and_fix_no_rank(text: str) -> None:
    network = network_of(named(text))
    action = rotations(network)
    assert action is not None
    ends = list(zip(network.tail.tolist(), network.head.tolist(), strict=True))
    capacity = dict(zip(ends, network.capacity.tolist(), strict=True))
    elements = {tuple(image) for image in action.images.tolist()}
    assert len(elements) == len(action.images)
    for image in elements:
        moved = {(image[u], image[t]): room for (u, t), room in capacity.items()}
        assert moved == capacity
    some = list(elements)[:: max(1, len(elements) // 8)]
    assert {tuple(np.array(one)[list(other)]) for one in some for other in some} <= elements
    fixed = action.images[1:, network.terminals] == network.terminals
    assert not fixed.any()


@pytest.mark.parametrize("text", [text for text, elements in ELEMENTS.items() if elements > 1])
def test_orbits_and_roots_are_those_of_the_group(text: str) -> None:
    network = network_of(named(text))
    action = rotations(network)
    assert action is not None
    ends = list(zip(network.tail.tolist(), network.head.tolist(), strict=True))
    alike = nx.Graph()
    alike.add_nodes_from(ends)
    for image in action.images.tolist():
        alike.add_edges_from(((u, t), (image[u], image[t])) for u, t in ends)
    by_orbit: dict[int, set[tuple[int, int]]] = {}
    for pair, orbit in zip(ends, action.orbit.tolist(), strict=True):
        by_orbit.setdefault(orbit, set()).add(pair)
    assert sorted(map(sorted, by_orbit.values())) == sorted(
        map(sorted, nx.connected_components(alike))
    )
    for pair, turns in zip(ends, action.turns.tolist(), strict=True):
        kept = sum((image[pair[0]], image[pair[1]]) == pair for image in action.images.tolist())
        assert turns == kept
    moved = [set(action.images[:, root].tolist()) for root in action.roots.tolist()]
    assert sorted(node for orbit in moved for node in orbit) == network.terminals.tolist()


@pytest.mark.parametrize(
    ("name", "trees_per_root", "height"),
    [
        ("dgx-a100-1", None, 1),
        ("dgx-a100-2", None, 2),
        ("dgx-a100-3", 1, 2),
        ("dgx-h100-4", None, 2),
        ("dgx-h100-8", None, 2),
        ("gb200-nvl72", None, 1),
    ],
)
def test_boxes_are_entered_once_and_no_tree_is_higher_than_that_takes(
    name: str, trees_per_root: int | None, height: int
) -> None:
    topology = fabric(name)
    schedule = allgather(topology, trees_per_root)
    assert violations(schedule, topology) == []
    assert tree_inverse_rate(schedule, topology) == optimum(topology, trees_per_root).inverse_rate
    assert tree_depth(schedule) == height


@pytest.mark.parametrize(
    "recipe",
    ["Cayley(16, 7, 16, 1, 2, 16, 3)", "Cayley(8, 3, 2, 1, 2, 8)", "Cayley(9, 4, 3, 1, 9)"],
)
def test_a_cayley_digraph_needs_one_tree_set_where_shortest_paths_do_not_do(recipe: str) -> None:
    topology = build(parse(recipe))
    schedule = allgather(topology)
    assert violations(schedule, topology) == []
    assert tree_inverse_rate(schedule, topology) == optimum(topology).inverse_rate


@pytest.mark.slow
def test_a_thousand_gpus_are_images_of_one_tree() -> None:
    topology = fabric("dgx-a100-128")
    schedule = allgather(topology)
    assert len(schedule.trees) == len(topology.compute_nodes) == 1024
    assert tree_depth(schedule) == 2
    assert tree_inverse_rate(schedule, topology) == optimum(topology).inverse_rate


@pytest.mark.parametrize("name", ["dgx-a100-2", "dgx-h100-4", "mi250-2"])
@pytest.mark.parametrize("seed", range(3))
def test_nodes_in_another_order_lose_no_throughput(name: str, seed: int) -> None:
    topology = relabelled(fabric(name), seed)
    schedule = allgather(topology, 1)
    assert violations(schedule, topology) == []
    assert tree_inverse_rate(schedule, topology) == optimum(fabric(name), 1).inverse_rate


def test_no_trees_are_given_where_an_orbit_has_too_little_room() -> None:
    network = network_of(fabric("dgx-a100-4"))
    action = rotations(network)
    assert action is not None
    rate = best_rate(network)
    room = tree_capacities(network, rate.scale, rate.trees_per_root)
    assert symmetric_trees(network, room, rate.trees_per_root, action) is not None
    assert symmetric_trees(network, room - 1, rate.trees_per_root, action) is None


def test_edges_are_listed_in_breadth_first_order() -> None:
    network = network_of(fabric("dgx-h100-4"))
    action = rotations(network)
    assert action is not None
    rate = best_rate(network)
    room = tree_capacities(network, rate.scale, rate.trees_per_root)
    for tree in symmetric_trees(network, room, rate.trees_per_root, action) or ():
        depth = {tree.root: 0}
        for low, high in pairwise(tree.ends.tolist()):
            first, last = tree.nodes[low], tree.nodes[high - 1]
            depth[int(last)] = depth[int(first)] + 1
        assert list(depth.values()) == sorted(depth.values())
        assert len(depth) == len(network.terminals)


@for_every("seed", range(5))
@for_every(
    "name", ["dgx-a100-4", "dgx-a100-16", "dgx-h100-8", "rail-4-8", "fat-tree-4", "fat-tree-8"]
)
def test_one_rank_stands_for_all_in_whatever_order_nodes_are_listed(name: str, seed: int) -> None:
    listed = rank_order(network_of(relabelled(fabric(name), seed)))
    assert listed is not None
    action = rotations(listed)
    assert action is not None and len(action.roots) == 1


def clos(seed: int) -> Topology:
    """Pods of leaves under aggregation switches, each of which has spines of its own number."""
    rng = random.Random(seed)
    pods, leaves, hosts, planes, spines = (rng.randint(2, 4) for _ in range(5))
    fast, slow = rng.randint(1, 4), rng.randint(1, 4)
    links: list[Link] = []
    for pod, leaf in product(range(pods), range(leaves)):
        links += [Link(f"{pod}.{leaf}.{n}", f"{pod}.leaf{leaf}", fast) for n in range(hosts)]
        links += [Link(f"{pod}.leaf{leaf}", f"{pod}.plane{plane}", slow) for plane in range(planes)]
    for pod, plane, spine in product(range(pods), range(planes), range(spines)):
        links.append(Link(f"{pod}.plane{plane}", f"spine{plane}.{spine}", slow))
    both = [*links, *(Link(link.target, link.source, link.capacity) for link in links)]
    nodes = [str(node) for node in dict.fromkeys(link.source for link in both)]
    rng.shuffle(nodes)
    switches = [node for node in nodes if "leaf" in node or "plane" in node or "spine" in node]
    return Topology(nodes, both, switches=switches)


@pytest.mark.parametrize("seed", range(20))
def test_one_host_of_a_clos_network_stands_for_all(seed: int) -> None:
    topology = clos(seed)
    network = network_of(topology)
    listed = rank_order(network)
    assert listed is not None
    action = rotations(listed)
    assert action is not None and len(action.roots) == 1
    schedule = allgather(topology)
    assert violations(schedule, topology) == []
    assert tree_inverse_rate(schedule, topology) == optimum(topology).inverse_rate


@for_every("seed", range(20))
def test_what_joins_hosts_lists_a_clos_network_pod_by_pod_and_plane_by_plane(seed: int) -> None:
    network = network_of(clos(seed))
    action = rotations(renumbered(network, neighbor_order(network)))
    assert action is not None and len(action.roots) == 1


@pytest.mark.parametrize("text", ["dgx-2", "gb200-nvl72", "fat-tree-4", "mi300x", "mi300x-2"])
def test_no_height_is_held_to_be_out_of_reach_that_is_reached(text: str) -> None:
    network = network_of(named(text))
    action, rate = rotations(network), best_rate(network)
    assert action is not None
    total = np.zeros(int(action.orbit.max()) + 1, np.int64)
    room = tree_capacities(network, rate.scale, rate.trees_per_root)
    total[action.orbit] = room // action.turns
    fits = star_fits(network, action, total, rate.trees_per_root)
    assert fits == (tree_depth(allgather(named(text))) == 1)


@pytest.mark.parametrize(("name", "kinds"), [("mi250-9", 8), ("ndv2-9", 2), ("mi250-4", 8)])
def test_boxes_of_several_kinds_of_ranks_are_found_in_whatever_order(name: str, kinds: int) -> None:
    listed = rank_order(network_of(relabelled(fabric(name), 1)))
    assert listed is not None
    action = rotations(listed)
    assert action is not None and len(action.roots) <= kinds


def test_symmetry_is_found_without_loading_what_draws():
    script = (
        "import sys\n"
        "from topoloom.schedules.trees.symmetry.automorphisms import generators\n"
        "from topoloom.schedules.trees.flow.network import network_of\n"
        "from topoloom.synth.topology.topology import Topology\n"
        "ring = Topology(range(4), [(i, (i + 1) % 4) for i in range(4)])\n"
        "assert len(generators(network_of(ring), 'aaaa')) == 1\n"
        "assert not any(name.startswith('matplotlib') for name in sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
