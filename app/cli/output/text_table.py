"""Tables for terminals, for pipes, and as CSV.

On a narrow terminal a table first drops its optional columns, then wraps its widest text columns.
In a pipe or a file, a table keeps all columns and does not wrap.  Headings are bold on a terminal,
unless ``NO_COLOR`` is set.

rich would replace only the padding, since its tables drop no columns and cut names.  Its import
adds 0.036 s to the 0.26 s of CPU time of a cached answer.
"""

import csv
import io
import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill, wrap
from typing import Any

_GAP = "  "
_LEAST_WIDTH = 12
_LABEL = re.compile(r" *(\S.{0,14}? {2,})?")


@dataclass(frozen=True, slots=True)
class Column:
    """A table column: heading, row member (the CSV heading), and formatter of a value.

    A column without a heading appears in CSV only.  ``left`` aligns text to the left.  A narrow
    terminal drops columns in the order of ``drop``, 1 first, and keeps columns with 0.
    """

    heading: str | None
    member: str
    show: Callable[[Any], str] = str
    left: bool = False
    drop: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """Columns and rows; a missing member of a row is an empty cell."""

    columns: tuple[Column, ...]
    rows: Sequence[Mapping[str, Any]]

    def text(self, width: int | None = None) -> str:
        """Return the table in lines of at most ``width`` characters where possible.

        >>> rows = [{"name": "Diamond()", "steps": 2}, {"name": "lower bound"}]
        >>> table = Table((Column("topology", "name", left=True), Column("steps", "steps")), rows)
        >>> print(table.text(), end="")
        topology     steps
        Diamond()        2
        lower bound
        """
        shown = [column for column in self.columns if column.heading is not None]
        if width is not None:
            shown = self._fitting(shown, width)
        widths = self._widths(shown)
        if width is not None:
            words = [
                max(map(len, " ".join(_cell(c, row) for row in self.rows).split()), default=0)
                for c in shown
            ]
            texts = [number for number, column in enumerate(shown) if column.left]
            _narrow(widths, texts, width, words)
            _narrow(widths, texts, width, [0] * len(words))
        lines = [_bold(line) for line in _folded([c.heading or "" for c in shown], widths, shown)]
        for row in self.rows:
            lines += _folded([_cell(column, row) for column in shown], widths, shown)
        return "".join(f"{line}\n" for line in lines)

    def _widths(self, shown: Sequence[Column]) -> list[int]:
        return [
            max(
                len(text) for text in (column.heading or "", *(_cell(column, r) for r in self.rows))
            )
            for column in shown
        ]

    def _fitting(self, shown: list[Column], width: int) -> list[Column]:
        """Return the columns that fit into a width, without optional columns if necessary."""
        for column in sorted((c for c in shown if c.drop), key=lambda c: c.drop):
            if _total(self._widths(shown)) <= width:
                break
            shown = [other for other in shown if other is not column]
        return shown

    def csv(self) -> str:
        r"""Return the table as CSV, with exact values and a header row.

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
        """Print the table to stdout."""
        sys.stdout.write(self.csv() if as_csv else self.text(terminal_width()))


def terminal_width() -> int | None:
    """Return the width of the terminal at stdout; None if stdout is no terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def wrapped(text: str, *, error: bool = False) -> str:
    """Return a line, wrapped if stdout is a terminal; with ``error``, if stderr is one.

    The text behind a label and two spaces stays behind the label.
    """
    width = shutil.get_terminal_size().columns
    if len(text) <= width or not (sys.stderr if error else sys.stdout).isatty():
        return text
    label = _LABEL.match(text)
    return fill(
        text,
        width,
        subsequent_indent=" " * label.end() if label else "",
        break_long_words=False,
        break_on_hyphens=False,
    )


def say(text: str, *, error: bool = False) -> None:
    """Print a line, wrapped on a terminal, to stdout; with ``error``, to stderr."""
    print(wrapped(text, error=error), file=sys.stderr if error else sys.stdout)


def print_note(text: str) -> None:
    """Print a note to stderr."""
    say(f"note: {text}", error=True)


def is_coloured() -> bool:
    """Return whether stdout is a terminal and NO_COLOR is unset (see no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _cell(column: Column, row: Mapping[str, Any]) -> str:
    value = row.get(column.member)
    return "" if value is None or value == "" else column.show(value)


def _narrow(widths: list[int], texts: list[int], most: int, least: list[int]) -> None:
    """Reduce the widest text columns to a total width, in place, down to their least widths."""
    wide = [index for index in texts if widths[index] > max(least[index], _LEAST_WIDTH)]
    while wide and _total(widths) > most:
        widest = max(wide, key=widths.__getitem__)
        widths[widest] -= 1
        if widths[widest] <= max(least[widest], _LEAST_WIDTH):
            wide.remove(widest)


def _total(widths: Sequence[int]) -> int:
    """Return the line length for columns of these widths."""
    return sum(widths) + len(_GAP) * (len(widths) - 1)


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
