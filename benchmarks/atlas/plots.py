"""Draw the plots of the atlas; needs the extra ``plots``.

SVG with fixed ids and no date: the same frontiers and the same matplotlib give the same bytes.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullLocator, ScalarFormatter

from benchmarks.atlas.survey import LINKS, Published, Survey, fewest_steps
from topoloom.app.plots.canvas import STYLE
from topoloom.app.plots.canvas import save as write
from topoloom.synth.evaluation.cost import Links, lower_bound
from topoloom.synth.search.frontier import Frontier

BLUE, ORANGE = "#1f5fa8", "#c2571a"
_DOT = {"linestyle": "", "zorder": 3, "clip_on": False}
DOTS: dict[Links, dict[str, Any]] = {
    Links.UNIDIRECTIONAL: _DOT | {"marker": "o", "color": BLUE, "markersize": 3},
    Links.BIDIRECTIONAL: _DOT
    | {"marker": "s", "color": ORANGE, "markersize": 4.5, "markerfacecolor": "none"},
}


def steps(found: Survey) -> Figure:
    """Draw the least steps over N beside the Moore bound: a panel for each table."""
    degrees = found.degrees
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(3.2 * len(degrees), 5.2), layout="constrained")
        panels = figure.subplots(2, len(degrees), squeeze=False, sharex=True)
        for row, links in zip(panels, Links, strict=True):
            for panel, degree in zip(row, degrees, strict=True):
                fronts = found.chapters.get((degree, links), ())
                sizes = [front.nodes for front in fronts]
                least = [fewest_steps(front).steps for front in fronts]
                across = range(min(sizes, default=2), max(sizes, default=2) + 1)
                bound = [lower_bound(nodes, degree, links).steps for nodes in across]
                panel.plot(across, bound, color="0.4", linewidth=1, label="Moore bound")
                panel.plot(sizes, least, **DOTS[links], label="least steps found")
                panel.set_title(f"degree {degree}, {LINKS[links]}", fontsize=9)
                _over_sizes(panel)
            row[0].set_ylabel("steps")
            row[0].legend(frameon=False, fontsize=8)
        _name_sizes(panels[-1])
    return figure


def excess(found: Survey) -> Figure:
    """Draw the bandwidth above (N - 1) / N of the point of fewest steps, over N."""
    degrees = found.degrees
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(3.2 * len(degrees), 2.9), layout="constrained")
        panels = figure.subplots(1, len(degrees), squeeze=False, sharex=True, sharey=True)[0]
        for panel, degree in zip(panels, degrees, strict=True):
            for links in Links:
                fronts = found.chapters.get((degree, links), ())
                least = [fewest_steps(front).bandwidth for front in fronts]
                bound = [front.bounds.bandwidth for front in fronts]
                panel.plot(
                    [front.nodes for front in fronts],
                    [float(cost - floor) for cost, floor in zip(least, bound, strict=True)],
                    **DOTS[links],
                    label=LINKS[links],
                )
            panel.set_title(f"degree {degree}", fontsize=9)
            _over_sizes(panel)
        panels[0].set_ylabel("bandwidth above (N-1)/N, in M/B")
        panels[0].legend(frameon=False, fontsize=8)
        _name_sizes(panels)
    return figure


def staircase(front: Frontier, published: Published) -> Figure:
    """Draw one frontier and the published one, as bandwidth above the bound over steps."""
    least = front.bounds.bandwidth
    ours = [(point.cost.steps, float(point.cost.bandwidth - least)) for point in front.points]
    theirs = [(steps, float(bandwidth - least)) for steps, bandwidth in published.points]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(6.4, 3.6), layout="constrained")
        panel = figure.subplots()
        panel.axhline(0, color="0.4", linewidth=1, label="bounds")
        panel.axvline(front.bounds.steps, color="0.4", linewidth=1)
        for points, dots, name in (
            (theirs, DOTS[Links.BIDIRECTIONAL], published.source),
            (ours, DOTS[Links.UNIDIRECTIONAL], "Topoloom"),
        ):
            across, up = zip(*points, strict=True)
            panel.step(across, up, where="post", color=dots["color"], linewidth=1, alpha=0.6)
            panel.plot(across, up, **{**dots, "markersize": 6}, label=name)
        # Linear up to a thousandth, to which the published figures are rounded.
        panel.set_yscale("symlog", linthresh=1e-3, linscale=0.5)
        panel.set_ylim(-3e-4, 1)
        panel.set_title(f"N = {front.nodes}, degree {front.degree}, directed links", fontsize=9)
        panel.set_xlabel("steps")
        panel.set_ylabel("bandwidth above (N-1)/N, in M/B")
        panel.xaxis.set_major_locator(MaxNLocator(integer=True))
        panel.legend(frameon=False, fontsize=8)
    return figure


def save(figure: Figure, path: Path) -> None:
    """Write a figure as SVG that holds neither date nor version."""
    with mpl.rc_context(STYLE):
        write(figure, path)


def _over_sizes(panel: Axes) -> None:
    panel.set_xscale("log", base=4)
    panel.xaxis.set_major_formatter(ScalarFormatter())
    panel.xaxis.set_minor_locator(NullLocator())
    panel.set_ylim(bottom=0)


def _name_sizes(panels: Sequence[Axes]) -> None:
    for panel in panels:
        panel.set_xlabel("N")
