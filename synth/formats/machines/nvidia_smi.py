"""Reading the text that ``nvidia-smi topo -m`` prints."""

from itertools import combinations

from topoloom.synth.formats.machines.box import ACROSS_CPUS, Box, Nic, Rates
from topoloom.synth.formats.machines.gpu_models import NVIDIA, Model, named_in
from topoloom.synth.formats.machines.host_path import hang, host_rates, merge
from topoloom.synth.formats.machines.smi_matrix import LEVELS, Matrix, matrix
from topoloom.synth.formats.machines.unlisted_nvlinks import NvLinks, cables, nvlinks
from topoloom.synth.formats.topology_draft import join, wrong
from topoloom.synth.topology.assumptions import Assumption
from topoloom.synth.topology.topology import Capacity, NodeId

NVLINK = 25
"""GB/s per direction of one NVLink of generation 2, 3 or 4 (V100, A100, H100)."""

MOST_NVLINKS = 18
"""NVLinks that a GPU of any generation so far has at most."""

MOST_OF_MESH = 6
"""NVLinks between each two of three or more GPUs at most, where no switch joins them: boards of
four A100 have 4, of four H100 6 (NVIDIA, HGX A100 and HGX H100 data sheets)."""

Counts = dict[tuple[str, str], int]


def nvidia_smi(text: str, *, rates: Rates | None = None, nics: bool = False) -> Box:
    r"""Return the box whose matrix ``nvidia-smi topo -m`` prints.

    A cell NV# is a cable of # NVLinks.  Through NVSwitch the cell counts the links of that GPU
    of the two that has fewer.  A group of GPUs has a switch where direct cables would need more
    links than a GPU has.  It has one, too, where every pair has the same number of links and no
    board joins them so without a switch.  PIX, PXB, PHB, NODE and SYS are a tree of switches.

    Args:
        text: The output, with tabs or blanks between cells; the legend may follow.  A GPU model
            that is named beside the matrix, as ``nvidia-smi -L`` does, gives the rates.
        rates: Rates of NVLinks, PCIe and CPUs that the user states.
        nics: Whether NICs are taken in, at their place in the tree; their bandwidth is not known.

    Raises:
        InvalidTopology: A row or a cell is missing, unknown, or not the same both ways.

    >>> box = nvidia_smi("\tGPU0\tGPU1\nGPU0\t X \tNV2\nGPU1\tNV2\t X \n")
    >>> box.direct
    [('GPU0', 'GPU1', 50, '/line/2')]
    >>> [assumption.option for assumption in box.assumed]
    ['link_bandwidth']
    """
    rates = rates or Rates()
    found = matrix(text)
    gpus = {name: place for name, place in found.places.items() if name.startswith("GPU")}
    model = named_in(found.around, NVIDIA)
    box = Box({**gpus})
    if found.more:
        where = found.more[0].removeprefix("/").replace("/", " ")
        box.assumed.append(
            Assumption(f"Another matrix begins at {where}: the first alone is read.")
        )
    stated = nvlinks(rates.nvlink)
    if stated.whole:
        box.direct = cables(stated, box.gpus, "NVSwitch")
        if stated.shape == "switch":
            box.hubs["NVSwitch"] = next(iter(box.gpus.values()))
    else:
        _add_counted(box, found, stated, rates, model)
    _add_host(box, found, gpus, rates, model, nics)
    return box


def _add_counted(
    box: Box, found: Matrix, stated: NvLinks, rates: Rates, model: Model | None
) -> None:
    """Join the GPUs by the NVLinks that the cells count."""
    counts = {
        pair: int(cell[2:])
        for pair, cell in found.cells.items()
        if cell.startswith("NV") and {*pair} <= {*box.gpus}
    }
    if not counts:
        return
    width = _link_rate(box, stated, rates, model)
    groups = join(box.gpus, counts)
    for index, group in enumerate(groups):
        members = [str(gpu) for gpu in box.gpus if gpu in group]
        if len(members) > 1:
            name = f"NVSwitch{index}" if len(groups) > 1 else "NVSwitch"
            _Domain(box, members, counts, stated.shape, model).add(name, width)
    alone = [str(gpu) for group in groups if len(group) == 1 for gpu in group]
    if alone:
        text = f"No NVLink joins {', '.join(alone)}: the way there is PCIe."
        box.assumed.append(Assumption(text))


def _link_rate(box: Box, stated: NvLinks, rates: Rates, model: Model | None) -> Capacity:
    """Return GB/s per direction of one NVLink."""
    if stated.link is not None:
        return stated.link
    if rates.link is not None:
        return rates.link
    value = model.link if model is not None and model.link else NVLINK
    why = (
        f"the rate of {model.name}, which the text names"
        if model is not None and model.link
        else "the rate of V100, A100 and H100 (P100: 20; B200: 50)"
    )
    text = f"One NVLink is taken to carry {float(value):g} GB/s per direction: {why}."
    box.assumed.append(Assumption(text, "link_bandwidth"))
    return value


class _Domain:
    """The GPUs of one NVLink domain, joined pair by pair or through a switch."""

    def __init__(
        self, box: Box, members: list[str], counts: Counts, shape: str, model: Model | None
    ) -> None:
        self._box, self._members, self._shape, self._model = box, members, shape, model
        pairs = combinations(members, 2)
        self._counts = {pair: counts[pair] for pair in pairs if pair in counts}
        self._total = dict.fromkeys(members, 0)
        self._most = dict.fromkeys(members, 0)
        for pair, count in self._counts.items():
            for gpu in pair:
                self._total[gpu] += count
                self._most[gpu] = max(self._most[gpu], count)

    def add(self, switch: str, width: Capacity) -> None:
        """Add the cables; ``width`` is that of one NVLink."""
        if not self._through_switch():
            self._box.direct += [
                (one, other, count * width, self._box.gpus[one])
                for (one, other), count in self._counts.items()
            ]
            return
        self._require_switched()
        if len({*self._most.values()}) > 1:
            least = min(self._most.values())
            slow = ", ".join(gpu for gpu in self._members if self._most[gpu] == least)
            self._assume(f"Only {least} NVLinks lead from {slow} to {switch}.")
        self._box.hubs[switch] = self._box.gpus[self._members[0]]
        self._box.direct += [
            (gpu, switch, self._most[gpu] * width, self._box.gpus[gpu]) for gpu in self._members
        ]

    def _through_switch(self) -> bool:
        """Whether a switch joins the GPUs; report it where the cells leave both open."""
        if self._shape:
            return self._shape == "switch"
        most = self._model.links if self._model and self._model.links else MOST_NVLINKS
        if max(self._total.values()) > most:
            return True
        if len(self._members) < 3 or not self._could_be_switched():
            return False
        each = {*self._counts.values()}
        uniform = len(each) == 1
        switched = uniform and max(each) > MOST_OF_MESH
        joined = f"{self._members[0]} to {self._members[-1]}"
        if switched:
            self._assume(
                f"{joined} are taken to share a switch: no board joins every pair of "
                f"{len(self._members)} GPUs by {max(each)} NVLinks."
            )
        else:
            self._assume(f"{joined} are taken to be joined pair by pair, without a switch.")
        return switched

    def _could_be_switched(self) -> bool:
        """Whether each pair has the links of that one of the two that has fewer."""
        return all(
            self._counts.get(pair) == min(self._most[gpu] for gpu in pair)
            for pair in combinations(self._members, 2)
        )

    def _require_switched(self) -> None:
        for one, other in combinations(self._members, 2):
            least = min(self._most[one], self._most[other])
            if self._counts.get((one, other)) != least:
                raise wrong(
                    self._box.gpus[other],
                    f"{one} and {other} must have as many NVLinks as a switch gives them: {least}",
                )
        for gpu in self._members:
            if self._most[gpu] > MOST_NVLINKS:
                raise wrong(self._box.gpus[gpu], f"{gpu} must have at most {MOST_NVLINKS} NVLinks")

    def _assume(self, text: str) -> None:
        self._box.assumed.append(Assumption(text, "nvlink"))


def _add_host(
    box: Box,
    found: Matrix,
    gpus: dict[str, str],
    rates: Rates,
    model: Model | None,
    nics: bool,
) -> None:
    """Add the tree of switches of the host, and the NICs in it."""
    host = host_rates(box, rates, model)
    cards = [name for name in found.places if name not in gpus] if nics else []
    names = {name: found.legend.get(name, name) for name in (*gpus, *cards)}
    hanging = [_nic(name, names[name], found, gpus, host.pcie) for name in cards]
    heads: dict[NodeId, NodeId] = {name: name for name in names.values()}
    pairs: list[tuple[NodeId, NodeId]] = []
    for level in LEVELS:
        at = [pair for pair, cell in found.cells.items() if cell == level]
        pairs += [(names[one], names[other]) for one, other in at if {one, other} <= {*names}]
        if level == "NODE":
            # NVLink cells hide the PCIe level of two GPUs; GPUs of one NUMA node share its CPU.
            pairs += [pair for pair in combinations(found.numa, 2) if _same(found.numa, *pair)]
        merge(box, heads, pairs, level, host, between_cpus=level == "SYS")
    if rates.cpu is None and "SYS" in found.cells.values():
        text = f"{float(host.cpu):g} GB/s per direction are taken between CPUs, as of PCIe."
        box.assumed_of_host.append(Assumption(text, "cpu_bandwidth"))
    hang(box, hanging, host.pcie)


def _same(numa: dict[str, str], one: str, other: str) -> bool:
    return numa[one] == numa[other]


def _nic(name: str, id: str, found: Matrix, gpus: dict[str, str], path: Capacity) -> Nic:
    """Return a NIC whose distances are the levels of its cells."""
    steps: dict[NodeId, int] = {}
    for gpu in gpus:
        cell = found.cells[gpu, name]
        if cell not in LEVELS:
            raise wrong(gpus[gpu], f"{gpu} and {name} must meet over PCIe; {cell!r}")
        steps[gpu] = ACROSS_CPUS if cell == LEVELS[-1] else LEVELS.index(cell)
    return Nic(id, None, "", path, steps, found.places[name])
