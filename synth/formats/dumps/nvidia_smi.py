"""Reading the text that ``nvidia-smi topo -m`` prints."""

import re
from itertools import combinations

from synth.formats.draft import Draft, join, line, wrong
from synth.formats.dumps.host import merge
from synth.topology import Capacity, NodeId, Topology

__all__ = ["NVLINK", "nvidia_smi"]

NVLINK = 25
"""GB/s per direction of one NVLink of generation 2, 3 or 4 (V100, A100, H100)."""

MOST_NVLINKS = 18
"""NVLinks that a GPU of any generation so far has at most."""

Cells = dict[tuple[str, str], str]

_UNDERLINE = re.compile("\x1b\\[[0-9;]*m")
_AFFINITY = re.compile("CPU Affinity|NUMA Affinity|GPU NUMA ID")
_NAME = re.compile(r"[A-Za-z][\w.-]{0,40}", re.ASCII)
_LEVELS = ("PIX", "PXB", "PHB", "NODE", "SYS")
_CELL = re.compile("X|PIX|PXB|PHB|NODE|SYS|NV[1-9][0-9]?")


def nvidia_smi(text: str, *, link_bandwidth: Capacity = NVLINK) -> Topology:
    r"""Return the topology of the GPUs in the matrix of ``nvidia-smi topo -m``.

    A cell NV# is a cable of so many NVLinks.  With NVSwitch every cell shows all links of
    a GPU; so, where a group of GPUs has the same NV# in all cells and direct cables would
    take more than 18 links of a GPU, it has a switch, each GPU with so many links to it.
    Where NVLink does not join all GPUs, PIX, PXB, PHB, NODE and SYS become a tree of
    switches with 12 GB/s on every cable, as NCCL takes PCIe of unknown speed to be.  NICs
    are left out: the text does not say where they lead.

    Parameters
    ----------
    text : str
        The output, with tabs or blanks between cells; the legend may follow.
    link_bandwidth : int or Fraction
        GB/s per direction of one NVLink, which the text does not say: 25 for V100, A100 and
        H100 (NVIDIA's data sheets); pass 20 for P100, 50 for Blackwell.

    Raises
    ------
    InvalidTopology
        A row or a cell is missing, unknown, or not the same both ways.

    Examples
    --------
    >>> nvidia_smi("\tGPU0\tGPU1\nGPU0\t X \tNV2\nGPU1\tNV2\t X \n").links[0]
    Link(source='GPU0', target='GPU1', capacity=50)
    """
    cells, places = _matrix(text)
    gpus: list[NodeId] = [*places]
    draft = Draft()
    for gpu, place in places.items():
        draft.node(gpu, place)
    counts = {pair: int(cell[2:]) for pair, cell in cells.items() if cell.startswith("NV")}
    groups = join(gpus, counts)
    for index, group in enumerate(groups):
        members = [gpu for gpu in places if gpu in group]
        name = f"NVSwitch{index}" if len(groups) > 1 else "NVSwitch"
        _add_nvlinks(draft, members, counts, name, places, link_bandwidth)
    if len(groups) > 1:
        heads: dict[NodeId, NodeId] = {gpu: gpu for gpu in gpus}
        pairs: list[tuple[NodeId, NodeId]] = []
        for level in _LEVELS:
            pairs += [pair for pair, cell in cells.items() if cell == level]
            merge(draft, heads, pairs, level, line(1))
    return draft.build()


def _matrix(text: str) -> tuple[Cells, dict[str, str]]:
    """Return the cell of each pair of GPUs, and the place of each GPU's row."""
    lines = [_UNDERLINE.sub("", content).replace("\r", "") for content in text.split("\n")]
    header = next((n for n, content in enumerate(lines) if content.split()[:1] == ["GPU0"]), None)
    if header is None:
        raise wrong("", "must have a heading that begins with GPU0")
    names = _AFFINITY.split(lines[header])[0].split()
    place = line(header + 1)
    if not all(map(_NAME.fullmatch, names)) or len(set(names)) < len(names) or len(names) > 1024:
        raise wrong(place, "the heading must hold at most 1024 different names")
    rows: dict[str, tuple[str, list[str]]] = {}
    for number, content in enumerate(lines[header + 1 :], header + 2):
        found = content.split()
        if not found:
            break
        rows[_row_name(found, names, rows, line(number))] = (line(number), found[1:])
    gpus = [name for name in names if name.startswith("GPU")]
    if names[: len(gpus)] != gpus:
        raise wrong(place, "the heading must name the GPUs first")
    for gpu in gpus:
        if gpu not in rows:
            raise wrong(place, f"must be followed by a row for {gpu}")
    return _cells(gpus, rows), {gpu: rows[gpu][0] for gpu in gpus}


def _row_name(
    found: list[str], names: list[str], rows: dict[str, tuple[str, list[str]]], place: str
) -> str:
    if found[0] not in names or found[0] in rows:
        raise wrong(place, f"must begin with a name of the heading, once; not {found[0][:50]!r}")
    if len(found) <= len(names):
        raise wrong(place, f"must have a cell for each of {len(names)} names of the heading")
    for cell in found[1 : len(names) + 1]:
        if not _CELL.fullmatch(cell):
            raise wrong(place, f"a cell must be X, NV#, {', '.join(_LEVELS)}; not {cell[:50]!r}")
    return found[0]


def _cells(gpus: list[str], rows: dict[str, tuple[str, list[str]]]) -> Cells:
    # The GPUs come first in the heading, so a GPU's index is its column.
    for index, gpu in enumerate(gpus):
        place, row = rows[gpu]
        if row[index] != "X" or row[: len(gpus)].count("X") != 1:
            raise wrong(place, f"X must stand where {gpu} meets itself, and only there")
    found: Cells = {}
    for (i, one), (j, other) in combinations(enumerate(gpus), 2):
        place, row = rows[other]
        if rows[one][1][j] != row[i]:
            raise wrong(place, f"{one} and {other} must have the same cell both ways")
        found[one, other] = row[i]
    return found


def _add_nvlinks(
    draft: Draft,
    members: list[str],
    counts: dict[tuple[str, str], int],
    name: str,
    places: dict[str, str],
    bandwidth: Capacity,
) -> None:
    """Join the GPUs of one NVLink domain, through a switch if no cables could."""
    pairs = [pair for pair in combinations(members, 2) if pair in counts]
    per_gpu = dict.fromkeys(members, 0)
    for pair in pairs:
        for gpu in pair:
            per_gpu[gpu] += counts[pair]
    if max(per_gpu.values()) <= MOST_NVLINKS:
        for one, other in pairs:
            draft.cable(one, other, counts[one, other] * bandwidth, places[one])
        return
    alike = {counts.get(pair) for pair in combinations(members, 2)}
    if len(alike) > 1:
        crowded = max(per_gpu, key=lambda gpu: per_gpu[gpu])
        raise wrong(
            places[crowded],
            f"{crowded} must have at most {MOST_NVLINKS} NVLinks, unless all cells are alike",
        )
    draft.node(name, places[members[0]], switch=True)
    for gpu in members:
        draft.cable(gpu, name, counts[members[0], members[1]] * bandwidth, places[gpu])
