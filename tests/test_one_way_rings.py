"""Where one-way links form no ring over all hosts, the order of ranks is the best of all orders."""

import random
from itertools import pairwise, permutations

from tests.cases import for_every
from topoloom.synth.launch.host_graph import HostGraph, host_graph
from topoloom.synth.launch.ring_load import ring_load
from topoloom.synth.launch.ring_search import Order, ring_order
from topoloom.synth.topology.topology import Capacity, Topology


def joined_rings(rng: random.Random) -> Topology:
    """Return one-way rings of two or three hosts, of which each has a link to the next."""
    sizes = rng.choice([(2, 2), (2, 3), (3, 3), (2, 2, 2)])
    hosts = rng.sample(range(sum(sizes)), sum(sizes))
    rings = [[hosts.pop() for _ in range(size)] for size in sizes]
    links = [pair for ring in rings for pair in pairwise([*ring, ring[0]])]
    links += [(rng.choice(one), rng.choice(other)) for one, other in pairwise([*rings, rings[0]])]
    return Topology(range(sum(sizes)), [(*pair, rng.randint(1, 2)) for pair in links])


def value(graph: HostGraph, order: Order) -> tuple[Capacity, int]:
    """Return the bottleneck of a ring in this order, and its links, fewer is more."""
    load = ring_load(graph, order)
    assert load.bottleneck is not None
    return load.bottleneck, -load.links


@for_every("seed", range(20))
def test_the_order_of_ranks_over_one_way_links_is_the_best_of_all(seed: int) -> None:
    graph = host_graph(joined_rings(random.Random(seed)))
    found = ring_order(graph)
    orders = [(0, *rest) for rest in permutations(range(1, len(graph.hosts)))]
    assert found in orders
    assert value(graph, found) == max(value(graph, order) for order in orders)


def test_hosts_that_all_send_to_one_keep_their_order() -> None:
    # No cover by cycles: two hosts have the same only successor.
    graph = host_graph(Topology(range(4), [(0, 2), (1, 2), (2, 3), (3, 0), (3, 1)]))
    found = ring_order(graph)
    orders = [(0, *rest) for rest in permutations(range(1, 4))]
    assert value(graph, found) == max(value(graph, order) for order in orders)
