"""Why so many two-way graphs reach the optimal bandwidth, proved once for all of them.

Let a destination u of degree d have k_t nodes at distance t, and let every shard from
distance t be split evenly over the links into u that begin a shortest path back to its
source.  If all d links then carry the same, each carries k_t / d in step t, and over all
steps the bandwidth is d / N * sum k_t / d = (N - 1) / N, the optimum.  They do carry
the same in each of these cases:

- *Distance-regular* graphs.  A source at distance t has c_t neighbours of u one nearer to
  it, so each of c_t links carries 1 / c_t of its shard; and the number of sources at
  distance t from u and t - 1 from a neighbour of u is an intersection number too, the
  same for all neighbours.
- *Locally transitive* graphs: the automorphisms that fix u take every neighbour of u to
  every other.  They permute the sources at each distance, so the links' loads are equal.
  Arc-transitive graphs are locally transitive at every node.

The number of steps is the diameter.
"""

from abc import abstractmethod
from collections.abc import Iterator
from functools import lru_cache

from synth.bases.family import Arguments, Family
from synth.cost import Claim, optimal_bandwidth
from synth.limits import MAX_LINKS, MAX_NODES
from synth.recipe import Base

__all__ = ["Balanced", "Listed"]


class Listed(Family):
    """A family with so few members within `synth.limits` that they are listed once."""

    @abstractmethod
    def members(self) -> Iterator[Arguments]:
        """Yield the arguments of all members within the limits, perhaps of more."""
        raise NotImplementedError

    def matching(self, nodes: int, degree: int) -> Iterator[Base]:
        """Look the size up."""
        for arguments in _by_size(self).get((nodes, degree), ()):
            yield Base(self.name, arguments)


class Balanced(Family):
    """A family of two-way graphs that are distance-regular or locally transitive."""

    @abstractmethod
    def diameter(self, arguments: Arguments) -> int:
        """Return the longest distance between two nodes."""
        raise NotImplementedError

    def bidirectional(self, arguments: Arguments) -> bool:
        """By construction."""
        return True

    def claim(self, arguments: Arguments) -> Claim:
        """Take as many steps as the diameter, at optimal bandwidth."""
        nodes, _ = self.size(arguments)
        return Claim(self.diameter(arguments), optimal_bandwidth(nodes), exact=True)


@lru_cache
def _by_size(family: Listed) -> dict[tuple[int, int], list[Arguments]]:
    found: dict[tuple[int, int], list[Arguments]] = {}
    for arguments in family.members():
        nodes, degree = family.size(arguments)
        if nodes <= MAX_NODES and nodes * degree <= MAX_LINKS:
            found.setdefault((nodes, degree), []).append(arguments)
    return found
