"""Certificate that no division of the links is faster: node sets and weights.

**Proof.**  Take any solver output: weights y_S and z_S from 0 on node sets that miss a receiver,
where the weights of the sets that contain v sum to Y(v), and weights p_u and q_u from 0 on the
forwarding nodes.  Let x_v be the rate of the data with root v, and b_e and a_e the shares of link e
of capacity c_e for the broadcast pass and the reduce pass.  Then

    sum Y(v) x_v = sum y_S x(S) + z_S x(S) <= sum y_S b(out of S) + z_S a(into S)
                <= sum Y_e b_e + Z_e a_e <= sum c_e max(0, Y_e, Z_e)

over links e from s to t, where Y_e = p_t - p_s + the y of all sets that e leaves, and
Z_e = q_s - q_t + the z of all sets that e enters.  The total rate, the sum of x_v, is at most this
value divided by the least Y(v) for free shares, or by the mean of Y(v) by share for fixed shares.

Where several links have a joint limit c_g, with a weight r_g from 0 each, the last term is at most

    sum c_e max(0, Y_e - R_e, Z_e - R_e) + sum c_g r_g,

with R_e the sum of r_g over the limits that contain e: the links of g together carry at most c_g.

The dual of a flow to w is a *potential* from 0 on the nodes, 0 at w.  It represents the sets
of nodes above each of its values, weighted by the differences: a link leaves sets of total weight
equal to the decrease of the potential along the link.  The potentials of equivalent receivers are
images of each other.  A sum over all of them is evaluated for one receiver and averaged over
orbits of links.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import lcm
from typing import NamedTuple

import numpy as np

from topoloom.schedules.trees.flow.network import Network
from topoloom.schedules.trees.flow.optimality import best_rate
from topoloom.schedules.trees.linear_program.copy_patterns import PatternDivision, PatternWeights
from topoloom.schedules.trees.linear_program.flow_program import FlowProgram
from topoloom.schedules.trees.linear_program.orbit_layout import Ints
from topoloom.schedules.trees.linear_program.problem import Potential, Prices
from topoloom.synth.topology.topology import NodeId


class Cut(NamedTuple):
    """A node set of the proof; the capacity out of it counts, or with ``inward`` into it."""

    nodes: frozenset[NodeId]
    inward: bool
    weight: Fraction


class PatternCuts(NamedTuple):
    """The sets and prices of the trees that are copied at the switches of ``copying`` alone."""

    copying: tuple[NodeId, ...]
    cuts: tuple[Cut, ...]
    prices: dict[NodeId, Fraction]


@dataclass(frozen=True, eq=False)
class Proof:
    """Upper bound ``rate`` on the total rate of any division of the links, in the network's unit.

    ``potentials`` are scaled such that Y(v) is at least 1 for every root, or on average by share.
    ``copying`` are the weights p_u, ``adding`` the q_u, of forwarding nodes; ``sharing`` the r_g,
    by the index of the shared limit.  ``weights`` are the max(0, ...) of every arc and ``fixed``
    the sum of c_g r_g.  For any capacities c_e, the rate is at most the sum of c_e times the weight
    of e, plus ``fixed``.

    ``patterns`` are the weights by pattern of copies, where these alone are the proof
    (`copy_patterns`), and ``unit`` is the network's unit.
    """

    rate: Fraction
    potentials: tuple[Potential, ...]
    copying: dict[NodeId, Fraction]
    adding: dict[NodeId, Fraction]
    sharing: dict[int, Fraction]
    names: tuple[NodeId, ...]
    symmetry: tuple[Ints, ...]
    weights: tuple[Fraction, ...]
    fixed: Fraction
    patterns: tuple[PatternWeights, ...] = ()
    unit: Fraction = Fraction(1)

    @property
    def pattern_cuts(self) -> tuple[PatternCuts, ...]:
        """The sets and prices of every pattern of copies."""
        return tuple(
            PatternCuts(
                tuple(self.names[node] for node in one.copying),
                tuple(
                    Cut(frozenset(self.names[node] for node in inside), False, weight)
                    for values in one.potentials
                    for inside, weight in _level_sets(values)
                ),
                {self.names[node]: price for node, price in one.prices.items() if price},
            )
            for one in self.patterns
        )

    def named(self, names: tuple[NodeId, ...]) -> "Proof":
        """Return the proof with other names of the nodes, in the same order."""
        new = dict(zip(self.names, names, strict=True))
        copying, adding = (
            {new[node]: price for node, price in half.items()}
            for half in (self.copying, self.adding)
        )
        return replace(self, names=names, copying=copying, adding=adding)

    @cached_property
    def cuts(self) -> tuple[Cut, ...]:
        """All sets, including those of equivalent receivers."""
        found: dict[tuple[frozenset[int], bool], Fraction] = defaultdict(Fraction)
        for potential in self.potentials:
            values = potential.values
            for inside, weight in _level_sets(values):
                for image in _images(potential.receiver, len(values), self.symmetry):
                    key = frozenset(image[inside].tolist()), potential.inward
                    found[key] += weight
        return tuple(
            Cut(frozenset(self.names[node] for node in nodes), inward, weight)
            for (nodes, inward), weight in found.items()
        )


def _level_sets(values: Sequence[Fraction]) -> Iterator[tuple[list[int], Fraction]]:
    """Yield the sets of nodes above each value of a potential, with their weights."""
    for low, high in pairwise(sorted({Fraction(0), *values})):
        yield [node for node, value in enumerate(values) if value >= high], high - low


def pattern_proof(network: Network, division: PatternDivision) -> Proof:
    """Return the proof that no patterns of copies are faster than a division."""
    nodes = tuple(range(network.node_count))
    return Proof(
        division.rate,
        (),
        {},
        {},
        {},
        nodes,
        (),
        division.weights,
        Fraction(0),
        division.proof,
        network.unit,
    )


def proof_of(
    program: FlowProgram,
    potentials: Iterable[Potential],
    prices: Prices,
    names: tuple[NodeId, ...],
) -> Proof:
    """Return the proof by the dual of a program's best solution, independent of solver errors."""
    potentials = list(potentials)
    held = _held(program, potentials)
    if not held:
        # The solver's dual proves no bound.
        return simple_proof(program, names)
    return _proof(program, potentials, prices, held, names)


def simple_proof(program: FlowProgram, names: tuple[NodeId, ...]) -> Proof:
    """Return the better proof of two without a solver: sets that miss one receiver, or one cut."""
    tried = [_simple(program)]
    cut = _least_cut(program) if program.question.passes == 2 else None
    proofs = []
    for potentials in tried if cut is None else (*tried, cut):
        held = _held(program, potentials)
        proofs.append(_proof(program, potentials, Prices({}, {}, {}), held, names))
    return min(proofs, key=lambda proof: proof.rate)


def _least_cut(program: FlowProgram) -> list[Potential] | None:
    """Return a least cut between ranks as potentials of both passes, if symmetry preserves it.

    The data with a root inside leave the cut in the broadcast pass, and what the nodes inside add
    to the data with a root outside leaves it in the reduce pass.
    """
    network = program.question.network
    first = int(network.terminals[0])
    alone = replace(network, sizes=np.bincount([first], minlength=network.node_count))
    turned = replace(alone, tail=network.head, head=network.tail)
    there, back = best_rate(alone), best_rate(turned)
    inside = there.inside if there.inverse >= back.inverse else ~back.inside
    if any((inside[image] != inside).any() for image in program.symmetry):
        return None
    found = []
    for inward, side in ((False, inside), (True, ~inside)):
        receiver = next(rank for rank in network.terminals.tolist() if not side[rank])
        count = int((program.nodes == program.nodes[receiver]).sum())
        values = tuple(Fraction(int(node), count) for node in side)
        found.append(Potential(receiver, count, inward, values))
    return found


def _proof(
    program: FlowProgram,
    potentials: list[Potential],
    prices: Prices,
    held: Fraction,
    names: tuple[NodeId, ...],
) -> Proof:
    """Return the proof by potentials for which Y(v) of every root is ``held``."""
    network = program.question.network
    weights = [weight / held for weight in _weights(program, potentials, prices)]
    fixed = sum(
        (price * network.shared[index].capacity for index, price in prices.sharing.items()),
        Fraction(0),
    )
    fixed /= held
    carried = zip(network.capacity.tolist(), weights, strict=True)
    total = sum((capacity * weight for capacity, weight in carried), fixed)
    scaled = tuple(
        Potential(one.receiver, one.count, one.inward, tuple(v / held for v in one.values))
        for one in potentials
    )
    copying, adding = (
        {names[node]: price / held for node, price in half.items()} for half in prices[:2]
    )
    sharing = {index: price / held for index, price in prices.sharing.items()}
    symmetry = tuple(program.symmetry)
    return Proof(total, scaled, copying, adding, sharing, names, symmetry, tuple(weights), fixed)


def _held(program: FlowProgram, potentials: list[Potential]) -> Fraction:
    """Return the least Y(v) of a rank, or its mean by share."""
    network = program.question.network
    sums: dict[int, Fraction] = defaultdict(Fraction)
    counts = np.bincount(program.nodes).tolist()
    orbit = program.nodes.tolist()
    for potential in potentials:
        values, scale = _whole(potential.values)
        totals: dict[int, int] = defaultdict(int)
        for kind, value in zip(orbit, values, strict=True):
            totals[kind] += value
        for kind, total in totals.items():
            sums[kind] += Fraction(total * potential.count, scale * counts[kind])
    ranks = network.terminals.tolist()
    if program.question.free:
        return min(sums[orbit[rank]] for rank in ranks)
    whole = sum((sums[orbit[rank]] * int(network.sizes[rank]) for rank in ranks), Fraction(0))
    return whole / network.data


def _weights(program: FlowProgram, potentials: list[Potential], prices: Prices) -> list[Fraction]:
    """Return max(0, Y_e - R_e, Z_e - R_e) of every arc; equivalent arcs have equal values."""
    network = program.question.network
    falls: tuple[dict[int, Fraction], ...] = (defaultdict(Fraction), defaultdict(Fraction))
    ends = list(zip(network.tail.tolist(), network.head.tolist(), strict=True))
    orbit = program.arcs.tolist()
    for potential in potentials:
        values, scale = _whole(potential.values)
        drops: dict[int, int] = defaultdict(int)
        for kind, (tail, head) in zip(orbit, ends, strict=True):
            drop = values[head] - values[tail] if potential.inward else values[tail] - values[head]
            if drop > 0:
                drops[kind] += drop
        for kind, drop in drops.items():
            falls[potential.inward][kind] += Fraction(drop * potential.count, scale)
    copying, adding, sharing = prices
    none = Fraction(0)
    limited: dict[int, Fraction] = defaultdict(Fraction)
    for index, price in sharing.items():
        for arc in network.shared[index].arcs:
            limited[arc] += price
    counts = np.bincount(program.arcs).tolist()
    numbers, first = np.unique(program.arcs, return_index=True)
    found: dict[int, Fraction] = {}
    for kind, arc in zip(numbers.tolist(), first.tolist(), strict=True):
        tail, head = ends[arc]
        spread = falls[0][kind] / counts[kind] + copying.get(head, none) - copying.get(tail, none)
        added = falls[1][kind] / counts[kind] + adding.get(tail, none) - adding.get(head, none)
        if program.question.passes == 1:
            added = spread
        found[kind] = max(none, max(spread, added) - limited[arc])
    return [found[kind] for kind in orbit]


def _whole(values: Sequence[Fraction]) -> tuple[list[int], int]:
    """Return the numerators of fractions over a common denominator, and the denominator."""
    scale = lcm(*(value.denominator for value in values))
    return [value.numerator * (scale // value.denominator) for value in values], scale


def _simple(program: FlowProgram) -> list[Potential]:
    """Return the sets that miss one rank each, as potentials, for each pass."""
    network = program.question.network
    counts, first = np.unique(program.nodes[network.terminals], return_index=True)
    found = []
    for kind, place in zip(counts.tolist(), first.tolist(), strict=True):
        rank = int(network.terminals[place])
        values = tuple(Fraction(node != rank) for node in range(network.node_count))
        alike = int((program.nodes == kind).sum())
        found += [
            Potential(rank, alike, bool(inward), values)
            for inward in range(program.question.passes)
        ]
    return found


def _images(receiver: int, nodes: int, symmetry: Iterable[Ints]) -> list[Ints]:
    """Return one automorphism for each node of the orbit of ``receiver``."""
    found = {receiver: np.arange(nodes)}
    queue = [receiver]
    for node in queue:
        for generator in symmetry:
            other = int(generator[node])
            if other not in found:
                found[other] = generator[found[node]]
                queue.append(other)
    return list(found.values())
