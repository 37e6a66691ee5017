"""A canonical form lists a network alike however its nodes are numbered, of many parts too."""

import random
from fractions import Fraction

import numpy as np
import pytest

from tests.cases import for_every
from tests.oracles import random_topology
from tests.schedules.test_node_orders import damaged, shuffled
from topoloom.schedules.trees.flow.network import Network, network_of
from topoloom.schedules.trees.symmetry.canonical_order import canonical_order
from topoloom.schedules.trees.symmetry.neighbor_order import renumbered
from topoloom.synth.fabrics import fabric
from topoloom.synth.topology.topology import Link, Topology

SHUFFLES = 3


def form(network: Network) -> list[list[int]]:
    listed = renumbered(network, canonical_order(network, network.kinds))
    arrays = (listed.terminals, listed.sizes, listed.tail, listed.head, listed.capacity)
    return [array.tolist() for array in arrays]


def require_one_form(topology: Topology) -> None:
    first = form(network_of(topology))
    for seed in range(SHUFFLES):
        assert form(network_of(shuffled(topology, seed))) == first


def boxes_on_a_spine(seed: int) -> Topology:
    """Boxes of a few kinds, each a random graph, some of them turned, on one or two spines."""
    rng = random.Random(seed)
    spines = [f"spine{i}" for i in range(rng.randint(1, 2))]
    kinds = []
    for _ in range(rng.randint(1, 3)):
        size = rng.randint(2, 5)
        pairs = [(i, (i + 1) % size) for i in range(size)]
        pairs += [rng.sample(range(size), 2) for _ in range(rng.randint(0, 3))]
        kinds.append((size, [(*pair, rng.randint(1, 3)) for pair in pairs]))
    links: dict[tuple[str, str], int] = {}
    nodes = []
    for box in range(rng.randint(9, 14)):
        size, pairs = rng.choice(kinds)
        names = [f"{box}.{i}" for i in rng.sample(range(size), size)]
        nodes += names
        for source, target, room in pairs:
            links[names[source], names[target]] = room
        for spine in spines:
            links[names[0], spine] = links[spine, names[0]] = 2
    every = [Link(*ends, Fraction(room)) for ends, room in links.items()]
    return Topology([*nodes, *spines], every, switches=spines)


@for_every("seed", range(20))
def test_boxes_on_spines_are_listed_alike(seed: int) -> None:
    require_one_form(boxes_on_a_spine(seed))


@pytest.mark.parametrize("name", ["ndv2-9", "ndv2-64", "mi250-16", "dgx-a100-16", "rail-9-4"])
@pytest.mark.parametrize("fault", [False, True])
def test_many_boxes_are_listed_alike(name: str, fault: bool) -> None:
    require_one_form(damaged(fabric(name), 1) if fault else fabric(name))


@pytest.mark.parametrize("seed", range(30))
def test_random_fabrics_are_listed_alike_also_part_by_part(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("topoloom.schedules.trees.limits.MAX_PARTS_AT_ONCE", 0)
    require_one_form(random_topology(random.Random(seed), balanced=seed % 2 == 0))


def test_an_order_has_every_node_once() -> None:
    network = network_of(fabric("ndv2-16"))
    order = canonical_order(network, network.kinds)
    assert np.sort(order).tolist() == list(range(network.node_count))
