"""How fast an allreduce could be if its two passes shared the links, with a proof.

A *rooted* allreduce sums up every piece of data at some rank, its root, over an in-tree, and
spreads it from there over an out-tree.  Reduce-scatter and allgather, one after the other, is
one such way: every rank is the root of an equal part, and all links serve one pass at a time.
Others may have more data at roots that are well connected, and run both passes at once, each
on a share of every link.  What they can reach is a linear program (ForestColl, appendix on the
allreduce linear program): x_v is the rate of the data with root v, b_e and a_e what link e of
capacity c_e gives to spreading and to adding up.

    maximise  sum of x_v
    such that a_e + b_e <= c_e                     for every link,
              x(S) <= b(links out of S)            for every node set S that misses a rank,
              x(S) <= a(links into S)              for every such S,
              b(links out of w) <= b(links into w) for every node w that only forwards,
              a(links into w) <= a(links out of w) for every such w: it neither copies nor adds.

Multicast switches do both, and are left out of the last two lines.

The sets are too many to write down; those that a present solution breaks are found by
max-flow and added, as cutting planes.

**Proof.**  Let the solver say what it will: weights y_S and z_S from 0 on such sets, of which
those with v in S add up to 1 at least for every rank v, and weights p_w and q_w from 0 on the
forwarding nodes, prove that no rooted allreduce is faster than the sum over links e from s to t
of c_e * max(0, Y_e, Z_e).  Here Y_e = p_t - p_s + the y of all sets that e leaves, and
Z_e = q_s - q_t + the z of all sets that it enters:

    sum x_v <= sum (y_S + z_S) x(S) <= sum y_S b(out S) + z_S a(in S)
            <= sum Y_e b_e + Z_e a_e <= sum c_e max(0, Y_e, Z_e).

So the solver's dual is rounded to fractions, divided by the least of those sums, and gives an
exact bound, good or bad; its primal is rounded, scaled down to what exact max-flows allow, and
says how good the bound is.  Where both agree the program is solved exactly.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedules.errors import TooLarge
from schedules.forestcoll.allreduce_program import Program, Solution, reaches
from schedules.forestcoll.demand import demand_of, require_paths
from schedules.forestcoll.network import Network, guard, network_of
from schedules.forestcoll.optimality import best_rate
from synth.topology import NodeId, Topology

__all__ = ["MOST_ARCS", "MOST_RANKS", "AllreduceBound", "Cut", "allreduce_bound"]

MOST_RANKS = 72
"""Limit on the ranks of a linear program."""

MOST_ARCS = 512
"""Limit on the joined ordered pairs of nodes of a linear program."""

_DENOMINATORS = (64, 1024, 10**4, 10**6, 10**8)
_COMMON = 1 << 20


@dataclass(frozen=True, slots=True)
class Cut:
    """A node set of the proof: what goes out of it, or with ``inward`` into it, is counted."""

    nodes: frozenset[NodeId]
    inward: bool
    weight: Fraction


@dataclass(frozen=True, slots=True)
class AllreduceBound:
    """No rooted allreduce moves more than ``rate`` bytes per unit of time; ``cuts`` prove it.

    ``feasible`` is a rate that the linear program allows; the two are equal where it was
    solved exactly.  ``copying`` are the weights p_w, ``adding`` the q_w of forwarding nodes.
    """

    rate: Fraction
    feasible: Fraction
    cuts: tuple[Cut, ...]
    copying: dict[NodeId, Fraction]
    adding: dict[NodeId, Fraction]


def allreduce_bound(
    topology: Topology, participants: Iterable[NodeId] | None = None
) -> AllreduceBound:
    """Return the best rate of an allreduce whose pieces are each summed up at one rank.

    Parameters
    ----------
    topology : Topology
    participants : iterable, optional
        As for `optimum`.

    Returns
    -------
    AllreduceBound
        In the topology's unit of bandwidth.

    Raises
    ------
    InvalidTopology, Unreachable, NoSchedule
        As for `optimum`; every rank must reach every other.
    TooLarge
        There are more than `MOST_RANKS` ranks or `MOST_ARCS` joined pairs of nodes.

    Examples
    --------
    The hub of a star can sum up everything, so that the leaves need not:

    >>> star = [(leaf, "hub") for leaf in "abc"] + [("hub", leaf) for leaf in "abc"]
    >>> bound = allreduce_bound(Topology(["hub", "a", "b", "c"], star))
    >>> bound.rate, bound.feasible
    (Fraction(1, 1), Fraction(1, 1))
    >>> from schedules.forestcoll import optimum
    >>> 4 / (2 * optimum(Topology(["hub", "a", "b", "c"], star)).inverse_rate)
    Fraction(2, 3)
    """
    demand = demand_of(topology, participants=participants)
    for inward in (False, True):
        require_paths(topology, demand, inward=inward)
    network = network_of(topology, demand)
    ranks, arcs = len(network.terminals), len(network.tail)
    if ranks > MOST_RANKS or arcs > MOST_ARCS:
        raise TooLarge(
            "topology",
            f"the linear program is solved for at most {MOST_RANKS} ranks and {MOST_ARCS} joined"
            f" pairs of nodes; there are {ranks} and {arcs}",
        )
    able = set(demand.ranks) | topology.multicast
    forwarding = [i for i, node in enumerate(topology.nodes) if node not in able]
    simple = _one_after_the_other(network, forwarding)
    program = Program(network, forwarding, simple[1] if simple else None)
    solution = program.solve()
    proof = min((_proof(program, most) for most in _DENOMINATORS), key=lambda found: found.rate)
    rates = [_feasible(program, solution, most) for most in (*_DENOMINATORS, None)]
    feasible = max([*rates, simple[0]] if simple else rates)
    names = topology.nodes
    cuts = tuple(
        Cut(frozenset(names[i] for i in np.flatnonzero(inside)), inward, weight)
        for inside, inward, weight in proof.cuts
    )
    copying, held_back = (
        {names[node]: weight for node, weight in prices.items() if weight}
        for prices in proof.prices
    )
    return AllreduceBound(
        proof.rate * network.unit, feasible * network.unit, cuts, copying, held_back
    )


_Cuts = list[tuple[NDArray[np.bool_], bool, Fraction]]


class _Proof(NamedTuple):
    """Weights of sets, and p and q by forwarding node."""

    rate: Fraction
    cuts: _Cuts
    prices: tuple[dict[int, Fraction], dict[int, Fraction]]


def _proof(program: Program, most: int) -> _Proof:
    """Return the bound that the dual proves, rounded to denominators up to ``most``."""
    network, cuts = program.network, program.cuts
    weights = [Fraction(weight).limit_denominator(most) for weight in program.weights.tolist()]
    weights = [max(Fraction(0), weight) for weight in weights]
    nodes = 2 * len(program.forwarding)
    prices = (weights[0:nodes:2], weights[1:nodes:2])
    # Sets found by the last solution have no weight yet.
    of_sets = zip(cuts, weights[nodes : len(weights) - len(network.tail)], strict=False)
    used = [(*cut, weight) for cut, weight in of_sets if weight]
    covered = min(
        sum((weight for inside, _, weight in used if inside[rank]), Fraction(0))
        for rank in network.terminals.tolist()
    )
    if not covered:
        # No proof at this rounding; all sets that miss one rank, both ways, are one.
        used = [(*cut, Fraction(1)) for cut in cuts[: 2 * len(network.terminals)]]
        covered = Fraction(2 * len(network.terminals) - 2)
        prices = ([Fraction(0)] * len(program.forwarding),) * 2
    scaled = [(inside, inward, weight / covered) for inside, inward, weight in used]
    copying, adding = (
        dict(zip(program.forwarding, (price / covered for price in half), strict=True))
        for half in prices
    )
    rate = _proven(program, scaled, copying, adding)
    return _Proof(rate, scaled, (copying, adding))


def _proven(
    program: Program, cuts: _Cuts, copying: dict[int, Fraction], adding: dict[int, Fraction]
) -> Fraction:
    """Return the sum over links of c_e max(0, Y_e, Z_e)."""
    network, none = program.network, Fraction(0)
    crossed = [[none] * len(network.tail), [none] * len(network.tail)]
    for inside, inward, weight in cuts:
        for arc in np.flatnonzero(program.crossing(inside, inward)).tolist():
            crossed[inward][arc] += weight
    total = none
    ends = zip(network.tail.tolist(), network.head.tolist(), strict=True)
    for (tail, head), capacity, y, z in zip(ends, network.capacity.tolist(), *crossed, strict=True):
        spread = y + copying.get(head, none) - copying.get(tail, none)
        added = z + adding.get(tail, none) - adding.get(head, none)
        total += capacity * max(none, spread, added)
    return total


def _one_after_the_other(
    network: Network, forwarding: list[int]
) -> tuple[Fraction, Solution] | None:
    """Return the rate of reduce-scatter and allgather, and the solution that they are.

    Each pass has its share of the time, which is a share of every link.  It is none if some
    node takes in more or less than it lets out but only forwards.
    """
    balance = np.zeros(network.node_count, np.int64)
    np.add.at(balance, network.head, network.capacity)
    np.subtract.at(balance, network.tail, network.capacity)
    if balance[forwarding].any():
        return None
    spreading = best_rate(network).inverse
    adding = best_rate(replace(network, tail=network.head, head=network.tail)).inverse
    whole, both = int(network.capacity.max()), spreading + adding
    shares = np.full(len(network.terminals), float(1 / (both * whole)))
    room = network.capacity / whole
    ways = (room * float(spreading / both), room * float(adding / both))
    return len(network.terminals) / both, (shares, *ways)


def _feasible(program: Program, solution: Solution, most: int | None) -> Fraction:
    """Return a rate that the program allows near a solution, by exact max-flows; 0 if none is.

    Numbers are rounded to denominators up to ``most``, or down to one small common one.
    """
    network = program.network
    whole = int(network.capacity.max())

    def rounded(values: NDArray[np.float64], factor: int) -> list[Fraction]:
        if most is None:
            return [Fraction(factor * max(0, int(value * _COMMON)), _COMMON) for value in values]
        return [
            factor * max(Fraction(0), Fraction(value).limit_denominator(most))
            for value in values.tolist()
        ]

    roots, out, back = map(rounded, solution, (1, whole, whole))
    if not any(roots):
        return Fraction(0)
    # Links that got too much by rounding lower all.
    fit = min(
        (
            c / (b + a)
            for c, b, a in zip(network.capacity.tolist(), out, back, strict=True)
            if b + a
        ),
        default=Fraction(0),
    )
    try:
        rates = [_rate(program, roots, out, inward=False), _rate(program, roots, back, inward=True)]
    except TooLarge:
        return Fraction(0)
    return min(1, fit) * min(rates)


def _rate(
    program: Program, shares: list[Fraction], capacities: list[Fraction], *, inward: bool
) -> Fraction:
    """Return the most that trees with roots in these shares can carry, in all; 0 if none fit."""
    network = program.network
    tail, head = (network.head, network.tail) if inward else (network.tail, network.head)
    entering = [Fraction(0)] * network.node_count
    for source, target, capacity in zip(tail.tolist(), head.tolist(), capacities, strict=True):
        entering[source] -= capacity
        entering[target] += capacity
    if any(entering[node] < 0 for node in program.forwarding):
        return Fraction(0)
    whole = lcm(*(share.denominator for share in shares))
    scale = lcm(*(capacity.denominator for capacity in capacities))
    kept = [index for index, capacity in enumerate(capacities) if capacity]
    data = [int(share * whole) for share in shares]
    units = [int(capacities[index] * scale) for index in kept]
    guard(sum(units) * len(data) + sum(data))
    sizes = np.zeros(network.node_count, np.int64)
    sizes[network.terminals] = data
    room = np.array(units, np.int64)
    part = Network(
        network.node_count, network.terminals, sizes, tail[kept], head[kept], room, Fraction(1)
    )
    return part.data / best_rate(part).inverse / scale if reaches(part) else Fraction(0)
