"""NVLinks that a dump does not list: from what is known of the GPUs, or as the user says.

Static files of clouds name PCI devices only.  Which GPUs they are is told by the device id,
or by the bus ids, which a cloud gives alike to all machines of a kind.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from synth.errors import InvalidTopology
from synth.formats.dumps.box import Cable
from synth.topology import Capacity, NodeId

__all__ = ["CUBE_MESH", "DEVICES", "NIC_DEVICES", "NVLINKS", "PLATFORMS", "Platform", "cables"]

NVLINKS = ("none", "dgx-1v", "switch:GBPS", "mesh:GBPS", "pairs:GBPS")
"""What an option may say: no NVLinks; the cube mesh of eight V100; so many GB/s per direction
from each GPU to one switch; between any two GPUs; between GPUs 0 and 1, 2 and 3, ..."""

CUBE_MESH = {
    **dict.fromkeys(((0, 1), (0, 4), (1, 3), (2, 3), (2, 6), (4, 5), (5, 7), (6, 7)), 50),
    **dict.fromkeys(((0, 2), (0, 3), (1, 2), (1, 5), (3, 7), (4, 6), (4, 7), (5, 6)), 25),
}
"""GB/s per direction of pairs of a DGX-1V's GPUs: two NVLink2 or one."""


@dataclass(frozen=True, slots=True)
class Model:
    """A GPU by its PCI device id: its NVLinks, by the number of GPUs of a box."""

    name: str
    nvlinks: dict[int, str]


_V100 = Model("V100 SXM2", {1: "none", 8: "dgx-1v"})
_A100 = Model("A100 SXM4", {1: "none", 4: "mesh:100", 8: "switch:300", 16: "switch:300"})
_H100 = Model("H100 SXM5", {1: "none", 4: "mesh:150", 8: "switch:450"})
_PCIE = dict.fromkeys(range(1, 17), "none")

DEVICES = {
    "0x1db1": _V100,
    "0x1db5": _V100,
    "0x20b0": _A100,
    "0x20b2": _A100,
    "0x2330": _H100,
    "0x2335": Model("H200 SXM5", {1: "none", 4: "mesh:150", 8: "switch:450"}),
    "0x2901": Model("B200 SXM6", {1: "none", 8: "switch:900"}),
    "0x1eb8": Model("T4", _PCIE),
    "0x2237": Model("A10G", _PCIE),
    "0x27b8": Model("L4", _PCIE),
    "0x26b9": Model("L40S", _PCIE),
}
"""GPUs of vendor 0x10de.  PCI ids: the PCI ID repository; boards: NVIDIA's data sheets (HGX
A100 with 4 GPUs joins each pair by 4 NVLinks, HGX H100 by 6)."""

NIC_DEVICES = {
    "0x1017": Fraction(25, 2),
    "0x101b": 25,
    "0x1021": 50,
    "0xefa0": Fraction(25, 2),
    "0xefa1": Fraction(25, 2),
}
"""GB/s per direction of a NIC by its PCI device id: ConnectX-5, -6 and -7, EFA of p4d and p5."""


@dataclass(frozen=True, slots=True)
class Platform:
    """A machine of a cloud, known by the bus ids of its GPUs (and of its NICs, if given)."""

    name: str
    gpus: frozenset[str]
    nvlinks: str
    nic: Capacity
    nics: frozenset[str] = frozenset()


def _buses(pattern: str, parts: Iterable[str]) -> frozenset[str]:
    return frozenset(pattern.format(part) for part in parts)


_AZURE = "{}:00:00.0"

PLATFORMS = (
    Platform(
        "Azure ND v2",
        _buses(_AZURE, ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008")),
        "dgx-1v",
        Fraction(25, 2),
    ),
    Platform(
        "Azure ND A100 v4",
        _buses(_AZURE, ("0001", "0002", "0003", "0004", "000b", "000c", "000d", "000e")),
        "switch:300",
        25,
    ),
    Platform(
        "Azure ND H100 v5",
        _buses(_AZURE, ("0001", "0002", "0003", "0008", "0009", "000a", "000b", "000c")),
        "switch:450",
        50,
    ),
    Platform(
        "AWS g5.48xlarge",
        _buses("0000:00:{}.0", ("16", "17", "18", "19", "1a", "1b", "1c", "1d")),
        "none",
        Fraction(25, 2),
        frozenset({"0000:00:15.0"}),
    ),
    Platform(
        "AWS p5.48xlarge",
        _buses("0000:{}:00.0", ("4f", "60", "70", "80", "90", "a0", "b0", "c0")),
        "switch:450",
        Fraction(25, 2),
    ),
)
"""Bus ids as in the topology files that these clouds ship; GPUs, NVLinks and NICs as in their
descriptions of the machines."""

_SAID = re.compile(r"(switch|mesh|pairs):([0-9]{1,6}(?:\.[0-9]{1,6})?)")


def cables(said: str, gpus: dict[NodeId, str], hub: str) -> list[Cable]:
    """Return the NVLinks of these GPUs, in order; those of a switch lead to ``hub``.

    >>> cables("pairs:300", {"a": "", "b": ""}, "nvswitch")
    [('a', 'b', Fraction(300, 1), '')]

    Raises
    ------
    InvalidTopology
        It is none of `NVLINKS`, or does not fit so many GPUs; the field is ``/nvlink``.
    """
    ids = list(gpus)
    if said == "none":
        return []
    if said == "dgx-1v":
        if len(ids) != 8:
            raise InvalidTopology("/nvlink", f"dgx-1v must have 8 GPUs; there are {len(ids)}")
        mesh = CUBE_MESH.items()
        return [(ids[i], ids[j], value, gpus[ids[i]]) for (i, j), value in mesh]
    match = _SAID.fullmatch(said)
    width = Fraction(match[2]) if match else Fraction(0)
    if match is None or not width:
        raise InvalidTopology("/nvlink", f"must be {', '.join(NVLINKS)}; {said[:50]!r} is not")
    if match[1] == "switch":
        return [(gpu, hub, width, place) for gpu, place in gpus.items()]
    if match[1] == "pairs" and len(ids) % 2:
        raise InvalidTopology("/nvlink", f"pairs must have an even number of GPUs; not {len(ids)}")
    pairs = combinations(ids, 2) if match[1] == "mesh" else zip(ids[::2], ids[1::2], strict=True)
    return [(one, other, width, gpus[one]) for one, other in pairs]
