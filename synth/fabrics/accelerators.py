"""Boxes of directly linked accelerators: DGX-1V, NDv2, MI250, MI300X.

Bandwidths are per direction, in GB/s.
"""

from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations

from topoloom.synth.fabrics.link_rows import Row, two_way_links
from topoloom.synth.topology.topology import Capacity, Topology

# The hybrid cube mesh: GPU pairs joined by two NVLinks, then by one.
DGX_1V_DOUBLE = ((0, 1), (0, 4), (1, 3), (2, 3), (2, 6), (4, 5), (5, 7), (6, 7))
DGX_1V_SINGLE = ((0, 2), (0, 3), (1, 2), (1, 5), (3, 7), (4, 6), (4, 7), (5, 6))

# Chips (GCDs) of one MI250 box joined by four, two and one xGMI links.
MI250_QUADRUPLE = tuple((chip, chip + 1) for chip in range(0, 16, 2))
MI250_DOUBLE = ((0, 4), (3, 7), (8, 12), (11, 15))
MI250_SINGLE = (
    *((0, 8), (1, 5), (1, 9), (1, 10), (2, 6), (2, 9), (2, 10), (3, 11)),
    *((4, 6), (5, 6), (5, 7), (9, 13), (10, 14), (12, 14), (13, 14), (13, 15)),
)


def dgx_1v() -> Topology:
    """Return a DGX-1 with V100: a cube mesh of NVLink2, six links of 25 GB/s per GPU.

    >>> dgx_1v()
    <Topology dgx-1v: 8 compute, 32 links>
    """
    return _boxes("dgx-1v", 1, 8, _cube_mesh(0))


def ndv2(boxes: int) -> Topology:
    """Return NDv2 boxes: the GPUs of a DGX-1V, and one 100 Gbit/s NIC per box.

    All GPUs of a box share its NIC, ``"<box>.nic"``.  PCIe is as fast as the NIC and is not
    modeled.  A single box has no NIC.  Source: Azure's NDv2 series; the same figures in Shah et
    al., TACCL, NSDI 2023.

    >>> ndv2(2)
    <Topology ndv2-2: 16 compute, 3 switch, 100 links>
    """
    links = [row for box in range(boxes) for row in _cube_mesh(box)]
    if boxes == 1:
        return _boxes("ndv2-1", 1, 8, links)
    nic = Fraction(25, 2)
    for box in range(boxes):
        for index in range(8):
            links += two_way_links(f"{box}.gpu{index}", f"{box}.nic", nic)
        links += two_way_links(f"{box}.nic", "fabric", nic)
    nics = [f"{box}.nic" for box in range(boxes)]
    return _boxes(f"ndv2-{boxes}", boxes, 8, links, [*nics, "fabric"])


def mi300x(boxes: int = 1) -> Topology:
    """Return boxes of eight MI300X, each pair joined by an Infinity Fabric link of 64 GB/s.

    With more than one box, each GPU has 50 GB/s (a 400 Gbit/s NIC) to one switch between the
    boxes.

    >>> mi300x().degree
    7
    >>> mi300x(2)
    <Topology mi300x: 16 compute, 1 switch, 144 links>
    """
    return _all_joined("mi300x", boxes, 64)


def mi325x(boxes: int = 1) -> Topology:
    """Return boxes of eight MI325X: the links and NICs of MI300X boxes.

    Source: AMD's MI325X data sheet, 128 GB/s per link, both directions together.

    >>> mi325x().capacities[0]
    64
    """
    return _all_joined("mi325x", boxes, 64)


def mi355x(boxes: int = 1) -> Topology:
    """Return boxes of eight MI355X: each pair has 76.8 GB/s, each GPU a 400 Gbit/s NIC.

    Source: AMD's MI355X data sheet, 153.6 GB/s per link, both directions together.

    >>> mi355x().capacities[0]
    Fraction(384, 5)
    """
    return _all_joined("mi355x", boxes, Fraction(384, 5))


def _all_joined(name: str, boxes: int, capacity: Capacity) -> Topology:
    links: list[Row] = []
    for box in range(boxes):
        links += [row for pair in combinations(range(8), 2) for row in _joined(box, pair, capacity)]
    return _with_network(name, boxes, 8, links, nic=50)


def mi250(boxes: int) -> Topology:
    """Return boxes of 8 MI250 (16 chips): seven xGMI links of 50 GB/s per chip.

    With more than one box, each chip has 16 GB/s to one switch between the boxes.

    >>> mi250(1)
    <Topology mi250-1: 16 compute, 56 links>
    """
    links: list[Row] = []
    for box in range(boxes):
        for width, pairs in ((4, MI250_QUADRUPLE), (2, MI250_DOUBLE), (1, MI250_SINGLE)):
            links += [row for pair in pairs for row in _joined(box, pair, width * 50)]
    return _with_network(f"mi250-{boxes}", boxes, 16, links, nic=16)


def _cube_mesh(box: int) -> list[Row]:
    links = [row for pair in DGX_1V_DOUBLE for row in _joined(box, pair, 2 * 25)]
    return links + [row for pair in DGX_1V_SINGLE for row in _joined(box, pair, 25)]


def _joined(box: int, pair: tuple[int, int], capacity: Capacity) -> list[Row]:
    one, other = (f"{box}.gpu{index}" for index in pair)
    return two_way_links(one, other, capacity)


def _with_network(name: str, boxes: int, gpus: int, links: list[Row], *, nic: int) -> Topology:
    """Join the GPUs of several boxes by one switch."""
    if boxes == 1:
        return _boxes(name, 1, gpus, links)
    for box in range(boxes):
        for index in range(gpus):
            links += two_way_links(f"{box}.gpu{index}", "fabric", nic)
    return _boxes(name, boxes, gpus, links, ["fabric"])


def _boxes(
    name: str, boxes: int, gpus: int, links: list[Row], switches: Iterable[str] = ()
) -> Topology:
    nodes = [f"{box}.gpu{index}" for box in range(boxes) for index in range(gpus)]
    return Topology([*nodes, *switches], links, switches=switches, name=name, bandwidth_unit="GB/s")
