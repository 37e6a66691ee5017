"""Costs of a schedule, derived link by link from its sends alone."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.schedules.errors import InvalidSchedule
from topoloom.schedules.model.schedule import (
    Schedule,
    SequenceSchedule,
    StepSchedule,
    Tree,
    TreeSchedule,
)
from topoloom.schedules.model.tree_table import tree_table
from topoloom.schedules.verify.link_index import LinkIndex
from topoloom.schedules.verify.sends import flat_sends, sends_off_links
from topoloom.schedules.verify.tree_hops import link_loads
from topoloom.synth.evaluation.cost import Cost
from topoloom.synth.topology.rates import node_capacity
from topoloom.synth.topology.topology import Capacity, NodeId, Topology

_Part = TypeVar("_Part")


def step_cost(schedule: Schedule, topology: Topology) -> Cost:
    """Return the cost of a schedule in steps, counted on every link.

    ``steps`` is the number of steps; ``bandwidth``, in M / B with B as in
    `node_capacity`, is

        B / N * sum over steps of max over links of (shards sent over it) / capacity,

    which is d / N times the sum of the largest loads where d unit links enter and leave every
    node.  In an allreduce in one pass shards are whole buffers: N times as much.  The cost of
    a sequence is the sum over its parts.

    Raises:
        InvalidSchedule: Not in steps, without ranks, or a send uses a missing link.

    >>> from topoloom.schedules.model.schedule import COPY, NO_LINK, SEND, Collective
    >>> pair = Topology(range(2), [(0, 1), (1, 0)])
    >>> step = np.array([(0, 1, 0, 0, 1, NO_LINK, COPY), (1, 0, 1, 0, 1, NO_LINK, COPY)], SEND)
    >>> step_cost(StepSchedule(Collective.ALLGATHER, pair.digest, (0, 1), 1, (step,)), pair)
    Cost(steps=1, bandwidth=Fraction(1, 2))
    """
    parts = [_one_step_cost(part, topology) for part in _parts(schedule, StepSchedule)]
    steps = sum(cost.steps for cost in parts)
    return Cost(steps, sum((cost.bandwidth for cost in parts), Fraction(0)))


def tree_inverse_rate(schedule: Schedule, topology: Topology) -> Fraction:
    """Return the time per byte of a schedule by trees, times N, counted on every link.

    This is the max over links of (weight of the trees that cross the link, `tree_loads`) /
    (capacity * trees_per_root), in 1 / (bandwidth unit); time per byte is that over N.  Parallel
    links share their load, so their capacities add.  Links that share a limit also count
    together against that limit.  The rate of a sequence is the sum over its parts, or
    `together_inverse_rate` for parts that run together.

    Raises:
        InvalidSchedule: Not made of trees, or an edge uses a missing link.

    >>> from topoloom.schedules.model.schedule import Collective, Tree
    >>> pair = Topology(range(2), [(0, 1, 4), (1, 0, 4)])
    >>> trees = (Tree(0, 1, ((0, 1),)), Tree(1, 1, ((1, 0),)))
    >>> tree_inverse_rate(TreeSchedule(Collective.ALLGATHER, pair.digest, (0, 1), 1, trees), pair)
    Fraction(1, 4)
    """
    if isinstance(schedule, SequenceSchedule) and schedule.together:
        return together_inverse_rate(schedule, topology)
    parts = _parts(schedule, TreeSchedule)
    peaks = (busiest_time(_loads_per_tree(part, topology), topology) for part in parts)
    return sum(peaks, Fraction(0))


def together_inverse_rate(schedule: Schedule, topology: Topology) -> Fraction:
    """Return the same for parts that run at once, on links that carry their sum.

    The result is less than that of a sequence where the reduce-scatter of an allreduce loads links
    in one direction and its allgather in the other, as with multicast switches.

    Raises:
        InvalidSchedule: As `tree_inverse_rate`.
    """
    total: dict[tuple[NodeId, NodeId], Fraction] = defaultdict(Fraction)
    parts = _parts(schedule, TreeSchedule)
    for part in parts:
        # Shard sizes of the parts may differ by a common factor.
        scale = Fraction(sum(parts[0].sizes), sum(part.sizes) or 1)
        for hop, load in _loads_per_tree(part, topology).items():
            total[hop] += load * scale
    return busiest_time(total, topology)


def _parts(schedule: Schedule, kind: Callable[..., _Part]) -> list[_Part]:
    parts = schedule.parts if isinstance(schedule, SequenceSchedule) else (schedule,)
    if not all(isinstance(part, kind) for part in parts):  # type: ignore[arg-type]
        raise InvalidSchedule("/kind", f"this cost is defined for {kind.__name__} only")
    return list(parts)  # type: ignore[arg-type]


def _one_step_cost(schedule: StepSchedule, topology: Topology) -> Cost:
    if schedule.chunks_per_shard < 1:
        raise InvalidSchedule("/chunks_per_shard", "must be at least 1")
    sends, starts = flat_sends(schedule)
    unjoined, unchosen, links = sends_off_links(topology, sends)
    if (unjoined | unchosen).any():
        raise InvalidSchedule("/steps", "every send must run over an existing link")
    values = sorted(set(topology.capacities))
    group = np.array([values.index(c) for c in topology.capacities], dtype=np.int64)
    peaks = _peaks(links, sends["count"].astype(np.int64), starts, group, len(values))
    total = Fraction(0)
    for row in peaks.tolist():
        total += max(
            (Fraction(load) / capacity for load, capacity in zip(row, values, strict=True)),
            default=Fraction(0),
        )
    shards = total / schedule.chunks_per_shard
    scale = node_capacity(topology) * schedule.shard_size
    return Cost(len(schedule.steps), shards * scale)


@njit(cache=True, nogil=True)
def _peaks(
    links: NDArray[Any],
    counts: NDArray[Any],
    starts: NDArray[Any],
    group: NDArray[Any],
    groups: int,
) -> NDArray[Any]:  # pragma: no cover
    """Return the largest load in chunks, by step and group of equal capacity.

    No overflow: fewer than 2**31 sends of fewer than 2**31 chunks each.
    """
    load = np.zeros(len(group), dtype=np.int64)
    peaks = np.zeros((len(starts) - 1, groups), dtype=np.int64)
    for step in range(len(starts) - 1):
        for send in range(starts[step], starts[step + 1]):
            load[links[send]] += counts[send]
            at = group[links[send]]
            peaks[step, at] = max(peaks[step, at], load[links[send]])
        for send in range(starts[step], starts[step + 1]):
            load[links[send]] = 0
    return peaks


def tree_loads(
    schedule: TreeSchedule, topology: Topology, *, shared: bool = True
) -> dict[tuple[NodeId, NodeId], int]:
    """Return the weight that crosses every ordered pair of nodes.

    Edges of a tree with a common path up to a multicast switch count once on this path: the switch
    copies or reduces.  With ``shared`` False each edge counts by itself.

    Raises:
        InvalidSchedule: An edge uses a missing link.

    >>> from topoloom.schedules.model.schedule import Collective, Tree
    >>> links = [("a", "w"), ("w", "b"), ("w", "c")]
    >>> fan = Topology("abcw", links, switches="w", multicast="w")
    >>> tree = Tree("a", 1, (("a", "w", "b"), ("a", "w", "c")))
    >>> forest = TreeSchedule(Collective.BROADCAST, fan.digest, tuple("abc"), 1, (tree,), (1, 0, 0))
    >>> tree_loads(forest, fan)["a", "w"], tree_loads(forest, fan, shared=False)["a", "w"]
    (1, 2)
    """
    load: dict[tuple[NodeId, NodeId], int] = defaultdict(int)
    if not (shared and topology.multicast):
        names, links = topology.nodes, LinkIndex.of(topology)
        loads = link_loads(tree_table(schedule.trees, names), links)
        for link in np.flatnonzero(loads).tolist():
            tail, head = divmod(int(links.pairs[link]), len(names))
            load[names[tail], names[head]] = int(loads[link])
        return load
    for tree in schedule.trees:
        for hop in _shared_hops(tree, topology.multicast, schedule.collective.outward):
            load[hop] += tree.weight
    if not load.keys() <= {(link.source, link.target) for link in topology.links}:
        raise InvalidSchedule("/trees", "every edge must run over existing links")
    return load


def _shared_hops(
    tree: Tree, multicast: frozenset[NodeId], outward: bool
) -> Iterator[tuple[NodeId, NodeId]]:
    """Yield every hop once per crossing: edges share hops up to the next copying switch."""
    sent: set[tuple[NodeId, ...]] = set()
    for edge in tree.edges:
        path = edge if outward else edge[::-1]
        begin = 0
        for at in range(1, len(path)):
            if at < len(path) - 1 and path[at] not in multicast:
                continue
            if path[: at + 1] not in sent:
                sent.add(path[: at + 1])
                yield from pairwise(path[begin : at + 1] if outward else path[begin : at + 1][::-1])
            begin = at


def _loads_per_tree(
    schedule: TreeSchedule, topology: Topology
) -> dict[tuple[NodeId, NodeId], Fraction]:
    """Return the load of every pair of nodes, per tree of a root."""
    if schedule.trees_per_root < 1:
        raise InvalidSchedule("/trees_per_root", "must be at least 1")
    load = tree_loads(schedule, topology)
    return {hop: Fraction(weight, schedule.trees_per_root) for hop, weight in load.items()}


def busiest_time(loads: Mapping[tuple[NodeId, NodeId], Fraction], topology: Topology) -> Fraction:
    """Return the largest load over its capacity, of pairs of nodes and of shared limits.

    >>> pair = Topology("ab", [("a", "b", 2), ("b", "a", 3)])
    >>> busiest_time({("a", "b"): Fraction(1), ("b", "a"): Fraction(2)}, pair)
    Fraction(2, 3)
    """
    capacity: dict[tuple[NodeId, NodeId], Capacity] = defaultdict(int)
    for link in topology.links:
        capacity[link.source, link.target] += link.capacity
    peaks = [load / capacity[hop] for hop, load in loads.items()]
    none = Fraction(0)
    peaks += [
        sum((loads.get(pair, none) for pair in limit.links), none) / limit.capacity
        for limit in topology.shared
    ]
    return max(peaks, default=none)
