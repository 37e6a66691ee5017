"""Boardfly, the network of TPU 8i: blocks of chips, groups of blocks, groups joined by OCS.

Google states: a block is a ring of 4 chips with 16 external links; a group is 8 blocks, joined by
copper, with 11 of these links of each block; up to 36 groups (1,152 chips) are joined over optical
circuit switches; 1,024 chips are at most 7 hops apart.  Source: Google Cloud, "TPU 8t and TPU 8i
technical deep dive", April 2026.  All else is assumed, and listed in ``assumed`` of the topology.
"""

from itertools import combinations

from topoloom.synth.errors import OutOfDomain
from topoloom.synth.fabrics.link_rows import Row, two_way_links
from topoloom.synth.topology.assumptions import Assumption
from topoloom.synth.topology.topology import Topology

CHIPS, BLOCKS, MOST_GROUPS = 4, 8, 36

_COPPER = ((0, 6, 1), (1, 5, 2), (2, 4, 3), (3, 3, 4), (7, 8, 1), (9, 10, 2))
"""Cables of a group: a port, the port at the other end, and how many blocks further that is."""
_OPTICAL = 11
"""First port of a block that leads to another group."""

ASSUMED = (
    Assumption("The chips of a block form a ring; a caption calls them fully connected."),
    Assumption("In a group two cables join blocks that are 1 or 2 places apart, else one cable."),
    Assumption("One cable joins every two groups; other ports to optical switches are empty."),
    Assumption("The ports of a block are spread evenly over its chips."),
    Assumption("Every link has the same rate, so capacities count links."),
)


def boardfly(groups: int) -> Topology:
    """Return groups of 32 TPU 8i chips; ids are ``"<group>.<block>.<chip>"``.

    >>> boardfly(32)
    <Topology boardfly: 1024 compute, 5856 links>
    """
    if not 2 <= groups <= MOST_GROUPS:
        raise OutOfDomain("G", f"must be from 2 to {MOST_GROUPS}")

    def chip(group: int, block: int, port: int) -> str:
        return f"{group}.{block % BLOCKS}.{port % CHIPS}"

    links: list[Row] = []
    for group in range(groups):
        for block in range(BLOCKS):
            for at in range(CHIPS):
                links += two_way_links(chip(group, block, at), chip(group, block, at + 1), 1)
            for near, far, further in _COPPER:
                # A cable to the block opposite is met from both ends.
                if 2 * further < BLOCKS or block < further:
                    ends = chip(group, block, near), chip(group, block + further, far)
                    links += two_way_links(*ends, 1)
    for one, other in combinations(range(groups), 2):
        # Port p of a group leads to the group p + 1 further on.
        near, far = other - one - 1, one - other - 1 + groups
        source = chip(one, near, _OPTICAL + near // BLOCKS)
        links += two_way_links(source, chip(other, far, _OPTICAL + far // BLOCKS), 1)
    names = [
        chip(group, block, at)
        for group in range(groups)
        for block in range(BLOCKS)
        for at in range(CHIPS)
    ]
    return Topology(names, links, name="boardfly", assumed=ASSUMED)
