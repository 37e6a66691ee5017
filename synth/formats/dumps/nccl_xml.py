"""Reading the XML that NCCL and RCCL describe a machine in (NCCL_TOPO_FILE).

``NCCL_TOPO_DUMP_FILE`` writes it: ``system`` > ``cpu`` > nested ``pci`` > ``gpu``, and in
that ``nvlink`` or ``xgmi``, ``c2c``.  Clouds ship such files with the PCI devices alone.
"""

from collections.abc import Iterator
from fractions import Fraction

from synth.formats.draft import wrong
from synth.formats.dumps.box import Box, Cable, Nic
from synth.formats.dumps.nvlinks import DEVICES, NIC_DEVICES, cables
from synth.formats.dumps.pci_tree import Card, Gpu, PciTree
from synth.formats.xml import Element, parse
from synth.topology import Capacity, NodeId

__all__ = ["NVLINK", "XGMI", "nccl_xml", "nvlink_bandwidth"]

NVLINK = {60: 20, 70: 25, 86: Fraction(225, 16), 87: 25, 100: 50}
"""GB/s per direction of one NVLink, from this compute capability (times ten) on."""

XGMI = {"9": 46, "90a": 50, "910": 50, "94": 64, "95": Fraction(384, 5)}
"""GB/s per direction of one xGMI link, by how the name of the architecture begins."""

MOST_LINKS = 1000

SWITCH = "nvswitch"


def nccl_xml(text: str, *, nvlink: str | None = None, nics: bool = False) -> Box:
    """Return the box that NCCL's or RCCL's topology XML describes.

    NVLinks lead to the GPU they name, or to one switch if they name NVSwitch chips; links
    to GPUs that the file does not list are left out, as NCCL does.  PCIe bridges, CPUs (one
    for each NUMA node) and ``c2c`` links are the way through the host, where the CPUs of a
    host are joined.  Ids are ``gpu<dev>``, and ``<host>.gpu<dev>`` if the CPUs name several
    hosts; NICs have their names.

    A ``pci`` of class 0x0300, 0x0302 or 0x1200 is a GPU without ``<gpu>``, too.  Where a GPU has
    no number they are numbered in order of their bus ids; where no GPU has NVLinks they
    are those of a cloud's machine with these bus ids, or, of GPUs without ``<gpu>``, what their
    device id tells.  The notes of the box say so.

    Parameters
    ----------
    text : str
        The file.
    nvlink : str, optional
        One of `nvlinks.NVLINKS`, in place of what the file says or others know.
    nics : bool
        Whether NICs are taken in: speed of ``<net>``, place on PCIe; at their CPU, if they or
        the GPUs have no GPUDirect.

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
    ... </cpu></system>''').direct
    [('gpu0', 'gpu1', 100, '/line/3')]
    """
    tree = PciTree(parse(text, "system"))
    box = Box(
        {gpu.id: gpu.pci.place if gpu.element is None else gpu.element.place for gpu in tree.gpus}
    )
    box.hosts = tree.hosts
    if not tree.numbered:
        box.notes.append("The file does not number its GPUs: they are in order of their bus ids.")
    box.direct = list(_nvlinks(tree, box)) if nvlink is None else []
    if nvlink is not None:
        box.direct = cables(nvlink, box.gpus, SWITCH)
        box.notes.append(f"NVLinks are as given: {nvlink}.")
    elif not box.direct:
        box.direct = _known_nvlinks(tree, box)
    if any(other == SWITCH for _, other, _, _ in box.direct):
        box.hubs[SWITCH] = tree.system.place
    cards = tree.cards if nics else []
    used = tree.used(device.path for device in (*tree.gpus, *cards))
    box.bridges = {name: place for name, place in tree.bridges.items() if name in used}
    box.host = [
        cable for cable in tree.cables if cable[1] in used and cable[0] in used | {*box.gpus}
    ]
    box.host += _to_cpus(tree)
    box.host += tree.sockets(used)
    box.nics = _nics(tree, cards, box)
    return box


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


def _nvlinks(tree: PciTree, box: Box) -> Iterator[Cable]:
    """Yield the cables of NVLinks and xGMI links between GPUs, or to the switch."""
    known = {(gpu.host, gpu.busid): gpu for gpu in tree.gpus}
    if len(known) < len(tree.gpus):
        raise wrong(tree.system.place, "busid of every <pci> with a <gpu> must be unique")
    counts: dict[tuple[str, str], Capacity] = {}
    places: dict[tuple[str, str], str] = {}
    to_itself: list[str] = []
    for gpu in tree.gpus:
        for link in [] if gpu.element is None else gpu.element.all("nvlink", "xgmi"):
            target = _target(gpu, link, known)
            if target == gpu.id:
                to_itself.append(gpu.id)
            elif target is not None and gpu.element is not None:
                value = link.number("count", MOST_LINKS) * nvlink_bandwidth(gpu.element)
                places.setdefault((gpu.id, target), link.place)
                counts[gpu.id, target] = counts.get((gpu.id, target), 0) + value
    if to_itself:
        box.notes.append(
            f"NVLinks of {', '.join(dict.fromkeys(to_itself))} lead back to themselves and are "
            "left out; if bridges join pairs of them, say so by nvlink, such as pairs:300."
        )
    done: set[tuple[str, str]] = set()
    for (one, other), value in counts.items():
        if other != SWITCH and counts.get((other, one)) != value:
            raise wrong(places[one, other], f"links of {one} and {other} must agree both ways")
        if (other, one) not in done:
            yield one, other, value, places[one, other]
        done.add((one, other))


def _target(gpu: Gpu, link: Element, known: dict[tuple[str, str], Gpu]) -> str | None:
    """Return the node that a link leads to; None if it is not in the file."""
    kind, target = link.get("tclass"), link.get("target").lower()
    if kind == "0x068000":
        return SWITCH
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


def _known_nvlinks(tree: PciTree, box: Box) -> list[Cable]:
    """Return the NVLinks of a machine whose file lists none, by what is known of it."""
    listed = any(
        gpu.element is not None and gpu.element.all("nvlink", "xgmi", "c2c") for gpu in tree.gpus
    )
    if listed:
        return []
    if tree.platform is not None:
        said = tree.platform.nvlinks
        box.notes.append(
            f"The file lists no NVLinks: {said}, because its bus ids are those of "
            f"{tree.platform.name}."
        )
        return cables(said, box.gpus, SWITCH)
    if any(gpu.element is not None for gpu in tree.gpus):
        return []
    devices = {gpu.pci.attributes.get("device", "").lower() for gpu in tree.gpus}
    model = DEVICES.get(devices.pop()) if len(devices) == 1 else None
    said = None if model is None else model.nvlinks.get(len(tree.gpus))
    if model is None or said is None:
        raise wrong(
            "/nvlink", "must be given: the file says neither NVLinks nor which GPUs these are"
        )
    box.notes.append(f"The file lists no NVLinks: {said}, because its device ids are {model.name}.")
    return cables(said, box.gpus, SWITCH)


def _to_cpus(tree: PciTree) -> Iterator[Cable]:
    """Yield NVLinks and C2C links from GPUs to their CPUs."""
    for gpu in tree.gpus:
        if gpu.element is None:
            continue
        for link in gpu.element.all("nvlink"):
            if link.attributes.get("tclass") == "0x068001":
                value = link.number("count", MOST_LINKS) * nvlink_bandwidth(gpu.element)
                yield gpu.id, gpu.path[0], value, link.place
        for link in gpu.element.all("c2c"):
            value = Fraction(link.number("count", MOST_LINKS) * link.number("bw", 10**9), 1000)
            yield gpu.id, gpu.path[0], value, link.place


def _nics(tree: PciTree, cards: list[Card], box: Box) -> list[Nic]:
    """Return the NICs with their bandwidths, and how far each is from each GPU."""
    elements = [gpu.element for gpu in tree.gpus if gpu.element is not None]
    capable = all(element.attributes.get("gdr", "1") != "0" for element in elements)
    found: dict[str, Nic] = {}
    for card in cards:
        direct = capable and card.direct
        path = card.path if direct else card.path[:1]
        distance: dict[NodeId, int] = {gpu.id: _steps(gpu.path, path) for gpu in tree.gpus}
        bandwidth = _bandwidth(card, tree)
        name = card.name if card.name not in found else f"{card.name}.{len(found)}"
        found[name] = Nic(name, bandwidth, path[-1], card.width, distance, card.place)
    unsaid = [card for card in cards if card.speed is None and _bandwidth(card, tree)]
    if unsaid:
        value = float(_bandwidth(unsaid[0], tree) or 0)
        box.notes.append(
            f"The file does not say the speed of its NICs: {value:g} GB/s by their kind."
        )
    if cards and not (capable and all(card.direct for card in cards)):
        box.notes.append("Without GPUDirect NICs are reached through their CPUs.")
    return list(found.values())


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
    return len(one) + len(other) - 2 * shared + (0 if shared else 1000)
