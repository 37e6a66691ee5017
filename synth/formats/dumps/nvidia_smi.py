"""Reading the text that ``nvidia-smi topo -m`` prints."""

import re
from itertools import combinations, takewhile

from synth.formats.draft import join, line, wrong
from synth.formats.dumps.box import Box, Nic
from synth.formats.dumps.console import console_lines
from synth.formats.dumps.host import PCIE, hang, merge
from synth.topology import Capacity, NodeId

__all__ = ["NVLINK", "nvidia_smi"]

NVLINK = 25
"""GB/s per direction of one NVLink of generation 2, 3 or 4 (V100, A100, H100)."""

MOST_NVLINKS = 18
"""NVLinks that a GPU of any generation so far has at most."""

Cells = dict[tuple[str, str], str]

_AFFINITY = re.compile(r"CPU Affinity|\b(?:CPU|NUMA|GPU NUMA)\b")
_NAME = re.compile(r"[A-Za-z][\w.-]{0,40}", re.ASCII)
_GLUED = re.compile(r"(?:GPU[0-9]+|NIC[0-9]+|mlx[0-9]+_[0-9]+){2,}", re.ASCII)
_LEGEND = re.compile(r"(NIC[0-9]{1,4}): ([A-Za-z][\w.-]{0,40})", re.ASCII)
_LEVELS = ("PIX", "PXB", "PHB", "NODE", "SYS")
_CELL = re.compile("X|PIX|PXB|PHB|NODE|SYS|NV[1-9][0-9]?")


def nvidia_smi(text: str, *, link_bandwidth: Capacity = NVLINK, nics: bool = False) -> Box:
    r"""Return the box whose matrix ``nvidia-smi topo -m`` prints.

    A cell NV# is a cable of so many NVLinks.  With NVSwitch every cell shows all links of
    a GPU, or of the one of the two that has fewer; so, where a group of GPUs would need more
    than 18 links of a GPU for direct cables, it has a switch, each GPU with as many links to
    it as its largest cell says.  PIX, PXB, PHB, NODE and SYS are a tree of switches with 12
    GB/s on every cable, as NCCL takes PCIe of unknown speed to be.

    Parameters
    ----------
    text : str
        The output, with tabs or blanks between cells; the legend may follow.
    link_bandwidth : int or Fraction
        GB/s per direction of one NVLink, which the text does not say: 25 for V100, A100 and
        H100 (NVIDIA's data sheets); pass 20 for P100, 50 for Blackwell.
    nics : bool
        Whether NICs are taken in, at their place in the tree; their bandwidth is not known.

    Raises
    ------
    InvalidTopology
        A row or a cell is missing, unknown, or not the same both ways.

    Examples
    --------
    >>> nvidia_smi("\tGPU0\tGPU1\nGPU0\t X \tNV2\nGPU1\tNV2\t X \n").direct
    [('GPU0', 'GPU1', 50, '/line/2')]
    """
    cells, places, legend = _matrix(text)
    gpus = {name: place for name, place in places.items() if name.startswith("GPU")}
    box = Box({**gpus})
    counts = {
        pair: int(cell[2:])
        for pair, cell in cells.items()
        if cell.startswith("NV") and {*pair} <= {*gpus}
    }
    groups = join(box.gpus, counts)
    for index, group in enumerate(groups):
        members = [gpu for gpu in gpus if gpu in group]
        name = f"NVSwitch{index}" if len(groups) > 1 else "NVSwitch"
        _add_nvlinks(box, members, counts, name, link_bandwidth)
    alone = [str(gpu) for group in groups if len(group) == 1 for gpu in group]
    if alone and len(groups) < len(gpus):
        box.notes.append(f"No NVLink joins {', '.join(alone)}: the way there is PCIe.")
    cards = [name for name in places if name not in gpus] if nics else []
    names = {name: legend.get(name, name) for name in (*gpus, *cards)}
    found = [_nic(name, names[name], places[name], cells, gpus) for name in cards]
    heads: dict[NodeId, NodeId] = {name: name for name in names.values()}
    pairs: list[tuple[NodeId, NodeId]] = []
    for level in _LEVELS:
        at = [pair for pair, cell in cells.items() if cell == level and {*pair} <= {*names}]
        pairs += [(names[one], names[other]) for one, other in at]
        merge(box, heads, pairs, level)
    hang(box, found)
    return box


def _nic(name: str, id: str, place: str, cells: Cells, gpus: dict[str, str]) -> Nic:
    """Return a NIC whose distances are the levels of its cells."""
    steps: dict[NodeId, int] = {}
    for gpu in gpus:
        if cells[gpu, name] not in _LEVELS:
            raise wrong(gpus[gpu], f"{gpu} and {name} must meet over PCIe; {cells[gpu, name]!r}")
        steps[gpu] = _LEVELS.index(cells[gpu, name])
    return Nic(id, None, "", PCIE, steps, place)


def _matrix(text: str) -> tuple[Cells, dict[str, str], dict[str, str]]:
    """Return the cell of each pair, the place of each row, and the names of NICs."""
    lines = console_lines(text)
    header = next((n for n, content in enumerate(lines) if content.split()[:1] == ["GPU0"]), None)
    if header is None:
        raise wrong("", "must have a heading that begins with GPU0")
    place = line(header + 1)
    names, body = _unwrapped(lines, header)
    if not all(map(_NAME.fullmatch, names)) or len(set(names)) < len(names) or len(names) > 1024:
        raise wrong(place, "the heading must hold at most 1024 different names")
    _require_columns(names, [found for _, found in body], place)
    rows: dict[str, tuple[str, list[str]]] = {}
    for number, found in body:
        rows[_row_name(found, names, rows, line(number))] = (line(number), found[1:])
    gpus = [name for name in names if name.startswith("GPU")]
    if names[: len(gpus)] != gpus:
        raise wrong(place, "the heading must name the GPUs first")
    # NICs without a row of their own are not looked at, if that goes for all of them.
    needed = gpus if {*rows} <= {*gpus} else names
    for name in needed:
        if name not in rows:
            raise wrong(place, f"must be followed by a row for {name}")
    known = [name for name in names if name in rows]
    columns = {name: index for index, name in enumerate(names)}
    return (
        _cells(known, columns, rows),
        {name: rows[name][0] for name in known},
        _legend(lines, names),
    )


def _unwrapped(lines: list[str], header: int) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the names of the heading, and the number and words of each row below it.

    A terminal that is too narrow breaks the heading and the rows between two words.  The
    matrix ends at an empty line, or at a line without a name and without a cell: a prompt.
    """
    names: list[str] = []
    body: list[tuple[int, list[str]]] = []
    wrapped = complete = False
    for number, content in enumerate(lines[header:], header + 1):
        found = content.split()
        if not found:
            break
        has_cells = any(map(_CELL.fullmatch, found))
        words, *affinities = _AFFINITY.split(content)
        if not body and not has_cells and all(map(_NAME.fullmatch, words.split())):
            wrapped = bool(names)
            names += [] if complete else words.split()
            complete = complete or bool(affinities)
        elif body and (_CELL.fullmatch(found[0]) or (wrapped and not _NAME.fullmatch(found[0]))):
            body[-1][1].extend(found)
        elif body and not has_cells and found[0] not in names:
            break
        else:
            body.append((number, found))
    return names, body


def _require_columns(names: list[str], rows: list[list[str]], place: str) -> None:
    """Raise `InvalidTopology` where all rows have the same cells beyond the heading."""
    counts = {len(list(takewhile(_CELL.fullmatch, found[1:]))) for found in rows}
    if len(rows) < 2 or len(counts) > 1 or (count := counts.pop()) <= len(names):
        return
    known = {found[0] for found in rows}
    glued = [
        name
        for name in names
        if _GLUED.fullmatch(name)
        or any(name[:cut] in known and name[cut:] in known for cut in range(1, len(name)))
    ]
    what = f"{', '.join(glued)[:50]} is two names run together" if glued else "one is missing"
    raise wrong(place, f"the heading names {len(names)} columns and the rows have {count}: {what}")


def _legend(lines: list[str], names: list[str]) -> dict[str, str]:
    """Return what the legend calls the NICs, where no two are called alike."""
    matches = [_LEGEND.fullmatch(content.strip()) for content in lines]
    found = {match[1]: match[2] for match in matches if match and match[1] in names}
    return found if len({*found.values()} - {*names}) == len(found) else {}


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


def _cells(
    known: list[str], columns: dict[str, int], rows: dict[str, tuple[str, list[str]]]
) -> Cells:
    """Return the cells of all pairs; of a GPU and a NIC that in the row of the GPU."""
    gpus = [name for name in known if name.startswith("GPU")]
    for gpu in gpus:
        place, row = rows[gpu]
        if row[columns[gpu]] != "X" or row[: len(gpus)].count("X") != 1:
            raise wrong(place, f"X must stand where {gpu} meets itself, and only there")
    for one, other in combinations(gpus, 2):
        if rows[one][1][columns[other]] != rows[other][1][columns[one]]:
            raise wrong(rows[other][0], f"{one} and {other} must have the same cell both ways")
    return {(one, other): rows[one][1][columns[other]] for one, other in combinations(known, 2)}


def _add_nvlinks(
    box: Box,
    members: list[str],
    counts: dict[tuple[str, str], int],
    name: str,
    bandwidth: Capacity,
) -> None:
    """Join the GPUs of one NVLink domain, through a switch if no cables could."""
    pairs = [pair for pair in combinations(members, 2) if pair in counts]
    per_gpu = dict.fromkeys(members, 0)
    most = dict.fromkeys(members, 0)
    for pair in pairs:
        for gpu in pair:
            per_gpu[gpu] += counts[pair]
            most[gpu] = max(most[gpu], counts[pair])
    if max(per_gpu.values()) <= MOST_NVLINKS:
        box.direct += [
            (one, other, counts[one, other] * bandwidth, box.gpus[one]) for one, other in pairs
        ]
        return
    # Through a switch two GPUs have as many links as the one of them with fewer.
    for one, other in combinations(members, 2):
        if counts.get((one, other)) != min(most[one], most[other]):
            raise wrong(
                box.gpus[other],
                f"{one} and {other} must have as many NVLinks as a switch gives them: "
                f"{min(most[one], most[other])}",
            )
    for gpu in members:
        if most[gpu] > MOST_NVLINKS:
            raise wrong(box.gpus[gpu], f"{gpu} must have at most {MOST_NVLINKS} NVLinks")
    if len({*most.values()}) > 1:
        least = min(most.values())
        slow = [gpu for gpu in members if most[gpu] == least]
        box.notes.append(f"Only {least} NVLinks lead from {', '.join(slow)} to {name}.")
    box.hubs[name] = box.gpus[members[0]]
    box.direct += [(gpu, name, most[gpu] * bandwidth, box.gpus[gpu]) for gpu in members]
