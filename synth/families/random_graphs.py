"""Random regular graphs as members of the catalog: a seed, and edge swaps that shorten them."""

from abc import abstractmethod
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.edge_swaps.work_estimates import require_random_regular, swap_words
from topoloom.synth.errors import OutOfDomain
from topoloom.synth.families.family import Base, Ends, always, require

MAX_WORDS = 1 << 31
"""Most 64-bit words that edge swaps may read (`edge_swaps.work_estimates.swap_words`): 1 s."""

_FIELDS = {"nodes": "n", "degree": "d"}


class RandomGraph(Base):
    """A random regular graph; the same arguments give the same graph everywhere.

    With ``depth`` and ``exchanges``, at most that many random edge swaps follow; a swap is kept
    if no more pairs of nodes are farther than ``depth`` links apart.  The swaps stop without such
    pairs.  If the graph becomes disconnected, the original graph is used.
    """

    two_way: ClassVar[bool]
    n: int
    d: int
    seed: int
    depth: int = 0
    exchanges: int = 0

    def check_domain(self) -> None:
        """Require that such graphs exist and that the edge swaps take at most a second."""
        try:
            require_random_regular(self.n, self.d, self.seed, self.two_way)
        except OutOfDomain as wrong:
            raise OutOfDomain(_FIELDS.get(wrong.field, wrong.field), wrong.rule) from None
        require(0 <= self.depth <= self.n, "depth", "must be from 0 to n")
        if self.exchanges:
            require(self.depth >= 1, "depth", "must be at least 1 if exchanges is not 0")
            least = 3 if self.two_way else 2
            require(self.d >= least, "exchanges", f"must be 0 where d is less than {least}: a ring")
            most = MAX_WORDS // swap_words(self.n, self.d, self.depth)
            require(0 <= self.exchanges <= most, "exchanges", f"must be from 0 to {most} here")

    def size(self) -> tuple[int, int]:
        """Return n nodes of degree d."""
        return self.n, self.d

    def links(self) -> Ends:
        """Return the links as generated; after edge swaps sorted by source."""
        return _links(self)

    def exchange_state(self, depth: int) -> NDArray[np.uint64]:
        """Return the `synth.kernels.splitmix` state that seeds the edge swaps for a depth."""
        from topoloom.synth.kernels.splitmix import seeded

        return seeded(self.seed, self.n, self.d, depth)

    @abstractmethod
    def bidirectional(self) -> bool:
        """Return whether every link has a partner the other way."""
        raise NotImplementedError


@lru_cache(maxsize=64)
def _links(member: RandomGraph) -> Ends:
    # Imported here: recipes are parsed without kernels.
    from topoloom.synth.edge_swaps.local_search import apply_random_swaps, head_array
    from topoloom.synth.edge_swaps.random_regular import random_ends
    from topoloom.synth.kernels.reachability import is_connected

    n, d, depth = member.n, member.d, member.depth
    ends = random_ends(n, d, member.seed, member.two_way)
    if member.exchanges:
        heads = head_array(n, *ends)
        apply_random_swaps(
            heads, depth, member.exchanges, member.two_way, member.exchange_state(depth)
        )
        swapped = np.repeat(np.arange(n), d), heads.ravel()
        ends = swapped if is_connected(n, *swapped) else ends
    return _read_only(ends)


def _read_only(ends: Ends) -> Ends:
    """Return the arrays as read-only, since the cache shares them between callers."""
    for side in ends:
        side.setflags(write=False)
    return ends


class RandomRegular(RandomGraph):
    """RandomRegular(n, d, seed, depth, exchanges): one-way links, d out of and into each node.

    d random permutations, with random transpositions until no loop or parallel link remains.
    With slack schedules these graphs come close to the bounds at every n, primes included.
    """

    two_way = False
    title = "random regular digraph, shortened by edge swaps"
    source = "uniform permutations; edge swaps as in local search for small diameter"

    def bidirectional(self) -> bool:
        """Return True for complete graphs, including two nodes; otherwise unknown."""
        return self.d == self.n - 1


class RandomRegularTwoWay(RandomGraph):
    """RandomRegularTwoWay(n, d, seed, depth, exchanges): d two-way links at each node.

    The configuration model, with edge swaps until the graph is simple.
    """

    two_way = True
    title = "random regular graph, shortened by edge swaps"
    source = "McKay and Wormald, J. Algorithms 11, 1990"

    bidirectional = always  # Every link has its partner.
