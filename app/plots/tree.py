"""Plot of a tree, or of the path of a shard through steps: root left, leaves right."""

from typing import TYPE_CHECKING, Any

from topoloom.app.plots.broadcasts import Arc, Broadcast
from topoloom.app.plots.canvas import COLOURS, GREY, MAX_NAME, short
from topoloom.schedules.errors import TooLarge
from topoloom.synth.topology.topology import NodeId, Topology

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_RANKS = 256
_ROW, _MAX_COLUMN, _MAX_ACROSS = 0.3, 1.7, 14.0
_LEFT, _TOP, _BOTTOM = 0.7, 1.0, 0.55
_POINTS, _TITLE_POINTS = 8, 10
_MAX_LABEL, _MAX_WAY = 12, 40
_MAX_SHARES = 4
# Inches per character of a label, and around it.
_WIDE, _PAD = 0.62 * _POINTS / 72, 0.1


def size(broadcast: Broadcast) -> tuple[float, float]:
    """Return width and height of a plot in inches.

    Raises:
        TooLarge: The broadcast has more than `MAX_RANKS` ranks.
    """
    if len(broadcast.depth) > MAX_RANKS:
        raise TooLarge("/topology", f"must have at most {MAX_RANKS} ranks to draw a tree")
    deepest = max(broadcast.depth.values())
    across = 2 * _LEFT + deepest * _column(broadcast)
    title = 0.3 + len(broadcast.title) * _WIDE * _TITLE_POINTS / _POINTS
    down = max(broadcast.row.values()) * _ROW + _TOP + _BOTTOM
    return max(5.2, across, title), max(2.0, down)


def draw(figure: "Figure", broadcast: Broadcast, topology: Topology) -> None:
    """Draw a broadcast or the reverse reduction; coordinates are inches."""
    width, height = size(broadcast)
    panel = figure.add_axes((0, 0, 1, 1))
    panel.set(xlim=(0, width), ylim=(height, 0))
    panel.set_axis_off()
    column = _column(broadcast)
    at = {
        node: (_LEFT + depth * column, _TOP + broadcast.row[node] * _ROW)
        for node, depth in broadcast.depth.items()
    }
    name = f"on {short(topology.name or 'topology', MAX_NAME)}"
    for line, text in enumerate((broadcast.title, name)):
        panel.text(0.15, 0.22 + 0.2 * line, text, fontsize=_TITLE_POINTS, va="center")
    for depth, label in enumerate(broadcast.columns, start=1):
        where = _LEFT + depth * column
        panel.text(where, _TOP - 0.3, label, color=GREY, ha="center", va="center")
    looks = _looks(broadcast.arcs)
    for arc in broadcast.arcs:
        _arrow(panel, at, arc, broadcast.outward, looks[arc.through])
    for node, (x, y) in at.items():
        edge = COLOURS[1] if node == broadcast.root else "0.5"
        box = {"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": edge}
        label = short(str(node), _MAX_LABEL)
        panel.text(x, y, label, fontsize=_POINTS, ha="center", va="center", bbox=box, zorder=3)
    _explain(panel, broadcast, looks)


def _column(broadcast: Broadcast) -> float:
    deepest = max(1, *broadcast.depth.values())
    return max(1.0, min(_MAX_COLUMN, _MAX_ACROSS / deepest))


def _looks(arcs: tuple[Arc, ...]) -> dict[tuple[NodeId, ...], dict[str, Any]]:
    """Return a line style for every path through switches; frequent paths are colored."""
    used = [arc.through for arc in arcs]
    ways = sorted(set(used), key=lambda way: (-used.count(way), str(way)))
    looks: dict[tuple[NodeId, ...], dict[str, Any]] = {(): {"color": "0.25", "linestyle": "-"}}
    palette = [COLOURS[0], *COLOURS[2:]]
    for index, way in enumerate(way for way in ways if way):
        known = index < len(palette)
        looks[way] = {"color": palette[index] if known else "0.6", "linestyle": "-"}
    return looks


def _arrow(
    panel: "Axes",
    at: dict[NodeId, tuple[float, float]],
    arc: Arc,
    outward: bool,
    look: dict[str, Any],
) -> None:
    """Draw an arrow from the right side of the near label to the left side of the far label."""
    near, far = at[arc.near], at[arc.far]
    begin = (near[0] + _half(arc.near), near[1])
    end = (far[0] - _half(arc.far), far[1])
    if near[0] >= far[0]:
        # Within a column or backward: from center to center.
        begin, end = near, far
    tail, head = (begin, end) if outward else (end, begin)
    arrow = {
        "arrowstyle": "-|>,head_length=0.35,head_width=0.15",
        "linewidth": 0.5 + 1.5 * float(arc.share),
        "shrinkA": 0,
        "shrinkB": 0,
        **look,
    }
    panel.annotate("", xy=head, xytext=tail, arrowprops=arrow, zorder=2)


def _half(node: NodeId) -> float:
    return min(len(str(node)), _MAX_LABEL) * _WIDE / 2 + _PAD


def _through(way: tuple[NodeId, ...]) -> str:
    return short(" and ".join(map(str, way)), _MAX_WAY)


def _explain(
    panel: "Axes", broadcast: Broadcast, looks: dict[tuple[NodeId, ...], dict[str, Any]]
) -> None:
    """Draw the legend of colors and widths below the tree."""
    from matplotlib.lines import Line2D

    handles = []
    if any(arc.through for arc in broadcast.arcs):
        named = [(way, look) for way, look in looks.items() if look["color"] != "0.6"]
        direct = any(not arc.through for arc in broadcast.arcs)
        handles = [
            Line2D([], [], label=_through(way) if way else "direct link", **look)
            for way, look in named
            if way or direct
        ]
        if len(named) < len(looks):
            handles.append(Line2D([], [], label="other switches", color="0.6"))
    if any(arc.share != 1 for arc in broadcast.arcs):
        shares = sorted({arc.share for arc in broadcast.arcs}, reverse=True)
        for share in shares if len(shares) <= _MAX_SHARES else (shares[0], shares[-1]):
            label = "whole shard" if share == 1 else f"{share} of the shard"
            handles.append(
                Line2D([], [], label=label, color="0.25", linewidth=0.5 + 1.5 * float(share))
            )
    if handles:
        panel.legend(
            handles=handles,
            loc="lower left",
            ncols=4,
            fontsize=_POINTS,
            borderaxespad=0.3,
            handlelength=1.5,
            frameon=False,
        )
