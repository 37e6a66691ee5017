"""Text output of exported programs: requirements and data sizes."""

import sys
from typing import TYPE_CHECKING, Any

from topoloom.app.cli.output.text_table import Column, Table, say

if TYPE_CHECKING:
    from topoloom.schedules.formats.inspection.requirements import Requirements


def files_table(document: dict[str, Any]) -> Table:
    """Return the table of a files/1 document, a row per program."""
    columns = (
        Column("collective", "collective", left=True),
        Column("algorithm", "algorithm", left=True),
        Column("from bytes", "first_bytes"),
        Column("to", "last_bytes", lambda last: "" if last is None else str(last)),
        Column("multiples of", "multiple"),
        Column(None, "scheduler_multiple"),
        Column("channels", "channels"),
        Column("file", "file", left=True),
    )
    return Table(columns, document["files"])


def show_requirements(found: "Requirements", *, beside: bool) -> None:
    """Print the requirements to stdout if the program goes to a file, else to a terminal."""
    if beside or sys.stderr.isatty():
        for line in lines_of(found):
            say(line, error=not beside)


def lines_of(found: "Requirements") -> list[str]:
    """Return the requirements on a GPU, the accepted data sizes, and the place of buffers.

    >>> from fractions import Fraction
    >>> from topoloom.schedules.formats.inspection.requirements import Requirements
    >>> for line in lines_of(Requirements(9, 33, 1, 208, 3328, Fraction(3, 4))):
    ...     print(line)
    needs  9 concurrent thread blocks of at most 33 steps, scratch of 3/4 of the data
    sizes  multiples of 208 elements; of 3328 with msccl-scheduler
    >>> lines_of(Requirements(9, 33, 0, 208, 208, Fraction(0), ports=True))[2:]
    ['memory every buffer starts an allocation: port channels (--ranks-per-node)']
    """
    needs = [f"{found.thread_blocks} concurrent thread blocks of at most {found.steps} steps"]
    if found.channels > 1:
        needs.append(f"NCCL_MIN_NCHANNELS={found.channels}")
    if found.scratch:
        needs.append(f"scratch of {found.scratch} of the data")
    unit = "elements" if found.channels else "bytes"
    sizes = f"multiples of {found.multiple} {unit}"
    if found.scheduler_multiple > found.multiple:
        sizes += f"; of {found.scheduler_multiple} with msccl-scheduler"
    lines = [f"needs  {', '.join(needs)}", f"sizes  {sizes}"]
    if found.ports:
        lines.append("memory every buffer starts an allocation: port channels (--ranks-per-node)")
    return lines
