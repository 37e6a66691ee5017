"""The matrix of GPUs and NICs that ``nvidia-smi topo -m`` prints, read from a pasted text."""

import re
from itertools import combinations, takewhile
from typing import NamedTuple

from topoloom.synth.formats.machines.console_text import console_lines
from topoloom.synth.formats.topology_draft import line, wrong

Cells = dict[tuple[str, str], str]

LEVELS = ("PIX", "PXB", "PHB", "NODE", "SYS")
"""Levels of the host at which two devices meet, the nearest first."""

_AFFINITY = re.compile(r"CPU Affinity|\b(?:CPU|NUMA|GPU NUMA)\b|\.\.\.|…")
"""Begins the columns behind the cells; an ellipsis stands for them."""
_NAME = re.compile(r"[A-Za-z][\w.-]{0,40}", re.ASCII)
_GLUED = re.compile(r"(?:GPU[0-9]+|NIC[0-9]+|mlx[0-9]+_[0-9]+){2,}", re.ASCII)
_LEGEND = re.compile(r"(NIC[0-9]{1,4}): ([A-Za-z][\w.-]{0,40})", re.ASCII)
_CELL = re.compile("X|PIX|PXB|PHB|NODE|SYS|SOC|NV[1-9][0-9]?")
_OLD_CELLS = {"SOC": "SYS"}
"""Before 2017 nvidia-smi wrote SOC, in its own legend the same as SYS today."""
_AFFINITIES = re.compile("CPU Affinity|NUMA Affinity|GPU NUMA ID")


class Matrix(NamedTuple):
    """The matrix of ``nvidia-smi topo -m``, by the names of the heading.

    ``cells`` holds one cell for each pair of rows, ``places`` the line of each row, ``legend``
    the names of the NICs in the legend, ``numa`` the column NUMA Affinity of the GPUs that have
    one, ``around`` the lines that are no row, ``more`` the places of further matrices.
    """

    cells: Cells
    places: dict[str, str]
    legend: dict[str, str]
    numa: dict[str, str]
    around: list[str]
    more: list[str]


def matrix(text: str) -> Matrix:
    r"""Return the matrix in a text.

    >>> matrix("\tGPU0\tGPU1\nGPU0\t X \tNV2\nGPU1\tNV2\t X \n").cells
    {('GPU0', 'GPU1'): 'NV2'}

    Raises:
        InvalidTopology: A row or a cell is missing, unknown, or not the same both ways.
    """
    lines = console_lines(text)
    header = next((n for n, content in enumerate(lines) if _is_heading(content.split())), None)
    if header is None:
        raise wrong("", "must have a heading that begins with GPU0")
    place = line(header + 1)
    names, body = _unwrapped(lines, header)
    if not all(map(_NAME.fullmatch, names)) or len(set(names)) < len(names) or len(names) > 1024:
        raise wrong(place, "the heading must hold at most 1024 different names")
    for name in names:
        if _GLUED.fullmatch(name):
            raise wrong(place, f"the heading {name[:50]} is several names run together")
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
    numbers = {number for number, _ in body}
    return Matrix(
        _cells(known, columns, rows),
        {name: rows[name][0] for name in known},
        _legend(lines, names),
        _numa(lines[header], {gpu: rows[gpu][1][len(names) :] for gpu in gpus}),
        [content for number, content in enumerate(lines, 1) if number not in numbers],
        [
            line(number)
            for number, content in enumerate(lines, 1)
            if number > max(numbers) and _is_heading(content.split())
        ],
    )


def _is_heading(words: list[str]) -> bool:
    """Whether a line begins with the name of the first GPU, and is not its row."""
    if not words or not words[0].startswith("GPU0"):
        return False
    return bool(_GLUED.fullmatch(words[0])) or (words[0] == "GPU0" and words[1:2] != ["X"])


def _numa(heading: str, tails: dict[str, list[str]]) -> dict[str, str]:
    """Return the NUMA node of each GPU, from the text after the cells of its row."""
    columns = _AFFINITIES.findall(heading)
    if "NUMA Affinity" not in columns:
        return {}
    index = columns.index("NUMA Affinity")
    found = {gpu: tail[index] for gpu, tail in tails.items() if len(tail) == len(columns)}
    return {gpu: node for gpu, node in found.items() if node != "N/A"}


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
        if any(name[:cut] in known and name[cut:] in known for cut in range(1, len(name)))
    ]
    what = f"{', '.join(glued)[:50]} is two names run together" if glued else "one is missing"
    raise wrong(place, f"the heading names {len(names)} columns and the rows have {count}: {what}")


def _legend(lines: list[str], names: list[str]) -> dict[str, str]:
    """Return the names of the NICs in the legend, if they are distinct."""
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
            raise wrong(place, f"a cell must be X, NV#, {', '.join(LEVELS)}; not {cell[:50]!r}")
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
    pairs = {(one, other): rows[one][1][columns[other]] for one, other in combinations(known, 2)}
    return {pair: _OLD_CELLS.get(cell, cell) for pair, cell in pairs.items()}
