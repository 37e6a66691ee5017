"""The physical paths of arcs in a network without switches, and expansion of trees to them.

During the removal of switches, an arc from u to t comes to represent a bundle of physical paths,
each with the number of trees it can carry.
"""

from collections.abc import Sequence
from typing import TypeAlias

Path: TypeAlias = tuple[int, ...]
Bundle: TypeAlias = list[tuple[Path, int]]
Pair: TypeAlias = tuple[int, int]


class Routes:
    """For every ordered pair of joined nodes, a bundle of (path, trees it can carry).

    >>> routes = Routes({(0, 2): 3, (2, 1): 3})
    >>> routes.join(0, 2, 1, 2)
    >>> routes.bundles[0, 1], routes.bundles[0, 2]
    ([((0, 2, 1), 2)], [((0, 2), 1)])
    """

    def __init__(self, capacities: dict[Pair, int]) -> None:
        self.bundles: dict[Pair, Bundle] = {
            pair: [(pair, capacity)] for pair, capacity in capacities.items()
        }

    def join(self, source: int, switch: int, target: int, amount: int) -> None:
        """Turn ``amount`` into and out of the switch into the same amount past it.

        Dropped where source and target are equal.
        """
        into = self._take((source, switch), amount)
        onward = self._take((switch, target), amount)
        if source == target:
            return
        bundle = self.bundles.setdefault((source, target), [])
        for path, rest, share in _pieces(into, onward):
            bundle.append((without_cycles((*path, *rest[1:])), share))

    def _take(self, pair: Pair, amount: int) -> Bundle:
        """Remove and return the first ``amount`` of a bundle."""
        bundle, taken = self.bundles[pair], []
        while amount:
            path, room = bundle.pop()
            share = min(room, amount)
            taken.append((path, share))
            amount -= share
            if share < room:
                bundle.append((path, room - share))
        return taken

    def paths(self) -> set[Path]:
        """Return all paths that trees may use."""
        return {path for bundle in self.bundles.values() for path, _ in bundle}

    def sole(self, pair: Pair) -> Path | None:
        """Return the path of a bundle of one: all trees of the pair use it."""
        bundle = self.bundles[pair]
        return bundle[0][0] if len(bundle) == 1 else None

    def draw(self, pairs: Sequence[Pair], amount: int) -> list[tuple[int, list[Path]]]:
        """Return ``amount`` equal trees with these edges as physical trees and weights.

        Each edge uses one path where the capacity allows, so that the trees are split into few
        pieces.  The used capacity is removed.
        """
        served = [self._serve(pair, amount) for pair in pairs]
        if max(map(len, served)) == 1:
            return [(amount, [bundle[0][0] for bundle in served])]
        trees: list[tuple[int, list[Path]]] = []
        while amount:
            share = min(bundle[-1][1] for bundle in served)
            trees.append((share, [bundle[-1][0] for bundle in served]))
            for bundle in served:
                path, room = bundle.pop()
                if room > share:
                    bundle.append((path, room - share))
            amount -= share
        return trees

    def _serve(self, pair: Pair, amount: int) -> Bundle:
        """Take ``amount``: from the tightest sufficient path, else from the widest paths first."""
        bundle, taken = self.bundles[pair], []
        while amount:
            fitting = [
                (room, len(path), i) for i, (path, room) in enumerate(bundle) if room >= amount
            ]
            _, _, index = (
                min(fitting)
                if fitting
                else max((room, -len(path), i) for i, (path, room) in enumerate(bundle))
            )
            path, room = bundle[index]
            share = min(room, amount)
            taken.append((path, share))
            amount -= share
            if share == room:
                bundle.pop(index)
            else:
                bundle[index] = (path, room - share)
        return taken


def without_cycles(path: Path) -> Path:
    """Return the path without its cycles.

    >>> without_cycles((0, 7, 8, 7, 1))
    (0, 7, 1)
    """
    kept: list[int] = []
    for node in path:
        if node in kept:
            del kept[kept.index(node) + 1 :]
        else:
            kept.append(node)
    return tuple(kept)


def _pieces(left: Bundle, right: Bundle) -> list[tuple[Path, Path, int]]:
    """Pair up the pieces of two bundles of equal total."""
    left, right, pieces = left[::-1], right[::-1], []
    while left:
        (path, has), (rest, room) = left.pop(), right.pop()
        share = min(has, room)
        pieces.append((path, rest, share))
        if has > share:
            left.append((path, has - share))
        if room > share:
            right.append((rest, room - share))
    return pieces
