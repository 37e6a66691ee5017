"""NVIDIA boxes with NVSwitch, and the network between boxes.

All NVSwitch chips of a box are modeled as one switch, since each GPU has an equal share of its
links on each chip.  Bandwidths are per direction.
"""

from topoloom.synth.fabrics.link_rows import Row, two_way_links
from topoloom.synth.topology.topology import Topology

GPUS = 8
PLANES = 2


def dgx_a100(boxes: int) -> Topology:
    """Return DGX A100 boxes: 12 NVLink3 of 25 GB/s and one 200 Gbit/s NIC per GPU.

    >>> dgx_a100(1)
    <Topology dgx-a100-1: 8 compute, 1 switch, 16 links>
    """
    return _cluster("dgx-a100", boxes, nvlink=12 * 25, nic=25)


def dgx_h100(boxes: int) -> Topology:
    """Return DGX H100 boxes: 18 NVLink4 of 25 GB/s and one 400 Gbit/s NIC per GPU.

    >>> dgx_h100(2).degree
    8
    """
    return _cluster("dgx-h100", boxes, nvlink=18 * 25, nic=50)


def dgx_h200(boxes: int) -> Topology:
    """Return DGX H200 boxes: the NVLinks and NICs of DGX H100 boxes.

    Source: NVIDIA's DGX H200 data sheet, 900 GB/s per GPU, both directions together.

    >>> dgx_h200(2).degree
    8
    """
    return _cluster("dgx-h200", boxes, nvlink=18 * 25, nic=50)


def dgx_b200(boxes: int) -> Topology:
    """Return DGX B200 boxes: 18 NVLink5 of 50 GB/s and one 400 Gbit/s NIC per GPU.

    Source: NVIDIA's DGX B200 data sheet, 1.8 TB/s per GPU, both directions together.

    >>> dgx_b200(1).capacities[0]
    900
    """
    return _cluster("dgx-b200", boxes, nvlink=18 * 50, nic=50)


def dgx_b300(boxes: int) -> Topology:
    """Return DGX B300 boxes: 18 NVLink5 of 50 GB/s and one 800 Gbit/s NIC per GPU.

    Source: NVIDIA's DGX B300 data sheet, eight ConnectX-8.

    >>> dgx_b300(2).links[0].capacity
    900
    """
    return _cluster("dgx-b300", boxes, nvlink=18 * 50, nic=100)


def dgx_h100_sharp(boxes: int) -> Topology:
    """Return DGX H100 boxes whose NVSwitches multicast and reduce (NVLink SHARP).

    >>> sorted(dgx_h100_sharp(2).multicast)
    ['0.nvswitch', '1.nvswitch']
    """
    return _sharp(dgx_h100(boxes))


def gb200_nvl72_sharp() -> Topology:
    """Return a GB200 NVL72 rack whose NVSwitches multicast and reduce (NVLink SHARP).

    >>> sorted(gb200_nvl72_sharp().multicast)
    ['0.nvswitch']
    """
    return _sharp(gb200_nvl72())


def dgx_2() -> Topology:
    """Return a DGX-2: 16 V100 with six NVLink2 of 25 GB/s each to NVSwitch.

    Source: NVIDIA's DGX-2 data sheet, 300 GB/s per GPU, both directions together.

    >>> dgx_2()
    <Topology dgx-2: 16 compute, 1 switch, 32 links>
    """
    return _racks("dgx-2", 1, gpus=16, nvlink=6 * 25)


def gh200_nvl32() -> Topology:
    """Return a GH200 NVL32 rack: 32 GPUs with 18 NVLink4 of 25 GB/s to the switches.

    Source: NVIDIA's GH200 NVL32 announcement, 900 GB/s per GPU, both directions together.

    >>> gh200_nvl32()
    <Topology gh200-nvl32: 32 compute, 1 switch, 64 links>
    """
    return _racks("gh200-nvl32", 1, gpus=32, nvlink=18 * 25)


def gb200_nvl72(racks: int = 1) -> Topology:
    """Return GB200 NVL72 racks: 72 GPUs with 18 NVLink5 of 50 GB/s to the switches.

    With more than one rack, each GPU has a 400 Gbit/s NIC (ConnectX-7, 72 per rack in NVIDIA's
    DGX GB200 data sheet) to one network between the racks.

    >>> gb200_nvl72()
    <Topology gb200-nvl72: 72 compute, 1 switch, 144 links>
    >>> gb200_nvl72(2)
    <Topology gb200-nvl72: 144 compute, 3 switch, 576 links>
    """
    return _racks("gb200-nvl72", racks, gpus=72, nvlink=18 * 50, nic=50)


def gb300_nvl72(racks: int = 1) -> Topology:
    """Return GB300 NVL72 racks: the NVLinks of GB200 NVL72, and an 800 Gbit/s NIC per GPU.

    Source: NVIDIA's GB300 NVL72 data sheet, ConnectX-8.

    >>> gb300_nvl72(2)
    <Topology gb300-nvl72: 144 compute, 3 switch, 576 links>
    """
    return _racks("gb300-nvl72", racks, gpus=72, nvlink=18 * 50, nic=100)


def _racks(family: str, racks: int, *, gpus: int, nvlink: int, nic: int = 0) -> Topology:
    """Return domains of one switch each; one switch between the domains joins the NICs."""
    names = [f"{rack}.gpu{index}" for rack in range(racks) for index in range(gpus)]
    inner = [f"{rack}.nvswitch" for rack in range(racks)]
    outer = ["fabric"] if racks > 1 else []
    links: list[Row] = []
    for place, gpu in enumerate(names):
        links += two_way_links(gpu, inner[place // gpus], nvlink)
        for switch in outer:
            links += two_way_links(gpu, switch, nic)
    return Topology(
        [*names, *inner, *outer],
        links,
        switches=[*inner, *outer],
        name=family,
        bandwidth_unit="GB/s",
    )


def _cluster(family: str, boxes: int, *, nvlink: int, nic: int) -> Topology:
    """Return boxes of eight GPUs; NICs of even and of odd GPUs share a plane each."""
    gpus = [f"{box}.gpu{index}" for box in range(boxes) for index in range(GPUS)]
    inner = [f"{box}.nvswitch" for box in range(boxes)]
    planes = [f"plane{index}" for index in range(PLANES)] if boxes > 1 else []
    links: list[Row] = []
    for place, gpu in enumerate(gpus):
        links += two_way_links(gpu, inner[place // GPUS], nvlink)
        if planes:
            links += two_way_links(gpu, planes[place % PLANES], nic)
    return Topology(
        [*gpus, *inner, *planes],
        links,
        switches=[*inner, *planes],
        name=f"{family}-{boxes}",
        bandwidth_unit="GB/s",
    )


def _sharp(topology: Topology) -> Topology:
    inner = [node for node in topology.switches if str(node).endswith(".nvswitch")]
    return Topology(
        topology.nodes,
        topology.links,
        switches=topology.switches,
        multicast=inner,
        name=topology.name,
        bandwidth_unit=topology.bandwidth_unit,
    )
