"""Read NCCL tuner tables: from text to rows that the plugin reads as intended.

The rules are those of ``loadConfig`` in NVIDIA/nccl ext-tuner/example/plugin.c.  The plugin skips
comments and empty lines, trims spaces and tabs, and accepts 8 to 10 fields.  It silently skips any
other line and silently replaces an unknown name by a default; this reader refuses both.  The
reader shares no code with the writer.
"""

from topoloom.schedules.errors import InvalidProgram
from topoloom.schedules.formats.nccl.program import (
    ALGORITHMS,
    COLLECTIVES,
    MAX_CHANNELS,
    MAX_LINE,
    MAX_SIZE,
    PROTOCOLS,
    Row,
)


def parse(text: str) -> tuple[Row, ...]:
    """Return the rows of a table in order.

    Raises:
        The plugin would misread a line, or a row is unreachable because earlier rows match all
        its sizes.

    >>> parse("allreduce,0,65536,tree,ll,8,1,8")[0].algorithm
    'tree'
    >>> parse("allreduce,0,65536,star,ll,8,1,8")
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.InvalidProgram: /line/1: the algorithm must be one of tree, ring, ...
    """
    rows: list[Row] = []
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > MAX_LINE:
            raise InvalidProgram(f"/line/{number}", f"must have at most {MAX_LINE} characters")
        if not line or line.startswith("#"):
            continue
        row = _row(line, f"/line/{number}")
        alike = [r for r in rows if _takes_all(r, row)]
        if any(r.first <= row.first <= r.last for r in alike):
            raise InvalidProgram(f"/line/{number}", "must not take up sizes of a row before it")
        rows.append(row)
    if not rows:
        raise InvalidProgram("", "must have a row")
    return tuple(rows)


def _takes_all(row: Row, other: Row) -> bool:
    """Return whether a row matches every call that another row matches, sizes aside."""
    return (
        row.collective is other.collective
        and row.nodes in (-1, other.nodes)
        and row.ranks in (-1, other.ranks)
        and all(one in (-1, its) for one, its in zip(row.only, other.only, strict=True))
    )


def _row(line: str, place: str) -> Row:
    fields = [field.strip(" \t") for field in line.split(",")]
    if not 8 <= len(fields) <= 10:
        raise InvalidProgram(place, "must have 8 to 10 fields")
    names = {name: collective for collective, name in COLLECTIVES.items()}
    for what, value, known in (
        ("collective", fields[0], tuple(names)),
        ("algorithm", fields[3], ALGORITHMS),
        ("protocol", fields[4], PROTOCOLS),
    ):
        if value not in known:
            raise InvalidProgram(place, f"the {what} must be one of {', '.join(known)}")
    first, last = (_number(text, place, 0, MAX_SIZE) for text in fields[1:3])
    if last < first:
        raise InvalidProgram(place, "must end at no smaller size than it begins")
    if fields[5] == "-1":
        raise InvalidProgram(place, "must say how many channels: -1 makes NCCL run on one")
    channels = _number(fields[5], place, 1, MAX_CHANNELS)
    filters = [_number(text, place, -1, 2**31 - 1) for text in fields[6:]] + [-1, -1]
    nodes, ranks, *only = filters[:4]
    return Row(
        names[fields[0]], first, last, fields[3], fields[4], channels, nodes, ranks, tuple(only)
    )


def _number(text: str, place: str, least: int, most: int) -> int:
    digits = text.removeprefix("-")
    fine = digits.isascii() and digits.isdigit() and len(digits) <= 20
    if not fine or not least <= int(text) <= most:
        raise InvalidProgram(place, f"{text!r} must be an integer from {least} to {most}")
    return int(text)
