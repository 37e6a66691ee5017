"""Schedules in steps as times by message size, where messages and chunks may cost time.

With c chunks per shard a link that is to carry U shards in a step carries ceil(c U) chunks
(`schedules.steps.chunking`): few chunks cost little each time, many waste little bandwidth.  Every
number of chunks that is worth trying is a line; the least of them is the time.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import lcm

from topoloom.schedules.baselines import Operation
from topoloom.schedules.compare.crossover import Candidate, Line
from topoloom.schedules.steps.chunking import Rung, ladder
from topoloom.synth.evaluation.cost import Cost

__all__ = ["MAX_TRIED", "Loads", "Pass", "in_passes"]

MAX_TRIED = 256
"""Numbers of chunks per shard up to here are tried, and the one that loses no bandwidth."""


@dataclass(frozen=True, slots=True)
class Loads:
    """The largest load of each step, in shards; shards come in so many equal ``pieces``."""

    shards: tuple[Fraction, ...]
    pieces: int = 1

    def rungs(self) -> tuple[Rung, ...]:
        """Return numbers of chunks per shard worth trying; of shards in pieces just one.

        >>> [tuple(rung) for rung in Loads((Fraction(1), Fraction(1, 2))).rungs()]
        [(1, 2), (2, 3)]
        >>> [tuple(rung) for rung in Loads((Fraction(1), Fraction(1, 2)), 3).rungs()]
        [(6, 9)]
        """
        return _rungs(self)


@lru_cache(maxsize=256)
def _rungs(loads: Loads) -> tuple[Rung, ...]:
    if loads.pieces == 1:
        return ladder(loads.shards, MAX_TRIED)
    whole = lcm(loads.pieces, *(load.denominator for load in loads.shards))
    return (Rung(whole, int(whole * sum(loads.shards))),)


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass over all data: its cost, and its loads, which are needed where chunks cost time.

    A shard is an N-th of the data times ``width``.
    """

    cost: Cost
    loads: Loads | None = None
    width: int = 1

    def widened(self, nodes: int) -> "Pass":
        """Return the same pass with shards that are all of the data, as in an allreduce at once."""
        return replace(self, width=nodes)

    def within(self, limit: int | None) -> tuple[Fraction, Fraction]:
        """Return the chunks on the busiest links, and T_B, with at most so many per shard."""
        if self.loads is None:
            return Fraction(0), self.width * self.cost.bandwidth
        rungs = self.loads.rungs()
        rung = rungs[-1]
        if limit is not None:
            rung = max((one for one in rungs if one.chunks <= limit), default=rung)
        unit = self.cost.bandwidth / sum(self.loads.shards, Fraction(0))
        return Fraction(rung.carried), self.width * unit * Fraction(rung.carried, rung.chunks)


def in_passes(name: str, passes: Sequence[Pass], work: Operation) -> Candidate:
    """Return the candidate of passes in steps, one after another.

    Every step pays for a latency and a message, and on the link that is busiest for its chunks.

    Parameters
    ----------
    passes : sequence of Pass
        Two for an allreduce by reduce-scatter and allgather.
    work : Operation
        The speeds; its size is not used.

    Examples
    --------
    Whole shards for small messages, halves for large ones:

    >>> from topoloom.schedules.model.schedule import Collective
    >>> loads = Loads((Fraction(1), Fraction(1, 2)))
    >>> gather = Pass(Cost(2, Fraction(3, 4)), loads)
    >>> fixed = Fraction(9), Fraction(1), Fraction(2)
    >>> work = Operation(Collective.ALLGATHER, 1, Fraction(1), *fixed)
    >>> ring = in_passes("ring", [gather], work)
    >>> [(line.max_chunks, line.fixed_seconds, line.seconds_per_byte) for line in ring.lines]
    [(1, Fraction(24, 1), Fraction(1, 1)), (None, Fraction(26, 1), Fraction(3, 4))]
    """
    steps = sum(one.cost.steps for one in passes)
    fixed = steps * (work.alpha_seconds + work.overhead_seconds)
    limits: set[int] = set()
    if work.chunk_seconds:
        limits = {rung.chunks for one in passes if one.loads for rung in one.loads.rungs()[:-1]}
    lines = []
    for limit in (*sorted(limits), None):
        counted = [one.within(limit) for one in passes]
        chunks, wire = (sum(column, Fraction(0)) for column in zip(*counted, strict=True))
        chunked = fixed + work.chunk_seconds * chunks
        lines.append(Line(chunked, wire / work.bytes_per_second, 1, steps, limit))
    return Candidate(name, tuple(lines))
