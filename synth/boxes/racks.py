"""Racks of boxes: copper cables join the boxes of one rack, so racks hold the most cables found."""

from collections.abc import Sequence

from topoloom.synth.errors import OutOfDomain
from topoloom.synth.topology.topology import Topology

Racks = tuple[tuple[int, ...], ...]
"""The boxes of each rack."""


def racks_of(between: Topology, boxes_per_rack: int) -> Racks:
    """Return the boxes of each rack, with the most cables found inside racks.

    Args:
        between: The topology between boxes.
        boxes_per_rack: Maximum boxes of a rack; racks have even sizes.

    Raises:
        OutOfDomain: ``boxes_per_rack`` is not positive.

    As `synth.scheduling.blocks.even_blocks`: most cables inside is NP-hard to reach.

    >>> from topoloom.synth.recipes.build import build
    >>> from topoloom.synth.recipes.recipe import parse
    >>> racks_of(build(parse("CompleteBipartite(4)")), 4)
    ((0, 1, 6, 7), (2, 3, 4, 5))
    """
    if boxes_per_rack < 1:
        raise OutOfDomain("boxes_per_rack", "must be at least 1")
    count = len(between.compute_nodes)
    if boxes_per_rack == 1 or between.switches:
        starts = range(0, count, boxes_per_rack)
        return tuple(tuple(range(at, min(at + boxes_per_rack, count))) for at in starts)
    # Imported here: only few designs have racks.
    from topoloom.synth.launch.host_graph import host_graph
    from topoloom.synth.scheduling.blocks import even_blocks

    return even_blocks(host_graph(between), -(-count // boxes_per_rack))


def rack_numbers(racks: Racks) -> Sequence[int]:
    """Return the rack of each box.

    >>> rack_numbers(((0, 2), (1, 3)))
    [0, 1, 0, 1]
    """
    found = {box: rack for rack, boxes in enumerate(racks) for box in boxes}
    return [found[box] for box in range(len(found))]
