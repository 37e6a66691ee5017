"""Groups of digit rotations: automorphisms of a network from the order of its compute nodes.

Clusters are listed box by box, racks of boxes one after another.  In the correct mixed radix, the
number of a compute node is its position.  The rotation of one digit, with the others fixed,
is an automorphism where the parts that the digit counts are equivalent.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.trees import limits
from topoloom.schedules.trees.flow.network import Network
from topoloom.schedules.trees.symmetry.extend_automorphism import AutomorphismExtension


class Action(NamedTuple):
    """A group of automorphisms that is semiregular on the compute nodes, or on some of them.

    ``images[g, v]`` is the image of node v under element g; element 0 is the identity.
    ``orbit[a]`` numbers the orbit of arc a, ``turns[a]`` is the number of elements that fix it.
    ``roots`` are the first of those compute nodes in each orbit.
    """

    images: NDArray[np.int64]
    orbit: NDArray[np.int64]
    turns: NDArray[np.int64]
    roots: NDArray[np.int64]

    def others(self, ranks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the ranks to which no element maps a root."""
        return np.setdiff1d(ranks, self.images[:, self.roots])


def rotations(network: Network) -> Action | None:
    """Return the group of the digits that can be rotated, or None if there is none.

    Digits are given by divisors 1 = g_0 < g_1 < ... < g_m = N of the number of compute
    nodes: digit i of rank r is r mod g_{i+1} div g_i.  From the lowest on, each digit is as
    large as its rotation allows.

    Rotations of different digits commute, also on the switches (`extend_automorphism` checks this),
    and a product of rotations that fixes a rank is the identity.  At most O(arcs) for each pair of
    divisors, O(elements * (nodes + arcs)) for the group.

    >>> from topoloom.synth.fabrics import fabric
    >>> from topoloom.schedules.trees.flow.network import network_of
    >>> action = rotations(network_of(fabric("dgx-a100-4")))
    >>> len(action.images), len(set(action.orbit.tolist())), action.roots
    (32, 4, array([0]))
    """
    count = len(network.terminals)
    if count * network.node_count > limits.MAX_IMAGES:
        return None
    divisors = [g for g in range(1, count + 1) if count % g == 0]
    marks, extending = _Marks(network), None
    images = np.arange(network.node_count)[None, :]
    turned: list[NDArray[np.int64]] = []
    reached = 1
    for low in divisors:
        if low % reached:
            continue
        for high in reversed([high for high in divisors if high > low and high % low == 0]):
            turn = _turn(count, low, high)
            if not marks.allow(turn):
                continue
            extending = extending or AutomorphismExtension(network)
            image = extending.turning(turn, high // low, turned)
            if image is not None:
                images = _powers(image, high // low)[:, images].reshape(-1, network.node_count)
                turned.append(image)
                reached = high
                break
    return acting(network, images) if len(images) > 1 else None


def _powers(image: NDArray[np.int64], order: int) -> NDArray[np.int64]:
    powers = [np.arange(len(image))]
    while len(powers) < order:
        powers.append(image[powers[-1]])
    return np.stack(powers)


def _turn(count: int, low: int, high: int) -> NDArray[np.int64]:
    """Return the image of each rank: ``low`` further, cyclically within its block of ``high``."""
    ranks = np.arange(count)
    return ranks // high * high + (ranks + low) % high


class _Marks:
    """Fingerprints of neighborhoods: sums of random numbers over the adjacent ranks."""

    def __init__(self, network: Network) -> None:
        count, nodes = len(network.terminals), network.node_count
        number = np.full(nodes, -1)
        number[network.terminals] = np.arange(count)
        both = ((network.tail, network.head), (network.head, network.tail))
        near = np.concatenate([near for near, _ in both])
        ranks = np.concatenate([number[far] for _, far in both])
        kinds = np.concatenate([2 * network.capacity, 2 * network.capacity + 1])
        kept = np.flatnonzero(ranks >= 0)
        kept = kept[np.argsort(near[kept], kind="stable")]
        every, self._first = np.unique(near[kept], return_index=True)
        seed = np.random.default_rng(0)
        _, code = np.unique(kinds[kept], return_inverse=True)
        numbers = seed.integers(0, 1 << 64, int(code.max()) + 1, np.uint64) | np.uint64(1)
        self._of_rank = seed.integers(0, 1 << 64, count, np.uint64)
        self._ranks, self._kinds = ranks[kept], numbers[code]
        is_rank = number[every] >= 0
        self._beside, self._others = np.flatnonzero(is_rank), np.flatnonzero(~is_rank)
        before = self._sums(self._of_rank)
        self._of_others = np.sort(before[self._others])
        # For ranks, by position among all nodes: some have no adjacent rank.
        self._places = number[every[self._beside]]
        self._of_ranks = np.zeros(count, np.uint64)
        self._of_ranks[self._places] = before[self._beside]

    def _sums(self, of_rank: NDArray[np.uint64]) -> NDArray[np.uint64]:
        return np.add.reduceat(of_rank[self._ranks] * self._kinds, self._first)

    def allow(self, turn: NDArray[np.int64]) -> bool:
        """Return False if the rotation maps the neighbors of some node to no node's neighbors.

        A necessary condition: the caller checks the rest.
        """
        after = self._sums(self._of_rank[turn])
        if (self._of_ranks[turn[self._places]] != after[self._beside]).any():
            return False
        return bool((self._of_others == np.sort(after[self._others])).all())


def acting(network: Network, images: NDArray[np.int64]) -> Action:
    """Return the orbits of a group given by the images of the nodes.

    Args:
        images (int64 array, (elements, nodes)): Automorphisms; the first is the identity, no other
            fixes a rank.
    """
    nodes = network.node_count
    ends = zip(network.tail.tolist(), network.head.tolist(), strict=True)
    place = {pair: arc for arc, pair in enumerate(ends)}
    orbit = np.full(len(network.tail), -1)
    turns = np.zeros(len(network.tail), np.int64)
    orbits = 0
    for arc, (tail, head) in enumerate(place):
        if orbit[arc] < 0:
            codes, counts = np.unique(images[:, tail] * nodes + images[:, head], return_counts=True)
            members = [place[divmod(code, nodes)] for code in codes.tolist()]
            orbit[members], turns[members] = orbits, counts
            orbits += 1
    firsts = images[:, network.terminals].min(axis=0) == network.terminals
    return Action(images, orbit, turns, network.terminals[firsts])
