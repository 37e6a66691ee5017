"""Simulated annealing of voltage lifts, one-way or two-way, towards few steps and even loads.

The energy of a lift, in shards / `UNIT`, counts nodes farther than a target number of steps, plus
the largest and the mean load in excess of the optimum, on the lift and its transpose.  The mean
guides the search where the largest load stays equal.  Moves: a new voltage for an arc; two arcs
swap their heads.  In two-way graphs partners move along.

For every number of steps the search keeps the lift of least load, whatever the target, unless a
lift of fewer steps has as little.  Most moves are rejected, mostly after one direction.

Profile (946 nodes, degree 4, one vertex): 9 microseconds for a full evaluation of one direction,
most of it the breadth-first search.
"""

from typing import Any

import numpy as np
from numba import njit

from topoloom.synth.discovery.lift_cost import LATE, MAX_STEPS, UNIT, Thresholds, evaluate
from topoloom.synth.kernels.scalars import int64, truth

_HUGE = 2**60
_GIVEN_UP = -2


@njit(cache=True, nogil=True)
def anneal(
    head: Any,
    shift: Any,
    partner: Any,
    involutions: Any,
    product: Any,
    inverse: Any,
    limit: int,
    tries: int,
    heat: float,
    seed: int,
    work: Any,
    best_load: Any,
    best_head: Any,
    best_shift: Any,
) -> int:
    """Improve a lift in place by ``tries`` random moves; return the number of evaluations.

    Args:
        head, shift, partner (arrays of n d integers): The arcs, d leaving each vertex, in the
            layout of `evaluate`.  In two-way graphs ``partner`` is the reverse arc, possibly the
            arc itself; in one-way graphs it is -1.
        involutions: Selected elements of order 2, for arcs that are their own partners.
        limit: The target number of steps.
        heat: The initial temperature in shards; it falls geometrically to 1/200.
        best_load, best_head, best_shift (arrays by number of steps): The least sum of loads over
            both directions so far, and its lift; updated in place.
    """
    np.random.seed(seed)
    two_way = partner[0] >= 0
    least = np.full(MAX_STEPS + 1, np.int64(1) << 62)
    _lower(least, best_load)
    energy = _energy(
        head, shift, product, inverse, two_way, limit, work,
        best_load, best_head, best_shift, least, np.inf,
    )  # fmt: skip
    kept = head.copy(), shift.copy(), partner.copy()
    temperature = heat * UNIT
    cooling = np.exp(np.log(1 / 200) / max(1, tries))
    evaluated = 1
    for _ in range(tries):
        temperature *= cooling
        if two_way:
            moved = _move_both_ways(head, shift, partner, involutions, inverse, work)
        else:
            moved = _move(head, shift, len(inverse), work)
        if moved:
            evaluated += 1
            # A random threshold is equivalent to a random acceptance decision.
            threshold = energy - temperature * np.log(1.0 - np.random.random())
            tried = _energy(
                head, shift, product, inverse, two_way, limit, work,
                best_load, best_head, best_shift, least, threshold,
            )  # fmt: skip
            if tried <= threshold:
                energy = tried
                kept[0][:], kept[1][:], kept[2][:] = head, shift, partner
                continue
        head[:], shift[:], partner[:] = kept
    return evaluated


@njit(cache=True, nogil=True)
def _energy(
    head: Any,
    shift: Any,
    product: Any,
    inverse: Any,
    two_way: bool,
    limit: int,
    work: Any,
    best_load: Any,
    best_head: Any,
    best_shift: Any,
    least: Any,
    threshold: float,
) -> int:
    """Return the energy of a lift, or `_HUGE` if it exceeds the threshold and sets no record."""
    vertices, degree = work.before.shape
    optimum = (vertices * product.shape[1] - 1) * UNIT // degree
    thresholds = Thresholds(threshold + 4 * optimum, least)
    # Typed constants: Numba would compile `evaluate` once more for every literal.
    forward, backward, none, once = truth(False), truth(True), int64(0), int64(1)
    if two_way:
        steps, load, mean, late = evaluate(
            head, shift, product, inverse, forward, forward, limit, work, thresholds,
            int64(2), none, none,
        )  # fmt: skip
        load, mean, late = 2 * load, 2 * mean, 2 * late
    else:
        steps, load, mean, late = evaluate(
            head, shift, product, inverse, forward, forward, limit, work, thresholds,
            once, optimum, 2 * optimum,
        )  # fmt: skip
    if steps >= 0 and not two_way:
        spent = late * LATE + load + mean
        back, other, other_mean, other_late = evaluate(
            head, shift, product, inverse, backward, backward, limit, work, thresholds,
            once, load, spent,
        )  # fmt: skip
        steps = max(steps, back) if back >= 0 else back
        load, mean, late = load + other, mean + other_mean, late + other_late
    if steps == _GIVEN_UP:
        return _HUGE
    if steps < 0:
        return _HUGE - (MAX_STEPS + len(work.state) - late) * UNIT
    if load < best_load[steps]:
        best_load[steps] = load
        best_head[steps] = head
        best_shift[steps] = shift
        _lower(least, best_load)
    return late * LATE + load + mean - 4 * optimum


@njit(cache=True, nogil=True)
def _lower(least: Any, best_load: Any) -> None:
    """Set ``least`` to the running minimum of the best loads by steps."""
    for steps in range(len(best_load)):
        least[steps] = min(best_load[steps], least[steps - 1] if steps else best_load[0])
    least[len(best_load)] = least[len(best_load) - 1]


@njit(cache=True, nogil=True)
def _move(head: Any, shift: Any, voltages: int, work: Any) -> bool:
    """Apply a random move to a one-way lift; return whether the lift stays simple."""
    vertices, degree = work.before.shape
    arc = np.random.randint(vertices * degree)
    if voltages > 1 and (vertices == 1 or np.random.random() < 0.5):
        shift[arc] = np.random.randint(voltages)
        return _proper(arc, head, shift, degree)
    other = np.random.randint(vertices * degree)
    if head[arc] == head[other]:
        return False
    head[arc], head[other] = head[other], head[arc]
    if voltages > 1 and np.random.random() < 0.5:
        shift[arc] = np.random.randint(voltages)
    return _proper(arc, head, shift, degree) and _proper(other, head, shift, degree)


@njit(cache=True, nogil=True)
def _proper(arc: int, head: Any, shift: Any, degree: int) -> bool:
    """Return whether an arc is neither a loop nor parallel to another."""
    tail = arc // degree
    if head[arc] == tail and shift[arc] == 0:
        return False
    for other in range(tail * degree, tail * degree + degree):
        if other != arc and head[other] == head[arc] and shift[other] == shift[arc]:
            return False
    return True


@njit(cache=True, nogil=True)
def _move_both_ways(
    head: Any, shift: Any, partner: Any, involutions: Any, inverse: Any, work: Any
) -> bool:
    """Apply a random move to a two-way lift; return whether the lift stays simple."""
    vertices, degree = work.before.shape
    arc = np.random.randint(vertices * degree)
    mate = partner[arc]
    if len(inverse) > 1 and np.random.random() < 0.5:
        return _join(arc, mate, -1, head, shift, partner, involutions, inverse, degree)
    other = np.random.randint(vertices * degree)
    if other in (arc, mate):
        if mate == arc:
            return False
        # The edge splits into two arcs that are their own partners.
        return _join(arc, arc, -1, head, shift, partner, involutions, inverse, degree) and _join(
            mate, mate, -1, head, shift, partner, involutions, inverse, degree
        )
    other_mate = partner[other]
    if mate == arc and other_mate == other:
        return _join(arc, other, -1, head, shift, partner, involutions, inverse, degree)
    keep = np.random.random() < 0.5
    first = shift[arc] if keep and mate != arc else -1
    second = shift[other] if keep and other_mate != other else -1
    if mate == arc:
        joined = _join(arc, other_mate, first, head, shift, partner, involutions, inverse, degree)
        return joined and _join(
            other, other, -1, head, shift, partner, involutions, inverse, degree
        )
    joined = _join(
        arc, other_mate if other_mate != other else other, first,
        head, shift, partner, involutions, inverse, degree,
    )  # fmt: skip
    if other_mate == other:
        return joined and _join(mate, mate, -1, head, shift, partner, involutions, inverse, degree)
    return joined and _join(other, mate, second, head, shift, partner, involutions, inverse, degree)


@njit(cache=True, nogil=True)
def _join(
    arc: int,
    mate: int,
    voltage: int,
    head: Any,
    shift: Any,
    partner: Any,
    involutions: Any,
    inverse: Any,
    degree: int,
) -> bool:
    """Make two arcs partners with a voltage, -1 for a random one; return as `_proper`."""
    if arc == mate:
        if len(involutions) == 0:
            return False
        voltage = involutions[np.random.randint(len(involutions))]
    elif voltage < 0:
        voltage = np.random.randint(len(inverse))
    partner[arc], partner[mate] = mate, arc
    head[arc], head[mate] = mate // degree, arc // degree
    shift[arc], shift[mate] = voltage, inverse[voltage]
    return _proper(arc, head, shift, degree) and _proper(mate, head, shift, degree)
