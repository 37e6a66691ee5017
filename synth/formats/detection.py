"""Detection of the format of a text, or of the kind of an unsupported text."""

import re
from itertools import islice

from topoloom.synth.errors import InvalidTopology
from topoloom.synth.formats.edge_list import below_heading
from topoloom.synth.formats.edge_list_detection import doubt
from topoloom.synth.formats.machines.console_text import console_lines
from topoloom.synth.formats.tables import MAX_ROWS, looks_like_matrix, numbered_rows
from topoloom.synth.formats.topology_draft import wrong
from topoloom.synth.formats.topology_json import parse_json
from topoloom.synth.formats.unsupported import head_of, recognise
from topoloom.synth.formats.unsupported_kinds import FOREIGN, LOOSE

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
_ROOTS = {
    "graphml": "graphml",
    "gexf": "gexf",
    "system": "nccl-xml",
    "topology": "hwloc-xml",
}
_ROOT = re.compile(r"<(?:[A-Za-z]{1,20}:)?(graphml|gexf|system|topology)\b")
_DOCUMENT = re.compile(r'"schema"\s*:\s*"topology/')
_MSCCL_TYPE = re.compile(r'"m?sccl_type"\s*:\s*"(\w+)"')
_LABS = (
    ("teccl", re.compile(r'"TopologyParams"\s*:')),
    ("containerlab", re.compile(r'"topology"\s*:\s*\{(?s:.*)"nodes"\s*:\s*\{')),
    ("air", re.compile(r'"content"\s*:\s*\{(?s:.*)"nodes"\s*:\s*\{')),
)
_TACCL = [re.compile(rf'"{key}"\s*:') for key in ("gpus_per_node", "links", "betas")]
_INFRAGRAPH = [re.compile(rf'"{key}"\s*:') for key in ("devices", "instances", "edges")]
_NODE_LINK = re.compile(r'"(?:links|edges)"\s*:')
_PRINTED = (
    ("rocm-smi", re.compile(r"^=+ Link Type between", re.M)),
    ("amd-smi", re.compile(r"^LINK TYPE TABLE:", re.M)),
    (
        "nvidia-smi",
        re.compile("^[ \t]{0,99}GPU0[ \t]+X(?![ \t]+(OK|NS|CNS|GNS|TNS|DR|U)\\b)", re.M),
    ),
    ("npu-smi", re.compile(r"^[ \t]{0,99}(?:NPU|Phy-ID)[0-9]+[ \t]+(?:NPU|Phy-ID)[0-9]+\b", re.M)),
    ("nvidia-smi-nvlink", re.compile(r"^\s*GPU [0-9]+: .*\n\s*Link [0-9]+: ", re.M)),
)
"""Formats that a terminal printed, pasted with quotes, prompts or fences."""
_BEGINNINGS = (
    ("slurm", re.compile(r"^[ \t]*(?:SwitchName|BlockName)=\S", re.M | re.I)),
    (
        "slurm-yaml",
        re.compile(
            r"^[ \t]*-[ \t]+topology:[^\n]*\n(?:[^\n]*\n)?[ \t]+(?:tree|block|ring|torus3d):", re.M
        ),
    ),
    ("dot", re.compile(r"\A(?:strict\s+)?(?:di)?graph\b[^\[{]{0,300}\{", re.I)),
    (
        "containerlab",
        re.compile(
            r"^topology:[ \t]*(?:#[^\n]*)?\n(?:[^\n]*\n){0,9}?[ \t]+(?:nodes|links|kinds):", re.M
        ),
    ),
    (
        "ibnetdiscover",
        re.compile(r'^[ \t>]*(?:Switch|Ca|Rt)\s+[0-9]+ "[SHR]-[0-9a-f]+"|^switchguid=0x', re.M),
    ),
    (
        "infragraph",
        re.compile(r"\A(?=(?s:.*)^devices(:|\s*\{))(?=(?s:.*)^instances(:|\s*\{))", re.M),
    ),
    ("matrix-market", re.compile(r"\A%%MatrixMarket", re.I)),
    ("graph6", re.compile(r"\A>>graph6<<")),
    ("sparse6", re.compile(r"\A(>>sparse6<<|:[?-~]+\s*\Z)")),
    ("digraph6", re.compile(r"\A(>>digraph6<<|&[?-~]+\s*\Z)")),
)
_GENERIC = ("JSON object", "JSON list", "XML")
"""Kinds that a text's first character tells."""
_GML = re.compile(r"^[ \t]{0,99}graph\s{0,99}\[", re.M)


def detect(text: str, filename: str = "") -> str:
    r"""Return the name of the format that a text is in.

    A filename that ends in ``.gml``, ``.graphml``, ``.gexf``, ``.mtx``, ``.adjlist``,
    ``.edgelist``, ``.g6``, ``.s6`` or ``.d6`` tells it.  Else a square of numbers with an
    empty diagonal is a matrix.  Lines of two or three cells are an edge list, directed, where
    they look like links: `plausible.doubt`.

    >>> detect("<graphml/>"), detect("0 1\n1 0"), detect("0 1\n1 2\n2 0")
    ('graphml', 'matrix', 'edgelist')
    >>> detect("a b c", "ring.adjlist"), detect("graph [ node [ id 0 ] ]")
    ('adjlist', 'gml')

    Raises:
        InvalidTopology: The text is in no supported format.  The rule names the kind of the text,
            where `foreign_kinds` knows the kind, and an alternative.

    >>> detect("<!DOCTYPE html><html>")
    Traceback (most recent call last):
    ...
    topoloom.synth.errors.InvalidTopology: : is an HTML page, not read as a topology: save the raw file
    """  # noqa: E501
    for ending, form in _EXTENSIONS.items():
        if filename.removesuffix(".gz").endswith(ending):
            return form
    if len(text) > MAX_CHARACTERS:
        raise InvalidTopology("", f"must have at most {MAX_CHARACTERS} characters")
    head = head_of(text)
    if not head.strip():
        raise InvalidTopology("", "is empty: give a file in a format of docs/reference/fabrics.md")
    form = _by_sign(text, head)
    if form is None and (kind := recognise(head, FOREIGN)) is not None:
        raise InvalidTopology("", kind.refusal)
    return form or _by_shape(text, head)


def marked_as(text: str) -> str | None:
    """Return the format whose own sign a text has, or the kind of foreign file; None if neither.

    >>> marked_as("<graphml/>"), marked_as("<!DOCTYPE html><html>"), marked_as("a b")
    ('graphml', 'an HTML page', None)
    """
    head = head_of(text)
    form = _by_sign(text, head)
    if form is not None:
        return form
    kind = recognise(head, (*FOREIGN, *(kind for kind in LOOSE if kind.name in _GENERIC)))
    return None if kind is None else kind.what


def looks_like(text: str) -> str | None:
    r"""Return the format or the kind that a text most likely has; None if nothing tells it.

    >>> looks_like("<graphml/>"), looks_like("a b\nb c\nc a")
    ('graphml', 'edgelist')
    """
    head = head_of(text)
    try:
        return marked_as(text) or _by_shape(text, head)
    except InvalidTopology:
        kind = recognise(head, LOOSE)
        return None if kind is None else kind.what


def _by_sign(text: str, head: str) -> str | None:
    """Return the format that its own sign tells, or None."""
    if head.startswith("{"):
        if _DOCUMENT.search(text):
            return "json"
        if {*_MSCCL_TYPE.findall(text)} == {"topology"}:
            return "msccl-tools"
        if all(sign.search(text) for sign in _TACCL):
            return "taccl"
        if all(sign.search(text) for sign in _INFRAGRAPH):
            return "infragraph"
        lab = next((form for form, sign in _LABS if sign.search(head)), None)
        if lab is not None:
            return lab
        complete = all(f'"{key}"' in text for key in ("nodes", "source", "target"))
        return "node-link" if complete and _NODE_LINK.search(text) else None
    if head.startswith("<"):
        root = _ROOT.match(head)
        return None if root is None else _ROOTS[root[1]]
    text = text.lstrip("\ufeff")
    if any(word in text for word in ("GPU0", "GPU 0:", "Link Type", "LINK TYPE", "NPU", "Phy-ID")):
        plain = "\n".join(console_lines(text))
        if form := next((form for form, sign in _PRINTED if sign.search(plain)), None):
            return form
    found = (form for form, sign in _BEGINNINGS if sign.search(head if form == "dot" else text))
    return next(found, None)


def _by_shape(text: str, head: str) -> str:
    """Return the format of a text without any sign of its own."""
    if head.startswith("{") and '"nodes"' in text:
        return "node-link"
    if _GML.search(text):
        return "gml"
    kind = recognise(head, LOOSE)
    if kind is not None and kind.name in _GENERIC:
        if kind.name != "XML":
            parse_json(text.lstrip("\ufeff"), float)
        raise InvalidTopology("", kind.refusal)
    # One row more than a matrix may have, and a heading.
    rows = list(islice(numbered_rows(text), MAX_ROWS + 2))
    if looks_like_matrix(rows):
        return "matrix"
    if not rows:
        raise InvalidTopology("", "holds nothing but comments")
    if len(below_heading(rows)) not in (0, len(rows)):
        return "edgelist"  # under a heading such as source, target
    reason = doubt(rows, whole=len(rows) < MAX_ROWS + 2, data="{" in head)
    if reason is None:
        return "edgelist"
    if kind is not None:
        raise InvalidTopology("", kind.refusal)
    where = reason.field.removeprefix("/").replace("/", " ") or "it"
    raise wrong(
        "",
        f"must be in a format of docs/reference/fabrics.md; as an edge list {where} {reason.rule}",
    )
