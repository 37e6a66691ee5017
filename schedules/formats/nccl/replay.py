"""Look up calls in an NCCL tuner table as NCCL's example plugin does, and check its coverage.

A table moves no data; its only fault is a call without a row.
"""

from collections.abc import Sequence

from topoloom.schedules.errors import InvalidProgram
from topoloom.schedules.formats.nccl.program import MAX_SIZE, Row
from topoloom.schedules.formats.nccl.read import parse
from topoloom.schedules.model.schedule import Collective


def replay(text: str) -> int:
    """Return the number of ranks of a table, if it has a row for every size.

    Raises:
        InvalidProgram: A line breaks a rule of the format, rows are for different numbers of ranks,
            or the rows of a collective do not cover a size.

    >>> replay("allreduce,0,65536,tree,ll,8,1,8")
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.InvalidProgram: : must have a row for every size
    """
    rows = parse(text)
    counts = {row.ranks for row in rows}
    if len(counts) > 1 or -1 in counts:
        raise InvalidProgram("", "must name the same number of ranks in all rows")
    for key in {(row.collective, row.nodes, row.only) for row in rows}:
        sizes = sorted((r.first, r.last) for r in rows if (r.collective, r.nodes, r.only) == key)
        ends = [-1, *(last for _, last in sizes)]
        if [first for first, _ in sizes] + [MAX_SIZE + 1] != [end + 1 for end in ends]:
            raise InvalidProgram("", "must have a row for every size")
    return counts.pop()


def matching_row(
    rows: Sequence[Row], collective: Collective, size: int, nodes: int, ranks: int
) -> Row | None:
    """Return the first row that matches a call, as the plugin does; None without a match."""
    for row in rows:
        if (
            row.collective is collective
            and row.first <= size <= row.last
            and row.nodes in (-1, nodes)
            and row.ranks in (-1, ranks)
        ):
            return row
    return None
