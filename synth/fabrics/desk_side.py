"""Clusters on a desk: boxes joined by their own ports, without a switch.

DGX Spark (GB10): each box has two 200 Gbit/s ports.  Two PCIe Gen5 x4 links feed both ports, so a
box sends and receives 25 GB/s in total: a limit that its links share.  Sources: NVIDIA, DGX Spark
user guide; ServeTheHome, "The NVIDIA GB10 ConnectX-7 200GbE Networking is Really Different", which
measured 160 to 198 Gbit/s out of two ports.

Mac Studio: Thunderbolt 5 carries 80 Gbit/s each way, 10 GB/s; M4 Max has four ports, M3 Ultra six.
Source: Apple, technical specifications of Mac Studio (2025).
"""

import re
from collections.abc import Callable, Sequence
from itertools import combinations, pairwise

from topoloom.synth.errors import OutOfDomain
from topoloom.synth.fabrics.link_rows import two_way_links
from topoloom.synth.topology.topology import Topology

SPARK_PORT = 25
SPARK_PORTS = (("rocep1s0f0", "roceP2p1s0f0"), ("rocep1s0f1", "roceP2p1s0f1"))
"""The two RDMA devices of each port: one for each PCIe link."""
MOST_SPARKS = 8
THUNDERBOLT = 10
MAC_PORTS = 6


def dgx_spark(boxes: int) -> Topology:
    """Return 2 to 8 DGX Spark in a ring: two boxes have one cable, three a full mesh.

    >>> dgx_spark(4).links[0], dgx_spark(4).shared[0].capacity
    (Link(source='spark0', target='spark1', capacity=25), 25)
    """
    return _sparks(boxes, is_ring=boxes > 2)


def dgx_spark_chain(boxes: int) -> Topology:
    """Return 2 to 8 DGX Spark in a chain: the ring without its last cable.

    >>> dgx_spark_chain(3).link_count
    4
    """
    return _sparks(boxes, is_ring=False)


def mac_studio_mesh(boxes: int) -> Topology:
    """Return 2 to 7 Mac Studio, every two joined by one Thunderbolt 5 cable.

    >>> mac_studio_mesh(4).degree
    3
    """
    if not 2 <= boxes <= MAC_PORTS + 1:
        raise OutOfDomain("N", f"must be from 2 to {MAC_PORTS + 1}: a Mac Studio has 6 ports")
    return _macs(boxes, list(combinations(range(boxes), 2)))


def mac_studio_ring(boxes: int) -> Topology:
    """Return 3 or more Mac Studio in a ring of single Thunderbolt 5 cables.

    >>> mac_studio_ring(5).degree
    2
    """
    if boxes < 3:
        raise OutOfDomain("N", "must be at least 3")
    return _macs(boxes, _ring(boxes))


def port_names(fabric: str) -> Callable[[int, int], Sequence[str]] | None:
    """Return the function of box and cable to the device names of a port; None if unknown.

    >>> port_names("dgx-spark-4")(0, 1)
    ('rocep1s0f1', 'roceP2p1s0f1')
    >>> port_names("mac-studio-mesh-4")(0, 0)
    ('rdma_en2',)
    """
    if re.match(r"dgx-spark-(chain-)?[0-9]", fabric):
        return lambda box, cable: SPARK_PORTS[cable]
    if re.match(r"mac-studio-(mesh|ring)-[0-9]", fabric):
        return lambda box, cable: (f"rdma_en{2 + cable}",)
    return None


def _ring(boxes: int) -> list[tuple[int, int]]:
    return [*pairwise(range(boxes)), (boxes - 1, 0)]


def _sparks(boxes: int, *, is_ring: bool) -> Topology:
    if not 2 <= boxes <= MOST_SPARKS:
        raise OutOfDomain("N", f"must be from 2 to {MOST_SPARKS}")
    cables = _ring(boxes) if is_ring else list(pairwise(range(boxes)))
    names = [f"spark{index}" for index in range(boxes)]
    rows = [
        row for one, other in cables for row in two_way_links(names[one], names[other], SPARK_PORT)
    ]
    limits = [
        ([row[:2] for row in rows if row[way] == name], SPARK_PORT)
        for name in names
        for way in (0, 1)
        if sum(row[way] == name for row in rows) > 1
    ]
    return Topology(names, rows, shared=limits, name="dgx-spark", bandwidth_unit="GB/s")


def _macs(boxes: int, cables: list[tuple[int, int]]) -> Topology:
    names = [f"mac{index}" for index in range(boxes)]
    rows = [
        row for one, other in cables for row in two_way_links(names[one], names[other], THUNDERBOLT)
    ]
    return Topology(names, rows, name="mac-studio", bandwidth_unit="GB/s")
