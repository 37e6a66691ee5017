"""Reading the XML that NCCL and RCCL describe a machine in (NCCL_TOPO_FILE).

``NCCL_TOPO_DUMP_FILE`` writes it: ``system`` > ``cpu`` > nested ``pci`` > ``gpu``, and in
that ``nvlink`` or ``xgmi``, ``c2c``.  Clouds ship such files with the PCI devices alone.
"""

from fractions import Fraction

from topoloom.synth.formats.machines.box import ACROSS_CPUS, Box, Nic, Rates
from topoloom.synth.formats.machines.nccl_nvlinks import SWITCH, GpuLinks
from topoloom.synth.formats.machines.pci_tree import Card, PciTree
from topoloom.synth.formats.machines.unlisted_nvlinks import NIC_DEVICES
from topoloom.synth.formats.safe_xml import parse
from topoloom.synth.topology.assumptions import Assumption
from topoloom.synth.topology.topology import Capacity, NodeId


def nccl_xml(text: str, *, rates: Rates | None = None, nics: bool = False) -> Box:
    """Return the box that NCCL's or RCCL's topology XML describes.

    NVLinks lead to the GPU they name, or to one switch if they name NVSwitch chips.  Links to
    GPUs that the file does not list are ignored, as in NCCL.  PCIe bridges, CPUs (one for each
    NUMA node) and ``c2c`` links form the path through the host, where the CPUs of a host are
    joined.  Ids are ``gpu<dev>``, and ``<host>.gpu<dev>`` if the CPUs name several hosts; NICs
    have their names.

    A ``pci`` of class 0x0300, 0x0302 or 0x1200 is a GPU even without ``<gpu>``.  If a GPU has no
    number, all are numbered in order of their bus ids.  If no GPU has NVLinks, the NVLinks are
    those of a cloud machine with these bus ids or, for GPUs without ``<gpu>``, those of their
    device id.  The box reports each of these as an assumption.

    Args:
        text: The file.
        rates: Rates of NVLinks, PCIe and CPUs that override those of the file.
        nics: Whether NICs are included: speed of ``<net>``, place on PCIe.  A NIC without GPUDirect
            is attached to its CPU; all NICs are, if no GPU has GPUDirect.  A GPU without GPUDirect,
            of several, reaches its NICs through its CPU, at the least PCIe rate on the path.

    Bandwidths, GB/s per direction.  One NVLink: 20 up to compute capability 6.x, 25 for 7.0
    to 9.x, 14.0625 for 8.6, 50 from 10.0 (line rates of NVIDIA's data sheets; NCCL reckons
    with about 20 % less).  One xGMI link: 46 up to MI100, 50 for MI200, 64 for MI300, 76.8
    for MI350 (AMD's data sheets).  PCIe: lanes * code / 80, and between sockets 6 to 32,
    as NCCL has them.  ``c2c``: count * bw / 1000.

    Raises:
        InvalidTopology: The text is no such file; the error names the line, the element and the
            rule.

    >>> nccl_xml('''<system version="1"><cpu numaid="0" arch="x86_64" vendor="AuthenticAMD">
    ... <pci busid="0000:10:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16">
    ... <gpu dev="0" sm="80"><nvlink target="0000:20:00.0" count="4" tclass="0x030200"/></gpu></pci>
    ... <pci busid="0000:20:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16">
    ... <gpu dev="1" sm="80"><nvlink target="0000:10:00.0" count="4" tclass="0x030200"/></gpu></pci>
    ... </cpu></system>''').direct
    [('gpu0', 'gpu1', 100, '/line/3')]
    """
    rates = rates or Rates()
    tree = PciTree(parse(text, "system"), rates)
    box = Box(
        {gpu.id: gpu.pci.place if gpu.element is None else gpu.element.place for gpu in tree.gpus}
    )
    box.hosts = tree.hosts
    if not tree.numbered:
        box.assumed.append(
            Assumption("The file does not number its GPUs: they are in order of their bus ids.")
        )
    links = GpuLinks(tree, box, rates)
    box.direct = links.direct()
    if any(other == SWITCH for _, other, _, _ in box.direct):
        box.hubs[SWITCH] = tree.system.place
    cards = tree.cards if nics else []
    used = tree.used(device.path for device in (*tree.gpus, *cards))
    box.bridges = {name: place for name, place in tree.bridges.items() if name in used}
    box.host = [
        cable for cable in tree.cables if cable[1] in used and cable[0] in used | {*box.gpus}
    ]
    box.host += links.to_cpus()
    box.host += tree.sockets(used)
    _assume_host(tree, box)
    box.nics = _nics(tree, cards, box)
    return box


def _assume_host(tree: PciTree, box: Box) -> None:
    """Report the assumptions about PCIe and about the links between CPUs."""
    if tree.silent:
        values = sorted({float(value) for value in tree.silent.values()})
        rates = " or ".join(f"{value:g}" for value in values)
        text = f"{len(tree.silent)} devices state no whole PCIe speed and width: {rates} GB/s each."
        box.assumed_of_host.append(Assumption(text, "pcie_bandwidth"))
    if tree.silent_sockets:
        rates = " or ".join(f"{float(value):g}" for value in sorted(tree.silent_sockets))
        text = f"Between CPUs {rates} GB/s per direction are taken, by their vendor."
        box.assumed_of_host.append(Assumption(text, "cpu_bandwidth"))


def _nics(tree: PciTree, cards: list[Card], box: Box) -> list[Nic]:
    """Return the NICs with their bandwidths, and how far each is from each GPU."""
    staged = _without_gpudirect(tree, cards, box)
    all_staged = len(staged) == len(tree.gpus)
    found: dict[str, Nic] = {}
    for card in cards:
        at_cpu = all_staged or not card.direct
        path = card.path[:1] if at_cpu else card.path
        distance: dict[NodeId, int] = {}
        limits: dict[NodeId, Capacity] = {}
        for gpu in tree.gpus:
            distance[gpu.id] = _steps(gpu.path, path)
            if at_cpu or gpu.id in staged:
                limits[gpu.id] = min(tree.least_width(gpu.id, gpu.path), tree.card_width(card))
        name = card.name if card.name not in found else f"{card.name}.{len(found)}"
        width = tree.card_width(card) if at_cpu else card.width
        bandwidth = _bandwidth(card, tree)
        found[name] = Nic(name, bandwidth, path[-1], width, distance, card.place, limits)
    unsaid = [card for card in cards if card.speed is None and _bandwidth(card, tree)]
    if unsaid:
        value = float(_bandwidth(unsaid[0], tree) or 0)
        text = f"The file does not state the speed of its NICs: {value:g} GB/s by their kind."
        box.assumed_of_nics.append(Assumption(text, "nic_bandwidth"))
    return list(found.values())


def _without_gpudirect(tree: PciTree, cards: list[Card], box: Box) -> set[NodeId]:
    """Return the GPUs without GPUDirect; hang them from their CPUs where others have it."""
    elements = {gpu.id: gpu.element for gpu in tree.gpus if gpu.element is not None}
    silent = [id for id, element in elements.items() if "gdr" not in element.attributes]
    if silent and cards:
        text = f"{len(silent)} GPUs do not state gdr: they are taken to have GPUDirect."
        box.assumed_of_nics.append(Assumption(text))
    staged: set[NodeId] = {
        id for id, element in elements.items() if element.attributes.get("gdr", "1") == "0"
    }
    if not cards:
        return staged
    names = ", ".join(map(str, sorted(staged, key=str)))[:200]
    if len(staged) == len(tree.gpus) or not all(card.direct for card in cards):
        box.assumed_of_nics.append(
            Assumption("Without GPUDirect NICs are reached through their CPUs.")
        )
    elif staged:
        box.assumed_of_nics.append(
            Assumption(f"Without GPUDirect {names} reach NICs through their CPUs, over PCIe.")
        )
    if staged and len(staged) < len(tree.gpus):
        for gpu in tree.gpus:
            if gpu.id in staged:
                width = tree.least_width(gpu.id, gpu.path)
                cable = (gpu.id, gpu.path[0], width, gpu.pci.place)
                box.host = [
                    cable if other[0] == gpu.id and other[1] == gpu.path[-1] else other
                    for other in box.host
                ]
    return staged


def _bandwidth(card: Card, tree: PciTree) -> Capacity | None:
    if card.speed is not None:
        return Fraction(card.speed, 8000)
    known = NIC_DEVICES.get(card.device)
    return known if known or tree.platform is None else tree.platform.nic


def _steps(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """Return how many bridges are between two devices; another CPU is farther than any."""
    shared = 0
    while shared < min(len(one), len(other)) and one[shared] == other[shared]:
        shared += 1
    return len(one) + len(other) - 2 * shared + (0 if shared else ACROSS_CPUS)
