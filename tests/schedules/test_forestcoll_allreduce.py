"""The bound on allreduces, held against a program with every cut written down."""

import random
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from tests.cases import for_every
from tests.oracles import data_cuts, random_topology, torus
from topoloom.schedules.errors import NoSchedule, TooLarge
from topoloom.schedules.trees import limits
from topoloom.schedules.trees.flow.network import network_of
from topoloom.schedules.trees.forestcoll import optimum
from topoloom.schedules.trees.linear_program.certificate import simple_proof
from topoloom.schedules.trees.linear_program.flow_program import FlowProgram
from topoloom.schedules.trees.rates.allreduce_rate import AllreduceBound, _question, allreduce_bound
from topoloom.synth.errors import InvalidTopology, Unreachable
from topoloom.synth.fabrics import fabric
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.topology.degrade import degraded
from topoloom.synth.topology.topology import NodeId, Topology


def passes(topology: Topology, members: tuple[NodeId, ...] | None = None) -> Fraction:
    """Return the rate of a reduce-scatter followed by an allgather."""
    both = [optimum(topology, participants=members, inward=inward) for inward in (True, False)]
    return both[0].data / sum((one.inverse_rate for one in both), Fraction(0))


def slow_rate(topology: Topology, members: tuple[NodeId, ...]) -> float:
    """Solve the linear program with all cuts and all columns, in floats."""
    links, ranks = topology.links, dict.fromkeys(members, 1)
    count, arcs = len(members), len(links)
    rows, limits = [], []

    def add(shares, spreading, adding, limit=0.0):
        rows.append([*shares, *spreading, *adding])
        limits.append(limit)

    idle = [0.0] * arcs
    for inside, _, _ in data_cuts(topology, ranks):
        held = [float(rank in inside) for rank in members]
        add(held, [-float(k.source in inside and k.target not in inside) for k in links], idle)
        add(held, idle, [-float(k.target in inside and k.source not in inside) for k in links])
    for node in set(topology.nodes) - set(members):
        out = [float(k.source == node) - float(k.target == node) for k in links]
        add([0.0] * count, out, idle)
        add([0.0] * count, idle, [-one for one in out])
    for index, link in enumerate(links):
        one = [float(at == index) for at in range(arcs)]
        add([0.0] * count, one, one, float(link.capacity))
    goal = np.concatenate([-np.ones(count), np.zeros(2 * arcs)])
    return -linprog(goal, A_ub=rows, b_ub=limits, method="highs").fun


def proven(bound: AllreduceBound, topology: Topology, members: tuple[NodeId, ...]) -> Fraction:
    """Return what the certificate proves, derived anew from its sets and weights."""
    for cut in bound.cuts:
        assert cut.weight > 0
        assert not cut.nodes.issuperset(members)
    for rank in members:
        assert sum(cut.weight for cut in bound.cuts if rank in cut.nodes) >= 1
    for weights in (bound.copying, bound.adding):
        assert not weights.keys() & set(members)
        assert all(weight > 0 for weight in weights.values())
    total = Fraction(0)
    for source, target, capacity in topology.links:
        spread = bound.copying.get(target, 0) - bound.copying.get(source, 0)
        added = bound.adding.get(source, 0) - bound.adding.get(target, 0)
        for cut in bound.cuts:
            if not cut.inward and source in cut.nodes and target not in cut.nodes:
                spread += cut.weight
            if cut.inward and target in cut.nodes and source not in cut.nodes:
                added += cut.weight
        total += capacity * max(Fraction(0), spread, added)
    return total


@pytest.mark.slow
@for_every("seed", range(60))
def test_the_bound_is_the_optimum_of_the_whole_program_and_is_proven(seed: int) -> None:
    rng = random.Random(seed)
    topology = random_topology(rng)
    nodes = topology.compute_nodes
    chosen = set(rng.sample(nodes, rng.randint(2, len(nodes))))
    members = tuple(node for node in nodes if node in chosen)
    bound = allreduce_bound(topology, members)
    assert proven(bound, topology, members) == bound.rate
    assert bound.feasible == bound.rate
    assert float(bound.rate) == pytest.approx(slow_rate(topology, members), rel=1e-7)


@pytest.mark.slow
@for_every("seed", range(60))
def test_no_two_passes_that_trees_can_make_beat_it(seed: int) -> None:
    topology = random_topology(random.Random(seed), balanced=True)
    assert allreduce_bound(topology).rate >= passes(topology)


@pytest.mark.parametrize(
    "topology",
    [
        *map(fabric, ["dgx-1v", "mi300x", "mi250-1", "mi250-2", "dgx-a100-2", "dgx-h100-2"]),
        torus(4, 4),
        torus(3, 5),
        *(build(parse(text)) for text in ["Kautz(2, 2)", "UniRing(6)", "Hypercube(4)"]),
    ],
    ids=str,
)
def test_on_real_fabrics_and_regular_graphs_one_after_the_other_is_best(topology) -> None:
    bound = allreduce_bound(topology)
    assert bound.rate == bound.feasible == passes(topology)


def test_where_nodes_are_unequal_both_at_once_is_faster() -> None:
    star = [(leaf, "hub") for leaf in "abc"] + [("hub", leaf) for leaf in "abc"]
    topology = Topology(["hub", *"abc"], star)
    assert (allreduce_bound(topology).rate, passes(topology)) == (1, Fraction(2, 3))
    kautz = build(parse("GeneralizedKautz(4, 64)"))
    assert (allreduce_bound(kautz).rate, passes(kautz)) == (2, Fraction(32, 21))


def test_fractions_of_a_unit_are_exact() -> None:
    links = [(s, t, Fraction(7 + s, 3 + t)) for s in range(4) for t in range(4) if s != t]
    topology = Topology(range(4), links)
    bound = allreduce_bound(topology)
    assert proven(bound, topology, topology.compute_nodes) == bound.rate == bound.feasible


def irregular(nodes: int, links: int) -> Topology:
    rng = random.Random(1)
    order = rng.sample(range(nodes), nodes)
    pairs = {(order[at - 1], order[at]) for at in range(nodes)}
    while len(pairs) < links:
        pairs.add(tuple(rng.sample(range(nodes), 2)))
    return Topology(range(nodes), [(*pair, rng.randint(1, 20)) for pair in sorted(pairs)])


def test_an_irregular_network_is_solved_exactly() -> None:
    topology = irregular(16, 60)
    bound = allreduce_bound(topology)
    assert proven(bound, topology, topology.compute_nodes) == bound.rate == bound.feasible
    assert passes(topology) <= bound.feasible


def test_a_thousand_alike_ranks_are_as_easy_as_a_few() -> None:
    topology = build(parse("Hypercube(7)"))
    bound = allreduce_bound(topology)
    assert bound.rate == bound.feasible == passes(topology)
    boxes = degraded(fabric("dgx-a100-16"), without_links=[("3.gpu6", "plane0")])
    found = allreduce_bound(boxes)
    assert found.rate == found.feasible > found.sequential


def test_what_is_too_large_or_makes_no_sense_is_refused() -> None:
    with pytest.raises(TooLarge, match="more than 40000 columns"):
        allreduce_bound(irregular(80, 400))
    with pytest.raises(Unreachable):
        allreduce_bound(Topology("abc", [("a", "b"), ("b", "c"), ("c", "b")]))
    with pytest.raises(NoSchedule):
        allreduce_bound(torus(3), [0, 7])
    with pytest.raises(InvalidTopology):
        allreduce_bound(Topology([0], []))


@pytest.mark.slow
def test_both_passes_at_once_are_exact_on_irregular_nodes_whose_program_is_large() -> None:
    bound = allreduce_bound(build(parse("GeneralizedKautz(4, 61)")))
    assert bound.sequential == Fraction(61, 40)
    assert bound.rate == bound.feasible == 2


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [0, limits.MAX_CUT_ROUNDS])
def test_equal_shares_that_no_passes_can_have_are_told_apart(
    rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without rounds of cuts HiGHS solves the flows: the interior-point method answers "solve
    # error", and the simplex method that there is no solution.
    monkeypatch.setattr(limits, "MAX_CUT_ROUNDS", rounds)
    topology = degraded(fabric("tpu-v5e-8x8"), without_links=[("0.0", "0.1")])
    program = FlowProgram(_question(network_of(topology), (), free=False))
    assert program.columns > limits.MAX_SIMPLEX_COLUMNS
    # The mean capacity into a rank alone would allow this rate, but one link joins 0.0.
    assert program.least(Fraction(111, 63)) is None
    assert simple_proof(program, topology.nodes).rate == 1
    assert program.least(Fraction(1)) is not None
