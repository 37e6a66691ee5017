"""Rings over all ranks of a fabric, each with reserved link capacity: NCCL's channels.

NCCL searches for rings of equal width, depth first.  This search favors the baseline: it packs
rings of any width (`ring_packing`).
"""

from collections import defaultdict
from fractions import Fraction
from itertools import pairwise

from topoloom.schedules.baselines.nccl.boxes import OUTSIDE, BoxAlone, box_alone
from topoloom.schedules.baselines.nccl.rank_paths import RankPaths
from topoloom.schedules.baselines.nccl.ring_packing import Ring, pack_rings
from topoloom.synth.topology.topology import NodeId, Topology

MAX_CHANNELS = 64
"""NCCL's maximum number of channels."""


def rings(topology: Topology, most: int = MAX_CHANNELS) -> tuple[Ring, ...]:
    """Return rings over all ranks, at most ``most``, as wide in all as the search finds.

    The search (`ring_packing`) is on one box alone if all boxes of the fabric are equal (`boxes`).
    Each of its rings then goes through one box after another.

    >>> from topoloom.synth.fabrics import fabric
    >>> [str(ring.width) for ring in rings(fabric("dgx-a100-2"))]
    ['25', '25', '25', '25', '25', '25', '25', '25']
    >>> [len(rings(fabric(name))) for name in ("dgx-h100-1", "dgx-1v")]
    [1, 4]
    """
    return _packed_by_box(topology, most) or pack_rings(topology, most)


def _packed_by_box(topology: Topology, most: int) -> tuple[Ring, ...]:
    """Return rings through one box after another; none if boxes differ, or cannot be joined."""
    alone = box_alone(topology)
    if alone is None:
        return ()
    packed, between = pack_rings(alone.topology, most), RankPaths(topology)
    for alternating in (False, True):
        joined = [_through_boxes(between, ring, alone, alternating) for ring in packed]
        found = [ring for ring in joined if ring is not None]
        if len(found) == len(packed):
            return _scaled(between, found)
    return ()


def _through_boxes(
    between: RankPaths, ring: Ring, alone: BoxAlone, alternating: bool
) -> Ring | None:
    """Return the ring through all boxes; None if the end in a box does not reach the next box.

    An ``alternating`` ring goes through every other box backwards.  It then leaves each box by the
    rank by which it enters the next box, as rails require.
    """
    outside = next(at for at, path in enumerate(ring.paths) if path[0] == OUTSIDE)
    _, *inner, _ = ring.paths[outside:] + ring.paths[:outside]
    backwards = [path[::-1] for path in inner[::-1]]
    turns = []
    for number, copy in enumerate(alone.copies):
        chosen = backwards if alternating and number % 2 else inner
        turns.append([tuple(copy[node] for node in path) for path in chosen])
    paths = []
    for turn, following in pairwise((*turns, turns[0])):
        across = between.paths_from(turn[-1][-1]).get(following[0][0])
        if across is None or any(
            hop not in between.capacity for path in turn for hop in pairwise(path)
        ):
            return None
        paths.extend((*turn, across))
    return Ring(tuple(paths), ring.width)


def _scaled(between: RankPaths, packed: list[Ring]) -> tuple[Ring, ...]:
    """Return the rings with widths reduced by one factor, such that all links carry them."""
    load: defaultdict[tuple[NodeId, NodeId], Fraction] = defaultdict(Fraction)
    for ring in packed:
        for path in ring.paths:
            for hop in pairwise(path):
                load[hop] += ring.width
    factor = min(1, *(between.capacity[hop] / width for hop, width in load.items()))
    return tuple(ring._replace(width=ring.width * factor) for ring in packed)
