"""Matrix Market: the matrix of capacities, row to column, as sparse matrix collections have it.

Nodes are 0, 1, ..., and all are compute nodes: the format has neither names nor kinds.
Source: Boisvert, Pozo and Remington, "The Matrix Market Exchange Formats", NISTIR 5935.
"""

from collections.abc import Iterator
from fractions import Fraction

from topoloom.synth.formats.attributes import PLAIN, Attributes
from topoloom.synth.formats.graph_draft import GraphDraft
from topoloom.synth.formats.topology_draft import capacity, line, wrong
from topoloom.synth.formats.writer_checks import require_numbered
from topoloom.synth.recipes.topology_document import MAX_LINKS, MAX_NODES
from topoloom.synth.topology.topology import Topology

_FIELDS = ("real", "double", "integer", "pattern")
_SYMMETRIES = ("general", "symmetric")
_FORMS = "must be %%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric"

Cell = tuple[int, int, Fraction, str]


def matrix_market(text: str, *, attributes: Attributes = PLAIN) -> Topology:
    r"""Return the topology of a square matrix: entry i, j is the link from node i to node j.

    Entries of a symmetric matrix are links each way; those of a pattern have capacity 1;
    zeros are no links, and the diagonal holds nothing else.  Repeated entries are parallel
    links.

    >>> matrix_market("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 2.5\n").links
    (Link(source=0, target=1, capacity=Fraction(5, 2)),)
    """
    lines = text.split("\n")
    banner = lines[0].lower().split()
    if len(banner) != 5 or banner[:2] != ["%%matrixmarket", "matrix"]:
        raise wrong(line(1), _FORMS)
    form, kind, symmetry = banner[2:]
    if form not in ("coordinate", "array") or kind not in _FIELDS or symmetry not in _SYMMETRIES:
        raise wrong(line(1), _FORMS)
    if form == "array" and kind == "pattern":
        raise wrong(line(1), "an array must not be a pattern")
    rows = _rows(lines)
    size, entries, place = _size(rows, form)
    mirrored = symmetry == "symmetric"
    cells = _entries(rows, kind) if form == "coordinate" else _dense(rows, size, mirrored)
    draft = GraphDraft(attributes, directed=not mirrored, default=True, kinds=False)
    for node in range(size):
        draft.node(node, place)
    count = 0
    for source, target, value, where in cells:
        count += 1
        if not (0 <= source < size and 0 <= target < size):
            raise wrong(where, f"row and column must be from 1 to {size}")
        if not value:
            continue
        if source == target:
            raise wrong(where, "the diagonal must be 0: no link joins a node to itself")
        draft.edge(source, target, where, {} if kind == "pattern" else {"capacity": value})
    if form == "array":
        entries = size * (size + 1) // 2 if mirrored else size * size
    if count != entries:
        raise wrong(place, f"must be followed by {entries} entries; there are {count}")
    return draft.build()


def _rows(lines: list[str]) -> Iterator[tuple[list[str], str]]:
    """Yield the words of every line that is no comment, and its place."""
    for number, content in enumerate(lines[1:], 2):
        if content.strip() and not content.startswith("%"):
            yield content.split(maxsplit=4), line(number)


def _size(rows: Iterator[tuple[list[str], str]], form: str) -> tuple[int, int, str]:
    words, place = next(rows, ([], line(1)))
    if len(words) != (3 if form == "coordinate" else 2):
        raise wrong(place, "must be followed by rows, columns and, if sparse, entries")
    numbers = [_index(word, place) for word in words]
    if numbers[0] != numbers[1] or not 1 <= numbers[0] <= MAX_NODES:
        raise wrong(place, f"must be square, of 1 to {MAX_NODES} rows")
    if numbers[-1] > MAX_LINKS:
        raise wrong(place, f"must have at most {MAX_LINKS} entries")
    return numbers[0], numbers[-1], place


def _index(word: str, place: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) <= 18):
        raise wrong(place, f"must be a whole number; {word[:50]!r} is not")
    return int(word)


def _entries(rows: Iterator[tuple[list[str], str]], kind: str) -> Iterator[Cell]:
    width = 2 if kind == "pattern" else 3
    for words, place in rows:
        if len(words) != width:
            raise wrong(place, "must be row, column and, unless a pattern, value")
        value = Fraction(1) if width == 2 else capacity(words[2], place)
        yield _index(words[0], place) - 1, _index(words[1], place) - 1, value, place


def _dense(rows: Iterator[tuple[list[str], str]], size: int, mirrored: bool) -> Iterator[Cell]:
    # Column by column; a symmetric matrix has its lower triangle only.
    places = ((i, j) for j in range(size) for i in range(j if mirrored else 0, size))
    for words, place in rows:
        for word in words:
            i, j = next(places, (size, size))
            yield i, j, capacity(word, place), place


def to_matrix_market(topology: Topology) -> str:
    """Return the matrix of capacities, sparse; parallel links are entries that add up.

    >>> print(to_matrix_market(Topology(range(2), [(0, 1, Fraction(5, 2)), (1, 0)])), end="")
    %%MatrixMarket matrix coordinate real general
    2 2 2
    1 2 2.5
    2 1 1

    Raises:
        InvalidTopology: Nodes are not numbered 0, 1, ..., or a capacity is no finite decimal.
    """
    require_numbered(topology, "Matrix Market")
    kind = "integer" if all(isinstance(value, int) for value in topology.capacities) else "real"
    count = topology.node_count
    lines = [f"%%MatrixMarket matrix coordinate {kind} general"]
    lines.append(f"{count} {count} {topology.link_count}")
    ends = zip(topology.sources.tolist(), topology.targets.tolist(), strict=True)
    for index, (source, target) in enumerate(ends):
        value = _decimal(Fraction(topology.capacities[index]), f"/links/{index}/capacity")
        lines.append(f"{source + 1} {target + 1} {value}")
    return "\n".join(lines) + "\n"


def _decimal(value: Fraction, place: str) -> str:
    places = 0
    scaled = value
    while scaled.denominator > 1 and places < 30:
        scaled, places = scaled * 10, places + 1
    if scaled.denominator > 1:
        raise wrong(place, f"must be a finite decimal in Matrix Market; {value} is not")
    digits = str(scaled.numerator).rjust(places + 1, "0")
    return digits if not places else f"{digits[:-places]}.{digits[-places:]}"
