"""Trees whose edges are paths of nodes, as flat arrays."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class PathTree(NamedTuple):
    """``multiplicity`` equal trees; edge i is the path ``nodes[ends[i]:ends[i + 1]]``.

    Edges are in breadth-first order.
    """

    root: int
    multiplicity: int
    nodes: NDArray[np.int64]
    ends: NDArray[np.int64]

    @property
    def depths(self) -> NDArray[np.int64]:
        """The depth at which each edge ends."""
        depth = {self.root: 0}
        firsts = self.nodes[self.ends[:-1]].tolist()
        for first, last in zip(firsts, self.nodes[self.ends[1:] - 1].tolist(), strict=True):
            depth[last] = depth[first] + 1
        return np.array(list(depth.values())[1:], np.int64)
