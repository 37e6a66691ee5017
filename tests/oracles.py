"""Slow and obvious answers about cuts and spanning trees, and random networks to ask about."""

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import pairwise, product
from math import floor

from topoloom.schedules.model.schedule import TreeSchedule
from topoloom.synth.topology.topology import NodeId, Topology


def cuts(topology: Topology) -> Iterator[tuple[frozenset[NodeId], int, list[Fraction]]]:
    """Yield every node set that holds some compute nodes and misses one: the set, how many
    compute nodes it holds, and the capacities that leave it, parallel links added up."""
    capacity: dict[tuple[NodeId, NodeId], Fraction] = defaultdict(Fraction)
    for source, target, amount in topology.links:
        capacity[source, target] += amount
    computes = frozenset(topology.compute_nodes)
    for picks in product((False, True), repeat=topology.node_count):
        inside = frozenset(n for n, pick in zip(topology.nodes, picks, strict=True) if pick)
        if inside & computes and computes - inside:
            leaving = [c for (s, t), c in capacity.items() if s in inside and t not in inside]
            yield inside, len(inside & computes), leaving


def worst_ratio(topology: Topology) -> Fraction:
    """Return max of compute nodes inside / bandwidth out, over all cuts."""
    return max(Fraction(count) / sum(leaving) for _, count, leaving in cuts(topology))


def data_cuts(
    topology: Topology, sizes: Mapping[NodeId, int]
) -> Iterator[tuple[frozenset[NodeId], int, Fraction]]:
    """Yield every node set that holds data and misses a rank: the set, its data, its exits.

    The keys of ``sizes`` are the ranks, the values the sizes of their shards.
    """
    for picks in product((False, True), repeat=topology.node_count):
        inside = frozenset(n for n, pick in zip(topology.nodes, picks, strict=True) if pick)
        data = sum(size for rank, size in sizes.items() if rank in inside)
        if data and not sizes.keys() <= inside:
            exits = (c for s, t, c in topology.links if s in inside and t not in inside)
            yield inside, data, Fraction(sum(exits))


def worst_data_ratio(topology: Topology, sizes: Mapping[NodeId, int]) -> Fraction:
    """Return max of data inside / bandwidth out, over all cuts."""
    return max(data / leaving for _, data, leaving in data_cuts(topology, sizes))


def packs(topology: Topology, scale: Fraction, trees_per_root: int) -> bool:
    """Return whether every cut lets out trees_per_root whole trees per root inside it."""
    return all(
        sum(floor(scale * c) for c in leaving) >= trees_per_root * count
        for _, count, leaving in cuts(topology)
    )


def least_packing_scale(topology: Topology, trees_per_root: int) -> Fraction:
    """Return the least scale that `packs`, trying every j / capacity in order."""
    all_cuts = [(count, leaving) for _, count, leaving in cuts(topology)]
    capacities = {c for _, leaving in all_cuts for c in leaving}
    most = trees_per_root * len(topology.compute_nodes)
    for scale in sorted({Fraction(j) / c for c in capacities for j in range(1, most + 1)}):
        if all(
            sum(floor(scale * c) for c in leaving) >= trees_per_root * count
            for count, leaving in all_cuts
        ):
            return scale
    raise AssertionError("a scale of trees per root * N / least capacity always packs")


def forest_faults(
    schedule: TreeSchedule,
    topology: Topology,
    unit_bandwidth: Fraction,
    sizes: Mapping[NodeId, int] | None = None,
) -> list[str]:
    """Return what is wrong with an outward forest, in sentences; empty if nothing is.

    The keys of ``sizes`` are the ranks, the values the sizes of their shards.
    """
    faults: list[str] = []
    sizes = sizes or dict.fromkeys(topology.compute_nodes, 1)
    inner = set(topology.nodes) - sizes.keys()
    capacity: dict[tuple[NodeId, NodeId], Fraction] = defaultdict(Fraction)
    for source, target, amount in topology.links:
        capacity[source, target] += amount
    load: dict[tuple[NodeId, NodeId], int] = defaultdict(int)
    weight: dict[NodeId, int] = defaultdict(int)
    if not schedule.collective.outward or schedule.topology != topology.digest:
        faults.append("the heading is wrong")
    for index, tree in enumerate(schedule.trees):
        if tree.weight < 1:
            faults.append(f"tree {index} weighs {tree.weight}")
        weight[tree.root] += tree.weight
        depth = {tree.root: 0}
        for path in tree.edges:
            sender, receiver = path[0], path[-1]
            if sender not in depth or receiver in depth:
                faults.append(f"tree {index}: {path} does not grow the tree")
                continue
            depth[receiver] = depth[sender] + 1
            if not set(path[1:-1]) <= inner or len(set(path)) != len(path):
                faults.append(f"tree {index}: {path} is not a simple path through switches")
            for hop in pairwise(path):
                load[hop] += tree.weight
        if list(depth.values()) != sorted(depth.values()):
            faults.append(f"tree {index} is not in breadth-first order")
        if set(depth) != sizes.keys():
            faults.append(f"tree {index} does not span")
    for hop, total in load.items():
        if total * unit_bandwidth > capacity.get(hop, 0):
            faults.append(f"link {hop} is overloaded")
    if any(weight[root] != schedule.trees_per_root * size for root, size in sizes.items()):
        faults.append("the weights per root do not add up")
    return faults


def random_topology(rng: random.Random, *, balanced: bool = False) -> Topology:
    """Return a small random digraph with switches, every compute node reaching every other.

    With ``balanced``, every link has an equal partner the other way, or lies on a directed
    cycle of equal capacities, so that each node lets out as much as it takes in.
    """
    computes = [f"c{i}" for i in range(rng.randint(2, 5))]
    switches = [f"w{i}" for i in range(rng.randint(0, 3))]
    nodes = computes + switches
    while True:
        links: list[tuple[str, str, Fraction | int]] = []
        for _ in range(rng.randint(len(nodes), 3 * len(nodes))):
            amount: Fraction | int = rng.randint(1, 6)
            if rng.random() < 0.2:
                amount = Fraction(amount, rng.randint(1, 5))
            cycle = rng.sample(nodes, rng.randint(2, min(4, len(nodes))))
            if not balanced:
                links.append((cycle[0], cycle[1], amount))
                continue
            turned = [*cycle[1:], cycle[0]]
            links += [(s, t, amount) for s, t in zip(cycle, turned, strict=True)]
        topology = Topology(nodes, links, switches=switches)
        try:
            topology.require_connected()
        except ValueError:
            continue
        return topology


def torus(*sides: int, capacity: int = 1) -> Topology:
    """Return the torus of those sides; sides of two have double links."""
    places = list(product(*map(range, sides)))
    links = []
    for place in places:
        for axis, side in enumerate(sides):
            for step in (1, -1):
                other = (*place[:axis], (place[axis] + step) % side, *place[axis + 1 :])
                links.append((places.index(place), places.index(other), capacity))
    return Topology(range(len(places)), links, name="torus" + "x".join(map(str, sides)))
