"""GPU models: the rate of their NVLinks or xGMI links, their PCIe, and the boards they sit on.

Sources.  NVLink: NVIDIA's data sheets of each model, which give the sum of both directions of
all links (A100: 600 GB/s of 12 links; H100: 900 of 18; B200: 1,800 of 18; A800 and H800: 400 of
8; RTX A6000 and RTX 3090: 112.5 of 4; P100: 160 of 4; V100: 300 of 6).  xGMI: AMD's data
sheets (MI100: 92 GB/s of a link, both directions; MI200: 100; MI300X: 128; MI350X: 153.6).  PCI
device ids: the PCI ID repository (pci-ids.ucw.cz), vendor 10de.
"""

import re
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

from topoloom.synth.topology.topology import Capacity


class Model(NamedTuple):
    """A GPU model.

    ``link`` is GB/s per direction of one NVLink or xGMI link, 0 without such links.  ``links`` is
    their number, 0 where boards differ.  ``pcie`` is the PCIe generation, always of 16 lanes.
    """

    name: str
    link: Capacity
    links: int
    pcie: int


_GA102 = Fraction(225, 16)

NVIDIA = (
    Model("P100", 20, 4, 3),
    Model("V100", 25, 6, 3),
    Model("A100", 25, 12, 4),
    Model("A800", 25, 8, 4),
    Model("A30", 25, 4, 4),
    Model("A40", _GA102, 4, 4),
    Model("RTX A6000", _GA102, 4, 4),
    Model("RTX A5000", _GA102, 4, 4),
    Model("RTX 3090", _GA102, 4, 4),
    Model("RTX 2080 Ti", 25, 2, 3),
    Model("RTX 8000", 25, 2, 3),
    Model("TITAN RTX", 25, 2, 3),
    Model("H100", 25, 18, 5),
    Model("H800", 25, 8, 5),
    Model("H200", 25, 18, 5),
    Model("H20", 25, 18, 5),
    Model("GH200", 25, 18, 5),
    Model("B200", 50, 18, 5),
    Model("B300", 50, 18, 6),
    Model("GB200", 50, 18, 5),
    Model("GB300", 50, 18, 6),
    Model("T4", 0, 0, 3),
    *(Model(name, 0, 0, 4) for name in ("A10", "A10G", "L4", "L20", "L40", "L40S", "RTX A4000")),
    *(Model(name, 0, 0, 4) for name in ("RTX 4090", "RTX 6000 Ada")),
    *(Model(name, 0, 0, 5) for name in ("RTX 5090", "RTX PRO 6000")),
)

AMD = (
    Model("MI100", 46, 0, 4),
    Model("MI210", 50, 0, 4),
    Model("MI250", 50, 0, 4),
    Model("MI250X", 50, 0, 4),
    Model("MI300A", 64, 0, 5),
    Model("MI300X", 64, 0, 5),
    Model("MI308X", 64, 0, 5),
    Model("MI325X", 64, 0, 5),
    Model("MI350X", Fraction(384, 5), 0, 5),
    Model("MI355X", Fraction(384, 5), 0, 5),
)


class Board(NamedTuple):
    """NVLinks between the GPUs of one PCI device id, by the number of GPUs in a box.

    The values are specifications of `nvlinks.NVLINKS`.
    """

    model: Model
    form: str
    nvlinks: dict[int, str]

    @property
    def name(self) -> str:
        """The model with its form factor."""
        return f"{self.model.name} {self.form}".rstrip()


_MODELS = {model.name: model for model in NVIDIA}
_CARDS = dict.fromkeys(range(1, 17), "none")


def _board(name: str, form: str, nvlinks: dict[int, str]) -> Board:
    return Board(_MODELS[name], form, nvlinks)


_V100 = _board("V100", "SXM2", {1: "none", 8: "dgx-1v"})
_A100 = _board("A100", "SXM4", {1: "none", 4: "mesh:100", 8: "switch:300", 16: "switch:300"})
_H100 = _board("H100", "SXM5", {1: "none", 4: "mesh:150", 8: "switch:450"})

BOARDS = {
    "0x1db1": _V100,
    "0x1db5": _V100,
    "0x20b0": _A100,
    "0x20b2": _A100,
    "0x20f3": _board("A800", "SXM4", {1: "none", 8: "switch:200"}),
    "0x2330": _H100,
    "0x2324": _board("H800", "SXM5", {1: "none", 8: "switch:200"}),
    "0x2335": _board("H200", "SXM5", {1: "none", 4: "mesh:150", 8: "switch:450"}),
    "0x2901": _board("B200", "SXM6", {1: "none", 8: "switch:900"}),
    "0x1eb8": _board("T4", "", _CARDS),
    "0x2237": _board("A10G", "", _CARDS),
    "0x27b8": _board("L4", "", _CARDS),
    "0x26b9": _board("L40S", "", _CARDS),
    "0x2684": _board("RTX 4090", "", _CARDS),
}
"""Boards by device id: HGX A100 with 4 GPUs joins each pair by 4 NVLinks, HGX H100 by 6."""


_OF_GPU = re.compile("NVIDIA|Tesla|GeForce|RTX|GPU|AMD|Instinct|MI[0-9]{3}")


def named_in(lines: Iterable[str], models: tuple[Model, ...]) -> Model | None:
    """Return the one model that lines of text name; None for none, and for several.

    Only lines that speak of a GPU count: L4 and A10 are also caches and processors.

    >>> named_in(["GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-1)"], NVIDIA).link
    25
    >>> named_in(["NVIDIA A100", "NVIDIA H100"], NVIDIA) is None
    True
    """
    names = {model.name: model for model in models}
    # The longest name first: H200 is not H20.
    one_of = "|".join(sorted(names, key=len, reverse=True))
    pattern = re.compile(rf"(?<![A-Za-z0-9])({one_of})(?![A-Za-z0-9])")
    about = [text[:1000] for text in lines if _OF_GPU.search(text[:1000])]
    found = {match for text in about for match in pattern.findall(text)}
    return names[found.pop()] if len(found) == 1 else None
