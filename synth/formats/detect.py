"""Telling the format that a text is in."""

import re

from synth.errors import InvalidTopology
from synth.formats.dumps.console import console_lines
from synth.formats.tables import looks_like

__all__ = ["MAX_CHARACTERS", "detect"]

MAX_CHARACTERS = 32 * 2**20


_EXTENSIONS = {
    ".gml": "gml",
    ".graphml": "graphml",
    ".gexf": "gexf",
    ".mtx": "matrix-market",
    ".adjlist": "adjlist",
    ".edgelist": "edgelist",
    ".g6": "graph6",
    ".s6": "sparse6",
    ".d6": "digraph6",
}

_SIGNS = (
    ("nvidia-smi", re.compile("^[ \t]{0,99}GPU0[ \t]+X", re.M)),
    ("rocm-smi", re.compile(r"^=+ Link Type between", re.M)),
    ("amd-smi", re.compile(r"^LINK TYPE TABLE:", re.M)),
    ("matrix-market", re.compile(r"\A%%MatrixMarket", re.I)),
    ("graph6", re.compile(r"\A>>graph6<<")),
    ("sparse6", re.compile(r"\A(>>sparse6<<|:[?-~]+\s*\Z)")),
    ("digraph6", re.compile(r"\A(>>digraph6<<|&[?-~]+\s*\Z)")),
    ("gml", re.compile(r"^[ \t]{0,99}graph\s{0,99}\[", re.M)),
)
_DOCUMENT = re.compile(r'"schema"\s*:\s*"topology/')
_ROOTS = {"graphml": "graphml", "gexf": "gexf", "system": "nccl-xml"}


def detect(text: str, filename: str = "") -> str:
    r"""Return the name of the format that a text is in.

    A filename that ends in ``.gml``, ``.graphml``, ``.gexf``, ``.mtx``, ``.adjlist``,
    ``.edgelist``, ``.g6``, ``.s6`` or ``.d6`` tells it.  Else a square of numbers with an
    empty diagonal is a matrix; other lines of two or three cells are an edge list, directed.

    >>> detect("<graphml/>"), detect("0 1\n1 0"), detect("0 1\n1 2\n2 0")
    ('graphml', 'matrix', 'edgelist')
    >>> detect("a b c", "ring.adjlist"), detect("graph [ node [ id 0 ] ]")
    ('adjlist', 'gml')

    Raises
    ------
    InvalidTopology
        It looks like none of them.
    """
    for ending, form in _EXTENSIONS.items():
        if filename.removesuffix(".gz").endswith(ending):
            return form
    head = text[:4096].lstrip("\ufeff \t\r\n")
    if head.startswith("{"):
        return "json" if _DOCUMENT.search(text) else "node-link"
    if len(text) > MAX_CHARACTERS:
        raise InvalidTopology("", f"must have at most {MAX_CHARACTERS} characters")
    if head.startswith("<"):
        root = re.search(r"<(?:[A-Za-z]{1,20}:)?(graphml|gexf|system)\b", head)
        if root is not None:
            return _ROOTS[root[1]]
    else:
        plain = "\n".join(console_lines(text.lstrip("\ufeff")))
        for form, sign in _SIGNS:
            if sign.search(plain):
                return form
        if (form := looks_like(text)) is not None:
            return form
    raise InvalidTopology("", "must be in one of the formats that docs/fabrics.md lists")
