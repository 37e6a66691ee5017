"""What links are worth, held against a plain linear program that solves anew with them changed."""

import random
from fractions import Fraction

import pytest

from tests.flow_oracles import flow_rate
from tests.oracles import random_topology
from topoloom.schedules.errors import NoSchedule, TooLarge
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.optimum.collective_optimum import collective_optimum
from topoloom.schedules.optimum.link_values import LinkValue, link_values, rates_after_repair
from topoloom.schedules.options import Options
from topoloom.synth.fabrics import fabric
from topoloom.synth.topology.degrade import degraded
from topoloom.synth.topology.topology import Link, NodeId, Shared, Topology

ONE_PASS = ("allgather", "reduce-scatter", "broadcast", "reduce")
STEP = Fraction(1, 8192)

SEEDS = [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 12))]


def changed(topology: Topology, pairs: list[tuple[NodeId, NodeId]], amount: Fraction) -> Topology:
    """Return the topology with each way between each pair changed, on its first link."""
    wanted = {way for one, other in pairs for way in ((one, other), (other, one))}
    links = []
    for source, target, capacity in topology.links:
        more = amount if (source, target) in wanted else 0
        wanted.discard((source, target))
        links.append(Link(source, target, capacity + more))
    return rebuilt(topology, links)


def rebuilt(topology: Topology, links: list[Link]) -> Topology:
    return Topology(
        topology.nodes,
        links,
        switches=topology.switches,
        multicast=topology.multicast,
        shared=topology.shared,
    )


def doubled(topology: Topology, pairs: list[tuple[NodeId, NodeId]]) -> Topology:
    wanted = {frozenset(pair) for pair in pairs}
    links = [
        Link(s, t, capacity * (2 if frozenset((s, t)) in wanted else 1))
        for s, t, capacity in topology.links
    ]
    return rebuilt(topology, links)


def oracle(topology: Topology, collective: Collective, root: NodeId | None) -> float:
    sizes = {rank: int(root in (None, rank)) for rank in topology.compute_nodes}
    if collective is Collective.ALLREDUCE:
        return flow_rate(topology, sizes, "oi", free=True)
    return flow_rate(topology, sizes, "o" if collective.outward else "i")


def assert_true(
    topology: Topology, collective: Collective, value: LinkValue, root: NodeId | None = None
) -> None:
    """Ask the oracle of the last pair, which symmetry says is like the first, and of all."""
    last, every = [value.pairs[-1]], list(value.pairs)
    now = oracle(topology, collective, root)
    told = (
        (value.more, changed(topology, last, STEP), 1),
        (value.each_more, changed(topology, every, STEP), 1),
        (value.less, changed(topology, last, -STEP), -1),
    )
    for slope, other, sign in told:
        assert slope is not None
        secant = sign * (oracle(other, collective, root) - now) / float(STEP)
        assert float(slope) == pytest.approx(secant, abs=1e-4)
    for rate, other in (
        (value.doubled, doubled(topology, last)),
        (value.all_doubled, doubled(topology, every)),
    ):
        assert rate is not None
        assert float(rate) == pytest.approx(oracle(other, collective, root), rel=1e-7)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_link_is_worth_what_solving_anew_with_it_changed_tells(seed: int) -> None:
    topology = random_topology(random.Random(7000 + seed), balanced=seed % 2 == 0)
    collective = Collective.of(ONE_PASS[seed % 4])
    root = topology.compute_nodes[0] if collective.has_root else None
    for value in link_values(topology, collective, Options(root=root)):
        assert_true(topology, collective, value, root)


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize("seed", SEEDS)
def test_so_it_is_of_an_allreduce_whose_passes_share_the_links(seed: int) -> None:
    topology = random_topology(random.Random(7100 + seed), balanced=seed % 2 == 0)
    found = link_values(topology, Collective.ALLREDUCE)[:5]
    known = [one for one in found if None not in (one.more, one.less, one.each_more)]
    assert known
    for value in known:
        assert_true(topology, Collective.ALLREDUCE, value)


def test_an_allreduce_of_passes_apart_is_worth_what_both_optima_tell() -> None:
    topology = random_topology(random.Random(5))
    options = Options(shards=dict.fromkeys(topology.compute_nodes, 1))
    now = collective_optimum(topology, Collective.ALLREDUCE, options).algbw
    for value in link_values(topology, Collective.ALLREDUCE, options):
        other = doubled(topology, [value.pairs[0]])
        best = collective_optimum(other, Collective.ALLREDUCE, options).algbw
        assert value.doubled == best
        step = Fraction(1, 10**6)
        near = collective_optimum(
            changed(topology, [value.pairs[0]], step), Collective.ALLREDUCE, options
        ).algbw
        assert value.more is not None
        assert value.more - (near - now) / step == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_limits_that_links_share_stay_as_they_are(seed: int) -> None:
    rng = random.Random(seed)
    plain = random_topology(rng)
    pairs = sorted({link[:2] for link in plain.links})
    held = rng.sample(pairs, rng.randint(2, len(pairs)))
    topology = Topology(
        plain.nodes, plain.links, switches=plain.switches, shared=[Shared(tuple(held), 3)]
    )
    for value in link_values(topology, Collective.ALLGATHER):
        assert_true(topology, Collective.ALLGATHER, value)


@pytest.mark.parametrize("name", ["dgx-1v", "dgx-a100-2", "mi250-1"])
@pytest.mark.parametrize("collective", [Collective.ALLGATHER, Collective.ALLREDUCE])
@pytest.mark.one_in(3)
def test_less_of_a_link_costs_at_least_what_more_of_it_brings(
    name: str, collective: Collective
) -> None:
    found = link_values(fabric(name), collective)
    now = collective_optimum(fabric(name), collective, Options()).algbw
    assert sum(len(value.pairs) for value in found) == len(
        {frozenset(link[:2]) for link in fabric(name).links}
    )
    for value in found:
        assert value.doubled is not None
        assert value.all_doubled is not None
        assert value.less is not None
        assert value.each_more is not None
        assert value.more is not None
        assert value.less >= value.more >= 0
        assert value.each_more >= value.more
        assert value.all_doubled >= value.doubled >= now


def test_one_slow_link_is_what_holds_all_back() -> None:
    slow = [("0.gpu0", "0.nvswitch", Fraction(1, 2))]
    topology = degraded(fabric("gb200-nvl72"), slow_links=slow)
    first, second = link_values(topology, Collective.ALLGATHER)
    assert first.pairs == (("0.gpu0", "0.nvswitch"),)
    assert first.capacities == (450, 450)
    assert (first.more, first.doubled) == (Fraction(72, 71), 72 * 900 / Fraction(71))
    assert (second.more, second.less, second.doubled) == (0, 0, 72 * Fraction(450, 71))


def test_every_change_is_undone_by_itself() -> None:
    healthy = fabric("dgx-a100-2")
    lost = ("0.gpu3", "plane1")
    slow = ("1.gpu0", "1.nvswitch", Fraction(1, 10))
    made = degraded(healthy, without_nodes=["1.gpu7"], without_links=[lost], slow_links=[slow])
    found = {
        one.nodes: one.algbw for one in rates_after_repair(healthy, made, Collective.ALLGATHER)
    }
    expected = {
        ("1.gpu7",): degraded(healthy, without_links=[lost], slow_links=[slow]),
        lost: degraded(healthy, without_nodes=["1.gpu7"], slow_links=[slow]),
        slow[:2]: degraded(healthy, without_nodes=["1.gpu7"], without_links=[lost]),
    }
    assert found == {
        nodes: collective_optimum(topology, Collective.ALLGATHER, Options()).algbw
        for nodes, topology in expected.items()
    }


def test_values_are_of_any_number_of_trees_and_of_collectives_that_have_trees() -> None:
    ring = Topology("abc", ["ab", "ba", "bc", "cb", "ca", "ac"])
    for options in (Options(trees_per_root=1), Options(max_gap=0)):
        with pytest.raises(NoSchedule, match="/values"):
            link_values(ring, Collective.ALLGATHER, options)
    with pytest.raises(NoSchedule, match="/values"):
        link_values(ring, Collective.ALL_TO_ALL)


def test_too_many_kinds_of_links_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("topoloom.schedules.optimum.link_values.MOST_KINDS", 1)
    line = Topology("abc", [("a", "b", 1), ("b", "a", 2), ("b", "c", 3), ("c", "b", 4)])
    with pytest.raises(TooLarge, match="2 kinds of links"):
        link_values(line, Collective.ALLGATHER)
