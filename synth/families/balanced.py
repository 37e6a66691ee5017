"""Optimal bandwidth of many two-way graphs, proved once for all of them.

Let a destination u of degree d have k_t nodes at distance t, and let every shard from distance t
be split evenly over the links into u that begin a shortest path back to its source.  If all d
links then carry the same load, each carries k_t / d in step t, and over all steps the bandwidth is
d / N * sum k_t / d = (N - 1) / N, the optimum.  The loads are equal in each of these cases:

- *Distance-regular* graphs.  A source at distance t has c_t neighbors of u one nearer to it, so
  each of c_t links carries 1 / c_t of its shard.  The number of sources at distance t from u and
  t - 1 from a neighbor of u is an intersection number too, the same for all neighbors.
- *Locally transitive* graphs: the automorphisms that fix u take every neighbor of u to every
  other.  They permute the sources at each distance, so the links' loads are equal.
  Arc-transitive graphs are locally transitive at every node.

The number of steps is the diameter.
"""

from abc import abstractmethod
from collections.abc import Iterator
from functools import lru_cache
from typing import Self

from topoloom.synth.errors import OutOfDomain
from topoloom.synth.evaluation.cost import Claim, optimal_bandwidth
from topoloom.synth.families.family import Arguments, Base, always


class EnumeratedFamily(Base):
    """A family with so few members within `synth.limits` that a table lists them all."""

    @classmethod
    @abstractmethod
    def members(cls) -> Iterator[Arguments]:
        """Yield the arguments of all members within the limits, and possibly of some beyond."""
        raise NotImplementedError

    @classmethod
    def matching(cls, nodes: int, degree: int) -> Iterator[Self]:
        """Yield the members of this size from a cached table of all members."""
        for member in _by_size(cls).get((nodes, degree), ()):
            assert isinstance(member, cls)
            yield member


class BalancedFamily(Base):
    """A family of two-way graphs that are distance-regular or locally transitive."""

    @abstractmethod
    def diameter(self) -> int:
        """Return the longest distance between two nodes."""
        raise NotImplementedError

    bidirectional = always  # Distance-regular and locally transitive graphs are two-way.

    def claim(self) -> Claim:
        """Claim the diameter as steps, at optimal bandwidth; proved above."""
        return Claim(self.diameter(), optimal_bandwidth(self.nodes), exact=True)


@lru_cache
def _by_size(family: type[EnumeratedFamily]) -> dict[tuple[int, int], list[EnumeratedFamily]]:
    found: dict[tuple[int, int], list[EnumeratedFamily]] = {}
    for arguments in family.members():
        try:
            member = family(*arguments)
        except OutOfDomain:
            # Outside the limits.
            continue
        found.setdefault(member.size(), []).append(member)
    return found
