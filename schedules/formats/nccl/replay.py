"""Check that an NCCL tuner table covers every call.

A table moves no data; its only fault is a call without a row.
"""

from topoloom.schedules.errors import InvalidProgram
from topoloom.schedules.formats.nccl.program import MAX_SIZE
from topoloom.schedules.formats.nccl.read import parse


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
