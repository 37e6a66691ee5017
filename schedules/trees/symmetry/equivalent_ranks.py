"""The ranks that remain equivalent to many others beside a fault."""

import numpy as np

from topoloom.schedules.trees.flow.network import Network
from topoloom.schedules.trees.symmetry.automorphisms import Ints, generators, orbits


def equivalent_ranks(network: Network) -> Ints:
    """Return the ranks that a group should move so that the fewest roots remain.

    A group that moves the ranks of some orbits, and fixes none of these, has at most as many
    elements as the greatest common divisor of the sizes of the orbits.  The larger orbits are
    moved, down to the size that leaves the fewest roots by this bound: the first roots of the group
    and the ranks of all smaller orbits.

    Six ranks at a switch; rank 0 sends to rank 1 only:

    >>> from topoloom.schedules.trees.flow.network import network_of
    >>> from topoloom.synth.topology.topology import Topology
    >>> pairs = [(gpu, "plane") for gpu in range(1, 6)] + [("plane", gpu) for gpu in range(6)]
    >>> star = Topology([*range(6), "plane"], [*pairs, (0, 1)], switches=["plane"])
    >>> equivalent_ranks(network_of(star)).tolist()
    [2, 3, 4, 5]
    """
    kind = orbits(network.node_count, generators(network, network.kinds))[network.terminals]
    _, part, sizes = np.unique(kind, return_inverse=True, return_counts=True)
    least, best = len(kind) + 1, 0
    for size in np.unique(sizes).tolist():
        moved = sizes[sizes >= size]
        roots = int(moved.sum() // np.gcd.reduce(moved) + sizes[sizes < size].sum())
        if roots < least:
            least, best = roots, size
    return network.terminals[sizes[part] >= best]
