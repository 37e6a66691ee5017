"""The judge of schedules: the simulated time for a size, with the best number of pieces found.

All comparisons of schedules on a fabric use this judge, for our schedules and for baselines alike.
The latency is one for all hops, or that of each link (`Network`).
The simulator models neither switches that copy nor links that share a limit.  Trees that need
either take a bound instead: every round lasts as long as the busiest link needs for one piece of
all data (*full rounds*).
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Literal

from topoloom.schedules.model.schedule import (
    RouteSchedule,
    Schedule,
    SequenceSchedule,
    StepSchedule,
    TreeSchedule,
    schedule_parts,
)
from topoloom.schedules.simulate.clock import Network
from topoloom.schedules.simulate.closed_form import tree_depth
from topoloom.schedules.simulate.forest_latencies import ForestLatencies, forest_latencies
from topoloom.schedules.simulate.lockstep import Lockstep, lockstep_of, with_latencies
from topoloom.schedules.simulate.message_ticks import MessageTicks
from topoloom.schedules.simulate.messages import Messages, messages_of
from topoloom.schedules.simulate.routes_as_chains import routes_as_chains
from topoloom.schedules.simulate.run_messages import run_messages
from topoloom.schedules.verify import tree_inverse_rate, tree_loads
from topoloom.synth.topology.topology import NodeId, Topology

MAX_PIECES = 1 << 20
"""Maximum number of pieces of messages up to which the search cuts messages further."""

LEAST_PIECE_BYTES = 4096
"""Least size of a piece up to which the search cuts: the largest packet of InfiniBand and RoCE."""

LEAST_GAIN = Fraction(1, 400)
"""Least share of the time that a change of the number of pieces must save; else the search ends."""

SEARCH_FACTORS = (Fraction(2), Fraction(1, 2), Fraction(5, 4), Fraction(4, 5))
"""Factors by which the search changes the number of pieces, in order."""

JudgedBy = Literal["simulation", "full rounds"]


@dataclass(frozen=True, slots=True)
class JudgedTime:
    """A time in seconds, and the number of pieces of each message."""

    seconds: Fraction
    chunks: int


class Judge:
    """Times of a valid schedule on a topology, by size.

    Args:
        network: Latency, rate, and the costs of messages and chunks.
        in_rounds: Whether trees and routes take the bound of full rounds instead of a simulation.

    Raises:
        InvalidSchedule: A send or an edge uses a missing link, or edges do not follow one another.

    Steps have one piece.  For trees and routes the search starts with the best number of pieces in
    lock step, which is the default of `simulate`.  It changes the number by one of `SEARCH_FACTORS`
    while that saves at least `LEAST_GAIN` of the time, but cuts no message into pieces below
    `LEAST_PIECE_BYTES`.  All parts of a sequence have the same number.  `simulate` returns the same
    time for that number.

    A chain of two links gains from pieces:

    >>> from topoloom.schedules.model.schedule import Collective, Tree
    >>> chain = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    >>> trees = tuple(Tree(i, 1, ((i, (i + 1) % 3), ((i + 1) % 3, (i + 2) % 3))) for i in range(3))
    >>> gather = TreeSchedule(Collective.ALLGATHER, chain.digest, (0, 1, 2), 1, trees)
    >>> judge = Judge(gather, chain, Network(1, 1))
    >>> judge.judged_by, judge.hops, judge.time(30000)
    ('simulation', 2, JudgedTime(seconds=Fraction(20001, 1), chunks=2))
    """

    def __init__(
        self, schedule: Schedule, topology: Topology, network: Network, *, in_rounds: bool = False
    ) -> None:
        self._topology, self._network = topology, network
        self._known: dict[int, JudgedTime] = {}
        if isinstance(schedule, RouteSchedule):
            schedule = routes_as_chains(schedule, topology.switches)
        self._parts: tuple[StepSchedule | TreeSchedule | SequenceSchedule, ...] = (schedule,)
        if isinstance(schedule, SequenceSchedule) and not schedule.together:
            self._parts = schedule.parts
        self.judged_by: JudgedBy = "simulation"
        in_rounds &= not any(isinstance(part, StepSchedule) for part in self._parts)
        if in_rounds or topology.shared or _copied(schedule, topology):
            self.judged_by = "full rounds"

    @property
    def hops(self) -> int:
        """The number of latencies of an empty message in one piece."""
        return sum(self._hops)

    def time(self, size_bytes: int) -> JudgedTime:
        """Return the time for M bytes.

        Raises:
            TooLarge: As `simulate`.
        """
        if size_bytes not in self._known:
            self._known[size_bytes] = self._search(size_bytes)
        return self._known[size_bytes]

    def floor(self, size_bytes: int) -> Fraction:
        """Return a lower bound on the time for M bytes: that of the busiest link and of all hops.

        It takes no simulation.
        """
        rounds = self._full_rounds if self.judged_by == "full rounds" else self._lockstep
        return _sum(
            max(latency, size_bytes * one.transfer_seconds)
            for latency, one in zip(self._latencies, rounds, strict=True)
        )

    def _search(self, size_bytes: int) -> JudgedTime:
        if self.judged_by == "full rounds":
            scaled = [rounds.scaled(size_bytes) for rounds in self._full_rounds]
            tried = set[int]().union(*(rounds.chunks_to_try() for rounds in scaled))
            return _least({chunks: _sum(one.seconds(chunks) for one in scaled) for chunks in tried})
        if all(isinstance(part, StepSchedule) for part in self._parts):
            return JudgedTime(self._simulated(size_bytes, 1), 1)
        most = max(1, MAX_PIECES // max(len(messages.units) for messages in self._messages))
        lock = [rounds.scaled(size_bytes) for rounds in self._lockstep]
        start = max(rounds.best_chunks(most) for rounds in lock)
        largest = max(max(messages.units) * messages.unit for messages in self._messages)
        most = max(start, min(most, int(largest * size_bytes) // LEAST_PIECE_BYTES))
        best, known = start, {start: self._simulated(size_bytes, start)}
        for factor in SEARCH_FACTORS:
            while 1 <= (near := int(best * factor)) <= most and near not in known:
                known[near] = self._simulated(size_bytes, near)
                if known[near] > known[best] * (1 - LEAST_GAIN):
                    break
                best = near
        return _least(known)

    def _simulated(self, size_bytes: int, chunks: int) -> Fraction:
        return _sum(
            run_messages(messages, self._network, size_bytes, chunks, False, ticks).seconds
            for messages, ticks in zip(self._messages, self._ticks, strict=True)
        )

    @cached_property
    def _ticks(self) -> list[MessageTicks]:
        return [MessageTicks(messages, self._network) for messages in self._messages]

    @cached_property
    def _hops(self) -> list[int]:
        """The number of latencies of each part."""
        if self.judged_by == "full rounds":
            return [rounds.depth for rounds in self._full_rounds]
        latency = Network(Fraction(1), Fraction(1))
        return [
            int(run_messages(messages, latency, 0, 1, False).seconds) for messages in self._messages
        ]

    @cached_property
    def _latencies(self) -> list[Fraction]:
        """The time of an empty message in one piece, by part."""
        alpha = self._network.alpha_seconds
        if alpha is not None:
            return [hops * alpha for hops in self._hops]
        if self.judged_by == "full rounds":
            return [one.longest for one in self._forest_latencies]
        empty = Network(None, Fraction(1))
        return [run_messages(messages, empty, 0, 1, False).seconds for messages in self._messages]

    @cached_property
    def _messages(self) -> list[Messages]:
        return [messages_of(part, self._topology) for part in self._parts]

    @cached_property
    def _lockstep(self) -> list[Lockstep]:
        return [lockstep_of(messages, self._network, 1) for messages in self._messages]

    @cached_property
    def _full_rounds(self) -> list[Lockstep]:
        rounds = [full_rounds(part, self._topology, self._network) for part in self._parts]
        if self._network.alpha_seconds is not None:
            return rounds
        # Pieces wait for the slowest hop of each round; messages in one piece for their own links.
        return [
            replace(with_latencies(one, latencies.by_level), empty_seconds=latencies.longest)
            for one, latencies in zip(rounds, self._forest_latencies, strict=True)
        ]

    @cached_property
    def _forest_latencies(self) -> list[ForestLatencies]:
        return [forest_latencies(part, self._topology) for part in self._parts]


def full_rounds(part: Schedule, topology: Topology, network: Network) -> Lockstep:
    """Return trees as one pipeline in which every round runs all levels at once, for one byte."""
    forests = [one for one in schedule_parts(part) if isinstance(one, TreeSchedule)]
    depth = sum(map(tree_depth, forests))
    seconds = tree_inverse_rate(part, topology) / sum(forests[0].sizes)
    seconds /= network.unit_bytes_per_second
    each, most = network.overhead_seconds + network.chunk_seconds, 0
    if each:
        crossed = Counter[tuple[NodeId, NodeId]]()
        for forest in forests:
            trees = tuple(replace(tree, weight=1) for tree in forest.trees)
            crossed.update(tree_loads(replace(forest, trees=trees), topology))
        most = max(crossed.values(), default=0)
    rows = [depth - level for level in range(depth)]
    return Lockstep(
        network.alpha_seconds or Fraction(0),
        depth,
        tuple((seconds,) * row for row in rows),
        each,
        tuple((most,) * row for row in rows),
    )


def _copied(schedule: Schedule, topology: Topology) -> bool:
    """Return whether a tree of the schedule relies on a switch that copies or adds up."""
    trees = [part for part in schedule_parts(schedule) if isinstance(part, TreeSchedule)]
    return bool(topology.multicast) and any(
        tree_loads(part, topology) != tree_loads(part, topology, shared=False) for part in trees
    )


def _least(times: dict[int, Fraction]) -> JudgedTime:
    """Return the least time by number of pieces; ties go to the fewest."""
    chunks = min(times, key=lambda chunks: (times[chunks], chunks))
    return JudgedTime(times[chunks], chunks)


def _sum(times: Iterable[Fraction]) -> Fraction:
    return sum(times, Fraction(0))
