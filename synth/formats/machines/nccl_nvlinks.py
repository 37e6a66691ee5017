"""NVLinks and xGMI links of NCCL's topology XML: their ends, and the rate of one of them."""

from collections.abc import Iterator
from fractions import Fraction

from topoloom.synth.formats.machines.box import Box, Cable, Rates
from topoloom.synth.formats.machines.gpu_models import BOARDS
from topoloom.synth.formats.machines.pci_tree import Gpu, PciTree
from topoloom.synth.formats.machines.unlisted_nvlinks import cables, nvlinks
from topoloom.synth.formats.safe_xml import Element
from topoloom.synth.formats.topology_draft import wrong
from topoloom.synth.topology.assumptions import Assumption
from topoloom.synth.topology.topology import Capacity

NVLINK = {60: 20, 70: 25, 86: Fraction(225, 16), 87: 25, 100: 50}
"""GB/s per direction of one NVLink, from this compute capability (times ten) on.  Source:
NVIDIA's data sheets, as in `gpus`; NCCL reckons with about 20 % less (src/graph/topo.h)."""

XGMI = {"9": 46, "90a": 50, "910": 50, "94": 64, "95": Fraction(384, 5)}
"""GB/s per direction of one xGMI link, by how the name of the architecture begins.  Source:
AMD's data sheets, as in `gpus`."""

UNSTATED = 25
"""GB/s per direction of one NVLink of a GPU whose file states neither sm nor a known device."""

MOST_LINKS = 1000

SWITCH = "nvswitch"


class GpuLinks:
    """The links between the GPUs of a tree, and from GPUs to their CPUs."""

    def __init__(self, tree: PciTree, box: Box, rates: Rates) -> None:
        self._tree, self._box, self._rates = tree, box, rates
        self._stated = nvlinks(rates.nvlink)
        self._why: dict[str, Capacity] = {}

    def direct(self) -> list[Cable]:
        """Return the cables between GPUs, or to the switch; report assumptions."""
        if self._stated.whole:
            return cables(self._stated, self._box.gpus, SWITCH)
        found = list(self._listed())
        if self._stated.shape == "switch":
            found = self._switched(found)
        elif self._stated.shape == "mesh" and any(other == SWITCH for _, other, _, _ in found):
            raise wrong("/nvlink", "must state the rate, as mesh:GBPS: the links lead to a switch")
        if not found:
            return self._known()
        for why, value in self._why.items():
            self._assume(
                f"One {why} is taken to carry {float(value):g} GB/s per direction.",
                "link_bandwidth",
            )
        return found

    def to_cpus(self) -> Iterator[Cable]:
        """Yield NVLinks and C2C links from GPUs to their CPUs."""
        for gpu in self._tree.gpus:
            if gpu.element is None:
                continue
            for link in gpu.element.all("nvlink"):
                if link.attributes.get("tclass") == "0x068001":
                    value = link.number("count", MOST_LINKS) * self._rate(gpu)
                    yield gpu.id, gpu.path[0], value, link.place
            for link in gpu.element.all("c2c"):
                value = Fraction(link.number("count", MOST_LINKS) * link.number("bw", 10**9), 1000)
                yield gpu.id, gpu.path[0], value, link.place

    def _listed(self) -> Iterator[Cable]:
        """Yield the cables that the file lists."""
        tree = self._tree
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
                    value = link.number("count", MOST_LINKS) * self._rate(gpu)
                    places.setdefault((gpu.id, target), link.place)
                    counts[gpu.id, target] = counts.get((gpu.id, target), 0) + value
        if to_itself:
            names = ", ".join(dict.fromkeys(to_itself))
            self._assume(
                f"NVLinks of {names} lead back to themselves and are left out; bridges between "
                "pairs of GPUs would be pairs:GBPS.",
                "nvlink",
            )
        done: set[tuple[str, str]] = set()
        for (one, other), value in counts.items():
            if other != SWITCH and counts.get((other, one)) != value:
                raise wrong(places[one, other], f"links of {one} and {other} must agree both ways")
            if (other, one) not in done:
                yield one, other, value, places[one, other]
            done.add((one, other))

    def _switched(self, found: list[Cable]) -> list[Cable]:
        """Return one cable to a switch for each GPU, of all its links."""
        totals: dict[str, Capacity] = {}
        for one, other, value, _ in found:
            for gpu in {str(one), str(other)} - {SWITCH}:
                totals[gpu] = totals.get(gpu, 0) + value
        return [(gpu, SWITCH, value, self._box.gpus[gpu]) for gpu, value in totals.items()]

    def _rate(self, gpu: Gpu) -> Capacity:
        """Return GB/s per direction of one link of a GPU."""
        stated = self._stated.link or self._rates.link
        if stated is not None:
            return stated
        assert gpu.element is not None
        attributes = gpu.element.attributes
        if architecture := attributes.get("gcn", attributes.get("arch", "")).partition(":")[0]:
            value, why = nvlink_bandwidth(gpu.element), f"xGMI link of {architecture}"
        elif "sm" in attributes:
            value, why = nvlink_bandwidth(gpu.element), f"NVLink of sm {attributes['sm']}"
        elif board := BOARDS.get(gpu.pci.attributes.get("device", "").lower()):
            value, why = board.model.link or UNSTATED, f"NVLink of {board.name}, by device id,"
        else:
            value, why = UNSTATED, "NVLink of a GPU whose sm is not stated"
        self._why.setdefault(why, value)
        return value

    def _known(self) -> list[Cable]:
        """Return the NVLinks of a machine whose file lists none, from the known machines."""
        tree = self._tree
        elements = [gpu.element for gpu in tree.gpus if gpu.element is not None]
        if any(element.all("nvlink", "xgmi", "c2c") for element in elements):
            return []
        if tree.platform is not None:
            return self._board(tree.platform.nvlinks, f"bus ids are those of {tree.platform.name}")
        if elements:
            boards = [BOARDS.get(gpu.pci.attributes.get("device", "").lower()) for gpu in tree.gpus]
            if len(elements) > 1 and not all(board and not board.model.link for board in boards):
                self._assume("The file lists no NVLinks: PCIe alone joins the GPUs.", "nvlink")
            return []
        devices = {gpu.pci.attributes.get("device", "").lower() for gpu in tree.gpus}
        board = BOARDS.get(devices.pop()) if len(devices) == 1 else None
        known = None if board is None else board.nvlinks.get(len(tree.gpus))
        if board is None or known is None:
            raise wrong(
                "/nvlink", "must be given: the file says neither NVLinks nor which GPUs these are"
            )
        return self._board(known, f"device ids are {board.name}")

    def _board(self, known: str, why: str) -> list[Cable]:
        self._assume(f"The file lists no NVLinks: {known} is taken, because its {why}.", "nvlink")
        return cables(nvlinks(known), self._box.gpus, SWITCH)

    def _assume(self, text: str, option: str) -> None:
        self._box.assumed.append(Assumption(text, option))


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
