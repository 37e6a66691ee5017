"""What a topology XML lists under its CPUs: GPUs, NICs, and the bridges above them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations

from synth.formats.draft import wrong
from synth.formats.dumps.host import SOCKETS, pcie
from synth.formats.dumps.nvlinks import PLATFORMS, Platform
from synth.formats.xml import Element
from synth.topology import Capacity, NodeId

__all__ = ["Card", "Gpu", "PciTree"]

GPU_CLASSES = ("0x0300", "0x0302", "0x1200")
"""VGA and 3D controllers, and accelerators of AMD."""

MAKERS = ("", "0x10de", "0x1002", "0xffff")
"""NVIDIA, AMD, or nobody said: others' VGA controllers show the console."""

MAX_SPEED = 10**9

MOST_DEVICES = 1024

Path = tuple[str, ...]


@dataclass(slots=True)
class Gpu:
    """A GPU: its number and data if the file says them, and the switches over it."""

    id: str
    host: str
    busid: str
    path: Path
    pci: Element
    element: Element | None


@dataclass(slots=True)
class Card:
    """A port of a NIC: Mbit/s if the file says it, and the switches over it."""

    name: str
    speed: int | None
    path: Path
    width: Capacity
    direct: bool
    place: str
    device: str


@dataclass(slots=True)
class PciTree:
    """The machine of a ``<system>``: GPUs, NICs and bridges in the order of the file.

    ``bridges`` are the CPUs and bridges with their places, each after those below it;
    ``cables`` the PCIe between them and the GPUs.
    """

    system: Element
    gpus: list[Gpu] = field(default_factory=list)
    cards: list[Card] = field(default_factory=list)
    bridges: dict[str, str] = field(default_factory=dict)
    cables: list[tuple[NodeId, NodeId, Capacity, str]] = field(default_factory=list)
    platform: Platform | None = None
    numbered: bool = True
    hosts: int = 1
    _cpus: dict[str, list[tuple[str, Element]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        cpus = self.system.all("cpu")
        self.platform = _platform(cpus)
        hosts = list(dict.fromkeys(cpu.attributes.get("host_hash", "") for cpu in cpus))
        self.hosts = max(1, len(hosts))
        for cpu in cpus:
            host = str(hosts.index(cpu.attributes.get("host_hash", "")))
            prefix = f"{host}." if len(hosts) > 1 else ""
            name = f"{prefix}cpu{cpu.number('numaid', 10**6)}"
            self._cpus.setdefault(host, []).append((name, cpu))
            self._add_cards(cpu, (name,), 10**6, "")
            self._below(cpu, (name,), host, prefix)
            self._add_bridge(name, cpu)
        if not self.gpus:
            raise wrong(
                self.system.place,
                "<system> must hold a <gpu>, or a <pci> whose class is a GPU's (0x0302...)",
            )
        self._number()

    def _below(self, above: Element, path: Path, host: str, prefix: str) -> None:
        """Take in the PCI devices of a CPU or a bridge."""
        for pci in above.all("pci"):
            found = pci.all("gpu")
            if len(found) > 1:
                raise wrong(found[1].place, "<pci> must hold one <gpu>")
            name = f"{prefix}pci {pci.get('busid').lower()}"
            if found or self._is_gpu(pci):
                if len(self.gpus) >= MOST_DEVICES:
                    raise wrong(pci.place, f"must have at most {MOST_DEVICES} GPUs")
                busid = pci.get("busid").lower()
                gpu = found[0] if found else None
                self.gpus.append(Gpu(prefix, host, busid, path, pci, gpu))
                self.numbered &= gpu is not None and "dev" in gpu.attributes
            elif not pci.all("pci"):
                self._add_cards(pci, path, _width(pci), pci.attributes.get("device", "").lower())
                continue
            if pci.all("pci"):
                self.cables.append((name, path[-1], _width(pci), pci.place))
                self._below(pci, (*path, name), host, prefix)
                self._add_bridge(name, pci)

    def _is_gpu(self, pci: Element) -> bool:
        kind = pci.attributes.get("class", "").lower()
        if kind:
            maker = pci.attributes.get("vendor", "").lower()
            return kind.startswith(GPU_CLASSES) and maker in MAKERS
        return self.platform is not None and pci.get("busid").lower() in self.platform.gpus

    def _add_cards(self, above: Element, path: Path, width: Capacity, device: str) -> None:
        """Take in the ports of the NIC that a device is, or that a CPU has."""
        nets = [net for nic in above.all("nic") for net in nic.all("net")]
        if len(self.cards) + len(nets) >= MOST_DEVICES:
            raise wrong(above.place, f"must have fewer than {MOST_DEVICES} NICs")
        for net in nets:
            name = net.attributes.get("name") or f"nic{len(self.cards)}"
            speed = net.number("speed", MAX_SPEED, 0) or None
            direct = net.attributes.get("gdr", "1") != "0"
            self.cards.append(Card(name, speed, path, width, direct, net.place, device))
        if nets or above.tag == "cpu":
            return
        kind = above.attributes.get("class", "").lower()
        known = self.platform is not None and above.get("busid").lower() in self.platform.nics
        if kind.startswith("0x02") or (not kind and known):
            card = Card(f"nic{len(self.cards)}", None, path, width, True, above.place, device)
            self.cards.append(card)

    def _add_bridge(self, name: str, element: Element) -> None:
        if name in self.bridges:
            raise wrong(element.place, f"<{element.tag}> must be listed once; {name[:80]!r} is not")
        self.bridges[name] = element.place

    def _number(self) -> None:
        """Give the GPUs their ids; in order of their bus ids if the file has no numbers."""
        if not self.numbered:
            self.gpus.sort(key=lambda gpu: (gpu.host, gpu.busid))
        counts: dict[str, int] = {}
        found: set[str] = set()
        for gpu in self.gpus:
            place = counts[gpu.host] = counts.get(gpu.host, -1) + 1
            if self.numbered and gpu.element is not None:
                place = gpu.element.number("dev", 10**6)
            gpu.id = f"{gpu.id}gpu{place}"
            if gpu.id in found:
                where = gpu.pci if gpu.element is None else gpu.element
                raise wrong(where.place, f"the number of a GPU must be unique; {gpu.id} is not")
            found.add(gpu.id)
            self.cables.append((gpu.id, gpu.path[-1], _width(gpu.pci), gpu.pci.place))

    def used(self, paths: Iterator[Path]) -> set[str]:
        """Return the bridges and CPUs over any of these devices."""
        return {name for path in paths for name in path}

    def sockets(self, used: set[str]) -> Iterator[tuple[NodeId, NodeId, Capacity, str]]:
        """Yield the cables between those CPUs of each host that are used."""
        for cpus in self._cpus.values():
            taken = [cpu for cpu in cpus if cpu[0] in used]
            for (one, first), (other, second) in combinations(taken, 2):
                yield one, other, min(_socket(first), _socket(second)), second.place


def _platform(cpus: list[Element]) -> Platform | None:
    """Return the machine of a cloud that has GPUs, or devices of no class, at just these buses."""
    found: set[str] = set()
    waiting = [pci for cpu in cpus for pci in cpu.all("pci")]
    while waiting:
        pci = waiting.pop()
        waiting += pci.all("pci")
        kind = pci.attributes.get("class", "").lower()
        if kind.startswith(GPU_CLASSES) or not (kind or pci.all("pci")):
            found.add(pci.attributes.get("busid", "").lower())
    return next((known for known in PLATFORMS if known.gpus | known.nics == found), None)


def _width(pci: Element) -> Fraction:
    lanes = pci.number("link_width", 64, 16)
    speed = pci.attributes.get("link_speed", "")
    value = pcie(speed, lanes)
    if value is None:
        raise wrong(pci.place, f"link_speed of <pci> must be 2.5 to 64 GT/s; {speed[:50]!r} is not")
    return value


def _socket(cpu: Element) -> int:
    arch, vendor = cpu.attributes.get("arch", ""), cpu.attributes.get("vendor", "")
    return SOCKETS.get(vendor, SOCKETS.get(arch, 6))
