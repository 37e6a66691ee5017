"""Time models of step schedules where messages and chunks may cost time.

With c chunks per shard, a link with a load of U shards in a step carries ceil(c U) chunks
(`schedules.steps.chunking`).  Few chunks cost less overhead, many chunks waste less bandwidth.
Every useful number of chunks is a line; the time is the minimum of the lines.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import lcm

from topoloom.schedules.baselines import Operation
from topoloom.schedules.compare.crossover import Candidate, Line
from topoloom.schedules.steps.chunking import ChunkOption, chunk_options
from topoloom.synth.evaluation.cost import Cost

MAX_TRIED = 256
"""Largest number of chunks per shard tried, besides the number that loses no bandwidth."""


@dataclass(frozen=True, slots=True)
class Loads:
    """The largest load of each step, in shards of ``pieces`` equal pieces."""

    shards: tuple[Fraction, ...]
    pieces: int = 1

    def rungs(self) -> tuple[ChunkOption, ...]:
        """Return the useful numbers of chunks per shard; shards in several pieces have only one.

        >>> [tuple(rung) for rung in Loads((Fraction(1), Fraction(1, 2))).rungs()]
        [(1, 2), (2, 3)]
        >>> [tuple(rung) for rung in Loads((Fraction(1), Fraction(1, 2)), 3).rungs()]
        [(6, 9)]
        """
        return _rungs(self)


@lru_cache(maxsize=256)
def _rungs(loads: Loads) -> tuple[ChunkOption, ...]:
    if loads.pieces == 1:
        return chunk_options(loads.shards, MAX_TRIED)
    whole = lcm(loads.pieces, *(load.denominator for load in loads.shards))
    return (ChunkOption(whole, int(whole * sum(loads.shards))),)


@dataclass(frozen=True, slots=True)
class StepPass:
    """One pass over all data: its cost, and its loads where chunks cost time.

    A shard is ``width`` / N of the data.
    """

    cost: Cost
    loads: Loads | None = None
    width: int = 1

    def widened(self, nodes: int) -> "StepPass":
        """Return the pass with shards as large as the data, as in an allreduce in one pass."""
        return replace(self, width=nodes)

    def within(self, limit: int | None) -> tuple[Fraction, Fraction]:
        """Return busiest-link chunks, and T_B, with at most ``limit`` chunks per shard."""
        if self.loads is None:
            return Fraction(0), self.width * self.cost.bandwidth
        rungs = self.loads.rungs()
        rung = rungs[-1]
        if limit is not None:
            rung = max((one for one in rungs if one.chunks <= limit), default=rung)
        unit = self.cost.bandwidth / sum(self.loads.shards, Fraction(0))
        return Fraction(rung.carried), self.width * unit * Fraction(rung.carried, rung.chunks)


def pass_candidate(name: str, passes: Sequence[StepPass], work: Operation) -> Candidate:
    """Return the candidate of passes in steps, one after another.

    Every step costs a latency, a message, and the chunks of its busiest link.

    Args:
        passes: Two for an allreduce by reduce-scatter and allgather.
        work: The speeds; its size is not used.

    Whole shards for small messages, halves for large ones:

    >>> from topoloom.schedules.model.schedule import Collective
    >>> loads = Loads((Fraction(1), Fraction(1, 2)))
    >>> gather = StepPass(Cost(2, Fraction(3, 4)), loads)
    >>> fixed = Fraction(9), Fraction(1), Fraction(2)
    >>> work = Operation(Collective.ALLGATHER, 1, Fraction(1), *fixed)
    >>> ring = pass_candidate("ring", [gather], work)
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
