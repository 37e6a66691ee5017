"""Checks of Chakra traces that make the result independent of the order of execution.

Sends and receives match one to one.  Two staging areas are equal or disjoint.  If two nodes of a
rank use the same bytes and one of them writes, one node depends on the other.  Then every order
that the dependencies allow computes the same result.
"""

from collections import defaultdict
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from topoloom.schedules.errors import InvalidProgram
from topoloom.schedules.formats.chakra.program import (
    COMPUTE,
    RECEIVE,
    SEND,
    Region,
    Step,
    Trace,
    Traces,
)

Key: TypeAlias = tuple[int, int, int, int]
"""Sender, receiver, tag, bytes: the key by which simulators match sends and receives."""


def check_messages(traces: Traces) -> None:
    """Raise unless every message is sent once and received once."""
    ends: dict[Key, list[int]] = defaultdict(lambda: [0, 0])
    for rank, trace in enumerate(traces.ranks):
        for step in trace.steps:
            if step.kind != COMPUTE:
                ends[key_of(rank, step)][step.kind == RECEIVE] += 1
    for (source, target, tag, size), counts in sorted(ends.items()):
        if counts != [1, 1]:
            raise InvalidProgram(
                f"/ranks/{source}",
                f"the message to rank {target} with tag {tag} of {size} bytes must be sent and "
                f"received once, not {counts[0]} and {counts[1]} times",
            )


def key_of(rank: int, step: Step) -> Key:
    """Return the key of the message of a send or receive."""
    source, target = (rank, step.peer) if step.kind == SEND else (step.peer, rank)
    return source, target, step.tag, step.size


def check_staging(trace: Trace, place: str) -> None:
    """Raise unless any two staging areas are equal or disjoint."""
    regions = {r for step in trace.steps for r in step.reads + step.writes}
    areas = sorted((r.first, r.end) for r in regions if r.buffer == "staging")
    if any(second[0] < first[1] for first, second in pairwise(areas)):
        raise InvalidProgram(place, "staging areas must not overlap in part")


def check_order(trace: Trace, place: str) -> None:
    """Raise unless any two uses of the same bytes, one of them a write, are ordered."""
    ancestors: list[int] = []
    uses: dict[str, _Uses] = defaultdict(lambda: _Uses(len(trace.steps)))
    for at, step in enumerate(trace.steps):
        before = 0
        for other in step.before:
            before |= ancestors[other] | 1 << other
        ancestors.append(before)
        for region, writes in [(r, False) for r in step.reads] + [(r, True) for r in step.writes]:
            for other in uses[region.buffer].conflicting(region, writes):
                if other != at and not before >> other & 1:
                    raise InvalidProgram(
                        place,
                        f"two nodes race for bytes {region.first} to {region.end} of "
                        f"{region.buffer}: {_told(step)} and {_told(trace.steps[other])}",
                    )
            uses[region.buffer].add(at, region, writes)


def _told(step: Step) -> str:
    names = {SEND: "a send to", RECEIVE: "a receive from"}
    return f"{names[step.kind]} rank {step.peer}" if step.kind in names else "an addition"


class _Uses:
    """The uses of the bytes of a buffer, by node."""

    def __init__(self, nodes: int) -> None:
        self.count = 0
        self.columns = np.zeros((4, 2 * nodes + 2), dtype=np.int64)

    def add(self, node: int, region: Region, writes: bool) -> None:
        if self.count == self.columns.shape[1]:
            self.columns = np.concatenate([self.columns, np.zeros_like(self.columns)], axis=1)
        self.columns[:, self.count] = region.first, region.end, writes, node
        self.count += 1

    def conflicting(self, region: Region, writes: bool) -> list[int]:
        first, end, written, node = self.columns[:, : self.count]
        overlapping = (first < region.end) & (end > region.first)
        return node[overlapping if writes else overlapping & (written == 1)].tolist()
