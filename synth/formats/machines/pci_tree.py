"""The PCI tree of a topology XML: GPUs, NICs, and the bridges between them and the CPUs."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations

from topoloom.synth.formats.machines.box import Rates
from topoloom.synth.formats.machines.gpu_models import BOARDS
from topoloom.synth.formats.machines.host_path import SOCKETS, pcie, pcie_rate
from topoloom.synth.formats.machines.unlisted_nvlinks import PLATFORMS, Platform
from topoloom.synth.formats.safe_xml import Element
from topoloom.synth.formats.topology_draft import wrong
from topoloom.synth.topology.topology import Capacity, NodeId

GPU_CLASSES = ("0x0300", "0x0302", "0x1200")
"""VGA and 3D controllers, and accelerators of AMD."""

MAKERS = ("", "0x10de", "0x1002", "0xffff")
"""NVIDIA, AMD, or unknown; VGA controllers of other vendors serve the console."""

MAX_SPEED = 10**9

MOST_DEVICES = 1024

MOST_LANES = 32

MOST_WIDTH = 10**9
"""GB/s to a device that hangs from its CPU without PCIe."""

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
    ``cables`` the PCIe links between them and the GPUs; ``silent`` the devices without a PCIe
    speed or width in the file, with the assumed value.
    """

    system: Element
    rates: Rates = field(default_factory=Rates)
    gpus: list[Gpu] = field(default_factory=list)
    cards: list[Card] = field(default_factory=list)
    bridges: dict[str, str] = field(default_factory=dict)
    cables: list[tuple[NodeId, NodeId, Capacity, str]] = field(default_factory=list)
    platform: Platform | None = None
    numbered: bool = True
    hosts: int = 1
    silent: dict[str, Capacity] = field(default_factory=dict)
    silent_sockets: set[Capacity] = field(default_factory=set)
    _cpus: dict[str, list[tuple[str, Element]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        cpus = self.system.all("cpu")
        self.platform = _platform(cpus)
        hosts = list(dict.fromkeys(cpu.attributes.get("host_hash", "") for cpu in cpus))
        self.hosts = max(1, len(hosts))
        for cpu in cpus:
            host = str(hosts.index(cpu.attributes.get("host_hash", "")))
            prefix = f"{host}." if len(hosts) > 1 else ""
            name = f"{prefix}cpu{_numa_node(cpu)}"
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
                self._add_cards(pci, path, self._width(pci), _device(pci))
                continue
            if pci.all("pci"):
                self.cables.append((name, path[-1], self._width(pci), pci.place))
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
            self.cables.append((gpu.id, gpu.path[-1], self._width(gpu.pci), gpu.pci.place))

    def used(self, paths: Iterator[Path]) -> set[str]:
        """Return the bridges and CPUs over any of these devices."""
        return {name for path in paths for name in path}

    def sockets(self, used: set[str]) -> Iterator[tuple[NodeId, NodeId, Capacity, str]]:
        """Yield the cables between those CPUs of each host that are used."""
        for cpus in self._cpus.values():
            taken = [cpu for cpu in cpus if cpu[0] in used]
            for (one, first), (other, second) in combinations(taken, 2):
                value = min(self._socket(first), self._socket(second))
                yield one, other, value, second.place

    def least_width(self, device: NodeId, path: Path) -> Capacity:
        """Return GB/s of the narrowest PCIe link from a device to its CPU."""
        widths = {name: width for name, _, width, _ in self.cables}
        found = [widths[name] for name in (device, *path[1:]) if name in widths]
        return min(found, default=MOST_WIDTH)

    def card_width(self, card: Card) -> Capacity:
        """Return GB/s of the narrowest PCIe link from a NIC to its CPU."""
        return min(card.width, self.least_width(card.path[-1], card.path))

    def _width(self, pci: Element) -> Capacity:
        """Return GB/s of the PCIe link above a device."""
        lanes = pci.number("link_width", 1000, 0)
        # Virtual machines give widths such as 63 and 255 for none.
        lanes = lanes if lanes <= MOST_LANES else 0
        speed = pci.attributes.get("link_speed", "")
        value = pcie(speed, lanes)
        if value is None:
            raise wrong(
                pci.place, f"link_speed of <pci> must be 2.5 to 64 GT/s; {speed[:50]!r} is not"
            )
        if self.rates.pcie is not None:
            return self.rates.pcie
        if speed and not speed.startswith("Unknown") and lanes:
            return value
        board = BOARDS.get(_device(pci))
        if board is not None and not lanes and (not speed or speed.startswith("Unknown")):
            value = pcie_rate(f"gen{board.model.pcie}x16") or value
        self.silent[pci.get("busid").lower()] = value
        return value

    def _socket(self, cpu: Element) -> Capacity:
        """Return GB/s from a CPU to the next."""
        if self.rates.cpu is not None:
            return self.rates.cpu
        arch, vendor = cpu.attributes.get("arch", ""), cpu.attributes.get("vendor", "")
        value = SOCKETS.get(vendor, SOCKETS.get(arch, 6))
        self.silent_sockets.add(value)
        return value


def _device(pci: Element) -> str:
    return pci.attributes.get("device", "").lower()


def _numa_node(cpu: Element) -> int:
    """Return the NUMA node; -1, which NCCL writes on machines with one, is allowed."""
    return -1 if cpu.get("numaid") == "-1" else cpu.number("numaid", 10**6)


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
