"""Tables: for people on a terminal, for other programs in a pipe, and as CSV.

On a terminal a table is as wide as that, and its widest text is folded; in a pipe or a
file nothing is folded or cut.  Headings are bold on a terminal, unless ``NO_COLOR`` is set.
"""

import csv
import io
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

__all__ = ["Column", "Table", "is_coloured", "terminal_width"]

_GAP = "  "
_LEAST_WIDTH = 12


@dataclass(frozen=True, slots=True)
class Column:
    """A heading for people, the name of the values in CSV, and how a value is shown.

    Without a heading it is in the CSV only.  Texts stand ``left``, numbers right.
    """

    heading: str | None
    member: str
    show: Callable[[Any], str] = str
    left: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Rows by the members of the columns; what a row does not have is empty."""

    columns: tuple[Column, ...]
    rows: Sequence[Mapping[str, Any]]

    def text(self, width: int | None = None) -> str:
        """Return the table in lines, of at most so many characters where that is possible.

        >>> rows = [{"name": "Diamond()", "steps": 2}, {"name": "lower bound"}]
        >>> table = Table((Column("topology", "name", left=True), Column("steps", "steps")), rows)
        >>> print(table.text(), end="")
        topology     steps
        Diamond()        2
        lower bound
        """
        shown = [column for column in self.columns if column.heading is not None]
        cells = [[_cell(column, row) for column in shown] for row in self.rows]
        headings = [[column.heading or "" for column in shown]]
        widths = [max(map(len, column)) for column in zip(*headings, *cells, strict=True)]
        if width is not None:
            _narrow(widths, [column.left for column in shown], width)
        lines = []
        for number, row in enumerate([*headings, *cells]):
            folded = _folded(row, widths, shown)
            lines += [_bold(line) for line in folded] if number < len(headings) else folded
        return "".join(f"{line}\n" for line in lines)

    def csv(self) -> str:
        r"""Return all members of all rows, exact, below one row of their names.

        >>> Table((Column("T_B", "bandwidth"),), [{"bandwidth": "11/12"}]).csv()
        'bandwidth\n11/12\n'
        """
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(column.member for column in self.columns)
        writer.writerows(
            [row.get(column.member, "") for column in self.columns] for row in self.rows
        )
        return out.getvalue()

    def print(self, as_csv: bool = False) -> None:
        """Print it to stdout."""
        sys.stdout.write(self.csv() if as_csv else self.text(terminal_width()))


def terminal_width() -> int | None:
    """Return the columns of the terminal that stdout is; None if it is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def is_coloured() -> bool:
    """Whether stdout is a terminal whose user has not refused colours (see no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _cell(column: Column, row: Mapping[str, Any]) -> str:
    value = row.get(column.member)
    return "" if value is None or value == "" else column.show(value)


def _narrow(widths: list[int], left: list[bool], most: int) -> None:
    """Take what is too much from the widest texts, in place; numbers are never folded."""
    texts = [index for index, is_text in enumerate(left) if is_text]
    while texts and sum(widths) + len(_GAP) * (len(widths) - 1) > most:
        widest = max(texts, key=widths.__getitem__)
        if widths[widest] <= _LEAST_WIDTH:
            return
        widths[widest] -= 1


def _folded(row: list[str], widths: list[int], columns: list[Column]) -> list[str]:
    parts = [
        wrap(cell, max(width, 1), break_on_hyphens=False) or [""]
        for cell, width in zip(row, widths, strict=True)
    ]
    lines = []
    for number in range(max(map(len, parts))):
        cells = [part[number] if number < len(part) else "" for part in parts]
        padded = [
            cell.ljust(width) if column.left else cell.rjust(width)
            for cell, width, column in zip(cells, widths, columns, strict=True)
        ]
        lines.append(_GAP.join(padded).rstrip())
    return lines


def _bold(line: str) -> str:
    return f"\x1b[1m{line}\x1b[0m" if is_coloured() else line
