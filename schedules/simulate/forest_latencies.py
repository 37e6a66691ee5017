"""Latencies of trees in their own links, without messages: per level, and of an empty message.

Messages with their needs take ten seconds for the million edges of a collective of 1,024 ranks.
"""

from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise
from math import lcm
from typing import NamedTuple

from topoloom.schedules.errors import InvalidSchedule, NoSchedule
from topoloom.schedules.model.schedule import Schedule, TreeSchedule, schedule_parts
from topoloom.synth.topology.topology import NodeId, Topology

_Edge = tuple[NodeId, ...]


class ForestLatencies(NamedTuple):
    """``by_level``: the largest latency of an edge of each level; ``longest``: of all messages.

    Levels are in order of time: from the leaves to the roots where data is reduced, and those of
    concurrent parts one part after the other.
    """

    by_level: tuple[Fraction, ...]
    longest: Fraction


class _Part(NamedTuple):
    """Latencies by level, and of the longest path of each root, in ticks."""

    by_level: list[int]
    longest: dict[NodeId, int]


def forest_latencies(schedule: Schedule, topology: Topology) -> ForestLatencies:
    """Return the latencies of valid trees where each link has its own.

    Parts of a sequence run together: the trees of a root in the second part wait for all trees of
    this root in the first.

    Raises:
        NoSchedule: The topology states no latencies.
        InvalidSchedule: Edges of a tree do not follow one another.

    An empty message takes the sum of the latencies on its way; a tree takes the largest sum on a
    path to a rank, whichever way the data moves.  O(edges).

    >>> from topoloom.schedules.model.schedule import Collective, Tree
    >>> times = {(0, 1): Fraction(1, 2), (1, 2): Fraction(1, 3), (0, 3): Fraction(3, 4)}
    >>> tree = Tree(0, 1, ((0, 1), (0, 3), (1, 2)))
    >>> fork = Topology(range(4), list(times), latencies=times)
    >>> spread = TreeSchedule(
    ...     Collective.BROADCAST, fork.digest, tuple(range(4)), 1, (tree,), (1, 0, 0, 0))
    >>> found = forest_latencies(spread, fork)
    >>> found.by_level, found.longest
    ((Fraction(3, 4), Fraction(1, 3)), Fraction(5, 6))
    """
    if not topology.latencies:
        raise NoSchedule("/alpha_seconds", "must be given: the topology states no latencies")
    scale = lcm(*(latency.denominator for latency in topology.latencies.values()))
    of_edge = _OfEdge({pair: int(one * scale) for pair, one in topology.latencies.items()})
    forests = [part for part in schedule_parts(schedule) if isinstance(part, TreeSchedule)]
    parts = [_of_part(forest, of_edge) for forest in forests]
    return ForestLatencies(
        tuple(Fraction(ticks, scale) for part in parts for ticks in part.by_level),
        Fraction(_longest(part.longest for part in parts), scale),
    )


class _OfEdge(dict[_Edge, int]):
    """The ticks of an edge; most trees have the same edges."""

    def __init__(self, of_link: dict[tuple[NodeId, NodeId], int]) -> None:
        super().__init__()
        self._of_link = of_link

    def __missing__(self, edge: _Edge) -> int:
        ticks = self[edge] = sum(self._of_link[hop] for hop in pairwise(edge))
        return ticks


def _of_part(forest: TreeSchedule, of_edge: _OfEdge) -> _Part:
    near_end, far_end = (0, -1) if forest.collective.outward else (-1, 0)
    by_depth: list[int] = []
    longest: dict[NodeId, int] = defaultdict(int)
    for tree in forest.trees:
        reached = {tree.root: (0, 0)}
        for edge in tree.edges:
            ticks, near = of_edge[edge], edge[near_end]
            if near not in reached:
                raise InvalidSchedule("/trees", "edges must follow one another")
            depth, ahead = reached[near]
            if depth == len(by_depth):
                by_depth.append(0)
            by_depth[depth] = max(by_depth[depth], ticks)
            reached[edge[far_end]] = depth + 1, ahead + ticks
        latest = max(late for _, late in reached.values())
        longest[tree.root] = max(longest[tree.root], latest)
    return _Part(by_depth if near_end == 0 else by_depth[::-1], longest)


def _longest(parts: Iterable[dict[NodeId, int]]) -> int:
    """Return the largest sum over all parts of the longest paths of a root."""
    sums: dict[NodeId, int] = defaultdict(int)
    for part in parts:
        for root, ticks in part.items():
            sums[root] += ticks
    return max(sums.values(), default=0)
