"""NVIDIA boxes whose GPUs meet in NVSwitch, and the network between boxes.

All NVSwitch chips of a box act as one switch, since each GPU has an equal share of its
links on each chip.  Bandwidths are per direction.
"""

from synth.topology import Topology

__all__ = ["dgx_a100", "dgx_h100", "dgx_h100_sharp", "gb200_nvl72", "gb200_nvl72_sharp"]

Row = tuple[str, str, int]

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


def dgx_h100_sharp(boxes: int) -> Topology:
    """Return DGX H100 boxes whose NVSwitches copy and add up (NVLink SHARP).

    >>> sorted(dgx_h100_sharp(2).multicast)
    ['0.nvswitch', '1.nvswitch']
    """
    return _sharp(dgx_h100(boxes))


def gb200_nvl72_sharp() -> Topology:
    """Return a GB200 NVL72 rack whose NVSwitches copy and add up (NVLink SHARP).

    >>> sorted(gb200_nvl72_sharp().multicast)
    ['0.nvswitch']
    """
    return _sharp(gb200_nvl72())


def gb200_nvl72() -> Topology:
    """Return one GB200 NVL72 rack: 72 GPUs with 18 NVLink5 of 50 GB/s to the switches.

    >>> gb200_nvl72()
    <Topology gb200-nvl72: 72 compute, 1 switch, 144 links>
    """
    gpus = [f"0.gpu{index}" for index in range(72)]
    links = [row for gpu in gpus for row in _both(gpu, "0.nvswitch", 18 * 50)]
    return Topology(
        [*gpus, "0.nvswitch"],
        links,
        switches=["0.nvswitch"],
        name="gb200-nvl72",
        bandwidth_unit="GB/s",
    )


def _cluster(family: str, boxes: int, *, nvlink: int, nic: int) -> Topology:
    """Return boxes of eight GPUs; NICs of even and odd GPUs meet in a plane each."""
    gpus = [f"{box}.gpu{index}" for box in range(boxes) for index in range(GPUS)]
    inner = [f"{box}.nvswitch" for box in range(boxes)]
    planes = [f"plane{index}" for index in range(PLANES)] if boxes > 1 else []
    links: list[Row] = []
    for place, gpu in enumerate(gpus):
        links += _both(gpu, inner[place // GPUS], nvlink)
        if planes:
            links += _both(gpu, planes[place % PLANES], nic)
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


def _both(one: str, other: str, capacity: int) -> list[Row]:
    return [(one, other, capacity), (other, one, capacity)]
