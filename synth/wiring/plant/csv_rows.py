"""CSV texts as rows, each with the line that it begins on."""

import csv
import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from topoloom.synth.errors import InvalidPlant, quoted

_DELIMITERS = ",;\t|"


class Row(NamedTuple):
    """The cells of a row by column, and the line of the text that the row begins on."""

    line: int
    cells: Mapping[str, str]


class Origin(NamedTuple):
    """Origin of a part of a plant: a JSON pointer, and in CSV the line."""

    place: str
    line: int | None = None

    def error(self, rule: str, field: str = "") -> InvalidPlant:
        """Return the error for a broken rule; ``field`` is a part of the row, if one is known."""
        inside = field == self.place or field.startswith(f"{self.place}/")
        line = "" if self.line is None else f" (line {self.line})"
        return InvalidPlant(field if inside else self.place, rule + line)


def read_header(text: str) -> tuple[str, ...]:
    r"""Return the columns that the first line with text names, as ``lower_case``.

    >>> read_header('ID;"Device A";Termination A\n')
    ('id', 'device_a', 'termination_a')
    """
    first = next((line for line in io.StringIO(text) if line.strip("\ufeff \t\r\n")), "")
    try:
        cells = next(csv.reader([first.lstrip("\ufeff")], delimiter=_delimiter(first)), [])
    except csv.Error:
        return ()
    return tuple("_".join(cell.lower().split()) for cell in cells)


def read_rows(text: str, exact: bool = False) -> list[Row]:
    r"""Return the rows below the header, without empty lines.

    Args:
        exact: Keep blanks at the ends of cells.

    Raises:
        InvalidPlant: The text is not CSV, a column occurs twice, a row has more cells than the
            header, or the text ends within a row that has fewer.

    >>> read_rows('item,port\n\npair,"F1"\n')
    [Row(line=3, cells={'item': 'pair', 'port': 'F1'})]
    """
    columns = read_header(text)
    for column in columns:
        if columns.count(column) > 1:
            raise InvalidPlant("", f"has the column {quoted(column)} twice")
    return [
        Row(line, dict(zip(columns, cells if exact else map(str.strip, cells), strict=False)))
        for line, cells in _read(text, len(columns))
    ]


def _read(text: str, width: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the line and the cells of every row below the header."""
    text = text.removeprefix("\ufeff")
    reader = csv.reader(
        io.StringIO(text, newline=""), strict=True, delimiter=_delimiter(text.lstrip())
    )
    line, found, last, count = 1, -1, 1, width
    try:
        for cells in reader:
            begin, line = line, reader.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            if found >= 0:
                if len(cells) > width:
                    raise Origin(f"/rows/{found}", begin).error("has more cells than the header")
                yield begin, cells + [""] * (width - len(cells))
            found, last, count = found + 1, begin, len(cells)
        if count < width and not text.endswith(("\n", "\r")):
            rule = f"is cut off: the last row has {count} of {width} cells and no line break"
            raise Origin(f"/rows/{found - 1}", last).error(rule)
    except csv.Error as error:
        raise InvalidPlant("", f"must be CSV: {error} (line {reader.line_num})") from None


def _delimiter(text: str) -> str:
    """Return the delimiter that the first line of a text has most of."""
    first = text.partition("\n")[0]
    return max(_DELIMITERS, key=first.count)


@contextmanager
def named_origin(origins: Mapping[str, Origin]) -> Iterator[None]:
    """Name in an error the row of the input, not the part of the plant that the row became.

    ``origins`` has the origins of parts by JSON pointer; parts of these have the same origin.
    """
    try:
        yield
    except InvalidPlant as error:
        place = error.field
        while place and place not in origins:
            place = place.rpartition("/")[0]
        if place not in origins:
            raise
        raise origins[place].error(error.rule, error.field) from None
