"""Reading the topology files that people have, each format by a function of its own.

Every reader takes text and returns a `Topology`, or raises one `InvalidTopology` whose
field is the place, ``/line/7`` or a JSON pointer.  Capacities are exact.
"""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from synth.errors import InvalidTopology
from synth.readers.graphs import document, graphml, node_link
from synth.readers.nccl_xml import nccl_xml
from synth.readers.nvidia_smi import nvidia_smi
from synth.readers.rocm_smi import rocm_smi
from synth.readers.tables import edgelist, matrix, numbered_rows, undirected_edgelist
from synth.topology import Capacity, Topology

__all__ = ["MAX_CHARACTERS", "READERS", "TAKES_LINK_BANDWIDTH", "detect", "read"]

MAX_CHARACTERS = 32 * 2**20

READERS: Mapping[str, Callable[..., Topology]] = MappingProxyType(
    {
        "json": document,
        "nccl-xml": nccl_xml,
        "nvidia-smi": nvidia_smi,
        "rocm-smi": rocm_smi,
        "matrix": matrix,
        "node-link": node_link,
        "graphml": graphml,
        "edgelist": edgelist,
        "undirected-edgelist": undirected_edgelist,
    }
)
"""The readers by the name of their format; ``json`` is topology/1."""

TAKES_LINK_BANDWIDTH = ("nvidia-smi", "rocm-smi")
"""Formats that say how many links there are, but not how fast one is."""


def read(
    text: str, form: str | None = None, *, link_bandwidth: Capacity | None = None
) -> Topology:
    r"""Return the topology that a text describes.

    Parameters
    ----------
    text : str
        At most 32 Mi characters.
    form : str, optional
        A key of `READERS`; left out, `detect` tells.
    link_bandwidth : int or Fraction, optional
        GB/s per direction of one link, for formats that do not say it.

    Raises
    ------
    InvalidTopology
        The text breaks a rule of its format, or the format cannot be told.

    Examples
    --------
    >>> read("0 25\n25 0")
    <Topology (unnamed): 2 compute, 2 links>
    >>> read("a b 25\nb c fast")
    Traceback (most recent call last):
    ...
    synth.errors.InvalidTopology: /line/2: must be a number of at most 30 digits; 'fast' is not
    """
    if len(text) > MAX_CHARACTERS:
        raise InvalidTopology("", f"must have at most {MAX_CHARACTERS} characters")
    text = text.removeprefix("\ufeff")
    form = detect(text) if form is None else form
    if form not in READERS:
        raise InvalidTopology("/format", f"must be one of {', '.join(READERS)}; not {form!r}")
    if link_bandwidth is None:
        return READERS[form](text)
    if form not in TAKES_LINK_BANDWIDTH:
        raise InvalidTopology(
            "/link_bandwidth", f"is only for {' and '.join(TAKES_LINK_BANDWIDTH)}; not for {form}"
        )
    if link_bandwidth <= 0:
        raise InvalidTopology("/link_bandwidth", "must be positive")
    return READERS[form](text, link_bandwidth=link_bandwidth)


_SIGNS = (
    ("nvidia-smi", re.compile("^[ \t]*(?:\x1b\\[[0-9;]*m[ \t]*)*GPU0(?:\x1b\\[[0-9;]*m)*\\s+X", re.M)),
    ("rocm-smi", re.compile(r"^=+ Link Type between", re.M)),
)


def detect(text: str) -> str:
    r"""Return the name of the format that a text is in.

    A square of numbers with an empty diagonal is a matrix; other lines of two or three
    cells are an edge list, directed.

    >>> detect("<graphml/>"), detect("0 1\n1 0"), detect("0 1\n1 2\n2 0")
    ('graphml', 'matrix', 'edgelist')

    Raises
    ------
    InvalidTopology
        It looks like none of them.
    """
    head = text[:4096].lstrip()
    if head.startswith("{"):
        return "json" if re.search(r'"schema"\s*:\s*"topology/', text) else "node-link"
    if head.startswith("<"):
        root = re.search(r"<(?:[A-Za-z]{1,20}:)?(graphml|system)\b", head)
        if root is not None:
            return "graphml" if root[1] == "graphml" else "nccl-xml"
    else:
        for form, sign in _SIGNS:
            if sign.search(text):
                return form
        if (form := _table(text)) is not None:
            return form
    raise InvalidTopology("", f"must be in one of the formats {', '.join(READERS)}")


def _table(text: str) -> str | None:
    rows = numbered_rows(text)
    widths = {len(cells) for _, cells in rows}
    if widths and len(widths) <= 2 and max(widths) - min(widths) <= 1:
        named = _is_named(rows)
        body = rows[1:] if named else rows
        shift = max(widths) - len(body)
        if shift in (0, 1) and all(len(body) + shift == len(cells) for _, cells in body):
            diagonal = [cells[index + shift] for index, (_, cells) in enumerate(body)]
            if all(re.fullmatch(r"0+(\.0+)?([eE]\+00)?|[-xX]?", cell) for cell in diagonal):
                return "matrix"
    first = re.split(r"[\s,;]+", text.split("#")[0].strip(), maxsplit=1)[0]
    return "edgelist" if first and rows and len(rows[-1][1]) in (2, 3) else None


def _is_named(rows: list[tuple[int, list[str]]]) -> bool:
    first = rows[0][1]
    letters = any(re.search("[A-Za-z_]", cell) and cell not in ("x", "X") for cell in first)
    return letters or not first[0] or len(rows) == len(first) + 1
