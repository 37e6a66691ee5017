"""A transcript of a program as messages over links.

What a program does not say is chosen here.  Parallel links are one of their joint capacity.
A message between ranks that no link joins goes over switches: along a shortest path, and of
several along that whose links carry the least for their capacity so far, counted in
program order.
"""

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate, pairwise

import numpy as np

from schedules.errors import InvalidProgram
from schedules.simulate.messages import Messages
from schedules.transcript import Transcript, levels
from synth.topology import Capacity, NodeId, Topology

__all__ = ["MAX_PATHS", "messages_of_transcript"]

MAX_PATHS = 64
"""Of so many shortest paths between two ranks, the first ones found, one is chosen."""


def messages_of_transcript(transcript: Transcript, topology: Topology) -> Messages:
    """Return the messages of a transcript, whose rank i is compute node i of the topology.

    They are in program order by `transcript.levels`.  Piece p of a message waits for piece p
    of what it needs: the run times run the whole program once for each slice of the data.

    Raises
    ------
    InvalidProgram
        There are not as many ranks as compute nodes, or no link and no way over switches leads
        from one to another.
    """
    nodes = topology.compute_nodes
    if len(transcript.ranks) != len(nodes):
        rule = f"must be for the {len(nodes)} compute nodes, not for {len(transcript.ranks)}"
        raise InvalidProgram("/ranks", rule)
    capacity: dict[tuple[NodeId, NodeId], Capacity] = defaultdict(int)
    for link in topology.links:
        capacity[link.source, link.target] += link.capacity
    level = levels(transcript)
    order = sorted(range(len(level)), key=level.__getitem__)
    place = {number: at for at, number in enumerate(order)}
    told = [transcript.messages[number] for number in order]
    paths = _Paths(topology, capacity)
    hops = [paths.least_loaded(nodes[one.source], nodes[one.target], one.units) for one in told]
    depth = max(level, default=-1) + 1
    return Messages(
        [one.units for one in told],
        transcript.unit,
        _starts(map(len, hops)),
        np.array([link for path in hops for link in path], np.int64),
        _starts(np.bincount(np.array(level, np.int64), minlength=depth).tolist()),
        _starts(len(one.needs) for one in told),
        np.array([place[need] for one in told for need in one.needs], np.int64),
        np.zeros(len(told), np.int64),
        np.ones(len(told), np.int64),
        np.ones(len(told), np.bool_),
        tuple(capacity.values()),
        np.array([topology.position[source] for source, _ in capacity], np.int64),
        np.array([paths.index[link.source, link.target] for link in topology.links], np.int64),
        True,
    )


class _Paths:
    """Ways between ranks over one link or over switches, and what their links carry so far."""

    def __init__(self, topology: Topology, capacity: dict[tuple[NodeId, NodeId], Capacity]) -> None:
        self.switches = topology.switches
        self.index = {pair: at for at, pair in enumerate(capacity)}
        self.after: dict[NodeId, list[NodeId]] = defaultdict(list)
        for source, target in capacity:
            self.after[source].append(target)
        self.capacities = list(capacity.values())
        self.loads = [Fraction(0)] * len(self.capacities)
        self.known: dict[tuple[NodeId, NodeId], list[tuple[int, ...]]] = {}

    def least_loaded(self, source: NodeId, target: NodeId, units: int) -> tuple[int, ...]:
        """Return the links of the chosen path, noting what it carries from now on."""
        if (source, target) not in self.known:
            self.known[source, target] = self._shortest(source, target)
        paths = self.known[source, target]
        best = paths[0]
        if len(paths) > 1:
            best = min(paths, key=lambda path: max(self.loads[link] for link in path))
            for link in best:
                self.loads[link] += units / Fraction(self.capacities[link])
        return best

    def _shortest(self, source: NodeId, target: NodeId) -> list[tuple[int, ...]]:
        found: list[tuple[NodeId, ...]] = []
        reached, ahead = {source}, [(source,)]
        while ahead and not found:
            found = [(*path, target) for path in ahead if target in self.after[path[-1]]]
            ahead = list(self._longer(ahead, reached))
            reached |= {path[-1] for path in ahead}
        if not found:
            rule = f"no link or way over switches leads from {source!r} to {target!r}"
            raise InvalidProgram("/ranks", rule)
        return [tuple(self.index[hop] for hop in pairwise(path)) for path in found[:MAX_PATHS]]

    def _longer(
        self, paths: list[tuple[NodeId, ...]], reached: set[NodeId]
    ) -> Iterator[tuple[NodeId, ...]]:
        """Yield paths by one more switch; to each switch at most `MAX_PATHS` of them."""
        count: dict[NodeId, int] = defaultdict(int)
        for path in paths:
            for node in self.after[path[-1]]:
                if node in self.switches and node not in reached and count[node] < MAX_PATHS:
                    count[node] += 1
                    yield (*path, node)


def _starts(counts: "Iterator[int] | map[int] | list[int]") -> np.ndarray:
    return np.array([0, *accumulate(counts)], np.int64)
