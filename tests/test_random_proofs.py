"""No weights prove more than the optimum, and weights that prove nothing are refused."""

import random
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from typing import Any

import pytest

from tests.cases import for_every
from tests.oracles import random_topology
from topoloom.schedules.errors import InvalidSchedule
from topoloom.schedules.trees.forestcoll import Optimum, optimum
from topoloom.schedules.verify.cuts import pattern_inverse_rate, weighted_inverse_rate
from topoloom.synth.topology.topology import NodeId, Topology

Sets = list[tuple[frozenset[NodeId], Fraction]]
Weights = dict[Any, Fraction]


def limited(rng: random.Random) -> Topology:
    """Return a random fabric with limits that links share."""
    made = random_topology(rng, balanced=rng.random() < 0.3)
    pairs = sorted({link[:2] for link in made.links})
    shared = [
        (rng.sample(pairs, rng.randint(1, min(4, len(pairs)))), Fraction(rng.randint(1, 12), 2))
        for _ in range(rng.randint(0, 2))
    ]
    return Topology(made.nodes, made.links, switches=made.switches, shared=shared)


def copying(rng: random.Random) -> Topology:
    """Return hosts to which one sends through one or two switches that copy."""
    hosts, switches = "abcd"[: rng.randint(3, 4)], "vw"[: rng.randint(1, 2)]
    while True:
        links = [(host, "a", rng.randint(2, 5)) for host in hosts[1:]]
        for switch in switches:
            links.append(("a", switch, rng.randint(1, 3)))
            links += [(switch, h, rng.randint(1, 3)) for h in hosts[1:] if rng.random() < 0.8]
        topology = Topology(hosts + switches, links, switches=switches, multicast=switches)
        with suppress(ValueError):
            topology.require_connected()
            return topology


def proof_of(best: Optimum) -> tuple[Sets, Weights, Weights]:
    """Return the sets, the prices and the weights of shared limits that prove an optimum."""
    if best.proof is None:
        return [(frozenset(best.bottleneck), Fraction(1))], {}, {}
    sets = [(cut.nodes, cut.weight) for cut in best.proof.cuts]
    return sets, dict(best.proof.copying), dict(best.proof.sharing)


def changed(weights: Weights, keys: list[Any], rng: random.Random) -> Weights:
    """Return weights of which one is another, up to twice as large as before."""
    if not keys:
        return weights
    key = rng.choice(keys)
    scale = max(weights.get(key, 0), Fraction(1, 4))
    return {**weights, key: scale * Fraction(rng.randint(0, 8), 4)}


def changed_sets(
    sets: Sets, receivers: set[NodeId], topology: Topology, rng: random.Random
) -> Sets:
    """Return sets of which one has another node more or less, or another weight."""
    at = rng.randrange(len(sets))
    nodes, weight = sets[at]
    nodes ^= {rng.choice(topology.nodes)} if rng.random() < 0.6 else frozenset()
    if nodes >= receivers:
        nodes -= {rng.choice(sorted(receivers))}
    return [*sets[:at], (nodes, weight * Fraction(rng.randint(0, 8), 4)), *sets[at + 1 :]]


def rate_unless_empty(prove: Callable[..., Fraction], *weights: object) -> Fraction:
    """Return what weights prove; nothing where they hold no data."""
    try:
        return prove(*weights)
    except InvalidSchedule as error:
        assert error.rule == "must hold data"
        return Fraction(0)


@for_every("seed", range(32))
def test_no_change_of_a_proof_proves_more_than_the_optimum(seed: int) -> None:
    rng = random.Random(seed)
    topology = limited(rng)
    ranks = dict.fromkeys(topology.compute_nodes, 1)
    best = optimum(topology)
    sets, prices, sharing = proof_of(best)
    assert weighted_inverse_rate(topology, sets, prices, ranks, sharing) == best.inverse_rate
    limits, reached = list(range(len(topology.shared))), Fraction(0)
    for _ in range(40):
        # Climb: a change stays unless it proves less.
        given = (
            changed_sets(sets, set(ranks), topology, rng) if rng.random() < 0.6 else sets,
            changed(prices, sorted(topology.switches), rng),
            changed(sharing, limits, rng),
        )
        found = rate_unless_empty(
            weighted_inverse_rate, topology, given[0], given[1], ranks, given[2]
        )
        assert found <= best.inverse_rate
        if found >= reached:
            reached, (sets, prices, sharing) = found, given


def test_no_change_of_a_proof_by_patterns_proves_more_than_the_optimum() -> None:
    proved = 0
    for seed in range(22):
        rng = random.Random(seed)
        topology = copying(rng)
        ranks = dict.fromkeys(topology.compute_nodes, 1)
        best = optimum(topology)
        if best.proof is None or not best.proof.patterns:
            continue
        proved += 1
        first: dict[frozenset[NodeId], tuple[Sets, Weights]] = {
            frozenset(one.copying): ([cut[::2] for cut in one.cuts], one.prices)
            for one in best.proof.pattern_cuts
        }
        assert pattern_inverse_rate(topology, first, ranks) == best.inverse_rate
        for _ in range(24):
            pattern = rng.choice(sorted(first, key=sorted))
            sets, prices = first[pattern]
            sets = changed_sets(sets, {*ranks, *pattern}, topology, rng)
            prices = changed(prices, sorted(topology.switches - pattern), rng)
            given = {**first, pattern: (sets, prices)}
            found = rate_unless_empty(pattern_inverse_rate, topology, given, ranks)
            assert found <= best.inverse_rate
    assert proved > 5


@pytest.mark.parametrize(
    ("sets", "prices", "sharing", "rule"),
    [
        ([("abw", -1)], {}, {}, "/proof/sets: must miss a rank each, with weights from 0"),
        ([("abcw", 1)], {}, {}, "/proof/sets: must miss a rank each, with weights from 0"),
        ([("w", 1)], {}, {}, "/proof/sets: must hold data"),
        ([("ab", 1)], {"w": -1}, {}, "/proof/prices: must be from 0, of nodes that only forward"),
        ([("ab", 1)], {"a": 1}, {}, "/proof/prices: must be from 0, of nodes that only forward"),
        ([("ab", 1)], {}, {0: -1}, "/proof/sharing: must be from 0, of limits of the topology"),
        ([("ab", 1)], {}, {1: 1}, "/proof/sharing: must be from 0, of limits of the topology"),
        ([("ab", 1)], {}, {-1: 1}, "/proof/sharing: must be from 0, of limits of the topology"),
    ],
)
def test_weights_that_prove_nothing_are_refused(
    sets: list[tuple[str, int]], prices: dict[str, int], sharing: dict[int, int], rule: str
) -> None:
    links = [(node, "w") for node in "abc"] + [("w", node) for node in "abc"]
    star = Topology("abcw", links, switches="w", shared=[([("a", "w"), ("b", "w")], 1)])
    with pytest.raises(InvalidSchedule) as caught:
        weighted_inverse_rate(
            star,
            [(set(nodes), Fraction(weight)) for nodes, weight in sets],
            {node: Fraction(price) for node, price in prices.items()},
            dict.fromkeys("abc", 1),
            {index: Fraction(weight) for index, weight in sharing.items()},
        )
    assert str(caught.value) == rule
