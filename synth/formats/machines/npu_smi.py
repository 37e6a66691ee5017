"""Reading the matrix of NPUs that ``npu-smi info -t topo`` prints on Huawei Ascend machines."""

import re
from itertools import combinations

from topoloom.synth.formats.machines.box import Box, Rates
from topoloom.synth.formats.machines.console_text import console_lines
from topoloom.synth.formats.machines.unlisted_nvlinks import cables, nvlinks
from topoloom.synth.formats.topology_draft import line, wrong
from topoloom.synth.topology.assumptions import Assumption

HCCS = 28
"""GB/s per direction of one HCCS link: seven links of an Ascend 910B carry 392 GB/s both ways
(Huawei, Atlas 800T A2 technical specifications, as quoted by others)."""
HCCS_LINKS = 7
"""HCCS links of an NPU, which lead to the switch where the matrix says HCCS_SW."""

_NAME = re.compile(r"NPU[0-9]{1,4}|Phy-ID[0-9]{1,4}")
_CELLS = ("X", "HCCS", "HCCS_SW", "SIO", "PIX", "PXB", "PHB", "SYS", "NA")
_DIRECT, _SWITCHED = ("HCCS", "SIO"), "HCCS_SW"
_HUB = "hccs-switch"


def npu_smi(text: str, *, rates: Rates | None = None) -> Box:
    r"""Return the box whose matrix ``npu-smi info -t topo`` prints.

    HCCS and SIO are a link between two NPUs, HCCS_SW is a way over one switch that joins all such
    NPUs.  The matrix states no rates.

    >>> box = npu_smi("\tNPU0\tNPU1\tCPU Affinity\nNPU0\tX\tHCCS\t0-23\nNPU1\tHCCS\tX\t0-23\n")
    >>> box.direct
    [('NPU0', 'NPU1', 28, '/line/2')]

    Raises:
        InvalidTopology: A row or a cell is missing, unknown, or not the same both ways, or paths
            over PCIe alone join some NPUs: the matrix has no rates of these.
    """
    rates = rates or Rates()
    cells, places = _matrix(text)
    stated, box = nvlinks(rates.nvlink), Box({**places})
    link = stated.link or rates.link
    if stated.whole:
        box.direct = cables(stated, box.gpus, _HUB)
    else:
        width = HCCS if link is None else link
        for (one, other), cell in cells.items():
            if cell in _DIRECT:
                box.direct.append((one, other, width, places[one]))
        switched = {npu for pair, cell in cells.items() if cell == _SWITCHED for npu in pair}
        box.direct += [
            (npu, _HUB, HCCS_LINKS * width, places[npu]) for npu in places if npu in switched
        ]
        if link is None:
            text = f"One HCCS or SIO link is taken to carry {HCCS} GB/s per direction"
            over = f", and {HCCS_LINKS} links join each NPU to the switch" if switched else ""
            box.assumed.append(Assumption(f"{text}{over}.", "link_bandwidth"))
    if any(_HUB in cable[:2] for cable in box.direct):
        box.hubs[_HUB] = next(iter(places.values()))
    if box.needs_host:
        rule = "HCCS must join all NPUs: the matrix has no rates of paths over PCIe"
        raise wrong("", f"{rule}; give the output of lstopo --of xml")
    return box


def _matrix(text: str) -> tuple[dict[tuple[str, str], str], dict[str, str]]:
    """Return the cell of every pair of NPUs, and the place of each row."""
    lines = [content.partition("CPU Affinity")[0].split() for content in console_lines(text)]
    heads = (at for at, words in enumerate(lines) if words and all(map(_NAME.fullmatch, words)))
    head = next(heads, None)
    if head is None:
        raise wrong("", "must have a heading of NPUs, such as NPU0 NPU1")
    names, places = lines[head], {}
    if len(set(names)) < len(names):
        raise wrong(line(head + 1), "must name each NPU once")
    rows: dict[str, list[str]] = {}
    for number, words in enumerate(lines[head + 1 :], head + 2):
        if len(rows) == len(names):
            break
        name, place = names[len(rows)], line(number)
        if words[:1] != [name]:
            raise wrong(place, f"must be the row of {name}")
        found = words[1 : len(names) + 1]
        if len(found) < len(names) or not set(found) <= {*_CELLS}:
            raise wrong(place, f"must have {len(names)} cells of {', '.join(_CELLS)}")
        if [at for at, cell in enumerate(found) if cell == "X"] != [len(rows)]:
            raise wrong(place, f"X must stand where {name} meets itself")
        rows[name], places[name] = found, place
    if len(rows) < len(names):
        raise wrong(line(len(lines)), f"must be followed by a row for {names[len(rows)]}")
    cells = {}
    for (at, one), (to, other) in combinations(enumerate(names), 2):
        if rows[one][to] != rows[other][at]:
            raise wrong(places[other], f"{one} and {other} must have the same cell both ways")
        cells[one, other] = rows[one][to]
    return cells, places
