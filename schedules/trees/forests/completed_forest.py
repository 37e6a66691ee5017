"""A forest beside a fault: images of a few trees, completed by the ranks near the fault.

A fault leaves most parts of a fabric equivalent: a group of automorphisms *moves* most ranks, and
the others are few.  Images of a few trees span the moved ranks (`symmetry.symmetric_forest`), and
trees between the moved ranks as one and the others are packed in what the images leave
(`joint_rank`).  Each image gets packed trees of the joint rank, whose edges start at its lowest
ranks with free arcs.  A packed tree of another rank enters the moved ranks at one of them, and
is grown from there to all, arc by arc.

Images and growth are greedy: where they fail, the caller packs the whole network.  The work is that
of one tree for each orbit of ranks and each rank near the fault, instead of one for each rank.
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.trees import limits
from topoloom.schedules.trees.flow.network import Network
from topoloom.schedules.trees.forests.joint_rank import JointTree, Steps, joint_nodes, joint_trees
from topoloom.schedules.trees.symmetry.automorphisms import Ints
from topoloom.schedules.trees.symmetry.orbit_tree_growing import (
    TOLLS,
    grow_orbit_trees,
    level_by_level,
)
from topoloom.schedules.trees.symmetry.path_trees import PathTree
from topoloom.schedules.trees.symmetry.rotations import Action
from topoloom.schedules.trees.symmetry.symmetric_forest import first_trees, is_ample
from topoloom.schedules.trees.symmetry.widest_paths import sorted_arcs
from topoloom.synth.progress import report_progress

_ENTRIES = 64
"""Places at which trees of the other ranks enter the moved ranks, at least: with fewer places trees
are higher, and with more there are more trees."""

_TOLLS_OF_OTHERS = TOLLS[1:]

_Shape = tuple[tuple[int, int], ...]
"""The node next to the joint rank and the height of every way of a tree."""


class _Entered(NamedTuple):
    """``weight`` trees of another rank that enter the moved ranks.

    The edges up to there, and the moved ranks where the ways of the tree start.
    """

    tree: JointTree
    weight: int
    stem: Steps
    starts: list[int]


def completed_trees(
    network: Network, room: Ints, trees_per_root: int, action: Action, tries: int = len(TOLLS)
) -> Iterator[PathTree] | None:
    """Return ``trees_per_root`` trees of every rank, or None if not all are found.

    Args:
        room: Number of trees that each arc can carry, equal within an orbit.
        action: Automorphisms of the network; all but a few ranks are images of its roots.
        tries: Number of forests of images that are completed at most, the lowest first.

    O(arcs) for each edge of the trees of one root per orbit and of every rank in no orbit, and
    the time of a packing among these ranks; then the size of the result.

    >>> from dataclasses import replace
    >>> from topoloom.schedules.trees.flow.network import network_of
    >>> from topoloom.schedules.trees.symmetry.equivalent_ranks import equivalent_ranks
    >>> from topoloom.schedules.trees.symmetry.rotations import rotations
    >>> from topoloom.synth.fabrics import fabric
    >>> from topoloom.synth.topology.topology import Topology
    >>> rail = fabric("rail-20-8")
    >>> links = [link for link in rail.links if {"0.gpu0", "rail0"} != set(link[:2])]
    >>> network = network_of(Topology(rail.nodes, links, switches=rail.switches))
    >>> action = rotations(replace(network, terminals=equivalent_ranks(network)))
    >>> len(action.roots), action.others(network.terminals).tolist()
    (8, [0, 1, 2, 3, 4, 5, 6, 7])
    >>> forest = completed_trees(network, network.capacity * 152, 7, action)
    >>> sum(tree.multiplicity for tree in forest) == 7 * 160
    True
    """
    moved = np.setdiff1d(network.terminals, action.others(network.terminals))
    if len(joint_nodes(network, moved)) > limits.MAX_JOINT_NODES:
        return None
    for first in first_trees(network, room, trees_per_root, action):
        left = room - action.turns * _uses(network, action, first)
        ample = is_ample(room, left)
        packed = joint_trees(network, left, moved, trees_per_root)
        if packed is None:
            continue
        completion = _Completion(network, left, ample, moved, packed)
        trees = list(completion.images(action, first))
        others = completion.others()
        if others is not None:
            return iter(sorted([*trees, *others], key=lambda tree: tree.root))
        tries -= 1
        if not tries:
            return None
    return None


def _uses(network: Network, action: Action, first: list[PathTree]) -> Ints:
    """Return, for every arc, how often the trees use its orbit."""
    codes = network.tail * network.node_count + network.head
    order = np.argsort(codes)
    used = np.zeros(int(action.orbit.max()) + 1, np.int64)
    for tree in first:
        steps = tree.nodes[:-1] * network.node_count + tree.nodes[1:]
        steps = np.delete(steps, tree.ends[1:-1] - 1)
        arcs = order[np.searchsorted(codes[order], steps)]
        np.add.at(used, action.orbit[arcs], tree.multiplicity)
    return used[action.orbit]


class _Completion:
    """Assigns arcs of the moved ranks to the edges out of the joint rank and into it."""

    def __init__(
        self,
        network: Network,
        left: Ints,
        ample: NDArray[np.bool_],
        moved: Ints,
        packed: list[JointTree],
    ) -> None:
        self._ample = ample
        self._network, self._moved, self._left = network, moved, left
        self._joint, self._packed = int(moved[0]), packed
        ends = zip(network.tail.tolist(), network.head.tolist(), strict=True)
        arc = {pair: at for at, pair in enumerate(ends)}
        for tree in packed:
            for path, _ in chain(tree.stem, *(steps for _, steps in tree.ways)):
                for pair in pairwise(path):
                    if self._joint not in pair:
                        left[arc[pair]] -= tree.weight
        is_moved = np.zeros(network.node_count, np.bool_)
        is_moved[moved] = True
        self._out = _by_node(network.head, np.flatnonzero(is_moved[network.tail]))
        into = _by_node(network.tail, np.flatnonzero(is_moved[network.head]))
        self._into = {node: _spread(arcs) for node, arcs in into.items()}

    def images(self, action: Action, first: list[PathTree]) -> Iterator[PathTree]:
        """Yield the images of all trees, each with packed trees of the joint rank."""
        waiting: dict[_Shape, list[JointTree]] = defaultdict(list)
        for packed in self._packed:
            if packed.root == self._joint:
                waiting[_shape(packed)].append(packed)
        depth = np.full(self._network.node_count, -1)
        for tree in first:
            depths = tree.depths
            for done, image in enumerate(action.images):
                report_progress("completing trees", done, len(action.images))
                nodes = image[tree.nodes]
                root = int(image[tree.root])
                depth[root], depth[nodes[tree.ends[1:] - 1]] = 0, depths
                rest = tree.multiplicity
                while rest:
                    share, steps = self._complete(depth, rest, waiting)
                    yield self._assembled(PathTree(root, share, nodes, tree.ends), depths, steps)
                    rest -= share

    def _complete(
        self, depth: Ints, copies: int, waiting: dict[_Shape, list[JointTree]]
    ) -> tuple[int, Steps]:
        """Return edges to the other ranks for some copies of a tree, as low as possible."""
        shape = min(waiting, key=lambda shape: self._height(shape, depth))
        tree = waiting[shape].pop()
        share, starts = self._starts(tree, min(copies, tree.weight), depth)
        if share < tree.weight:
            waiting[shape].append(tree._replace(weight=tree.weight - share))
        elif not waiting[shape]:
            del waiting[shape]
        return share, _behind(tree, starts, depth)

    def _height(self, shape: _Shape, depth: Ints) -> int:
        return max(depth[self._nearest(near, depth)[0]] + height for near, height in shape)

    def _starts(self, tree: JointTree, share: int, depth: Ints) -> tuple[int, list[int]]:
        """Return how many copies of a tree get the same starts of its ways, and these starts."""
        starts, arcs = list[int](), list[int]()
        for near, _ in tree.ways:
            start, arc = self._nearest(near, depth)
            if (room := int(self._left[arc])) < share:
                np.add.at(self._left, arcs, share - room)
                share = room
            self._left[arc] -= share
            starts.append(start)
            arcs.append(arc)
        return share, starts

    def _nearest(self, near: int, depth: Ints) -> tuple[int, int]:
        """Return the moved rank of least depth with a free arc to a node, and the arc."""
        arcs = self._out[near]
        arcs = arcs[self._left[arcs] > 0]
        depths = depth[self._network.tail[arcs]]
        arcs = arcs[depths == depths.min()]
        arc = int(arcs[np.argmax(self._left[arcs])])
        return int(self._network.tail[arc]), arc

    def others(self) -> list[PathTree] | None:
        """Return low trees of the other ranks, or None if some are not found.

        The more a toll weighs depth, the lower are the trees, and the more scarce arcs they use.
        """
        others = [packed for packed in self._packed if packed.root != self._joint]
        most = -(-sum(packed.weight for packed in others) // _ENTRIES)
        entered = [one for packed in others for one in self._enter(packed, most)]
        for toll in _TOLLS_OF_OTHERS[:2]:
            if found := self._grown(entered, toll):
                return found
        # Without a toll scarce arcs are spared most: where that fails, others seldom succeed.
        last = self._grown(entered, _TOLLS_OF_OTHERS[-1])
        lower = (self._grown(entered, toll) for toll in _TOLLS_OF_OTHERS[2:-1] if last)
        return next(filter(None, lower), last)

    def _enter(self, tree: JointTree, most: int) -> Iterator[_Entered]:
        """Yield a packed tree with the moved ranks where it enters and leaves the joint rank.

        At most ``most`` equal trees enter at one rank, whose arcs then carry them to many others.
        """
        path, level = next(step for step in tree.stem if step[0][-1] == self._joint)
        depth = np.full(self._network.node_count, self._network.node_count)
        rest = tree.weight
        while rest:
            arcs = self._into[path[-2]]
            arc = int(arcs[np.argmax(self._left[arcs])])
            rank = int(self._network.head[arc])
            depth[rank] = level
            share, starts = self._starts(tree, min(rest, most, int(self._left[arc])), depth)
            depth[rank] = self._network.node_count
            self._left[arc] -= share
            entry = ((*path[:-1], rank), level)
            stem = [entry if step[0] == path else step for step in tree.stem]
            yield _Entered(tree, share, stem, starts)
            rest -= share

    def _grown(self, entered: list[_Entered], toll: int) -> list[PathTree] | None:
        """Return trees grown to all moved ranks; None if some are incomplete."""
        network, left, found = self._network, self._left.copy(), list[PathTree]()
        arcs = sorted_arcs(network, self._moved, np.arange(len(left)), 0)
        total = np.maximum(left, 1)
        for done, one in enumerate(entered):
            report_progress("growing trees beside a fault", done, len(entered))
            begun = np.full((1, network.node_count), -1)
            begun[0, one.tree.root] = 0
            for path, level in one.stem:
                begun[0, path[-1]] = level
            weights = np.array([one.weight])
            for made in grow_orbit_trees(arcs, left, total, self._ample, begun, weights, toll):
                nodes, ends, depths, weight, _ = made
                if not weight:
                    return None
                depth = begun[0].copy()
                depth[nodes[ends[1:] - 1]] = depths
                steps = [*one.stem, *_behind(one.tree, one.starts, depth)]
                tree = PathTree(one.tree.root, weight, nodes, ends)
                found.append(self._assembled(tree, depths, steps))
        return found

    def _assembled(self, tree: PathTree, depths: Ints, steps: Steps) -> PathTree:
        """Return a tree with further edges, breadth first; ``depths`` are those of its own."""
        lengths = np.array([len(path) for path, _ in steps])
        nodes, ends, _ = level_by_level(
            np.concatenate([tree.nodes, [node for path, _ in steps for node in path]]),
            np.concatenate([tree.ends, tree.ends[-1] + lengths.cumsum()]),
            np.concatenate([depths, [level for _, level in steps]]),
        )
        return tree._replace(nodes=nodes, ends=ends)


def _by_node(ends: Ints, arcs: Ints) -> dict[int, Ints]:
    """Return arcs by their end."""
    order = arcs[np.argsort(ends[arcs], kind="stable")]
    nodes, first = np.unique(ends[order], return_index=True)
    return dict(zip(nodes.tolist(), np.split(order, first[1:]), strict=True))


def _spread(arcs: Ints) -> Ints:
    """Return the arcs in an order in which adjacent ones lie far apart: in other boxes.

    The order of the multiples of the golden ratio, modulo 1.
    """
    parts = np.arange(len(arcs), dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return arcs[np.argsort(parts)]


def _shape(tree: JointTree) -> _Shape:
    return tuple((near, max(level for _, level in steps)) for near, steps in tree.ways)


def _behind(tree: JointTree, starts: list[int], depth: Ints) -> Steps:
    """Return the edges behind the joint rank, from the moved ranks where they start."""
    return [
        ((start, *path[1:]) if level == 1 else path, int(depth[start]) + level)
        for (_, steps), start in zip(tree.ways, starts, strict=True)
        for path, level in steps
    ]
