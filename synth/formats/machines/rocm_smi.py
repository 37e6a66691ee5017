"""Reading the text that ``rocm-smi --showtopo`` or ``amd-smi topology`` prints."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations

from topoloom.synth.formats.machines.box import Box, Cable, Rates
from topoloom.synth.formats.machines.console_text import console_lines
from topoloom.synth.formats.machines.gpu_models import AMD, Model, named_in
from topoloom.synth.formats.machines.host_path import host_rates, merge
from topoloom.synth.formats.machines.unlisted_nvlinks import NvLinks, cables, nvlinks
from topoloom.synth.formats.topology_draft import line, wrong
from topoloom.synth.topology.assumptions import Assumption
from topoloom.synth.topology.topology import Capacity, NodeId

XGMI = 50
"""GB/s per direction of one xGMI link of an MI200."""

MI300 = 64
"""The same of an MI300X; only its boards join each two of eight GPUs."""

_TITLE = re.compile(r"=+ ([A-Za-z][A-Za-z ]{0,60}) =+|([A-Z][A-Z ]{0,60}) TABLE:")
_NUMA = re.compile(r"GPU\[([0-9]{1,4})\]\s*: \(Topology\) Numa Node: (-?[0-9]{1,4})")
_GPU = re.compile(r"GPU[0-9]{1,4}|[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]")
_CELLS = {
    "Weight": re.compile("[0-9]{1,6}"),
    "Link Type": re.compile("0|SELF|XGMI|PCIE"),
    "Bandwidth": re.compile("N/A|[0-9]{1,9}-[0-9]{1,9}"),
}
_TABLES = {"WEIGHT": "Weight", "LINK TYPE": "Link Type", "NUMA BW": "Bandwidth"}
"""Tables of amd-smi by those of rocm-smi."""


def rocm_smi(text: str, *, rates: Rates | None = None) -> Box:
    r"""Return the box that ``rocm-smi --showtopo`` or ``amd-smi topology`` prints.

    Pairs of link type XGMI with the least weight among those are joined by a cable; larger
    weights are pairs more than one hop apart (each hop adds 15; the table of hops shows 1
    for all of them).  How many links a cable has is not in the text; with the table of
    ``--shownodesbw`` in the same file, which amd-smi always prints, its larger figure is
    taken instead, and pairs without one have no cable.  The way through the host is a switch
    for each NUMA node and one over them.  The text has no NICs.

    Args:
        text: The output; the sections of hops and weights may be missing.  A GPU model that is
            named in it gives the rates.
        rates: Rates of xGMI, PCIe and CPUs that the user states; ``rates.link`` is that of a cable.

    Raises:
        InvalidTopology: A row or a cell is missing, unknown, or not the same both ways.

    >>> rocm_smi("=== Link Type between two GPUs ===\n GPU0 GPU1\n"
    ...          "GPU0 0 XGMI\nGPU1 XGMI 0\n").direct
    [('GPU0', 'GPU1', 50, '/line/3')]
    """
    sections, numa = _sections(text)
    if "Link Type" not in sections:
        raise wrong("", "must have a section Link Type between two GPUs, or LINK TYPE TABLE")
    types = sections["Link Type"]
    rates = rates or Rates()
    model = named_in(text.split("\n"), AMD)
    stated = nvlinks(rates.nvlink)
    assumed: list[Assumption] = []
    # Check the tables before their places are used, so that errors of the tables come first.
    found = _cables(sections, stated.link or rates.link, model, assumed)
    box = Box({**types.places}, assumed=[] if stated.whole else assumed)
    box.direct = _joined(box, found, stated)
    gpus: list[NodeId] = [*types.places]
    heads: dict[NodeId, NodeId] = {gpu: gpu for gpu in gpus}
    same = [pair for pair in combinations(gpus, 2) if _together(numa, *map(str, pair))]
    host = host_rates(box, rates, model)
    merge(box, heads, same, "numa", host)
    merge(box, heads, combinations(gpus, 2), "sys", host, between_cpus=True)
    if rates.cpu is None and "sys0" in box.bridges:
        text = f"{float(host.cpu):g} GB/s per direction are taken between CPUs, as of PCIe."
        box.assumed_of_host.append(Assumption(text, "cpu_bandwidth"))
    return box


def _joined(box: Box, found: dict[tuple[str, str], Capacity], stated: NvLinks) -> list[Cable]:
    """Return the cables of the text, of a switch, or those that the user states."""
    hub = "switch"
    if stated.shape == "switch":
        box.hubs[hub] = next(iter(box.gpus.values()))
    if stated.whole:
        return cables(stated, box.gpus, hub)
    if stated.shape == "switch":
        totals: dict[NodeId, Capacity] = {}
        for pair, value in found.items():
            for gpu in pair:
                totals[gpu] = totals.get(gpu, 0) + value
        return [(gpu, hub, value, box.gpus[gpu]) for gpu, value in totals.items()]
    return [(*pair, value, box.gpus[pair[0]]) for pair, value in found.items()]


@dataclass
class _Table:
    """A matrix of the text: its heading, the place of each row, the cells of each pair."""

    title: str
    place: str
    names: list[str]
    places: dict[str, str] = field(default_factory=dict)
    rows: dict[str, list[str]] = field(default_factory=dict)

    def add(self, found: list[str], place: str) -> None:
        """Take in a row."""
        name, *cells = found
        if name not in self.names or name in self.rows:
            raise wrong(place, f"must begin with a name of the heading, once; not {name[:50]!r}")
        if len(cells) != len(self.names):
            raise wrong(place, f"must have {len(self.names)} cells, as the heading has names")
        for cell in cells:
            if not _CELLS[self.title].fullmatch(cell):
                raise wrong(place, f"no cell of {self.title}: {cell[:50]!r}")
        self.rows[name], self.places[name] = cells, place

    def pairs(self) -> Iterator[tuple[tuple[str, str], str, str]]:
        """Yield each pair, its cell and its place; both ways must be the same."""
        for name in self.names:
            if name not in self.rows:
                raise wrong(self.place, f"must be followed by a row for {name}")
        for (i, one), (j, other) in combinations(enumerate(self.names), 2):
            if self.rows[one][j] != self.rows[other][i]:
                raise wrong(
                    self.places[other], f"{one} and {other} must have the same cell both ways"
                )
            yield (one, other), self.rows[one][j], self.places[one]


def _sections(text: str) -> tuple[dict[str, _Table], dict[str, str]]:
    """Return the tables by the beginning of their titles, and the NUMA node of each GPU."""
    found: dict[str, _Table] = {}
    numa: dict[str, str] = {}
    title: str | None = None
    for number, content in enumerate(console_lines(text), 1):
        bare = content.strip()
        if heading := _TITLE.fullmatch(bare):
            title = _TABLES.get(heading[2])
            if heading[1]:
                title = next((known for known in _CELLS if heading[1].startswith(known)), None)
        elif match := _NUMA.fullmatch(bare):
            numa[f"GPU{match[1]}"] = match[2]
        elif title is not None and _GPU.match(bare):
            cells = bare.split()
            if title in found:
                found[title].add(cells, line(number))
            elif not all(map(_GPU.fullmatch, cells)) or len(set(cells)) < len(cells):
                raise wrong(line(number), "the heading must hold the names of the GPUs")
            elif len(cells) > 1024:
                raise wrong(line(number), "must have at most 1024 GPUs")
            else:
                found[title] = _Table(title, line(number), cells)
    return found, numa


def _cables(
    sections: dict[str, _Table],
    rate: Capacity | None,
    model: Model | None,
    assumed: list[Assumption],
) -> dict[tuple[str, str], Capacity]:
    """Return the capacity of every cable between two GPUs, and report assumptions."""
    types = sections["Link Type"]
    direct = {}
    for pair, cell, place in types.pairs():
        if cell in ("0", "SELF"):
            raise wrong(place, "a link type must be XGMI or PCIE but on the diagonal")
        if cell == "XGMI":
            direct[pair] = place
    for table in sections.values():
        if table.names != types.names:
            raise wrong(table.place, "every table must name the same GPUs")
    if "Bandwidth" in sections:
        widths = {pair: cell for pair, cell, _ in sections["Bandwidth"].pairs()}
        cells = {pair: widths[pair].partition("-")[2] for pair in direct}
        known = {pair: int(cell) for pair, cell in cells.items() if cell.isdigit()}
        if any(known.values()):
            stated: dict[tuple[str, str], Capacity] = {
                pair: Fraction(value, 1000) for pair, value in known.items() if value
            }
            return stated if rate is None else dict.fromkeys(stated, rate)
    if "Weight" in sections:
        weights = {pair: int(cell) for pair, cell, _ in sections["Weight"].pairs()}
        least = min((weights[pair] for pair in direct), default=0)
        direct = {pair: place for pair, place in direct.items() if weights[pair] == least}
    if direct and rate is None:
        whole = "Weight" in sections and len(types.names) == 8 and len(direct) == 28
        if model is not None:
            rate, why = model.link, f"{model.name}, which the text names"
        elif whole:
            rate, why = MI300, "MI300X, eight of which are joined pair by pair"
        else:
            rate, why = XGMI, "MI200"
        assumed.append(
            Assumption(
                f"One xGMI link joins each pair and is taken to carry {float(rate):g} GB/s per "
                f"direction: the rate of {why}.",
                "link_bandwidth",
            )
        )
    return dict.fromkeys(direct, rate or 0)


def _together(numa: dict[str, str], one: str, other: str) -> bool:
    return one in numa and numa[one] == numa.get(other)
