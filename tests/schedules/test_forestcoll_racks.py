import random
import time
from fractions import Fraction

import pytest

from benchmarks.bench_forestcoll import uneven_racks
from tests.flow_oracles import flow_rate
from tests.oracles import forest_faults
from topoloom.schedules.model.schedule import tree_height
from topoloom.schedules.trees.flow.network import network_of
from topoloom.schedules.trees.forestcoll import allgather, optimum
from topoloom.schedules.trees.racks.contraction import contract_racks
from topoloom.schedules.verify import tree_inverse_rate, violations
from topoloom.synth.topology.topology import Topology


def small_racks(seed: int) -> Topology:
    """Return racks of 1 to 6 hosts, alike or not, in any order; some with a host beside them."""
    rng = random.Random(seed)
    speed, alike = rng.choice((1, 2, 5, 10, 20)), rng.random() < 0.5
    spines = [f"s{number}" for number in range(rng.randint(1, 3))]
    leaves = [f"l{number}" for number in range(rng.randint(2, 5))]
    hosts: list[str] = []
    cables: list[tuple[str, str, int]] = []
    for leaf in leaves:
        for _ in range(rng.randint(1, 6)):
            hosts.append(f"h{len(hosts)}")
            cables.append((hosts[-1], leaf, speed if alike else speed * rng.randint(1, 3)))
        cables += [(leaf, spine, rng.randint(1, 4)) for spine in spines]
    if rng.random() < 0.3:
        cables.append((leaves[0], leaves[1], rng.randint(1, 3)))
    if rng.random() < 0.3:
        hosts.append("beside")
        cables += [("beside", leaves[0], speed), ("beside", spines[0], 1)]
    nodes = [*hosts, *leaves, *spines]
    rng.shuffle(nodes)
    both = [link for s, t, c in cables for link in ((s, t, c), (t, s, c))]
    return Topology(nodes, both, switches=leaves + spines)


def shuffled(topology: Topology, seed: int) -> Topology:
    rng = random.Random(seed)
    nodes, links = list(topology.nodes), list(topology.links)
    rng.shuffle(nodes)
    rng.shuffle(links)
    return Topology(nodes, links, switches=topology.switches)


@pytest.fixture
def without_plain_packing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only networks without racks are packed host by host."""
    monkeypatch.setattr("topoloom.schedules.trees.limits.MAX_REPEATED_WORK", 0)


@pytest.mark.usefixtures("without_plain_packing")
@pytest.mark.parametrize("trees", [None, 1, 3])
@pytest.mark.parametrize("seed", range(30))
@pytest.mark.one_in(4)
def test_trees_between_racks_become_an_optimal_forest_of_all_hosts(
    seed: int, trees: int | None
) -> None:
    topology = small_racks(seed)
    best = optimum(topology, trees)
    schedule = allgather(topology, trees)
    assert schedule.trees_per_root == best.trees_per_root
    assert forest_faults(schedule, topology, best.unit_bandwidth) == []
    if trees is None:
        sizes = dict.fromkeys(topology.compute_nodes, 1)
        assert float(best.algbw) == pytest.approx(flow_rate(topology, sizes, "o"), rel=1e-7)
        assert tree_inverse_rate(schedule, topology) == best.inverse_rate


@pytest.mark.usefixtures("without_plain_packing")
@pytest.mark.parametrize("speed", [1, 3, 9])
def test_racks_of_any_size_get_low_trees_in_any_order_of_the_nodes(speed: int) -> None:
    topology = uneven_racks(160, speed, speed)
    best, heights = optimum(topology).inverse_rate, set()
    for seed in range(3):
        other = shuffled(topology, seed)
        schedule = allgather(other)
        assert violations(schedule, other) == []
        assert tree_inverse_rate(schedule, other) == best
        heights.add(max(map(tree_height, schedule.trees)))
    assert len(heights) == 1
    assert heights <= {2, 3, 4}


def test_a_rack_is_one_rank_with_the_room_that_its_trees_leave() -> None:
    topology = uneven_racks(100)
    network = network_of(topology)
    best = optimum(topology)
    scale = best.trees_per_root * best.inverse_rate * network.unit
    room = network.capacity * scale.numerator // scale.denominator
    found = contract_racks(network, room, best.trees_per_root)
    assert found is not None
    assert int(found.network.sizes.sum()) == 100
    assert sum(len(rack.hosts) for rack in found.racks) == 100
    assert len(found.network.terminals) == len(found.racks)


def test_a_leaf_with_most_of_the_hosts_has_several_racks() -> None:
    hosts = {f"a{i}": "v" for i in range(9)} | {f"b{i}": "w" for i in range(3)}
    cables = [(host, leaf, 11) for host, leaf in hosts.items()] + [("v", "w", 27)]
    both = [link for s, t, c in cables for link in ((s, t, c), (t, s, c))]
    topology = Topology([*hosts, "v", "w"], both, switches="vw")
    assert optimum(topology).inverse_rate == 1
    network = network_of(topology)
    found = contract_racks(network, network.capacity, 1)
    assert found is not None
    assert sorted(len(rack.hosts) for rack in found.racks) == [3, 4, 5]
    schedule = allgather(topology)
    assert forest_faults(schedule, topology, Fraction(1)) == []


def test_hosts_with_too_little_room_or_two_leaves_are_in_no_rack() -> None:
    cables = [("a", "v", 2), ("b", "v", 5), ("c", "v", 5), ("d", "v", 5), ("e", "v", 5)]
    cables += [("d", "w", 1), ("e", "w", 5), ("f", "w", 6), ("g", "w", 6)]
    both = [link for s, t, c in cables for link in ((s, t, c), (t, s, c))]
    network = network_of(Topology([*"abcdefgvw"], both, switches="vw"))
    found = contract_racks(network, 2 * network.capacity, 1)
    assert found is not None
    assert [rack.hosts for rack in found.racks] == [(1, 2), (5, 6)]


@pytest.mark.slow
def test_five_hundred_hosts_in_uneven_racks_are_packed_in_seconds() -> None:
    topology = uneven_racks(512, 3)
    start = time.process_time()
    schedule = allgather(topology)
    # Under two seconds; packed host by host it takes more than twenty.
    assert time.process_time() - start < 10
    assert violations(schedule, topology) == []
    assert tree_inverse_rate(schedule, topology) == optimum(topology).inverse_rate
