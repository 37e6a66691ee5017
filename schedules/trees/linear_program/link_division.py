"""The division of every link between passes: exact numbers, verified by exact max-flows.

Floats of the solver are rounded with growing denominators.  Max-flows then derive the rate of each
pass from the rounded capacities.  A division below the proved rate therefore reports its own rate.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, takewhile
from math import gcd, lcm

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.errors import TooLarge
from topoloom.schedules.trees import limits
from topoloom.schedules.trees.flow.max_flow import arcs_of, scratch_for, shortfall
from topoloom.schedules.trees.flow.network import Network, guard
from topoloom.schedules.trees.flow.optimality import best_rate
from topoloom.schedules.trees.linear_program.flow_program import FlowProgram
from topoloom.schedules.trees.linear_program.problem import DivisionProblem, Solution

DENOMINATORS = (12, 64, 1024, 10**4, 10**6)


@dataclass(frozen=True, slots=True)
class Division:
    """``sizes`` of the shards by node, integers without a common factor.

    ``capacities`` are the shares of each pass on every arc, in the network's unit of capacity.
    With these, trees carry data at total rate ``rate``, in both passes at once.  ``receivers`` are
    the nodes that receive all data.
    """

    rate: Fraction
    sizes: tuple[int, ...]
    capacities: tuple[tuple[Fraction, ...], ...]
    receivers: tuple[int, ...]


def exact_division(program: FlowProgram, rate: Fraction, *others: Solution) -> Division | None:
    """Return a division of the given rate, or the best close to it; None if none is found.

    Args:
        rate: Upper bound on the rate of any division.
        others: Further solutions to round if the solution of least link use does not reach the
            rate.
    """
    best: Division | None = None
    # Interior-point solutions of large programs are no vertices of the relevant polytope.
    ways = (True, False) if program.columns > limits.MAX_SIMPLEX_COLUMNS else (False, True)
    corners = (program.least(rate, varied=varied) for varied in ways)
    for solution in chain(takewhile(lambda one: one is not None, corners), others):
        assert solution is not None
        for found in _rounded(program, solution, rate):
            if best is None or found.rate > best.rate:
                best = found
            if best.rate >= rate:
                return best
    return best


def _rounded(program: FlowProgram, solution: Solution, rate: Fraction) -> Iterator[Division]:
    """Yield divisions close to a solution, with growing denominators."""
    question = program.question
    units = (Fraction(1), rate / question.network.data)
    for most in DENOMINATORS:
        for unit in units:
            shares = _fractions(solution.shares, unit, most)
            if not question.free:
                shares = [Fraction(size) for size in question.network.sizes.tolist()]
            passes = [_fractions(one, unit, most) for one in solution.capacities]
            found = scaled_division(question, shares, passes)
            if found is not None:
                yield found


def _fractions(values: NDArray[np.float64], unit: Fraction, most: int) -> list[Fraction]:
    """Return the values rounded to multiples of unit / d with d up to ``most``."""
    known: dict[float, Fraction] = {}
    for value in values.tolist():
        if value not in known:
            part = Fraction(max(0.0, value / float(unit))).limit_denominator(most)
            known[value] = part * unit
    return [known[value] for value in values.tolist()]


def scaled_division(
    question: DivisionProblem, shares: Sequence[Fraction], passes: Sequence[Sequence[Fraction]]
) -> Division | None:
    """Return the division with these shares and capacities, and the rate that it carries.

    If passes together exceed a link or a shared limit, all capacities are scaled down by one
    factor.  None if a forwarding node sends more than it receives, or the rate is 0.
    """
    network = question.network
    whole = lcm(*(share.denominator for share in shares))
    sizes = [int(share * whole) for share in shares]
    common = gcd(*sizes)
    if not common:
        return None
    sizes = [size // common for size in sizes]
    fit = Fraction(1)
    alike = set(zip(*passes, network.capacity.tolist(), strict=True))
    limits = {(sum(used, Fraction(0)), capacity) for *used, capacity in alike}
    for arcs, capacity in network.shared:
        limits.add((sum((one[arc] for one in passes for arc in arcs), Fraction(0)), capacity))
    for used, capacity in limits:
        if used * fit > capacity:
            fit = capacity / used
    try:
        rates = [
            _carried(question, sizes, capacities, inward=bool(inward))
            for inward, capacities in enumerate(passes)
        ]
    except TooLarge:
        return None
    if not all(rates):
        return None
    scaled = tuple(map(tuple, passes))
    if fit < 1:
        scaled = tuple(tuple(one * fit for one in capacities) for capacities in passes)
    return Division(fit * min(rates), tuple(sizes), scaled, question.receivers)


def _carried(
    question: DivisionProblem, sizes: list[int], capacities: Sequence[Fraction], *, inward: bool
) -> Fraction:
    """Return the maximum total rate of trees of one pass, with roots in these ratios."""
    network = question.network
    tail, head = (network.head, network.tail) if inward else (network.tail, network.head)
    scale = lcm(*(capacity.denominator for capacity in capacities))
    whole = [capacity.numerator * (scale // capacity.denominator) for capacity in capacities]
    units = np.array(whole, dtype=object)
    guard(int(units.sum()) * sum(sizes))
    balance = np.zeros(network.node_count, np.int64)
    room = units.astype(np.int64)
    np.add.at(balance, head, room)
    np.subtract.at(balance, tail, room)
    if (balance[list(question.forwarding)] < 0).any():
        return Fraction(0)
    kept = np.flatnonzero(room)
    part = Network(
        network.node_count,
        np.array(question.receivers, np.int64),
        np.array(sizes, np.int64),
        tail[kept],
        head[kept],
        room[kept],
        Fraction(1),
    )
    return part.data / best_rate(part).inverse / scale if reaches(part) else Fraction(0)


def reaches(network: Network) -> bool:
    """Return whether every receiver has a path from every root."""
    arcs = arcs_of(network.node_count, network.tail, network.head)
    room = np.full(len(network.tail), len(network.terminals), np.int64)
    shares = (network.sizes > 0).astype(np.int64)
    flow, supply = np.zeros_like(room), np.zeros_like(shares)
    scratch = scratch_for(network.node_count)
    _, missing = shortfall(arcs, room, network.terminals, 0, shares, flow, supply, scratch)
    return not missing
