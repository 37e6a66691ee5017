"""Links as read-only arrays of positions, sorted by source, then by target."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.errors import InvalidTopology
from topoloom.synth.topology.validation import Capacity

Positions: TypeAlias = NDArray[np.int32]


def read_only(values: Any) -> Positions:
    """Return a read-only copy of positions."""
    array = np.array(values, dtype=np.int32)
    array.setflags(write=False)
    return array


def require_ends(node_count: int, sources: NDArray[Any], targets: NDArray[Any]) -> None:
    """Raise InvalidTopology unless links join two different positions below ``node_count``."""
    ends = np.concatenate([sources, targets]) if len(sources) else np.zeros(0, np.int32)
    inside = not len(ends) or (0 <= ends.min() and ends.max() < node_count)
    if len(sources) != len(targets) or not inside:
        raise InvalidTopology("/links", "every end must be one of the nodes")
    if np.any(sources == targets):
        raise InvalidTopology("/links", "a link must join two different nodes")


def sorted_pairs(
    sources: NDArray[Any], targets: NDArray[Any], node_count: int
) -> tuple[Positions, Positions]:
    """Return pairs of positions below ``node_count``, sorted.

    Takes a third of the time of a lexical sort.

    >>> [ends.tolist() for ends in sorted_pairs(np.array([1, 0]), np.array([0, 1]), 2)]
    [[0, 1], [1, 0]]
    """
    pairs = np.sort(np.asarray(sources, np.int64) * node_count + targets)
    sources, targets = np.divmod(pairs, node_count)
    return read_only(sources), read_only(targets)


def transposed(
    sources: Positions, targets: Positions, capacities: Sequence[Capacity], node_count: int
) -> tuple[Positions, Positions, tuple[Capacity, ...]]:
    """Return the sources, targets and capacities of the reversed links, sorted.

    >>> transposed(np.array([0, 1]), np.array([1, 2]), (5, 7), 3)[2]
    (5, 7)
    """
    if not capacities or capacities.count(capacities[0]) == len(capacities):
        return *sorted_pairs(targets, sources, node_count), tuple(capacities)
    # Stable sort: parallel links stay ordered by capacity.
    order = np.lexsort((sources, targets))
    reordered = tuple(capacities[index] for index in order.tolist())
    return read_only(targets[order]), read_only(sources[order]), reordered
