"""Plot of a frontier: bandwidth over steps, with the lower bounds."""

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from topoloom.app.plots.canvas import COLOURS, GREY, label_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MAX_LISTED = 12
_LINE = 0.19
_MAX_LABEL = 40


def size(document: dict[str, Any]) -> tuple[float, float]:
    """Return width and height of a plot in inches."""
    return 6.4, 3.8 + _LINE * min(len(document["frontier"]), _MAX_LISTED)


def draw(figure: "Figure", document: dict[str, Any]) -> None:
    """Draw a frontier/1 document."""
    from matplotlib.ticker import MaxNLocator

    panel = figure.subplots()
    points, bounds = document["frontier"], document["bounds"]
    costs = [_cost(entry) for entry in points]
    turned = [_cost(entry["transpose"]) for entry in points]
    _frame(panel, [*costs, *turned, _cost(bounds)], _cost(bounds))
    across, up = zip(*costs, strict=True)
    panel.step(across, up, where="post", color=COLOURS[0], linewidth=1, alpha=0.5)
    panel.plot(across, up, "o", color=COLOURS[0], markersize=7, zorder=3)
    if turned != costs:
        panel.plot(*zip(*turned, strict=True), "s", color=COLOURS[1], markerfacecolor="none",
                   markersize=9, zorder=2)  # fmt: skip
    for number, at in enumerate(costs, start=1):
        panel.annotate(str(number), at, (7, 5), textcoords="offset points", fontweight="bold")
    panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    panel.set_xlabel("steps (T_L in units of the hop latency)")
    panel.set_ylabel("bandwidth (T_B in units of M/B)")
    request = document["request"]
    hosts = f"{request['nodes']} hosts, {request['degree']} ports, {request['links']} links"
    panel.set_title(f"Frontier of {hosts}", loc="left", fontsize=10)
    _list(panel, points, turned != costs)


def _how(entry: dict[str, Any]) -> str:
    return "slack, " if entry["algorithm"] == "slack" else ""


def _cost(entry: dict[str, Any]) -> tuple[int, float]:
    return entry["steps"], float(Fraction(entry["bandwidth"]))


def _frame(panel: "Axes", shown: list[tuple[int, float]], bound: tuple[int, float]) -> None:
    """Set the axis limits, and shade the region that the bounds exclude."""
    across, up = zip(*shown, strict=True)
    tall = max(max(up) - min(up), 0.02)
    left, right = min(across) - 1, max(across) + 1
    low, high = min(up) - 0.25 * tall, max(up) + 0.2 * tall
    panel.set_xlim(left, right)
    panel.set_ylim(low, high)
    panel.axvspan(left, bound[0], color="0.9", linewidth=0, zorder=0)
    panel.axhspan(low, bound[1], color="0.9", linewidth=0, zorder=0)
    panel.annotate("impossible", (0.015, 0.03), xycoords="axes fraction", color=GREY)


def _list(panel: "Axes", points: list[dict[str, Any]], two_ways: bool) -> None:
    """Name the points below the panel."""
    from matplotlib.lines import Line2D

    def line(text: str, **marker: Any) -> Line2D:
        return Line2D([], [], linestyle="", label=text, **marker)

    listed = [
        line(
            f"{number}: {label_of(entry, _MAX_LABEL)}: {entry['steps']} steps, "
            f"{entry['bandwidth']} ({_how(entry)}{entry['status']})",
            marker="o",
            color=COLOURS[0],
        )
        for number, entry in enumerate(points[:_MAX_LISTED], start=1)
    ]
    if len(points) > _MAX_LISTED:
        listed.append(line(f"and {len(points) - _MAX_LISTED} more"))
    if two_ways:
        label = "the same on the transposed graph, for the reduce-scatter"
        listed.append(line(label, marker="s", color=COLOURS[1], markerfacecolor="none"))
    panel.legend(
        handles=listed,
        loc="upper left",
        bbox_to_anchor=(-0.1, -0.14),
        handletextpad=0.3,
        frameon=False,
    )
