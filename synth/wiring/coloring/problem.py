"""Edges, the colors that their ends may have, and the colors that the edges prefer."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ColoringProblem:
    """Color every edge, so that few edges get a color that they do not prefer.

    A *preferred* color is the panel on which a link is plugged today.

    Args:
        first, second: The two ends of every edge, in [0, nodes).
        room (int array, shape (nodes, colors)): The edges of the color that a node may have.
        likes (bool array, shape (edges, colors)): The colors that each edge prefers.

    >>> square = np.array([0, 0, 1, 1]), np.array([2, 3, 2, 3])
    >>> likes = np.array([[True, False]] * 4)
    >>> problem = ColoringProblem(*square, np.ones((4, 2), np.int64), likes)
    >>> problem.kept(np.array([0, 1, 1, 0])), problem.is_proper(np.array([0, 1, 1, 0]))
    (2, True)
    """

    first: Integers
    second: Integers
    room: Integers
    likes: NDArray[np.bool_]

    @cached_property
    def allowed(self) -> NDArray[np.bool_]:
        """Whether both ends of an edge have a port for a color; shape (edges, colors)."""
        return (self.room[self.first] > 0) & (self.room[self.second] > 0)

    @cached_property
    def new_edges(self) -> NDArray[np.bool_]:
        """Whether an edge prefers no color; shape (edges)."""
        return np.logical_not(self.likes.any(axis=1))

    @cached_property
    def degrees(self) -> Integers:
        """The number of edges at every node."""
        ends = np.concatenate([self.first, self.second])
        return np.bincount(ends, minlength=len(self.room)).astype(np.int64)

    def kept(self, colors: Integers) -> int:
        """Return how many edges have a color that they prefer."""
        return int(self.likes[np.arange(len(colors)), colors].sum())

    def is_proper(self, colors: Integers) -> bool:
        """Whether no node has two edges of one color, or an edge of a color without a port."""
        return bool((self._counts(colors) <= self.room).all())

    def without_conflicts(self, colors: Integers) -> Integers:
        """Return the colors less those in conflict, as -1; preferred colors have precedence.

        For nodes of one port for a color.
        """
        edges = np.arange(len(colors))
        order = np.argsort(~self.likes[edges, colors], kind="stable")
        left, free = np.full(len(colors), -1, np.int64), self.room > 0
        for edge in order.tolist():
            u, v, color = self.first[edge], self.second[edge], colors[edge]
            if free[u, color] and free[v, color]:
                free[u, color] = free[v, color] = False
                left[edge] = color
        return left

    def _counts(self, colors: Integers) -> Integers:
        found = np.zeros_like(self.room)
        for ends in (self.first, self.second):
            np.add.at(found, (ends, colors), 1)
        return found
