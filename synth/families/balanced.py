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
from typing import Self

from topoloom.synth.errors import OutOfDomain
from topoloom.synth.evaluation.cost import Claim, optimal_bandwidth
from topoloom.synth.families.family import Arguments, Base


class Listed(Base):
    """A family with so few members within `synth.limits` that they are listed once."""

    @classmethod
    @abstractmethod
    def members(cls) -> Iterator[Arguments]:
        """Yield the arguments of all members within the limits, perhaps of some beyond."""
        raise NotImplementedError

    @classmethod
    def matching(cls, nodes: int, degree: int) -> Iterator[Self]:
        """Yield the members of this size from a table of all, made once."""
        for member in _by_size(cls).get((nodes, degree), ()):
            assert isinstance(member, cls)
            yield member


class Balanced(Base):
    """A family of two-way graphs that are distance-regular or locally transitive."""

    @abstractmethod
    def diameter(self) -> int:
        """Return the longest distance between two nodes."""
        raise NotImplementedError

    def bidirectional(self) -> bool:
        """Return True: distance-regular and locally transitive are said of two-way graphs."""
        return True

    def claim(self) -> Claim:
        """Claim as many steps as the diameter, at optimal bandwidth; proved above."""
        return Claim(self.diameter(), optimal_bandwidth(self.nodes), exact=True)


@lru_cache
def _by_size(family: type[Listed]) -> dict[tuple[int, int], list[Listed]]:
    found: dict[tuple[int, int], list[Listed]] = {}
    for arguments in family.members():
        try:
            member = family(*arguments)
        except OutOfDomain:
            # Beyond the limits.
            continue
        found.setdefault(member.size(), []).append(member)
    return found
