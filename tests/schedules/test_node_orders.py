"""The order in which nodes and links are listed changes no rate, number of trees or symmetry."""

import random
from fractions import Fraction

import pytest

from benchmarks import bench_orders
from tests.oracles import random_topology
from topoloom.schedules.model.schedule import Collective, TreeSchedule, tree_height
from topoloom.schedules.optimum.collective_optimum import collective_optimum
from topoloom.schedules.options import Options
from topoloom.schedules.trees.flow.demand import demand_of
from topoloom.schedules.trees.forestcoll import allgather, optimum
from topoloom.schedules.trees.forests import forest_at_rate
from topoloom.schedules.trees.forests.forests_by_height import low_forests
from topoloom.schedules.verify import tree_inverse_rate, violations
from topoloom.synth.errors import Unreachable
from topoloom.synth.fabrics import fabric
from topoloom.synth.topology.topology import Link, Topology

SYMMETRIC = (
    *("dgx-a100-8", "dgx-h100-4", "gb200-nvl72", "gh200-nvl32", "mi300x", "trainium2"),
    *("fat-tree-4", "fat-tree-8", "mi250-9"),
)
OTHERS = ("dgx-1v", "mi250-1", "mi250-2")


def shuffled(topology: Topology, seed: int) -> Topology:
    return bench_orders.shuffled(topology, random.Random(seed))


def height(schedule: TreeSchedule) -> int:
    return max(map(tree_height, schedule.trees))


@pytest.mark.parametrize("name", [*SYMMETRIC, *OTHERS])
def test_a_fabric_in_any_order_gets_as_many_trees_at_the_same_rate(name: str) -> None:
    topology = fabric(name)
    other = shuffled(topology, len(name))
    best, again = optimum(topology), optimum(other)
    assert (again.inverse_rate, again.trees_per_root) == (best.inverse_rate, best.trees_per_root)
    schedule = allgather(other)
    assert violations(schedule, other) == []
    assert tree_inverse_rate(schedule, other) == best.inverse_rate


@pytest.mark.parametrize("name", SYMMETRIC)
@pytest.mark.parametrize("seed", range(2))
def test_symmetric_fabrics_get_trees_as_low_by_their_symmetry(
    name: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lowest = height(allgather(fabric(name)))

    def packed(*_: object) -> None:
        raise AssertionError("trees were packed, though symmetry gives them")

    monkeypatch.setattr(forest_at_rate, "forest_without_switches", packed)
    assert height(allgather(shuffled(fabric(name), seed))) == lowest


def damaged(topology: Topology, seed: int) -> Topology:
    """Return it without one of its links, both ways, and with another at half its capacity."""
    rng = random.Random(seed)
    while True:
        lost, slow = ({link.source, link.target} for link in rng.sample(topology.links, 2))
        links = [
            Link(source, target, Fraction(capacity, 2 if {source, target} == slow else 1))
            for source, target, capacity in topology.links
            if {source, target} != lost
        ]
        found = Topology(topology.nodes, links, switches=topology.switches)
        try:
            found.require_connected()
        except Unreachable:
            continue
        return found


def shape(schedule: TreeSchedule) -> list[tuple[int, int]]:
    return sorted((tree.weight, tree_height(tree)) for tree in schedule.trees)


@pytest.mark.parametrize("name", ["dgx-1v", "mi250-1", "dgx-a100-2", "trainium2"])
@pytest.mark.parametrize("seed", range(3))
def test_trees_of_fabrics_with_faults_are_alike_in_any_order(name: str, seed: int) -> None:
    topology = damaged(fabric(name), seed)
    first, again = allgather(topology), allgather(shuffled(topology, seed))
    assert (again.trees_per_root, shape(again)) == (first.trees_per_root, shape(first))


@pytest.mark.one_in(30, slow=4)
@pytest.mark.parametrize("seed", range(30))
def test_trees_of_random_balanced_fabrics_are_alike_in_any_order(seed: int) -> None:
    topology = random_topology(random.Random(seed), balanced=True)
    other = shuffled(topology, seed)
    first, again = allgather(topology), allgather(other)
    assert violations(again, other) == []
    assert (again.trees_per_root, height(again)) == (first.trees_per_root, height(first))
    low, low_again = (low_forests(one, demand_of(one)) for one in (topology, other))
    assert [(one.height, one.inverse_rate) for one in low_again] == [
        (one.height, one.inverse_rate) for one in low
    ]


@pytest.mark.parametrize("seed", range(12))
def test_random_fabrics_in_any_order_have_the_same_optima(seed: int) -> None:
    topology = random_topology(random.Random(900 + seed), balanced=seed % 2 == 0)
    other = shuffled(topology, seed)
    for collective in (Collective.ALLGATHER, Collective.REDUCE_SCATTER, Collective.ALLREDUCE):
        best = collective_optimum(topology, collective, Options())
        again = collective_optimum(other, collective, Options())
        assert again.inverse_rate == best.inverse_rate
        if collective is not Collective.ALLREDUCE and best.passes[0].proof is None:
            assert again.passes[0].trees_per_root == best.passes[0].trees_per_root
