"""Numbers of chunks per shard: the fewest that reach the loads, or the best within a bound.

The loads are those of breadth-first broadcast, `synth.evaluation.measure.step_loads`: in step t
some link carries U(t) shards.  With c chunks per shard, this link carries at least ceil(c U(t))
whole chunks.  No link needs more: at a destination every source at distance t supplies c chunks,
and by max-flow min-cut, whole capacities that admit a flow admit one in whole chunks.  With c
chunks the bandwidth is therefore exactly

    d / N * sum over t of ceil(c U(t)) / c.

This is the minimum exactly when every c U(t) is whole.
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import NamedTuple

from topoloom.schedules.errors import NoSchedule

MAX_GIVEN = 1 << 16
"""Largest bound on the chunks per shard."""


def exact_chunks(loads: Sequence[Fraction]) -> int:
    """Return the least number of chunks per shard that reaches the exact loads.

    >>> exact_chunks([Fraction(1), Fraction(7, 4), Fraction(5, 6)])
    12
    """
    return lcm(*(load.denominator for load in loads))


def best_chunks(loads: Sequence[Fraction], most: int) -> int:
    """Return the number of chunks per shard, at most ``most``, with the least bandwidth.

    Ties go to the smallest number.

    Raises:
        NoSchedule: ``most`` is not in 1 .. `MAX_GIVEN`.

    With c chunks, the whole loads exceed c times the loads by the sum of (-c p mod q) / q over
    loads p/q.  The result minimizes this excess per chunk, compared in integers.
    O(most * distinct denominators).

    More chunks are not always better: here 4 chunks beat 5 to 9.

    >>> loads = [Fraction(1), Fraction(3, 2), Fraction(6, 5)]
    >>> [best_chunks(loads, most) for most in (1, 2, 3, 4, 9, 10, 100)]
    [1, 2, 2, 4, 4, 10, 10]
    """
    if not 1 <= most <= MAX_GIVEN:
        raise NoSchedule("/max_chunks", f"must be in 1 .. {MAX_GIVEN}")
    needed = exact_chunks(loads)
    if needed <= most:
        return needed
    broken = Counter(
        (load.numerator % load.denominator, load.denominator)
        for load in loads
        if load.denominator > 1
    )
    terms = [(p, q, times * (needed // q)) for (p, q), times in sorted(broken.items())]
    chosen, least = 1, sum(-p % q * weight for p, q, weight in terms)
    for chunks in range(2, most + 1):
        excess = sum(-chunks * p % q * weight for p, q, weight in terms)
        if excess * chosen < least * chunks:
            chosen, least = chunks, excess
    return chosen


class ChunkOption(NamedTuple):
    """Chunks per shard, and the chunks on the busiest links summed over all steps."""

    chunks: int
    carried: int


def chunk_options(loads: Sequence[Fraction], most: int) -> tuple[ChunkOption, ...]:
    """Return the numbers of chunks up to ``most`` that beat all smaller ones, then `exact_chunks`.

    Each is the result of `best_chunks` with itself as the bound.  Bandwidths decrease.

    >>> [tuple(rung) for rung in chunk_options([Fraction(1), Fraction(3, 2), Fraction(6, 5)], 5)]
    [(1, 5), (2, 8), (4, 15), (10, 37)]
    """
    needed, rungs = exact_chunks(loads), list[ChunkOption]()
    for chunks in (*range(1, min(most, needed - 1) + 1), needed):
        carried = sum(whole_loads(loads, chunks))
        if not rungs or carried * rungs[-1].chunks < rungs[-1].carried * chunks:
            rungs.append(ChunkOption(chunks, carried))
    return tuple(rungs)


def whole_loads(loads: Sequence[Fraction], chunks: int) -> list[int]:
    """Return the least maximum load in whole chunks for each load in shards.

    >>> whole_loads([Fraction(1), Fraction(3, 2)], 3)
    [3, 5]
    """
    return [-(-load.numerator * chunks // load.denominator) for load in loads]
