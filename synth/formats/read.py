"""Reading the topology files that people have, each format by a function of its own.

Every reader takes text and returns a `Topology`, or raises one `InvalidTopology` whose
field is the place, ``/line/7`` or a JSON pointer.  Capacities are exact.
"""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from synth.errors import InvalidTopology
from synth.formats.dumps.nccl_xml import nccl_xml
from synth.formats.dumps.nvidia_smi import nvidia_smi
from synth.formats.dumps.rocm_smi import rocm_smi
from synth.formats.graphs import document, graphml, node_link
from synth.formats.tables import edgelist, looks_like, matrix, undirected_edgelist
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


def read(text: str, form: str | None = None, *, link_bandwidth: Capacity | None = None) -> Topology:
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


# The header of a terminal may be underlined; a few codes are enough.
_CODES = "(?:\x1b\\[[0-9;]{0,9}m[ \t]{0,9}){0,9}"
_SIGNS = (
    ("nvidia-smi", re.compile(f"^[ \t]{{0,99}}{_CODES}GPU0{_CODES}[ \t]+X", re.M)),
    ("rocm-smi", re.compile(r"^=+ Link Type between", re.M)),
)
_DOCUMENT = re.compile(r'"schema"\s*:\s*"topology/')


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
    head = text[:4096].lstrip("\ufeff \t\r\n")
    if head.startswith("{"):
        return "json" if _DOCUMENT.search(text) else "node-link"
    if len(text) > MAX_CHARACTERS:
        raise InvalidTopology("", f"must have at most {MAX_CHARACTERS} characters")
    if head.startswith("<"):
        root = re.search(r"<(?:[A-Za-z]{1,20}:)?(graphml|system)\b", head)
        if root is not None:
            return "graphml" if root[1] == "graphml" else "nccl-xml"
    else:
        for form, sign in _SIGNS:
            if sign.search(text):
                return form
        if (form := looks_like(text)) is not None:
            return form
    raise InvalidTopology("", f"must be in one of the formats {', '.join(READERS)}")
