"""Every single fault leaves an allreduce of few trees close to its proven optimum."""

import random
from fractions import Fraction

import pytest

from benchmarks.bench_fault_trees import measured, single_faults
from benchmarks.bench_orders import shuffled
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.trees.flow.demand import demand_of
from topoloom.schedules.trees.flow.network import network_of
from topoloom.schedules.trees.flow.optimality import best_rate
from topoloom.schedules.trees.limits import MANY_TREES, MANY_TREES_GAP
from topoloom.schedules.trees.rates.fewest_trees import few_trees_within
from topoloom.synth.errors import Unreachable
from topoloom.synth.fabrics import fabric
from topoloom.synth.topology.topology import Topology

FAULTS = [
    # A switch would have to copy in the fewest trees that cuts allow within the gap.
    ("mi300x-2", "0.gpu0->0.gpu1"),
    ("mi300x-2", "0.gpu0-fabric at 1/4"),
    ("dgx-h100-2", "0.gpu0-plane0 at 1/4"),
]
DRAWN = ("dgx-1v", "dgx-a100-2", "dgx-h100-2", "mi250-1", "mi300x", "mi300x-2", "trainium2")


def require_few(topology: Topology, seed: int) -> None:
    """Require few trees within the gap, as many and as high in another order of nodes."""
    found = measured(topology, Collective.ALLREDUCE)
    assert max(found.trees) <= MANY_TREES
    assert 0 <= found.gap <= MANY_TREES_GAP
    again = measured(shuffled(topology, random.Random(seed)), Collective.ALLREDUCE)
    assert (again.trees, again.heights, again.gap) == (found.trees, found.heights, found.gap)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "fault"), FAULTS)
def test_links_are_rounded_to_whole_trees_without_a_copy_in_a_switch(name: str, fault: str) -> None:
    require_few(dict(single_faults(fabric(name)))[fault], 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_a_single_fault_drawn_at_random_leaves_few_trees_near_the_optimum(seed: int) -> None:
    rng = random.Random(seed)
    faults = list(single_faults(fabric(rng.choice(DRAWN))))
    while True:
        _, topology = rng.choice(faults)
        try:
            topology.require_connected()
        except Unreachable:
            continue
        return require_few(topology, seed)


@pytest.mark.slow
def test_trees_of_unequal_shares_are_compared_with_the_optimum_of_these_shares() -> None:
    """Ten of 64 ranks are roots: the data of a tree is a tenth of the whole."""
    lost = dict(single_faults(fabric("tpu-v5e-8x8")))["0.1->0.2"]
    assert measured(lost, Collective.ALLREDUCE).gap == 0


@pytest.mark.parametrize("seed", range(10))
def test_numbers_of_trees_within_a_rate_are_those_that_every_cut_allows(seed: int) -> None:
    rng = random.Random(seed)
    ends = [(tail, head) for tail in range(4) for head in range(4) if tail != head]
    links = [(*pair, rng.randint(1, 30)) for pair in ends]
    topology = Topology(range(4), links)
    network = network_of(topology, demand_of(topology))
    inverse = best_rate(network).inverse * (1 + Fraction(rng.randint(0, 50), 1000))
    sides = [{rank for rank in range(4) if mask >> rank & 1} for mask in range(1, 15)]

    found = {rate.trees_per_root for rate in few_trees_within(network, inverse, 8)}
    capacities = list(
        zip(network.tail.tolist(), network.head.tolist(), network.capacity.tolist(), strict=True)
    )
    expected = {
        trees
        for trees in range(1, 9)
        if all(
            sum(
                int(inverse * trees * capacity)
                for tail, head, capacity in capacities
                if tail in side and head not in side
            )
            >= trees * len(side)
            for side in sides
        )
    }
    assert found == expected
