"""Boxes whose accelerators are joined by direct links: DGX-1V, MI250, MI300X.

Bandwidths are per direction, in GB/s.
"""

from itertools import combinations

from synth.topology import Topology

__all__ = ["dgx_1v", "mi250", "mi300x"]

Row = tuple[str, str, int]

# The hybrid cube mesh: GPU pairs joined by two NVLinks, then by one.
DGX_1V_DOUBLE = ((0, 1), (0, 4), (1, 3), (2, 3), (2, 6), (4, 5), (5, 7), (6, 7))
DGX_1V_SINGLE = ((0, 2), (0, 3), (1, 2), (1, 5), (3, 7), (4, 6), (4, 7), (5, 6))

# Chips (GCDs) of one MI250 box joined by so many xGMI links.
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
    links = [row for pair in DGX_1V_DOUBLE for row in _joined(0, pair, 2 * 25)]
    links += [row for pair in DGX_1V_SINGLE for row in _joined(0, pair, 25)]
    return _direct("dgx-1v", 8, links)


def mi300x() -> Topology:
    """Return eight MI300X, each pair joined by an Infinity Fabric link of 64 GB/s.

    >>> mi300x().degree
    7
    """
    links = [row for pair in combinations(range(8), 2) for row in _joined(0, pair, 64)]
    return _direct("mi300x", 8, links)


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
    gpus = [f"{box}.gpu{chip}" for box in range(boxes) for chip in range(16)]
    if boxes == 1:
        return _direct("mi250-1", 16, links)
    for gpu in gpus:
        links += [(gpu, "fabric", 16), ("fabric", gpu, 16)]
    return Topology(
        [*gpus, "fabric"],
        links,
        switches=["fabric"],
        name=f"mi250-{boxes}",
        bandwidth_unit="GB/s",
    )


def _joined(box: int, pair: tuple[int, int], capacity: int) -> list[Row]:
    one, other = (f"{box}.gpu{index}" for index in pair)
    return [(one, other, capacity), (other, one, capacity)]


def _direct(name: str, gpus: int, links: list[Row]) -> Topology:
    nodes = [f"0.gpu{index}" for index in range(gpus)]
    return Topology(nodes, links, name=name, bandwidth_unit="GB/s")
