"""NVLinks that a dump does not list: as the user states them, or of a machine that is known.

Static files of clouds name PCI devices only.  The bus ids, which a cloud gives alike to all
machines of a kind, tell which machine that is.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

from topoloom.synth.errors import InvalidTopology
from topoloom.synth.formats.machines.box import Cable
from topoloom.synth.topology.topology import Capacity, NodeId

NVLINKS = ("none", "dgx-1v", "switch", "mesh", "switch:GBPS", "mesh:GBPS", "pairs:GBPS", "GBPS")
"""Values of the option: no NVLinks; the cube mesh of eight V100; the links of the file lead to a
switch, or join pairs; GB/s per direction from each GPU to one switch, between any two GPUs,
between GPUs 0 and 1, 2 and 3, ...; GB/s per direction of each link of the file."""

CUBE_MESH = {
    **dict.fromkeys(((0, 1), (0, 4), (1, 3), (2, 3), (2, 6), (4, 5), (5, 7), (6, 7)), 50),
    **dict.fromkeys(((0, 2), (0, 3), (1, 2), (1, 5), (3, 7), (4, 6), (4, 7), (5, 6)), 25),
}
"""GB/s per direction of pairs of a DGX-1V's GPUs: two NVLink2 or one."""


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

_RATE = r"([0-9]{1,6}(?:\.[0-9]{1,6})?)"
_STATED = re.compile(rf"(none|dgx-1v|switch|mesh)|(switch|mesh|pairs):{_RATE}|(?:link:)?{_RATE}")


class NvLinks(NamedTuple):
    """NVLinks as the user states them.

    ``shape`` is none, dgx-1v, switch, mesh, pairs, or empty where only a rate is stated;
    ``width`` GB/s per direction of each cable of that shape, ``link`` of each link of the file.
    """

    shape: str = ""
    width: Fraction | None = None
    link: Fraction | None = None

    @property
    def whole(self) -> bool:
        """Whether this states all cables, so that those of the file do not matter."""
        return self.width is not None or self.shape in ("none", "dgx-1v")


def nvlinks(stated: str | None) -> NvLinks:
    """Return the NVLinks that a text of the option describes; no NVLinks for None.

    >>> nvlinks("switch:200"), nvlinks("50").link
    (NvLinks(shape='switch', width=Fraction(200, 1), link=None), Fraction(50, 1))

    Raises:
        InvalidTopology: The text is none of `NVLINKS`; the field is ``/nvlink``.
    """
    if stated is None:
        return NvLinks()
    match = _STATED.fullmatch(stated)
    rate = Fraction(match[3] or match[4] or 1) if match else Fraction(0)
    if match is None or not rate:
        raise InvalidTopology("/nvlink", f"must be {', '.join(NVLINKS)}; {stated[:50]!r} is not")
    if match[1]:
        return NvLinks(match[1])
    return NvLinks(match[2], rate) if match[2] else NvLinks(link=rate)


def cables(stated: NvLinks, gpus: dict[NodeId, str], hub: str) -> list[Cable]:
    """Return the NVLinks that are stated whole, in order; those of a switch lead to ``hub``.

    >>> cables(nvlinks("pairs:300"), {"a": "", "b": ""}, "nvswitch")
    [('a', 'b', Fraction(300, 1), '')]

    Raises:
        InvalidTopology: They do not fit the number of GPUs; the field is ``/nvlink``.
    """
    ids = list(gpus)
    if stated.shape == "dgx-1v":
        if len(ids) != 8:
            raise InvalidTopology("/nvlink", f"dgx-1v must have 8 GPUs; there are {len(ids)}")
        mesh = CUBE_MESH.items()
        return [(ids[i], ids[j], value, gpus[ids[i]]) for (i, j), value in mesh]
    width = stated.width
    if width is None:
        return []
    if stated.shape == "switch":
        return [(gpu, hub, width, place) for gpu, place in gpus.items()]
    if stated.shape == "pairs" and len(ids) % 2:
        raise InvalidTopology("/nvlink", f"pairs must have an even number of GPUs; not {len(ids)}")
    mesh = stated.shape == "mesh"
    pairs = combinations(ids, 2) if mesh else zip(ids[::2], ids[1::2], strict=True)
    return [(one, other, width, gpus[one]) for one, other in pairs]
