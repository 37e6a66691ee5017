"""Boardfly, the network of TPU 8i: blocks of chips, groups of blocks, groups joined by OCS.

Google states: blocks of 4 chips, groups of 8 blocks joined by copper, up to 36 groups (1,152
chips) joined over optical circuit switches, and at most 7 hops between 1,024 chips.  Sources:
Google Cloud, "TPU 8t and TPU 8i technical deep dive", April 2026, and reports about it.  All else
is assumed, and listed in ``assumed`` of the topology.
"""

from collections.abc import Iterator
from itertools import combinations

from topoloom.synth.errors import OutOfDomain
from topoloom.synth.fabrics.link_rows import Row, two_way_links
from topoloom.synth.topology.assumptions import Assumption
from topoloom.synth.topology.topology import Topology

CHIPS, BLOCKS, MOST_GROUPS = 4, 8, 36

ASSUMED = (
    Assumption(
        "Every two chips of a block, blocks of a group and groups are joined by one cable each."
    ),
    Assumption("The cables of a block and of a group are spread evenly over their chips."),
    Assumption("Every link has the same rate, so capacities count links."),
)


def boardfly(groups: int) -> Topology:
    """Return groups of 32 TPU 8i chips; ids are ``"<group>.<block>.<chip>"``.

    >>> boardfly(32)
    <Topology boardfly: 1024 compute, 5856 links>
    """
    if not 2 <= groups <= MOST_GROUPS:
        raise OutOfDomain("G", f"must be from 2 to {MOST_GROUPS}")
    names = [
        f"{group}.{block}.{chip}"
        for group in range(groups)
        for block in range(BLOCKS)
        for chip in range(CHIPS)
    ]
    links: list[Row] = []
    for first in range(0, len(names), CHIPS):
        for one, other in combinations(names[first : first + CHIPS], 2):
            links += two_way_links(one, other, 1)
    size = CHIPS * BLOCKS
    for first in range(0, len(names), size):
        links += _cables(names[first : first + size], CHIPS)
    links += _cables(names, size)
    return Topology(names, links, name="boardfly", assumed=ASSUMED)


def _cables(names: list[str], size: int) -> Iterator[Row]:
    """Yield one cable between every two parts of ``size`` chips, spread over the chips."""
    count = len(names) // size
    ports = count - 1
    for one, other in combinations(range(count), 2):
        # Port p of a part leads to the part p + 1 further on.
        near, far = other - one - 1, one - other - 1 + count
        yield from two_way_links(
            names[one * size + near * size // ports],
            names[other * size + far * size // ports],
            1,
        )
