"""The model file of a traced job: the operations of one rank of each pipeline stage.

All ranks of a stage run in step, so the trace of one stands for all of them.  What follows a
receive waits for the send of the other stage.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from graphlib import CycleError
from itertools import pairwise
from typing import Any

from topoloom.schedules.errors import TooLarge
from topoloom.schedules.formats.job_traces.node_order import node_order
from topoloom.schedules.formats.job_traces.nodes import Kind, RankTrace, fault
from topoloom.schedules.formats.job_traces.rank_layout import (
    RankLayout,
    chosen_traces,
    rank_layout,
)
from topoloom.schedules.formats.operation_list import MAX_OPERATIONS
from topoloom.schedules.iterations.communications import Traffic

_FLOPS_PER_NANOSECOND = 10**6
"""A rate that orders computations without a measured time."""
_SENDS = (Traffic.SEND_NEXT, Traffic.SEND_PREVIOUS, Traffic.SEND_MIRROR)
_DEFAULT_STREAM = {Kind.COMPUTE: "compute", Kind.HOST: "host"}
_COUNTED = (
    "Computations without seconds take the time of their floating-point operations; the bytes that "
    "they read and write are not counted."
)
_READY = (
    "The trace has no start times: a rank computes first what is ready first if communication "
    "takes no time."
)


def job_model(traces: Sequence[RankTrace], source: str) -> dict[str, Any]:
    """Return the document of a model file for the traces of some ranks.

    Args:
        traces: A trace of at least one rank of every pipeline stage.
        source: The kind of traces.

    Raises:
        NoSchedule: The groups are no grid, ranks of a stage communicate differently, a stage or
            the other end of a message is missing, or nodes wait for each other.
        TooLarge: There are more than `MAX_OPERATIONS` operations.

    >>> from topoloom.schedules.formats.job_traces.nodes import Node
    >>> work = Node("a", Kind.COMPUTE, nanoseconds=500), Node("b", Kind.COLLECTIVE, (0,), size=8)
    >>> model = job_model([RankTrace("trace.0.et", 0, work), RankTrace("trace.1.et", 1, work)], "")
    >>> model["parallel"], model["operations"][0]["seconds"]
    ({'data': 2}, '1/2000000')
    """
    traces = sorted(traces, key=lambda one: one.rank)
    for before, after in pairwise(traces):
        if before.rank == after.rank:
            rule = f"must not be of rank {after.rank}, whose trace is {before.file[:200]}"
            raise fault(after.file, None, rule)
    layout = rank_layout(traces)
    chosen = chosen_traces(traces, layout)
    model: dict[str, Any] = {"name": "trace", "source": source}
    if layout.sizes:
        model["parallel"] = dict(layout.sizes)
    model["operations"] = _Operations(chosen, layout).listed()
    model["notes"] = list(dict.fromkeys([*layout.notes, *_facts(traces, chosen, layout)]))
    return model


def _facts(
    traces: Sequence[RankTrace], chosen: Sequence[RankTrace], layout: RankLayout
) -> Iterator[str]:
    """Yield what the model takes for granted."""
    ranks = 1
    for _, size in layout.sizes:
        ranks *= size
    if len(traces) < ranks and not traces[0].sizes:
        yield (
            f"{len(traces)} of {ranks} ranks have a trace; the others do what the rank of their "
            "pipeline stage does."
        )
    if any(_amounts(one) != _amounts(chosen[layout.stage(one.rank)]) for one in traces):
        ranks_of = ", ".join(str(one.rank) for one in chosen[:8])
        yield f"Ranks of a stage differ in seconds or bytes; those of rank {ranks_of} count."
    nodes = [one for trace in chosen for one in trace.nodes]
    if not any(one.start for one in nodes):
        yield _READY
    if any(one.flops for one in nodes):
        yield _COUNTED
    for one in traces:
        yield from one.notes


def _amounts(trace: RankTrace) -> list[tuple[int, int, int]]:
    return sorted((one.nanoseconds, one.flops, one.size) for one in trace.nodes)


class _Operations:
    """The operations of all stages in the making; nodes of all stages are numbered in a row."""

    def __init__(self, chosen: Sequence[RankTrace], layout: RankLayout) -> None:
        self.chosen, self.layout = chosen, layout
        self.nodes = [one for trace in chosen for one in trace.nodes]
        self.stage = [stage for stage, trace in enumerate(chosen) for _ in trace.nodes]
        self.before: list[tuple[int, ...]] = []
        for trace in chosen:
            first = len(self.before)
            self.before += [tuple(first + at for at in one.before) for one in trace.nodes]
        self._join_messages()
        self.made: list[dict[str, Any]] = []

    def listed(self) -> list[dict[str, Any]]:
        """Return the entries of a model file, each after those that it waits for."""
        streams = [
            f"{name}/{self.stage[at]}" if (name := self._stream(at)) else ""
            for at in range(len(self.nodes))
        ]
        lengths = [one.nanoseconds + one.flops // _FLOPS_PER_NANOSECOND for one in self.nodes]
        try:
            order = node_order(self.before, streams, [one.start for one in self.nodes], lengths)
        except CycleError as error:
            raise self._fault(error.args[1], "must not wait for itself in a circle") from None
        # By node: the entries that complete it.
        ends: dict[int, tuple[int, ...]] = {}
        for at in order:
            after = tuple(sorted({end for other in self.before[at] for end in ends[other]}))
            entry = self._entry(at)
            if not entry and len(after) < 2:
                ends[at] = after
                continue
            if len(self.made) == MAX_OPERATIONS:
                raise TooLarge("", f"must have at most {MAX_OPERATIONS} operations")
            ends[at] = (len(self.made),)
            self.made.append(self._described(at, after, entry))
        if not self.made:
            raise fault(self.chosen[0].file, None, "must have a computation or a communication")
        return self.made

    def _described(self, at: int, after: tuple[int, ...], entry: dict[str, Any]) -> dict[str, Any]:
        described: dict[str, Any] = {"name": self.nodes[at].name[:100]}
        if self.stage[at]:
            described["stage"] = self.stage[at]
        if entry:
            described["stream"] = self._stream(at)
        if after:
            described["after"] = list(after)
        return described | entry

    def _entry(self, at: int) -> dict[str, Any]:
        """Return the work of a node: empty for a point in time."""
        one = self.nodes[at]
        if one.kind in (Kind.COMPUTE, Kind.HOST):
            host = {"host": True} if one.kind is Kind.HOST else {}
            if one.nanoseconds:
                return {"seconds": str(Fraction(one.nanoseconds, 10**9))} | host
            return {"flops": one.flops} | host
        if one.kind is Kind.SEND:
            return {"collective": str(self._traffic(at)), "bytes": one.size}
        dimensions = self._dimensions(at)
        if not dimensions:
            return {}
        size = "shard_bytes" if one.of_shard else "bytes"
        return {
            "group": "+".join(dimensions),
            "collective": str(one.traffic),
            size: one.size,
        }

    def _stream(self, at: int) -> str:
        """Return the stream of a node; empty for a point in time."""
        one = self.nodes[at]
        if one.kind is Kind.SEND:
            return one.stream or str(self._traffic(at))
        if one.kind is Kind.COLLECTIVE:
            dimensions = self._dimensions(at)
            return (one.stream or "+".join(dimensions)) if dimensions else ""
        return one.stream or _DEFAULT_STREAM.get(one.kind, "")

    def _dimensions(self, at: int) -> tuple[str, ...]:
        one = self.nodes[at]
        return self.layout.dimensions[one.group] if one.kind is Kind.COLLECTIVE else ()

    def _traffic(self, at: int) -> Traffic:
        source, target = self.stage[at], self.layout.stage(self.nodes[at].peer)
        ways = _SENDS if target > source else (_SENDS[1], _SENDS[0], _SENDS[2])
        for one in ways:
            if one.target(source, len(self.chosen)) == target:
                return one
        rule = f"must send to the next, previous or mirrored stage, not from {source} to {target}"
        raise self._fault(at, rule)

    def _join_messages(self) -> None:
        """Let every receive wait for its send; both ends come in the order of their files."""
        ends: dict[tuple[int, int, int], tuple[list[int], list[int]]] = defaultdict(
            lambda: ([], [])
        )
        for at, one in enumerate(self.nodes):
            here = self.stage[at]
            if one.kind is Kind.SEND:
                ends[here, self.layout.stage(one.peer), one.tag][0].append(at)
            elif one.kind is Kind.RECEIVE:
                ends[self.layout.stage(one.peer), here, one.tag][1].append(at)
        for (source, target, tag), (sends, receives) in ends.items():
            if len(sends) != len(receives):
                extra = (sends if len(sends) > len(receives) else receives)[-1]
                rule = (
                    f"the message from stage {source} to {target} with tag {tag} must be sent and "
                    "received equally often"
                )
                raise self._fault(extra, rule)
            for sent, got in zip(sends, receives, strict=True):
                if self.nodes[sent].size != self.nodes[got].size:
                    rule = f"must receive the {self.nodes[sent].size} bytes that are sent"
                    raise self._fault(got, rule)
                self.before[got] = (*self.before[got], sent)

    def _fault(self, at: int, rule: str) -> Exception:
        return fault(self.chosen[self.stage[at]].file, repr(self.nodes[at].name[:50]), rule)
