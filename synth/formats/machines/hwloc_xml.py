"""Reading the XML of hwloc (``lstopo --of xml``): GPUs, NVLinks, the way through the host."""

import re
from fractions import Fraction

from topoloom.synth.formats.machines.box import Box, Cable, Rates
from topoloom.synth.formats.machines.host_path import PCIE
from topoloom.synth.formats.machines.unlisted_nvlinks import cables, nvlinks
from topoloom.synth.formats.safe_xml import Element, parse
from topoloom.synth.formats.topology_draft import capacity, wrong
from topoloom.synth.topology.assumptions import Assumption
from topoloom.synth.topology.topology import Capacity, NodeId

_DOCTYPE = re.compile(r'<!DOCTYPE topology SYSTEM "hwloc2?\.dtd">')
_GPU_CLASSES = ("0300", "0302", "0380", "1200")
_GPU_DEVICES = ("1", "5", "GPU", "CoProc")
"""``osdev_type`` of GPUs and of accelerators, in hwloc 2 and 3."""
_NVLINKS = "NVLinkBandwidth"
_MB_PER_GB = 1000
_HUB = "nvswitch"

_Top = tuple[NodeId, Capacity | None, str]
"""A device or switch, the rate of its link upwards (None between CPUs), and its place."""


def hwloc_xml(text: str, *, rates: Rates | None = None) -> Box:
    """Return the box that hwloc describes.

    A PCI bridge above several GPUs is a switch, and so is a package of CPUs.  A PCIe link has its
    ``pci_link_speed`` in GB/s; the matrix ``NVLinkBandwidth`` has MB/s.  NICs are not read.
    Source: hwloc 2, hwloc2.dtd.

    >>> gpu = ('<object type="PCIDev" pci_type="0302 [10de:20b2]" pci_link_speed="31.5">'
    ...        '<object type="OSDev" gp_index="{}" osdev_type="5" name="cuda{}"/></object>')
    >>> box = hwloc_xml('<topology version="2.0"><object type="Machine">'
    ...     + gpu.format(1, 0) + gpu.format(2, 1) + '</object></topology>')
    >>> sorted(box.gpus), box.host[0][:3]
    (['GPU0', 'GPU1'], ('GPU0', 'machine', Fraction(63, 2)))
    """
    root = parse(_DOCTYPE.sub("", text, count=1), "topology")
    reader = _Reader(rates or Rates())
    for element in root.all("object"):
        reader.under(element)
    box = reader.box
    if not box.gpus:
        raise wrong(root.place, "must have a PCIDev that is a GPU: hwloc needs its I/O plugins")
    reader.report()
    stated = nvlinks(reader.rates.nvlink)
    if stated.whole:
        box.direct = cables(stated, box.gpus, _HUB)
        if stated.shape == "switch":
            box.hubs[_HUB] = next(iter(box.gpus.values()))
    else:
        for matrix in root.all("distances2", "distances2hetero"):
            if matrix.attributes.get("name") == _NVLINKS:
                reader.read_nvlinks(matrix)
    return box


class _Reader:
    """The devices of one machine, from the leaves up."""

    def __init__(self, rates: Rates) -> None:
        self.rates = rates
        self.box = Box({})
        self._devices: dict[str, NodeId] = {}
        self._counts = {"pci": 0, "cpu": 0}
        self._silent = False

    def under(self, element: Element) -> list[_Top]:
        """Read an object and those below it; return the tops that its parent joins."""
        tops = [top for child in element.all("object") for top in self.under(child)]
        kind = element.attributes.get("type", "")
        if kind == "PCIDev" and self._is_gpu(element):
            return [self._gpu(element)]
        if kind == "Bridge" and element.attributes.get("bridge_type") == "1-1" and tops:
            return [self._bridge(element, tops)]
        if kind == "Package" and tops:
            name = f"cpu{self._counts['cpu']}"
            self._counts["cpu"] += 1
            return [self._joined(name, tops, None, element.place)]
        if kind == "Machine" and len(tops) > 1:
            return [self._joined("machine", tops, None, element.place)]
        return tops

    def report(self) -> None:
        """Report the rates that the text does not state."""
        if self._silent and self.rates.pcie is None:
            text = f"PCIe links without a speed are taken to carry {PCIE} GB/s per direction."
            self.box.assumed_of_host.append(Assumption(text, "pcie_bandwidth"))
        if self._counts["cpu"] > 1 and self.rates.cpu is None:
            text = f"{PCIE} GB/s per direction are taken between CPUs, as of PCIe."
            self.box.assumed_of_host.append(Assumption(text, "cpu_bandwidth"))

    def read_nvlinks(self, matrix: Element) -> None:
        """Read the bandwidths between GPUs, or between GPUs and NVSwitches."""
        indexes = " ".join(part.text for part in matrix.all("indexes")).split()
        values = " ".join(part.text for part in matrix.all("u64values")).split()
        if len(values) != len(indexes) ** 2:
            raise wrong(matrix.place, f"must have {len(indexes) ** 2} values; not {len(values)}")
        ids = [self._devices.get(index.rpartition(":")[2]) for index in indexes]
        found: list[Cable] = []
        for row, one in enumerate(ids):
            for column, other in enumerate(ids[:row]):
                rate = capacity(values[row * len(ids) + column], matrix.place)
                if rate and one is not None and other is not None:
                    found.append((other, one, Fraction(rate) / _MB_PER_GB, matrix.place))
        used = {end for cable in found for end in cable[:2]}
        self.box.hubs = {hub: place for hub, place in self.box.hubs.items() if hub in used}
        self.box.direct += found

    def _is_gpu(self, element: Element) -> bool:
        kinds = {child.attributes.get("osdev_type") for child in element.all("object")}
        for child in element.all("object"):
            if child.attributes.get("subtype") == "NVSwitch":
                name = f"{_HUB}{len(self.box.hubs)}"
                self.box.hubs[name] = child.place
                self._devices[child.attributes.get("gp_index", "")] = name
                return False
        code = element.attributes.get("pci_type", "")[:4]
        return code in _GPU_CLASSES and (code != "0300" or bool(kinds & {*_GPU_DEVICES}))

    def _gpu(self, element: Element) -> _Top:
        name = f"GPU{len(self.box.gpus)}"
        self.box.gpus[name] = element.place
        for child in element.all("object"):
            self._devices[child.attributes.get("gp_index", "")] = name
        return name, self._speed(element), element.place

    def _bridge(self, element: Element, tops: list[_Top]) -> _Top:
        speed = self._speed(element)
        if len(tops) == 1:
            ((node, rate, place),) = tops
            return node, speed if rate is None else min(rate, speed), place
        name = f"pci{self._counts['pci']}"
        self._counts["pci"] += 1
        return self._joined(name, tops, speed, element.place)

    def _joined(self, name: str, tops: list[_Top], speed: Capacity | None, place: str) -> _Top:
        cpu = PCIE if self.rates.cpu is None else self.rates.cpu
        self.box.bridges[name] = place
        self.box.host += [(n, name, cpu if rate is None else rate, at) for n, rate, at in tops]
        return name, speed, place

    def _speed(self, element: Element) -> Capacity:
        """Return GB/s of the PCIe link above an object."""
        if self.rates.pcie is not None:
            return self.rates.pcie
        stated = capacity(element.attributes.get("pci_link_speed", "0"), element.place)
        if not stated:
            self._silent = True
        return stated or PCIE
