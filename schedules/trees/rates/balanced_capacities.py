"""Capacities that forwarding nodes can use, and that satisfy shared limits.

The cut bound of an allgather counts links, and ignores that a switch cannot copy.  Where every
forwarding node sends at most as much as it receives, trees still reach the bound (Bang-Jensen,
Frank and Jackson).  Elsewhere, as with a link that is lost or slow in one direction, the best
rate is a linear program over capacities b <= c with that property (`flow_program`, with one
pass).  Trees packed in b are optimal in c; the dual is the proof.  Limits shared by several
links are constraints of the same program.

A switch that copies may send more than it receives.  If it receives all data, it is a rank without
data.  Trees that also span the switch are packed, and then pass through it.  Where that misses the
bound, some trees are copied at some switches and others at others (`copy_patterns`).
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd, lcm

import numpy as np

from topoloom.schedules.errors import NoSchedule, TookTooLong
from topoloom.schedules.trees.flow.network import Network, guard
from topoloom.schedules.trees.flow.optimality import Rate, best_rate, tree_capacities
from topoloom.schedules.trees.linear_program.certificate import Proof, pattern_proof, proof_of
from topoloom.schedules.trees.linear_program.copy_patterns import pattern_division
from topoloom.schedules.trees.linear_program.flow_program import FlowProgram
from topoloom.schedules.trees.linear_program.link_division import exact_division, reaches
from topoloom.schedules.trees.linear_program.pattern_parts import PatternPart
from topoloom.schedules.trees.linear_program.problem import DivisionProblem
from topoloom.schedules.trees.switch_removal.edge_splitting import Splitter
from topoloom.schedules.trees.symmetry.neighbor_order import canonical_orders, renumbered


@dataclass(frozen=True, eq=False, slots=True)
class UsableNetwork:
    """A network with tight cuts, within the given network.

    ``proof`` is the proof of optimality where no cut of the given network is.  Trees also span the
    switches of ``copying``, which are terminals of the network.  ``bound`` is an upper bound on the
    rate where the optimum is unknown; the proof, or the best cut, then refers to the bound.
    ``parts`` are networks whose trees together reach the best rate, where those of ``network``
    alone do not.
    """

    network: Network
    proof: Proof | None = None
    copying: tuple[int, ...] = ()
    bound: Fraction | None = None
    parts: tuple[PatternPart, ...] = ()

    @property
    def rate(self) -> Fraction:
        """The best rate of all data, in the topology's unit."""
        if self.parts:
            assert self.proof is not None
            return self.proof.rate * self.proof.unit
        return _rate(self.network)


def usable_network(network: Network, copying: tuple[int, ...] = ()) -> UsableNetwork:
    """Return a network within this one whose trees reach the best rate.

    Args:
        copying: Nodes that forward and copy.

    Raises:
        NoSchedule: No capacities are found that carry the proved rate.
        TooLarge, TookTooLong: The linear program exceeds `limits.MAX_COLUMNS` or
            `limits.MAX_SECONDS`.

    The result is the network itself where forwarding nodes send no more than they receive, or
    where no cut needs their excess outflow, which packing then removes.

    Two links leave the switch and one enters.  Cuts allow a rate of 1 for each of four ranks:

    >>> from topoloom.schedules.trees.flow.network import network_of
    >>> from topoloom.synth.topology.topology import Topology
    >>> links = [(node, "w", 1) for node in "abcd"] + [("w", node, 2) for node in "abcd"]
    >>> star = network_of(Topology("abcdw", links, switches="w"))
    >>> best_rate(star).inverse, best_rate(usable_network(star).network).inverse
    (Fraction(3, 2), Fraction(3, 1))
    """
    lacking = excess(network)
    if not network.shared and not lacking:
        return UsableNetwork(network)
    cut = best_rate(network)
    if not network.shared and can_be_trimmed(network, cut):
        return UsableNetwork(network)
    plain = _divided(network, cut)
    helping = [tuple(sorted({*lacking} & {*copying})), copying]
    if not helping[0]:
        return plain
    bound, proof = _bound(network, copying, cut)
    best = plain
    for switches in dict.fromkeys(helping):
        within = _receiving(network, switches)
        if within is not None and within.rate > best.rate:
            best = replace(within, copying=switches)
    proof = proof if bound < network.data / cut.inverse else None
    if best.rate == bound * network.unit:
        return replace(best, proof=proof)
    return _by_patterns(network, copying, best) or replace(best, proof=proof, bound=bound)


def _by_patterns(
    network: Network, copying: tuple[int, ...], best: UsableNetwork
) -> UsableNetwork | None:
    """Return the optimum over all patterns of copies, or None if it is not found.

    ``best`` is the best network of one pattern.
    """
    try:
        found = None if network.shared else pattern_division(network, copying)
    except TookTooLong:
        return None
    if found is None:
        return None
    proof = pattern_proof(network, found)
    reached = best.rate == found.rate * network.unit
    return replace(best, proof=proof, parts=() if reached else found.parts)


def _rate(network: Network) -> Fraction:
    """Return the best total rate of all data, in the topology's unit."""
    return network.data / best_rate(network).inverse * network.unit


def _receiving(network: Network, switches: tuple[int, ...]) -> UsableNetwork | None:
    """Return the network with these switches as ranks without data; None at rate 0."""
    terminals = np.array(sorted({*network.terminals.tolist(), *switches}), np.int64)
    spanned = replace(network, terminals=terminals)
    if not reaches(spanned):
        return None
    try:
        return usable_network(spanned)
    except NoSchedule:
        return None


def _bound(network: Network, copying: tuple[int, ...], cut: Rate) -> tuple[Fraction, Proof | None]:
    """Return an upper bound on the rate, with its proof where no cut proves it."""
    if not network.shared and not {*excess(network)} - {*copying}:
        return network.data / cut.inverse, None
    program = _program(network, copying)
    _, potentials, prices = program.best()
    proof = proof_of(program, potentials, prices, tuple(range(network.node_count)))
    return min(proof.rate, network.data / cut.inverse), proof


def _program(network: Network, copying: tuple[int, ...] = ()) -> FlowProgram:
    passing = {*network.terminals.tolist(), *copying}
    return FlowProgram(
        DivisionProblem(
            network,
            receivers=tuple(sorted(network.terminals.tolist())),
            forwarding=tuple(node for node in range(network.node_count) if node not in passing),
            passes=1,
            free=False,
        )
    )


def _divided(network: Network, cut: Rate) -> UsableNetwork:
    """Return the capacities of the linear program; ``cut`` is the best rate by cuts."""
    program = _program(network)
    solution, potentials, prices = program.best()
    proof = proof_of(program, potentials, prices, tuple(range(network.node_count)))
    found = exact_division(program, proof.rate, solution)
    if found is None or found.rate < proof.rate:
        reached = "none" if found is None else str(found.rate * network.unit)
        raise NoSchedule(
            "/links",
            "switches send more than they receive, or links share a limit, and no exact"
            " capacities were found:"
            f" {reached} of at most {proof.rate * network.unit} is reached",
        )
    within = _within(network, found.capacities[0])
    return UsableNetwork(within, proof if cut.inverse < network.data / proof.rate else None)


def excess(network: Network) -> list[int]:
    """Return the forwarding nodes that send more than they receive."""
    balance = np.zeros(network.node_count, np.int64)
    np.add.at(balance, network.head, network.capacity)
    np.subtract.at(balance, network.tail, network.capacity)
    balance[network.terminals] = 0
    return np.flatnonzero(balance < 0).tolist()


def can_be_trimmed(network: Network, cut: Rate) -> bool:
    """Return whether no cut at the best rate needs the excess outflow of forwarding nodes.

    Nodes are checked in the order of packing.
    """
    network = renumbered(network, next(canonical_orders(network)))
    room = tree_capacities(network, cut.scale, cut.trees_per_root)
    pairs = zip(network.tail.tolist(), network.head.tolist(), strict=True)
    splitter = Splitter(
        dict(zip(pairs, room.tolist(), strict=True)),
        network.terminals,
        cut.trees_per_root * network.sizes,
        cut.trees_per_root,
        range(network.node_count),
    )
    return splitter.trim() is None


def _within(network: Network, capacities: tuple[Fraction, ...]) -> Network:
    scale = lcm(*(capacity.denominator for capacity in capacities))
    whole = np.array([int(capacity * scale) for capacity in capacities], dtype=object)
    common = gcd(*whole.tolist())
    whole //= common
    guard(int(whole.sum()))
    kept = np.flatnonzero(whole)
    return replace(
        network,
        tail=network.tail[kept],
        head=network.head[kept],
        capacity=whole[kept].astype(np.int64),
        unit=network.unit * common / scale,
        shared=(),
    )
