"""The best rate of an allreduce whose two passes share the links, with a proof.

A *rooted* allreduce reduces every piece of data at some rank, its root, over an in-tree, and
broadcasts it over an out-tree.  Reduce-scatter followed by allgather is a special case: every
rank is the root of an equal part, and all links serve one pass at a time.  Other rooted allreduces
have more data at well-connected roots, and run both passes at once, each on a share of every link.
Their best rate is a linear program (`flow_program`; ForestColl, appendix on the allreduce linear
program).  Its dual becomes a `certificate`, its primal a division of the links (`link_division`),
both exact.

Switches that copy and reduce may send more than they receive.  The division seeks trees that reach
each such switch as if it were a rank without data, and trees that only pass it.  Where neither
reaches the bound, the result states both the bound and the reached rate.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from topoloom.schedules.errors import TookTooLong, TooLarge
from topoloom.schedules.trees import limits
from topoloom.schedules.trees.flow.demand import demand_of, require_paths
from topoloom.schedules.trees.flow.network import Network, copying_nodes, network_of
from topoloom.schedules.trees.linear_program.certificate import Cut, Proof, proof_of, simple_proof
from topoloom.schedules.trees.linear_program.flow_program import FlowProgram
from topoloom.schedules.trees.linear_program.link_division import Division, exact_division
from topoloom.schedules.trees.linear_program.problem import DivisionProblem
from topoloom.schedules.trees.rates.balanced_capacities import usable_network
from topoloom.synth.topology.topology import NodeId, Topology


@dataclass(frozen=True, slots=True)
class AllreduceBound:
    """An upper bound ``rate`` for rooted allreduces in bytes per unit of time, proved by ``cuts``.

    ``sequential`` is the rate of reduce-scatter followed by allgather with equal shards.
    ``feasible`` is the best known rate: the sequential one, or that of the ``division`` of the
    links between concurrent passes, if one is faster.
    """

    rate: Fraction
    sequential: Fraction
    proof: Proof
    unit: Fraction
    division: Division | None

    @property
    def cuts(self) -> tuple[Cut, ...]:
        """The node sets of the proof, with their weights; at least as many as ranks."""
        return self.proof.cuts

    @property
    def copying(self) -> dict[NodeId, Fraction]:
        """The weights p_w of forwarding nodes in the proof."""
        return self.proof.copying

    @property
    def adding(self) -> dict[NodeId, Fraction]:
        """The weights q_w of forwarding nodes in the proof."""
        return self.proof.adding

    @property
    def feasible(self) -> Fraction:
        """The best known rate; the optimum where it equals ``rate``."""
        return self.sequential if self.division is None else self.division.rate * self.unit


def allreduce_bound(
    topology: Topology, participants: Iterable[NodeId] | None = None
) -> AllreduceBound:
    """Return the best rate of an allreduce that reduces each piece at one rank.

    Args:
        participants: As for `optimum`.

    Returns:
        In the topology's unit of bandwidth.

    Raises:
        InvalidTopology, Unreachable, NoSchedule: As for `optimum`; the ranks must be strongly
            connected.
        TooLarge, TookTooLong: The linear program exceeds `limits.MAX_COLUMNS` or
            `limits.MAX_SECONDS`.

    The hub of a star can reduce all data, so that the leaves need not:

    >>> star = [(leaf, "hub") for leaf in "abc"] + [("hub", leaf) for leaf in "abc"]
    >>> bound = allreduce_bound(Topology(["hub", "a", "b", "c"], star))
    >>> bound.rate, bound.feasible, bound.sequential
    (Fraction(1, 1), Fraction(1, 1), Fraction(2, 3))
    """
    demand = demand_of(topology, participants=participants)
    for inward in (False, True):
        require_paths(topology, demand, inward=inward)
    network = network_of(topology, demand)
    return bound_within(network, copying_nodes(topology), topology.nodes)


def bound_within(
    network: Network, copying: tuple[int, ...], names: tuple[NodeId, ...]
) -> AllreduceBound:
    """Return `allreduce_bound` of a network in which all ranks reach each other.

    ``copying`` are the nodes that copy and reduce, ``names`` those of all nodes.
    """
    program = FlowProgram(_question(network, copying, free=True))
    sequential = sequential_rate(network, copying) / network.unit
    # On regular graphs the ranks' own links often suffice as proof: sequential passes, or equal
    # shares, reach that rate.  The linear program, which takes ten seconds for 61 nodes without
    # symmetry, would give the same result.
    proof = simple_proof(program, names)
    division = None
    if sequential < proof.rate and program.columns > limits.MAX_SIMPLEX_COLUMNS and not copying:
        division = _divided(network, copying, proof.rate, sequential, shares=(False,))
    if sequential < proof.rate and (division is None or division.rate < proof.rate):
        _, potentials, prices = program.best()
        proof = proof_of(program, potentials, prices, names)
        division = None
        if sequential < proof.rate:
            division = _divided(network, copying, proof.rate, sequential)
    return AllreduceBound(
        proof.rate * network.unit,
        sequential * network.unit,
        proof,
        network.unit,
        division,
    )


def _question(
    network: Network, copying: tuple[int, ...], *, free: bool, receiving: tuple[int, ...] = ()
) -> DivisionProblem:
    ranks = set(network.terminals.tolist())
    passing = ranks | set(copying)
    return DivisionProblem(
        network,
        receivers=tuple(sorted(ranks | set(receiving))),
        forwarding=tuple(node for node in range(network.node_count) if node not in passing),
        passes=2,
        free=free,
    )


def sequential_rate(network: Network, copying: tuple[int, ...] = ()) -> Fraction:
    """Return the rate of passes in sequence, with equal shares, in the topology's unit."""
    turned = replace(network, tail=network.head, head=network.tail)
    rates = (usable_network(one, copying).rate for one in (network, turned))
    return 1 / sum((1 / rate for rate in rates), Fraction(0))


def _divided(
    network: Network,
    copying: tuple[int, ...],
    rate: Fraction,
    least: Fraction,
    shares: tuple[bool, ...] = (False, True),
) -> Division | None:
    """Return the best division found that is faster than ``least``.

    ``shares`` states for every attempt whether the shares of the roots are variables.  Equal
    shares are tried first: with free shares, solvers put all data on one root, and the trees of
    both passes become chains.
    """
    best: Division | None = None
    for receiving in (copying, ()) if copying else ((),):
        for free in shares:
            # A switch that does not receive all data must not copy.
            able = receiving
            question = _question(network, able, free=free, receiving=receiving)
            try:
                program = FlowProgram(question)
                target, others = rate, ()
                if copying:
                    solution, potentials, prices = program.best()
                    names = tuple(range(network.node_count))
                    target = min(rate, proof_of(program, potentials, prices, names).rate)
                    others = (solution,)
                if not target:
                    # Such a switch is unreachable, or reaches no rank.
                    continue
                found = exact_division(program, target, *others)
            except (TooLarge, TookTooLong):
                continue
            if found is not None and found.rate > (best.rate if best else least):
                best = found
            if best is not None and best.rate == rate:
                return best
    return best
