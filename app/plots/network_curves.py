"""Plot of a traced program: time over latency, and time over bandwidth."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from topoloom.app.plots.canvas import COLOURS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZE = (9.0, 3.6)
"""Width and height in inches."""
_AXES = {"latency_us": ("latency, us", "gbps", "Gbit/s"), "gbps": ("Gbit/s", "latency_us", "us")}
_POINTS = 30


def draw(figure: "Figure", answer: Mapping[str, Any]) -> None:
    """Draw a panel per axis, with a line per curve, and the measured time."""
    from matplotlib.ticker import LogFormatter

    panels = dict(zip(_AXES, figure.subplots(1, 2), strict=True))
    for over, panel in panels.items():
        name, other, unit = _AXES[over]
        curves = [curve for curve in answer["curves"] if curve["over"] == over]
        for number, curve in enumerate(curves):
            places, times = _points(curve)
            color = COLOURS[number % len(COLOURS)]
            panel.plot(places, times, color=color, label=f"{curve[other]:.6g} {unit}")
        panel.axhline(answer["measured_ms"], color="black", linestyle=":", label="measured")
        panel.set_xlabel(name)
        panel.set_ylabel("ms")
        panel.set_ylim(bottom=0)
        panel.legend(fontsize=7)
    bandwidth = panels["gbps"]
    bandwidth.set_xscale("log")
    bandwidth.xaxis.set_major_formatter(LogFormatter())
    bandwidth.xaxis.set_minor_formatter(LogFormatter(labelOnlyBase=False))


def _points(curve: Mapping[str, Any]) -> tuple[list[float], list[float]]:
    """Return places and times of a curve: its corners, and points between them."""
    over, pieces = curve["over"], curve["pieces"]
    places: list[float] = []
    times: list[float] = []
    for number, piece in enumerate(pieces):
        start = piece[over]
        end = pieces[number + 1][over] if number + 1 < len(pieces) else curve["end"]
        for step in range(_POINTS):
            share = step / (_POINTS - 1)
            linear = start + (end - start) * share
            place = start * (end / start) ** share if over == "gbps" else linear
            places.append(place)
            times.append(_time(piece, over, place))
    return places, times


def _time(piece: Mapping[str, Any], over: str, place: float) -> float:
    """Return the milliseconds of a piece at a place."""
    if over == "latency_us":
        return piece["ms"] + piece["latencies"] * (place - piece[over]) / 1000
    return piece["ms"] + piece["sent_bytes"] * 8 * (1 / place - 1 / piece[over]) / 10**6
