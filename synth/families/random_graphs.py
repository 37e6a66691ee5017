"""Random regular graphs as members of the catalogue: a seed, and exchanges that shorten them."""

from abc import abstractmethod
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.edge_swaps.work_estimates import require_random_regular, swap_words
from topoloom.synth.errors import OutOfDomain
from topoloom.synth.families.family import Base, Ends, require

MAX_WORDS = 1 << 31
"""Most 64-bit words that edge swaps may read (`edge_swaps.work_estimates.swap_words`): 1 s."""

_FIELDS = {"nodes": "n", "degree": "d"}


class Randomly(Base):
    """A random regular graph, the same from the same arguments everywhere.

    With ``depth`` and ``exchanges`` pairs of links then exchange their ends, so many times at most,
    where no more pairs of nodes are farther than ``depth`` links apart for it; that ends when
    none is.  Should the graph be connected no more, it is taken without exchanges.
    """

    two_way: ClassVar[bool]
    n: int
    d: int
    seed: int
    depth: int = 0
    exchanges: int = 0

    def check_domain(self) -> None:
        """Require that such graphs exist, and that exchanges take a second at most."""
        try:
            require_random_regular(self.n, self.d, self.seed, self.two_way)
        except OutOfDomain as wrong:
            raise OutOfDomain(_FIELDS.get(wrong.field, wrong.field), wrong.rule) from None
        require(0 <= self.depth <= self.n, "depth", "must be from 0 to n")
        if self.exchanges:
            require(self.depth >= 1, "depth", "must be at least 1 where there are exchanges")
            least = 3 if self.two_way else 2
            require(self.d >= least, "exchanges", f"must be 0 where d is less than {least}: a ring")
            most = MAX_WORDS // swap_words(self.n, self.d, self.depth)
            require(0 <= self.exchanges <= most, "exchanges", f"must be from 0 to {most} here")

    def size(self) -> tuple[int, int]:
        """Give n nodes of d links in and out."""
        return self.n, self.d

    def links(self) -> Ends:
        """Return them as drawn; after exchanges sorted by source."""
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
def _links(member: Randomly) -> Ends:
    # Kernels are imported where a graph is built: recipes are read without them.
    from topoloom.synth.edge_swaps.local_search import apply_random_swaps, head_array
    from topoloom.synth.edge_swaps.random_regular import random_ends
    from topoloom.synth.kernels.reachability import connected

    n, d, depth = member.n, member.d, member.depth
    ends = random_ends(n, d, member.seed, member.two_way)
    if member.exchanges:
        heads = head_array(n, *ends)
        apply_random_swaps(
            heads, depth, member.exchanges, member.two_way, member.exchange_state(depth)
        )
        exchanged = np.repeat(np.arange(n), d), heads.ravel()
        ends = exchanged if connected(n, *exchanged) else ends
    return _kept(ends)


def _kept(ends: Ends) -> Ends:
    """Return ends that nobody can change: whoever asks again gets the same arrays."""
    for side in ends:
        side.setflags(write=False)
    return ends


class RandomRegular(Randomly):
    """RandomRegular(n, d, seed, depth, exchanges): one-way links, d in and d out of each node.

    d random permutations, in which images exchange places until there is no loop and no parallel
    link.  Nothing about them is chosen, and still, with labels, they come close to the
    bounds at every n, primes included.
    """

    two_way = False
    title = "random regular digraph, shortened by exchanges"
    source = "uniform permutations; exchanges as in local search for small diameter"

    def bidirectional(self) -> bool:
        """Return True for the complete graph, and for two nodes; else that is not known."""
        return self.d == self.n - 1


class RandomRegularTwoWay(Randomly):
    """RandomRegularTwoWay(n, d, seed, depth, exchanges): d two-way links at each node.

    The ends of all links are joined at random, and links exchange ends until the graph is
    simple.
    """

    two_way = True
    title = "random regular graph, shortened by exchanges"
    source = "McKay and Wormald, J. Algorithms 11, 1990"

    def bidirectional(self) -> bool:
        """Return True: every link is drawn with its partner."""
        return True
