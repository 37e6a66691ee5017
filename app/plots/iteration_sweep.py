"""Plot of a sweep of iterations: time by hosts, for each job, number of ports and topology."""

from collections.abc import Mapping
from math import ceil
from typing import TYPE_CHECKING, Any

from topoloom.app.plots.canvas import COLOURS, GREY, MAX_NAME, short

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINES = {"seconds": "best", "torus_seconds": "torus", "rings_seconds": "rings"} | {
    "switch_seconds": "ideal switch"
}
"""Member of a row -> name of its line."""

_COLOURS = dict(zip(LINES, (*COLOURS[:3], GREY), strict=True))
_MARKS = "o^svDPX*"
_ACROSS = 2


def size(sweep: Mapping[str, Any]) -> tuple[float, float]:
    """Return width and height in inches."""
    count = len(_jobs(sweep))
    return 4.5 * min(count, _ACROSS), 0.6 + 3.2 * ceil(count / _ACROSS)


def draw(figure: "Figure", sweep: Mapping[str, Any]) -> None:
    """Draw a panel per job, with a color per topology and a mark per number of ports."""
    jobs, degrees = _jobs(sweep), sorted({row["degree"] for row in sweep["rows"]})
    across = min(len(jobs), _ACROSS)
    panels = figure.subplots(ceil(len(jobs) / across), across, squeeze=False).flatten()
    for panel, job in zip(panels, jobs, strict=False):
        for degree in degrees:
            rows = [row for row in sweep["rows"] if (row["job"], row["degree"]) == (job, degree)]
            mark = _MARKS[degrees.index(degree) % len(_MARKS)]
            for member, name in LINES.items():
                shown = sorted((row["nodes"], row[member]) for row in rows if member in row)
                if not shown:
                    continue
                panel.plot(
                    [nodes for nodes, _ in shown],
                    [seconds for _, seconds in shown],
                    f"-{mark}" if member == "seconds" else f":{mark}",
                    color=_COLOURS[member],
                    markersize=4,
                    label=f"{name}, {degree} ports",
                )
        panel.set_xscale("log", base=2)
        panel.set_ylim(bottom=0)
        panel.set_title(short(job, MAX_NAME), loc="left", fontsize=10)
        panel.set_xlabel("hosts")
        panel.set_ylabel("seconds of an iteration")
    for panel in panels[len(jobs) :]:
        panel.set_axis_off()
    panels[0].legend(fontsize=6)


def _jobs(sweep: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys(row["job"] for row in sweep["rows"]))
