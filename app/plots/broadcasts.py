"""The path of one shard through a schedule, with a layout from its owner on.

A tree schedule has several trees per root, each with a part of the shard.  A step schedule has one
broadcast per shard, in which chunks may reach a rank from different ranks.  Both become a
`Broadcast`: arcs between ranks, and depth and row of every rank.
"""

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.model.schedule import (
    COPY,
    Schedule,
    StepSchedule,
    Tree,
    TreeSchedule,
    schedule_parts,
)
from topoloom.synth.topology.topology import NodeId


@dataclass(frozen=True, slots=True)
class Arc:
    """An arc from ``near``, the rank toward the root, to ``far``, through switches.

    ``share`` is the share of the shown data on the arc.
    """

    near: NodeId
    far: NodeId
    through: tuple[NodeId, ...]
    share: Fraction


@dataclass(frozen=True, slots=True)
class Broadcast:
    """Arcs, and the layout of the ranks.

    ``outward`` is true if data moves away from the root; ``columns`` names the depths from 1.
    """

    root: NodeId
    title: str
    outward: bool
    columns: tuple[str, ...]
    arcs: tuple[Arc, ...]
    depth: dict[NodeId, int]
    row: dict[NodeId, float]


def broadcast_of(
    schedule: Schedule, root: str, tree: int = 1, part: int | None = None
) -> Broadcast:
    """Return the path of the shard of one rank in a valid schedule.

    Args:
        root: Id of the rank, as a text.
        tree: Number of the tree of the root, from 1, heaviest first; a step schedule has one tree.
        part: Number of the part of a sequence, from 1; default: the last.

    Raises:
        NoSchedule: The schedule has no such part, rank or tree.
    """
    chosen = _part(schedule, part)
    named = {str(rank): rank for rank in chosen.ranks}
    if root not in named:
        raise NoSchedule("/root", f"must be a rank of the schedule, not {root!r}")
    if isinstance(chosen, TreeSchedule):
        return _of_tree(chosen, named[root], tree)
    if tree != 1:
        raise NoSchedule("/tree", "must be 1: a step schedule has one tree per shard")
    return _of_steps(chosen, named[root])


def _part(schedule: Schedule, part: int | None) -> StepSchedule | TreeSchedule:
    parts = schedule_parts(schedule)
    if part is not None and not 1 <= part <= len(parts):
        raise NoSchedule("/part", f"must lie in 1 to {len(parts)}")
    return parts[-1 if part is None else part - 1]


def _of_tree(schedule: TreeSchedule, root: NodeId, number: int) -> Broadcast:
    trees = sorted((t for t in schedule.trees if t.root == root), key=lambda t: -t.weight)
    if not trees:
        raise NoSchedule("/root", f"must have data of its own; {root!r} has none")
    if not 1 <= number <= len(trees):
        raise NoSchedule("/tree", f"must lie in 1 to {len(trees)}, the trees of {root!r}")
    tree, outward = trees[number - 1], schedule.collective.outward
    arcs = tuple(_arc(edge if outward else edge[::-1]) for edge in tree.edges)
    size = schedule.sizes[schedule.ranks.index(root)]
    share = Fraction(tree.weight, schedule.trees_per_root * size)
    suffix = "" if share == 1 else f", with {share} of its shard"
    title = f"{schedule.collective}: tree {number} of {len(trees)} of rank {root}{suffix}"
    depth = _tree_depths(tree, arcs)
    columns = tuple(f"depth {level}" for level in range(1, max(depth.values()) + 1))
    return Broadcast(root, title, outward, columns, arcs, depth, _rows(root, arcs, depth))


def _arc(edge: tuple[NodeId, ...]) -> Arc:
    return Arc(edge[0], edge[-1], edge[1:-1], Fraction(1))


def _tree_depths(tree: Tree, arcs: tuple[Arc, ...]) -> dict[NodeId, int]:
    depth = {tree.root: 0}
    for arc in arcs:
        depth[arc.far] = depth[arc.near] + 1
    return depth


def _of_steps(schedule: StepSchedule, root: NodeId) -> Broadcast:
    shard, outward = schedule.ranks.index(root), True
    moved: dict[tuple[NodeId, NodeId], int] = defaultdict(int)
    depth: dict[NodeId, int] = {root: 0}
    # A reduction in reverse is a broadcast: a rank sends its sum last.
    for number, step in enumerate(schedule.steps):
        for source, target, of, _, count, _, op in step.tolist():
            if of != shard:
                continue
            outward = op == COPY
            near, far = (source, target) if outward else (target, source)
            at = number + 1 if outward else len(schedule.steps) - number
            moved[schedule.ranks[near], schedule.ranks[far]] += count
            depth[schedule.ranks[far]] = min(at, depth.get(schedule.ranks[far], at))
    arcs = tuple(
        Arc(near, far, (), Fraction(count, schedule.chunks_per_shard))
        for (near, far), count in moved.items()
    )
    title = f"{schedule.collective}: the shard of rank {root}"
    steps = range(1, len(schedule.steps) + 1)
    columns = tuple(f"step {step}" for step in (steps if outward else reversed(steps)))
    return Broadcast(root, title, outward, columns, arcs, depth, _rows(root, arcs, depth))


def _rows(root: NodeId, arcs: tuple[Arc, ...], depth: dict[NodeId, int]) -> dict[NodeId, float]:
    """Return the rows: one per leaf, top to bottom; inner ranks in the middle of their leaves."""
    main: dict[NodeId, Arc] = {}
    for arc in arcs:
        if depth[arc.near] < depth[arc.far] and (
            arc.far not in main or main[arc.far].share < arc.share
        ):
            main[arc.far] = arc
    children: dict[NodeId, list[NodeId]] = defaultdict(list)
    for far, arc in main.items():
        children[arc.near].append(far)
    row: dict[NodeId, float] = {}
    leaves = 0
    stack = [(root, False)]
    while stack:
        node, done = stack.pop()
        below = children[node]
        if done:
            row[node] = (row[below[0]] + row[below[-1]]) / 2
        elif below:
            stack.append((node, True))
            stack += [(child, False) for child in reversed(below)]
        else:
            row[node] = float(leaves)
            leaves += 1
    return row
