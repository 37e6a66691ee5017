"""What NCCL runs on fabrics: valid schedules, whose closed forms are their simulated times."""

from collections import Counter
from contextlib import suppress
from fractions import Fraction
from itertools import pairwise, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from tests.cases import for_every
from tests.schedule_oracles import direct_topologies
from topoloom.schedules.baselines.nccl import MAX_HOPS, NCCL_ALGORITHMS, nccl_runs, ring, tree
from topoloom.schedules.baselines.nccl.ring_channels import MAX_CHANNELS, rings
from topoloom.schedules.errors import NoSchedule, TooLarge
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.simulate import Network, simulate
from topoloom.schedules.simulate.lockstep import lockstep_of
from topoloom.schedules.simulate.messages import messages_of
from topoloom.schedules.verify import violations
from topoloom.synth.fabrics import fabric
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.topology.topology import Topology

COLLECTIVES = (Collective.ALLGATHER, Collective.REDUCE_SCATTER, Collective.ALLREDUCE)
FABRICS = ("dgx-a100-1", "dgx-a100-2", "dgx-1v", "mi300x", "mi250-1", "dgx-h100-sharp-2")
NETWORK = Network(Fraction(1, 10**6), Fraction(10**9))


def direct(name):
    try:
        return fabric(name)
    except ValueError:
        return build(parse(name))


@for_every("name", FABRICS)
@for_every("baseline", NCCL_ALGORITHMS)
@pytest.mark.slow
def test_whatever_runs_on_a_fabric_is_valid(name, baseline):
    topology = fabric(name)
    for collective in COLLECTIVES:
        with suppress(NoSchedule):
            schedule = NCCL_ALGORITHMS[baseline](topology, collective)
            assert schedule.collective is collective
            assert violations(schedule, topology) == []


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(direct_topologies())
def test_whatever_runs_on_a_graph_is_valid(topology):
    for run in NCCL_ALGORITHMS.values():
        for collective in COLLECTIVES:
            with suppress(NoSchedule):
                assert violations(run(topology, collective), topology) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", FABRICS)
def test_rings_take_no_more_of_a_link_than_there_is(name):
    topology = fabric(name)
    found = rings(topology)
    assert 1 <= len(found) <= MAX_CHANNELS
    capacity, used = Counter(), Counter()
    for link in topology.links:
        capacity[link.source, link.target] += Fraction(link.capacity)
    for one in found:
        assert sorted(one.order, key=str) == sorted(topology.compute_nodes, key=str)
        for path in one.paths:
            for hop in pairwise(path):
                used[hop] += one.width
    assert all(used[hop] <= capacity[hop] for hop in used)


@pytest.mark.slow
@for_every(
    ("name", "total"),
    [
        ("mi250-2", 256),
        ("mi250-8", 256),
        ("mi300x-4", 400),
        ("dgx-a100-4", 200),
        ("dgx-a100-3", 200),
        ("rail-only-2-8", 400),
    ],
)
def test_rings_fill_the_narrowest_links_of_a_box(name, total):
    """Every ring leaves every box; these widths are the capacities out of a box."""
    wide = sum(one.width for one in rings(fabric(name)))
    assert Fraction(999, 1000) * total <= wide <= total


@settings(max_examples=30, deadline=None)
@given(direct_topologies(6))
def test_small_graphs_have_the_widest_rings_of_all(topology):
    """Compare with a linear program over all cyclic orders."""
    hops = {(link.source, link.target): 0 for link in topology.links}
    for link in topology.links:
        hops[link.source, link.target] += float(link.capacity)
    first, *others = topology.compute_nodes
    orders = [pairwise((first, *order, first)) for order in permutations(others)]
    every = [ring for ring in map(list, orders) if set(ring) <= hops.keys()]
    found = float(sum(one.width for one in rings(topology)))
    if not every:
        assert found == 0
        return
    crossed = [[hop in ring for ring in every] for hop in hops]
    best = -linprog([-1] * len(every), A_ub=crossed, b_ub=list(hops.values())).fun
    assert found == pytest.approx(best, rel=1e-4)


def test_chains_of_trees_stay_on_the_links_of_a_box():
    topology = fabric("mi250-4")
    for part in tree.tree_schedule(topology, Collective.ALLREDUCE).parts:
        for one in part.trees:
            inside = [edge for edge in one.edges if edge[0].split(".")[0] == edge[-1].split(".")[0]]
            assert len(inside) == 60
            assert all(len(edge) == 2 for edge in inside)


@pytest.mark.slow
@for_every("name", ["dgx-1v", "mi300x", "BiRing(6)", "Torus(3, 4)", "dgx-h100-1"])
@for_every("collective", COLLECTIVES)
@for_every("size", [1, 10**6, 2**30])
def test_rings_take_their_closed_form(name, collective, size):
    topology = direct(name)
    schedule = ring.ring_schedule(topology, collective)
    ranks, passes = len(topology.compute_nodes), 1 + (collective is Collective.ALLREDUCE)
    rate = sum(one.width for one in rings(topology)) * NETWORK.unit_bytes_per_second
    closed = passes * (ranks - 1) * (NETWORK.alpha_seconds + Fraction(size, ranks) / rate)
    ways = {"size_bytes": size, "chunks": 1}
    assert simulate(schedule, topology, NETWORK, **ways, synchronous=True).seconds == closed
    assert simulate(schedule, topology, NETWORK, **ways).seconds <= closed


@pytest.mark.parametrize("name", ["BiRing(6)", "Torus(3, 4)", "mi300x", "Hypercube(3)"])
@pytest.mark.parametrize("chunks", [1, 4, 50])
def test_trees_take_their_lock_step(name, chunks):
    topology = direct(name)
    schedule = tree.tree_schedule(topology, Collective.ALLREDUCE)
    closed = lockstep_of(messages_of(schedule, topology), NETWORK, 10**6)
    found = simulate(schedule, topology, NETWORK, size_bytes=10**6, chunks=chunks, synchronous=True)
    assert found.seconds == closed.seconds(chunks)


@pytest.mark.slow
def test_switches_that_add_up_and_copy_carry_every_shard_once_each_way():
    """Every rank sends and gets N shards; a ring sends and gets 2 (N - 1)."""
    topology, size = fabric("gb200-nvl72-sharp"), 72 * 900 * 10**6
    network = Network(Fraction(0), Fraction(10**9))
    found = nccl_runs(topology, Collective.ALLREDUCE, network, size).runs
    times = {one.name: one for one in found}
    rate = Fraction(900 * 10**9)
    nvls = times["nccl-nvls"]
    assert nvls.seconds == size / rate * (1 + Fraction(1, nvls.chunks))
    assert times["nccl-ring"].seconds == size / rate * 2 * Fraction(71, 72)
    gather = nccl_runs(topology, Collective.ALLGATHER, network, size).runs
    assert {one.seconds for one in gather if one.name != "nccl-pat"} == {
        size / rate * Fraction(71, 72)
    }


@pytest.mark.slow
def test_a_fabric_has_what_runs_there_the_fastest_first():
    names = {}
    for name in ("dgx-a100-2", "gb200-nvl72-sharp", "Kautz(2, 2)"):
        for collective in COLLECTIVES:
            found = nccl_runs(direct(name), collective, NETWORK, 10**6).runs
            assert [one.seconds for one in found] == sorted(one.seconds for one in found)
            names[name, collective] = {one.name for one in found}
    assert names["dgx-a100-2", Collective.ALLREDUCE] == {"nccl-ring", "nccl-tree"}
    assert "nccl-nvls" in names["gb200-nvl72-sharp", Collective.ALLREDUCE]
    assert "nccl-pat" in names["gb200-nvl72-sharp", Collective.ALLGATHER]
    assert "nccl-tree" not in names["Kautz(2, 2)", Collective.ALLREDUCE]


@pytest.mark.slow
def test_more_ranks_than_schedules_are_made_for_are_refused():
    ranks = 1 + int(MAX_HOPS**0.5)
    ring_of = Topology(range(ranks), [(at, (at + 1) % ranks) for at in range(ranks)])
    with pytest.raises(TooLarge):
        nccl_runs(ring_of, Collective.ALLGATHER, NETWORK, 1)
    boxes = fabric("dgx-a100-128")
    found = nccl_runs(boxes, Collective.ALLREDUCE, NETWORK, 1)
    assert [one.name for one in found.runs] == ["nccl-tree"]
    assert isinstance(found.left_out["nccl-ring"], TooLarge)
    with pytest.raises(TooLarge, match="hops of rings"):
        nccl_runs(boxes, Collective.ALLGATHER, NETWORK, 1)


@given(st.sampled_from([Collective.BROADCAST, Collective.REDUCE, Collective.ALL_TO_ALL]))
@settings(max_examples=3)
def test_collectives_that_it_has_no_rings_for_have_no_baseline(collective):
    found = nccl_runs(fabric("mi300x"), collective, NETWORK, 1)
    assert found.runs == () and found.left_out.keys() == NCCL_ALGORITHMS.keys()
