"""The hypercube."""

from collections.abc import Iterator
from typing import Self

import numpy as np

from topoloom.synth.algebra.permutation_groups import Images, direct_product, rotations
from topoloom.synth.evaluation.cost import Claim, optimal_bandwidth
from topoloom.synth.families.family import Base, Ends, always, at_least
from topoloom.synth.limits import capped_power


class Hypercube(Base):
    """Hypercube(k): nodes are words of k bits, joined when they differ in one bit."""

    k: int
    title = "hypercube"
    source = "folklore; optimal bandwidth under BFB: arXiv:2202.03356"
    check_domain = at_least(k=1)

    def size(self) -> tuple[int, int]:
        """Return 2**k nodes, degree k."""
        return capped_power(2, self.k), self.k

    def links(self) -> Ends:
        """Return the links sorted by source, then by the bit that differs."""
        k = self.k
        sources = np.repeat(np.arange(2**k), k)
        return sources, sources ^ np.tile(1 << np.arange(k), 2**k)

    @classmethod
    def matching(cls, nodes: int, degree: int) -> Iterator[Self]:
        """Yield a member if nodes = 2**degree."""
        if degree >= 1 and nodes == capped_power(2, degree):
            yield cls(degree)

    bidirectional = always  # A difference in one bit is symmetric.
    vertex_transitive = always  # Adding a word to all nodes is an automorphism.
    arc_transitive = always  # By adding words and permuting bits.

    def semiregular_group(self) -> Images:
        """Return the additions of all words, as 2**k permutations."""
        return direct_product([rotations(2)] * self.k)

    def claim(self) -> Claim:
        """Claim k steps at optimal bandwidth: at every distance all links are equivalent."""
        return Claim(self.k, optimal_bandwidth(2**self.k), exact=True)
