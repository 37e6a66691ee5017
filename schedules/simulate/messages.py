"""A schedule as messages: the links of each message, and the messages it waits for.

Messages are in *program order*: by level, which is the step of a send or the depth of an edge,
then as listed in the schedule.  A reduce-scatter by trees starts at the deepest edges: its levels
count down to the root.  For parts that run together the levels of the second part follow those of
the first.
"""

from collections import defaultdict
from fractions import Fraction
from itertools import pairwise
from math import lcm
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.schedules.errors import InvalidSchedule, TooLarge
from topoloom.schedules.model.schedule import SequenceSchedule, StepSchedule, TreeSchedule
from topoloom.schedules.verify.sends import flat_sends, sends_off_links
from topoloom.synth.topology.topology import Capacity, NodeId, Topology

MAX_COMPARISONS = 1 << 33
"""Maximum number of pairs of sends compared to derive dependencies."""

Ints = NDArray[np.int64]


class Messages(NamedTuple):
    """Messages in program order.

    The hops of message m are ``hops[hop_start[m]:hop_start[m + 1]]``, indices of links;
    its dependencies are ``needs[need_start[m]:need_start[m + 1]]``, indices of messages.
    Level v consists of messages ``starts[v]`` to ``starts[v + 1] - 1``.
    """

    units: list[int]
    """Data of each message, in units of ``unit`` times M."""
    unit: Fraction
    hop_start: Ints
    hops: Ints
    starts: Ints
    need_start: Ints
    needs: Ints
    first_chunk: Ints
    """First chunk within the shard; pieces need it where sends overlap in part."""
    chunk_count: Ints
    """Number of chunks."""
    opens: NDArray[np.bool_]
    """Whether the send starts a message: the first send of a step over a link does."""
    capacities: tuple[Capacity, ...]
    """By link.  Trees do not distinguish parallel links: these are one link here."""
    sources: Ints
    """By link, the position of its source node."""
    latencies: tuple[Fraction, ...]
    """By link, its latency in seconds; empty if the topology states none."""
    link_of: Ints
    """By link of the topology, its index here."""
    staggered: bool
    """Whether the pieces of a message may be pipelined through the levels."""


def messages_of(
    schedule: StepSchedule | TreeSchedule | SequenceSchedule, topology: Topology
) -> Messages:
    """Return the messages of one part of a schedule, or of parts that run together.

    Raises:
        InvalidSchedule: A send or an edge uses a missing link, edges do not follow one another, or
            a number is out of its range.
        TooLarge: More than `MAX_COMPARISONS` pairs of sends must be compared.

    A send waits for every earlier send that brought its source a part of the same chunks.  An edge
    away from the root waits for the edge before it; an edge towards the root waits for all edges
    that end at its start.  Where parts run together, data leaves a root after all contributions
    are reduced there.
    """
    if isinstance(schedule, SequenceSchedule):
        return _of_together(schedule, topology)
    _require_ranks(schedule, topology)
    if isinstance(schedule, StepSchedule):
        return _of_steps(schedule, topology)
    return _of_edges(_edges(schedule), topology)


def _require_ranks(schedule: StepSchedule | TreeSchedule, topology: Topology) -> None:
    if not schedule.ranks or not set(schedule.ranks) <= set(topology.compute_nodes):
        raise InvalidSchedule("/ranks", "must be compute nodes of the topology")


def _of_steps(schedule: StepSchedule, topology: Topology) -> Messages:
    if schedule.chunks_per_shard < 1:
        raise InvalidSchedule("/chunks_per_shard", "must be at least 1")
    sends, starts = flat_sends(schedule)
    unjoined, unchosen, links = sends_off_links(topology, sends)
    if (unjoined | unchosen).any():
        raise InvalidSchedule("/steps", "every send must run over an existing link")
    columns = [
        np.ascontiguousarray(sends[name], np.int64)
        for name in ("source", "target", "shard", "first", "count")
    ]
    source, target, shard, first, count = columns
    if (count < 1).any() or (first < 0).any():
        raise InvalidSchedule("/steps", "every send must hold chunks of its shard")
    steps = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    opens = np.zeros(len(sends), np.bool_)
    opens[np.unique(steps * topology.link_count + links, return_index=True)[1]] = True
    order = np.argsort(shard, kind="stable")
    arguments = (order, source, target, shard, first, count, steps, len(topology.compute_nodes))
    need_start = np.zeros(len(sends) + 1, np.int64)
    if _find_needs(*arguments, need_start, np.zeros(0, np.int64), False) > MAX_COMPARISONS:
        raise TooLarge("/steps", f"more than {MAX_COMPARISONS} pairs of sends to compare")
    np.cumsum(need_start, out=need_start)
    needs = np.zeros(int(need_start[-1]), np.int64)
    _find_needs(*arguments, need_start, needs, True)
    return Messages(
        count.tolist(),
        schedule.shard_size / schedule.chunks_per_shard,
        np.arange(len(sends) + 1, dtype=np.int64),
        links,
        starts,
        need_start,
        needs,
        first,
        count,
        opens,
        topology.capacities,
        topology.sources.astype(np.int64),
        tuple(topology.latencies[link[:2]] for link in topology.links if topology.latencies),
        np.arange(topology.link_count),
        False,
    )


@njit(cache=True, nogil=True)
def _find_needs(
    order, source, target, shard, first, count, steps, ranks, need_start, needs, fill
):  # pragma: no cover
    """Count what each send needs into need_start[send + 1], or fill ``needs``.

    Arrivals of one shard at a rank form a linked list, newest first.
    """
    head = np.full(ranks, -1, np.int64)
    before = np.full(len(order), -1, np.int64)
    compared = 0
    begin = 0
    for at in range(len(order)):
        if shard[order[at]] != shard[order[begin]]:
            for done in range(begin, at):
                head[target[order[done]]] = -1
            begin = at
        send = order[at]
        found = need_start[send] if fill else 0
        other = head[source[send]]
        while other >= 0:
            compared += 1
            if (
                steps[other] < steps[send]
                and first[other] < first[send] + count[send]
                and first[send] < first[other] + count[other]
            ):
                if fill:
                    needs[found] = other
                found += 1
            other = before[other]
        if not fill:
            need_start[send + 1] = found
        if compared > MAX_COMPARISONS:
            return compared
        before[send] = head[target[send]]
        head[target[send]] = send
    return compared


def _program_order(edges: "_Edges") -> list[int]:
    return np.argsort(np.array(edges.levels, np.int64), kind="stable").tolist()


class _Edges(NamedTuple):
    """Edges of all trees in the order of the schedule; weights in units of ``unit`` times M."""

    unit: Fraction
    levels: list[int]
    weights: list[int]
    paths: list[tuple[NodeId, ...]]
    needs: list[tuple[int, ...]]


def _of_together(schedule: SequenceSchedule, topology: Topology) -> Messages:
    """Return the messages of a reduce-scatter and an allgather pipelined by slices."""
    parts = [part for part in schedule.parts if isinstance(part, TreeSchedule)]
    if len(parts) != 2 or len(schedule.parts) != 2:
        raise InvalidSchedule("/parts", "must be two, by trees, where they run together")
    for part in parts:
        _require_ranks(part, topology)
    first, second = map(_edges, parts)
    added: dict[NodeId, list[int]] = defaultdict(list)
    at = 0
    for tree in parts[0].trees:
        added[tree.root] += [
            number for number, edge in enumerate(tree.edges, at) if edge[-1] == tree.root
        ]
        at += len(tree.edges)
    roots = [tree.root for tree in parts[1].trees for _ in tree.edges]
    needs = [
        tuple(need + at for need in needed) if needed else tuple(added[root])
        for needed, root in zip(second.needs, roots, strict=True)
    ]
    height = 1 + max(first.levels, default=-1)
    unit = Fraction(1, lcm(first.unit.denominator, second.unit.denominator))
    weights = [
        weight * int(part.unit / unit) for part in (first, second) for weight in part.weights
    ]
    levels = first.levels + [height + level for level in second.levels]
    both = _Edges(unit, levels, weights, first.paths + second.paths, first.needs + needs)
    return _of_edges(both, topology)


def _of_edges(edges: _Edges, topology: Topology) -> Messages:
    capacity: dict[tuple[NodeId, NodeId], Capacity] = defaultdict(int)
    for link in topology.links:
        capacity[link.source, link.target] += link.capacity
    index = {pair: at for at, pair in enumerate(capacity)}
    order = _program_order(edges)
    place = {edge: message for message, edge in enumerate(order)}
    depth = max(edges.levels, default=-1) + 1
    return Messages(
        [edges.weights[edge] for edge in order],
        edges.unit,
        _starts(len(edges.paths[edge]) - 1 for edge in order),
        np.array(
            [_link(index, hop) for edge in order for hop in pairwise(edges.paths[edge])], np.int64
        ),
        _starts(np.bincount(np.array(edges.levels, np.int64), minlength=depth).tolist()),
        _starts(len(edges.needs[edge]) for edge in order),
        np.array([place[need] for edge in order for need in edges.needs[edge]], np.int64),
        np.zeros(len(order), np.int64),
        np.ones(len(order), np.int64),
        np.ones(len(order), np.bool_),
        tuple(capacity.values()),
        np.array([topology.position[source] for source, _ in capacity], np.int64),
        tuple(topology.latencies[pair] for pair in capacity if topology.latencies),
        np.array([index[link.source, link.target] for link in topology.links], np.int64),
        True,
    )


def _edges(schedule: TreeSchedule) -> _Edges:
    if schedule.trees_per_root < 1:
        raise InvalidSchedule("/trees_per_root", "must be at least 1")
    if min(schedule.sizes) < 0 or not any(schedule.sizes):
        raise InvalidSchedule("/shards", "must be sizes from 0, and not all 0")
    outward = schedule.collective.outward
    depths: list[int] = []
    weights: list[int] = []
    paths: list[tuple[NodeId, ...]] = []
    needs: list[tuple[int, ...]] = []
    for number, tree in enumerate(schedule.trees):
        if tree.weight < 1:
            raise InvalidSchedule(f"/trees/{number}/weight", "must be at least 1")
        reached: dict[NodeId, tuple[int, int]] = {tree.root: (0, -1)}
        above: dict[int, list[int]] = defaultdict(list)
        begin = len(paths)
        for edge in tree.edges:
            if len(edge) < 2:
                raise InvalidSchedule(f"/trees/{number}", "edges must have two ends")
            near, far = (edge[0], edge[-1]) if outward else (edge[-1], edge[0])
            if near not in reached or far in reached:
                raise InvalidSchedule(f"/trees/{number}", "edges must follow one another")
            depth, parent = reached[near]
            reached[far] = (depth + 1, len(paths))
            above[parent].append(len(paths))
            depths.append(depth)
            weights.append(tree.weight)
            paths.append(edge)
            needs.append((parent,) if parent >= 0 else ())
        if not outward:
            needs[begin:] = [tuple(above[edge]) for edge in range(begin, len(paths))]
    deepest = max(depths, default=0)
    levels = depths if outward else [deepest - depth for depth in depths]
    unit = Fraction(1, schedule.trees_per_root * sum(schedule.sizes))
    return _Edges(unit, levels, weights, paths, needs)


def _link(index: dict[tuple[NodeId, NodeId], int], hop: tuple[NodeId, NodeId]) -> int:
    if hop not in index:
        raise InvalidSchedule("/trees", "every edge must run over existing links")
    return index[hop]


def _starts(counts: Any) -> Ints:
    sizes = np.fromiter(counts, np.int64)
    starts = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts
