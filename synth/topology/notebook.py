"""Small HTML tables and drawings of values, which notebooks show; all text is escaped."""

from collections.abc import Collection, Iterable, Sequence
from html import escape
from itertools import islice
from math import cos, pi, sin
from typing import Any

ROWS = 20
"""Rows of a table; a last row counts the others."""
MOST_DRAWN_NODES, MOST_DRAWN_LINKS = 64, 512
CHARACTERS = 200
"""Characters of a cell."""


def html_table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table of at most `ROWS` rows.

    >>> print(html_table("2 hosts", ("host", "ports"), [("<a>", 1)]))
    <table><caption>2 hosts</caption><tr><th>host</th><th>ports</th></tr>
    <tr><td>&lt;a&gt;</td><td>1</td></tr></table>
    """
    left = iter(rows)
    shown = [_row("td", row) for row in islice(left, ROWS)]
    if more := sum(1 for _ in left):
        shown.append(f'<tr><td colspan="{len(columns)}">and {more} more</td></tr>')
    body = "\n".join([_row("th", columns), *shown])
    return f"<table><caption>{_text(caption)}</caption>{body}</table>"


def _row(tag: str, cells: Iterable[Any]) -> str:
    return f"<tr>{''.join(f'<{tag}>{_text(cell)}</{tag}>' for cell in cells)}</tr>"


def _text(value: Any) -> str:
    text = str(value)
    return escape(text if len(text) <= CHARACTERS else text[: CHARACTERS - 1] + "…")


def graph_svg(
    nodes: Sequence[object], links: Sequence[tuple[int, int]], small: Collection[object] = ()
) -> str | None:
    """Return the nodes on a circle and the links between them; None for a large graph.

    Args:
        nodes: Names of the nodes; those in ``small`` get smaller circles.
        links (sequence of (int, int)): Positions of the ends in ``nodes``; links between the same
            nodes are one line.

    >>> drawing = graph_svg("ab", [(0, 1), (1, 0)])
    >>> drawing.count("<circle"), drawing.count("<line")
    (2, 1)
    """
    count = len(nodes)
    if not count or count > MOST_DRAWN_NODES or len(links) > MOST_DRAWN_LINKS:
        return None
    at = [(sin(2 * pi * n / count), -cos(2 * pi * n / count)) for n in range(count)]
    lines = [
        f'<line x1="{at[a][0]:.3f}" y1="{at[a][1]:.3f}" x2="{at[b][0]:.3f}" y2="{at[b][1]:.3f}"/>'
        for a, b in sorted({(min(link), max(link)) for link in links})
    ]
    circles = [
        f'<circle cx="{x:.3f}" cy="{y:.3f}" r="{0.03 if node in small else 0.05}">'
        f"<title>{_text(node)}</title></circle>"
        for node, (x, y) in zip(nodes, at, strict=True)
    ]
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="240" height="240" '
        'viewBox="-1.1 -1.1 2.2 2.2"><g stroke="#888" stroke-width="0.01">'
        f'{"".join(lines)}</g><g fill="#36c">{"".join(circles)}</g></svg>'
    )
