"""Expand trees between racks to trees between hosts: entry, spread and exit in each rack.

A tree of `contraction.Contracted` that enters a rack of n hosts and leaves it by d arcs needs
n - 1 + d edges that start at hosts.  One host, where the tree enters, takes all of them if its
capacity allows.  Trees of a rack start at its hosts, equally many at each; other trees enter where
most capacity is left.  Trees that fit no single host are divided: hosts take part in cyclic order,
and the host with the most edges, where the tree enters, forwards to the others.  Division always
succeeds (see the proof in `contraction`).

Trees that end in a rack soon after their start may be a hop higher there at no loss: they are
last.  Packing 1,024 hosts in 33 racks this way gives trees of three hops, as low as without racks.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from topoloom.schedules.model.schedule import Tree
from topoloom.schedules.trees.racks.contraction import Rack
from topoloom.synth.progress import report_progress
from topoloom.synth.topology.topology import NodeId

Path = tuple[NodeId, ...]


class _Inside(NamedTuple):
    """The part of ``copies`` equal trees inside a rack.

    ``levels`` are the edges between hosts by their depth in the rack; ``exits`` has the host and
    its depth for every arc by which the tree leaves, in order.
    """

    copies: int
    entry: NodeId
    levels: tuple[tuple[Path, ...], ...]
    exits: tuple[tuple[NodeId, int], ...]


def expand_racks(
    trees: Iterable[Tree], racks: Iterable[Rack], nodes: Sequence[NodeId], trees_per_root: int
) -> Iterator[Tree]:
    """Yield trees between all hosts, from trees between racks.

    Args:
        trees: Trees in which the first host of a rack represents it.
        nodes: Ids of the nodes of racks, by number.

    Trees are split where copies take different paths through a rack.  The results are at most the
    whole trees plus about one split per host.  O(size of the result).

    >>> trees = [Tree("a", 2, (("a", "v", "w", "c"),)), Tree("c", 2, (("c", "w", "v", "a"),))]
    >>> racks = [Rack(4, (0, 1), (3, 3)), Rack(5, (2, 3), (3, 3))]
    >>> list(expand_racks(trees, racks, "abcdvw", 1))[0].edges
    (('a', 'v', 'b'), ('a', 'v', 'w', 'c'), ('c', 'w', 'd'))
    """
    trees, racks = list(trees), list(racks)
    ways = [_children(tree) for tree in trees]
    depths = [_depths(tree) for tree in trees]
    top = max(max(depth.values()) for depth in depths)
    inside: list[dict[NodeId, list[_Inside]]] = [{} for _ in trees]
    for done, rack in enumerate(racks):
        report_progress("spreading trees in racks", done, len(racks))
        shares = _Shares(rack, nodes, trees_per_root)
        for at, through in _through(shares, trees, ways, depths, top):
            inside[at][shares.name] = through
    paths: dict[tuple[NodeId, Path, NodeId], Path] = {}
    for done, (tree, way, through) in enumerate(zip(trees, ways, inside, strict=True)):
        report_progress("drawing trees in racks", done, len(trees))
        yield from _cut(tree, way, through, paths)


def _through(
    shares: "_Shares",
    trees: list[Tree],
    ways: list[dict[NodeId, list[Path]]],
    depths: list[dict[NodeId, int]],
    top: int,
) -> Iterator[tuple[int, list[_Inside]]]:
    """Yield the part of each tree in a rack; ``top`` is the height of the highest tree."""
    name = shares.name
    asked: list[tuple[int, int, int]] = []
    for at, (tree, way, depth) in enumerate(zip(trees, ways, depths, strict=True)):
        exits = len(way.get(name, ()))
        if tree.root == name:
            yield at, shares.begin(exits, tree.weight)
        else:
            asked.append((depth[name], exits, at))
    # Divided trees are a hop higher: no loss where a tree ends early.
    early = [one for one in asked if one[0] < top and not one[1]]
    chosen = {at for _, _, at in early}
    first = [one for one in asked if one[2] not in chosen]
    for _, exits, at in sorted(first, key=lambda one: (-one[0], -one[1])):
        yield at, shares.enter(exits, trees[at].weight)
    early.sort(key=lambda one: -one[0])
    found = shares.enter_in_turn([(exits, trees[at].weight) for _, exits, at in early])
    for (_, _, at), through in zip(early, found, strict=True):
        yield at, through


def _children(tree: Tree) -> dict[NodeId, list[Path]]:
    """Return the edges of a tree by their start."""
    onward: dict[NodeId, list[Path]] = {}
    for path in tree.edges:
        onward.setdefault(path[0], []).append(path)
    return onward


def _depths(tree: Tree) -> dict[NodeId, int]:
    depth = {tree.root: 0}
    for path in tree.edges:
        depth[path[-1]] = depth[path[0]] + 1
    return depth


class _Shares:
    """The hosts of a rack and their residual capacity during expansion."""

    def __init__(self, rack: Rack, nodes: Sequence[NodeId], trees_per_root: int) -> None:
        self.name, self.leaf = nodes[rack.hosts[0]], nodes[rack.leaf]
        self.hosts = [nodes[host] for host in rack.hosts]
        self._fans = [
            tuple([(host, self.leaf, other) for other in self.hosts if other != host])
            for host in self.hosts
        ]
        self._room, self._unborn = list(rack.room), [trees_per_root] * len(rack.hosts)
        self._next, self._order = 0, range(len(rack.hosts))

    def begin(self, exits: int, copies: int) -> list[_Inside]:
        """Let a tree of the rack start, at its hosts in turn."""
        ways = []
        while copies:
            share = min(copies, self._unborn[self._next])
            ways.append(self._whole(self._next, exits, share))
            self._unborn[self._next] -= share
            copies -= share
            if not self._unborn[self._next]:
                self._next += 1
        return ways

    def enter(self, exits: int, copies: int) -> list[_Inside]:
        """Let a tree enter at the host with most capacity; divide copies that fit no host."""
        ways, size = [], len(self.hosts) - 1 + exits
        while copies:
            widest = max(self._order, key=self._room.__getitem__)
            share = min(copies, self._room[widest] // size)
            if share:
                ways.append(self._whole(widest, exits, share))
            else:
                share = 1
                wide = sorted(self._order, key=lambda host: -self._room[host])
                ways.append(self._divided(self._taken(wide, size), exits))
            copies -= share
        return ways

    def enter_in_turn(self, asked: list[tuple[int, int]]) -> list[list[_Inside]]:
        """Let trees, each with exits and copies, fill one host after the other.

        Copies are divided between neighbors only if whole copies do not fit.
        """
        before, found = self._room.copy(), []
        for exits, copies in asked:
            size = len(self.hosts) - 1 + exits
            if sum(room // size for room in self._room) < copies:
                break
            found.append(self.enter(exits, copies))
        if len(found) == len(asked):
            return found
        self._room, found = before, []
        for exits, copies in asked:
            found.append([])
            size = len(self.hosts) - 1 + exits
            while copies:
                host = next(host for host in self._order if self._room[host])
                share = min(copies, self._room[host] // size)
                if share:
                    found[-1].append(self._whole(host, exits, share))
                else:
                    share = 1
                    found[-1].append(self._divided(self._taken(self._order, size), exits))
                copies -= share
        return found

    def _taken(self, order: Iterable[int], size: int) -> list[tuple[int, int]]:
        """Take capacity for ``size`` edges from hosts in this order; return the largest first."""
        taking = []
        for host in order:
            share = min(size, self._room[host])
            if share:
                taking.append((host, share))
                self._room[host] -= share
                size -= share
        if size:
            raise RuntimeError("a rack has less room than its condition promises")
        return sorted(taking, key=lambda one: -one[1])

    def _whole(self, host: int, exits: int, copies: int) -> _Inside:
        self._room[host] -= copies * (len(self.hosts) - 1 + exits)
        name = self.hosts[host]
        return _Inside(copies, name, (self._fans[host],), ((name, 0),) * exits)

    def _divided(self, taking: list[tuple[int, int]], exits: int) -> _Inside:
        """Return a tree with these edges per host, and early edges out of the rack."""
        leaving, inner = [], []
        for place, (host, share) in enumerate(taking):
            out = min(exits - len(leaving), share if place else share - 1)
            leaving += [host] * out
            inner.append((host, share - out))
        # Hosts with the most edges come first, so that no host waits for a leaf.
        queue = inner[:1] + sorted(inner[1:], key=lambda one: -one[1])
        order = [host for host, _ in queue]
        order += sorted(set(range(len(self.hosts))) - set(order))
        depth, levels, reached = {order[0]: 0}, [], 1
        for host, share in queue:
            for other in order[reached : reached + share]:
                depth[other] = depth[host] + 1
                if len(levels) == depth[host]:
                    levels.append([])
                levels[depth[host]].append((self.hosts[host], self.leaf, self.hosts[other]))
            reached += share
        return _Inside(
            1,
            self.hosts[order[0]],
            tuple(map(tuple, levels)),
            tuple((self.hosts[host], depth[host]) for host in leaving),
        )


def _cut(
    tree: Tree,
    way: dict[NodeId, list[Path]],
    through: dict[NodeId, list[_Inside]],
    paths: dict[tuple[NodeId, Path, NodeId], Path],
) -> Iterator[Tree]:
    """Yield the parts of a tree whose copies are equal in every rack."""
    left = {name: list(reversed(ways)) for name, ways in through.items()}
    copies = tree.weight
    while copies:
        now = {name: ways[-1] for name, ways in left.items()}
        share = min((one.copies for one in now.values()), default=copies)
        yield _drawn(tree.root, share, way, now, paths)
        copies -= share
        for name, one in now.items():
            left[name].pop()
            if one.copies > share:
                left[name].append(one._replace(copies=one.copies - share))


def _drawn(
    root: NodeId,
    weight: int,
    way: dict[NodeId, list[Path]],
    through: dict[NodeId, _Inside],
    paths: dict[tuple[NodeId, Path, NodeId], Path],
) -> Tree:
    """Return a tree between hosts, with edges in breadth-first order."""
    levels: list[list[Path]] = []

    def at(depth: int) -> list[Path]:
        while len(levels) <= depth:
            levels.append([])
        return levels[depth]

    queue, depths = [root], {root: 0}
    for name in queue:
        depth, rack, onward = depths[name], through.get(name), way.get(name, ())
        for below, edges in enumerate(() if rack is None else rack.levels):
            at(depth + below).extend(edges)
        exits = ((name, 0),) * len(onward) if rack is None else rack.exits
        for path, (source, below) in zip(onward, exits, strict=True):
            target = path[-1]
            entered = through.get(target)
            entry = target if entered is None else entered.entry
            key = source, path, entry
            if key not in paths:
                paths[key] = (source, *path[1:-1], entry)
            at(depth + below).append(paths[key])
            queue.append(target)
            depths[target] = depth + below + 1
    begun = through.get(root)
    entry = root if begun is None else begun.entry
    return Tree(entry, weight, tuple([edge for level in levels for edge in level]))
