"""Tori: their sides, their links, and moves along a dimension."""

from collections.abc import Iterator
from functools import lru_cache
from math import prod

import numpy as np

from topoloom.synth.topology.topology import Topology

MIN_SIDE = 3
"""Shorter rings would have two links between the same hosts."""


def shapes(nodes: int, most: int, least: int = MIN_SIDE) -> Iterator[tuple[int, ...]]:
    """Yield the sides, in order, of all tori of the hosts with 2 to ``most`` dimensions.

    >>> list(shapes(36, 3))
    [(3, 12), (3, 3, 4), (4, 9), (6, 6)]
    """
    if most < 2:
        return
    side = least
    while side * side <= nodes:
        if nodes % side == 0:
            yield side, nodes // side
            yield from ((side, *rest) for rest in shapes(nodes // side, most - 1, side))
        side += 1


@lru_cache(maxsize=4096)
def nearest(nodes: int, most: int) -> tuple[tuple[int, ...], ...]:
    """Return, for each number of dimensions, the torus of least sum of sides."""
    best: dict[int, tuple[int, ...]] = {}
    for shape in shapes(nodes, most):
        known = best.setdefault(len(shape), shape)
        if sum(shape) < sum(known):
            best[len(shape)] = shape
    return tuple(best.values())


def torus(shape: tuple[int, ...], copies: int) -> Topology:
    """Return the torus with ``copies`` parallel links.

    >>> torus((3, 3), 2)
    <Topology (unnamed): 9 compute, 72 links>
    """
    nodes = np.arange(prod(shape))
    ends = [
        (nodes, shifted_hosts(nodes, shape, axis, way))
        for axis in range(len(shape))
        for way in (1, -1)
        for _ in range(copies)
    ]
    return Topology.direct(len(nodes), *(np.concatenate(part) for part in zip(*ends, strict=True)))


def shifted_hosts(
    nodes: np.ndarray, shape: tuple[int, ...], axis: int, by: int | np.ndarray
) -> np.ndarray:
    """Return the hosts ``by`` ahead along a dimension; the last dimension counts fastest."""
    below = prod(shape[axis + 1 :])
    at = nodes // below % shape[axis]
    return nodes + ((at + by) % shape[axis] - at) * below
