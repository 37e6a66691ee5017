"""Reading the XML that NCCL and RCCL describe a machine in (NCCL_TOPO_FILE).

``NCCL_TOPO_DUMP_FILE`` writes it: ``system`` > ``cpu`` > nested ``pci`` > ``gpu``, and in
that ``nvlink`` or ``xgmi``, ``c2c``.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations

from synth.formats.draft import Draft, join, wrong
from synth.formats.dumps.host import SOCKETS, pcie
from synth.formats.xml import Element, parse
from synth.topology import Capacity, NodeId, Topology

__all__ = ["NVLINK", "XGMI", "nccl_xml", "nvlink_bandwidth"]

NVLINK = {60: 20, 70: 25, 86: Fraction(225, 16), 87: 25, 100: 50}
"""GB/s per direction of one NVLink, from this compute capability (times ten) on."""

XGMI = {"9": 46, "90a": 50, "910": 50, "94": 64, "95": Fraction(384, 5)}
"""GB/s per direction of one xGMI link, by how the name of the architecture begins."""

MOST_LINKS = 1000

Cable = tuple[NodeId, NodeId, Capacity, str]


def nccl_xml(text: str) -> Topology:
    """Return the topology of the GPUs that NCCL's or RCCL's topology XML describes.

    NVLinks lead to the GPU they name, or to one switch if they name NVSwitch chips; links
    to GPUs that the file does not list are left out, as NCCL does.  Where NVLink or xGMI
    alone joins all GPUs that is all; else PCIe bridges, CPUs (one for each NUMA node) and
    ``c2c`` links are taken in, and the CPUs of a host are joined.  NICs are left out: the
    file does not say where they lead.  Ids are ``gpu<dev>``, and ``<host>.gpu<dev>`` if
    the CPUs name several hosts.

    Bandwidths, GB/s per direction.  One NVLink: 20 up to compute capability 6.x, 25 for 7.0
    to 9.x, 14.0625 for 8.6, 50 from 10.0 (line rates of NVIDIA's data sheets; NCCL reckons
    with about 20 % less).  One xGMI link: 46 up to MI100, 50 for MI200, 64 for MI300, 76.8
    for MI350 (AMD's data sheets).  PCIe: lanes * code / 80, and between sockets 6 to 32,
    as NCCL has them.  ``c2c``: count * bw / 1000.

    Raises
    ------
    InvalidTopology
        It is not such a file; the line, the element and the rule are named.

    Examples
    --------
    >>> nccl_xml('''<system version="1"><cpu numaid="0" arch="x86_64" vendor="AuthenticAMD">
    ... <pci busid="0000:10:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16">
    ... <gpu dev="0" sm="80"><nvlink target="0000:20:00.0" count="4" tclass="0x030200"/></gpu></pci>
    ... <pci busid="0000:20:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16">
    ... <gpu dev="1" sm="80"><nvlink target="0000:10:00.0" count="4" tclass="0x030200"/></gpu></pci>
    ... </cpu></system>''').links[0]
    Link(source='gpu0', target='gpu1', capacity=100)
    """
    machine = _Machine(parse(text, "system"))
    draft = Draft()
    for gpu in machine.gpus:
        draft.node(gpu.id, gpu.element.place)
    direct = list(machine.nvlinks())
    ends = {node for one, other, _, _ in direct for node in (one, other)}
    ids: list[NodeId] = [gpu.id for gpu in machine.gpus]
    if "nvswitch" in ends:
        draft.node("nvswitch", machine.system.place, switch=True)
    cables = direct
    if len(join(ids, [cable[:2] for cable in direct])) > 1:
        cables = direct + machine.host_cables()
        for switch, place in machine.switches.items():
            draft.node(switch, place, switch=True)
    for one, other, value, place in cables:
        draft.cable(one, other, value, place)
    return draft.build()


def nvlink_bandwidth(gpu: Element) -> Capacity:
    """Return GB/s per direction of one link of this GPU, by ``gcn`` or else ``sm``."""
    gcn = gpu.attributes.get("gcn", gpu.attributes.get("arch", "")).partition(":")[0]
    if gcn:
        name = gcn.removeprefix("gfx")
        known = [begin for begin in XGMI if name.startswith(begin)]
        if not known:
            raise wrong(gpu.place, f"gcn of <gpu> must be an architecture; not {gcn[:50]!r}")
        return XGMI[max(known, key=len)]
    sm = gpu.number("sm", 999)
    known_sm = [least for least in NVLINK if least <= sm and (least != 86 or sm == 86)]
    if not known_sm:
        raise wrong(gpu.place, "sm of <gpu> must be at least 60 for NVLink")
    return NVLINK[max(known_sm)]


@dataclass(slots=True)
class _Gpu:
    id: str
    host: str
    busid: str
    cpu: str
    element: Element


@dataclass(slots=True)
class _Machine:
    """What a file lists: GPUs in its order, and the bridges and CPUs above them."""

    system: Element
    gpus: list[_Gpu] = field(default_factory=list)
    switches: dict[str, str] = field(default_factory=dict)
    _pcie: list[Cable] = field(default_factory=list)
    _cpus: dict[str, list[tuple[str, Element]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        cpus = self.system.all("cpu")
        hosts = list(dict.fromkeys(cpu.attributes.get("host_hash", "") for cpu in cpus))
        for cpu in cpus:
            host = str(hosts.index(cpu.attributes.get("host_hash", "")))
            prefix = f"{host}." if len(hosts) > 1 else ""
            name = f"{prefix}cpu{cpu.number('numaid', 10**6)}"
            if self._below(cpu, name, (host, prefix, name)):
                self._add_switch(name, cpu)
                self._cpus.setdefault(host, []).append((name, cpu))
        if not self.gpus:
            raise wrong(self.system.place, "<system> must hold a <gpu>")

    def _below(self, above: Element, head: str, owner: tuple[str, str, str]) -> bool:
        """Take in the PCI devices of a CPU or a bridge; return whether GPUs are among them."""
        before = len(self.gpus)
        for pci in above.all("pci"):
            found = pci.all("gpu")
            if len(found) > 1:
                raise wrong(found[1].place, "<pci> must hold one <gpu>")
            if found:
                self._add_gpu(pci, found[0], owner)
                self._pcie.append((self.gpus[-1].id, head, _pcie(pci), pci.place))
            name = f"{owner[1]}pci {pci.get('busid').lower()}"
            if self._below(pci, name, owner):
                self._add_switch(name, pci)
                self._pcie.append((name, head, _pcie(pci), pci.place))
        return len(self.gpus) > before

    def _add_switch(self, name: str, element: Element) -> None:
        if name in self.switches:
            raise wrong(element.place, f"<{element.tag}> must be listed once; {name[:80]!r} is not")
        self.switches[name] = element.place

    def _add_gpu(self, pci: Element, gpu: Element, owner: tuple[str, str, str]) -> None:
        host, prefix, cpu = owner
        busid = pci.get("busid").lower()
        self.gpus.append(_Gpu(f"{prefix}gpu{gpu.number('dev', 10**6)}", host, busid, cpu, gpu))

    def nvlinks(self) -> Iterator[Cable]:
        """Yield the cables of NVLinks and xGMI links between GPUs, or to the switch."""
        known = {(gpu.host, gpu.busid): gpu for gpu in self.gpus}
        if len(known) < len(self.gpus):
            raise wrong(self.system.place, "busid of every <pci> with a <gpu> must be unique")
        counts: dict[tuple[str, str], Capacity] = {}
        places: dict[tuple[str, str], str] = {}
        for gpu in self.gpus:
            for link in gpu.element.all("nvlink", "xgmi"):
                target = self._target(gpu, link, known)
                if target is None:
                    continue
                value = link.number("count", MOST_LINKS) * nvlink_bandwidth(gpu.element)
                places.setdefault((gpu.id, target), link.place)
                counts[gpu.id, target] = counts.get((gpu.id, target), 0) + value
        done: set[tuple[str, str]] = set()
        for (one, other), value in counts.items():
            if other != "nvswitch" and counts.get((other, one)) != value:
                raise wrong(places[one, other], f"links of {one} and {other} must agree both ways")
            if (other, one) not in done:
                yield one, other, value, places[one, other]
            done.add((one, other))

    def _target(self, gpu: _Gpu, link: Element, known: dict[tuple[str, str], _Gpu]) -> str | None:
        """Return the node that a link leads to; None if it is not in the file."""
        kind, target = link.get("tclass"), link.get("target").lower()
        if kind == "0x068000":
            return "nvswitch"
        if kind.startswith(("0x03", "0x12")):
            peer = known.get((gpu.host, target))
            return None if peer is None else peer.id
        # NVLink to a POWER9 processor: part of the way through the host.
        if kind == "0x068001":
            return None
        raise wrong(
            link.place,
            f"tclass of <{link.tag}> must be a GPU (0x03…, 0x12…) or a switch (0x068000); "
            f"not {kind[:50]!r}",
        )

    def host_cables(self) -> list[Cable]:
        """Return the cables of PCIe, of NVLinks to CPUs, and between the CPUs of a host."""
        cables = list(self._pcie)
        for gpu in self.gpus:
            for link in gpu.element.all("nvlink"):
                if link.attributes.get("tclass") == "0x068001":
                    value = link.number("count", MOST_LINKS) * nvlink_bandwidth(gpu.element)
                    cables.append((gpu.id, gpu.cpu, value, link.place))
            for link in gpu.element.all("c2c"):
                value = Fraction(link.number("count", MOST_LINKS) * link.number("bw", 10**9), 1000)
                cables.append((gpu.id, gpu.cpu, value, link.place))
        for cpus in self._cpus.values():
            for (one, first), (other, second) in combinations(cpus, 2):
                cables.append((one, other, min(_socket(first), _socket(second)), second.place))
        return cables


def _pcie(pci: Element) -> Fraction:
    lanes = pci.number("link_width", 64, 16)
    speed = pci.attributes.get("link_speed", "")
    value = pcie(speed, lanes)
    if value is None:
        raise wrong(pci.place, f"link_speed of <pci> must be 2.5 to 64 GT/s; {speed[:50]!r} is not")
    return value


def _socket(cpu: Element) -> int:
    arch, vendor = cpu.get("arch"), cpu.attributes.get("vendor", "")
    return SOCKETS.get(vendor, SOCKETS.get(arch, 6))
