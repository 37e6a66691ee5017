"""Plot of a tuning session: losses with candidates and forecasts, and rates, by step."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from topoloom.app.extras import require_extra
from topoloom.app.plots import canvas
from topoloom.app.plots.canvas import COLOURS, GREY, short
from topoloom.app.store.lr_records import HistoryPoint

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from topoloom.app.store.lr_records import Session
    from topoloom.learning_rate.state_machine.state import Attempt

SIZE = (8.0, 5.6)
MAX_POINTS = 2000
"""Limit of the points of one line; longer lines are averaged in blocks."""


Curve: TypeAlias = "list[tuple[int, float, float]]"
"""Steps, losses and rates of one branch."""


def svg(session: "Session", points: Iterable[HistoryPoint]) -> bytes:
    """Return the plot as SVG, reproducible byte for byte.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    require_extra("matplotlib", "plots")
    return canvas.svg(lambda figure: draw(figure, session, points), *SIZE)


def draw(figure: "Figure", session: "Session", points: Iterable[HistoryPoint]) -> None:
    """Draw a session and its history."""
    from matplotlib.ticker import LogFormatter

    kept, trials = _curves(points)
    losses, rates = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    for number, curve in enumerate(trials.values()):
        label = "candidates" if number == 0 else None
        _line(losses, curve, 1, color=COLOURS[5], linewidth=0.8, alpha=0.8, label=label)
        _line(rates, curve, 2, color=COLOURS[5], linewidth=1.2, alpha=0.8)
    _line(losses, kept, 1, color=COLOURS[0], linewidth=1, label="kept")
    _line(rates, kept, 2, color=COLOURS[0], linewidth=1.4)
    _forecasts(losses, session)
    _frame(losses, kept, trials)
    losses.set_ylabel("loss")
    rates.set_ylabel("learning rate")
    rates.set_yscale("log")
    # The default formatter of logarithmic axes writes TeX, which is disabled.
    rates.yaxis.set_major_formatter(LogFormatter())
    rates.yaxis.set_minor_formatter(LogFormatter(labelOnlyBase=False))
    rates.set_xlabel("step")
    if losses.get_legend_handles_labels()[0]:
        losses.legend(frameon=False)
    state = session.state
    name = short(session.name, 40) or session.id[:12]
    title = f"{name}: {session.status}, {state.step} steps kept, {state.spent} run"
    groups = zip(state.settings.group_ratios, state.scales, strict=True)
    title += "".join(f", {short(group, 20)} times {scale:.3g}" for group, scale in groups)
    losses.set_title(title, loc="left", fontsize=10)


def _curves(points: Iterable[HistoryPoint]) -> "tuple[Curve, dict[tuple[int, int | None], Curve]]":
    """Return the kept branch, and the discarded branches by stage and candidate."""
    kept: Curve = []
    trials: dict[tuple[int, int | None], Curve] = {}
    for point in points:
        entry, lr = point.entry, point.lr
        if lr is None:
            continue
        curve = kept if point.kept else trials.setdefault((entry.stage, entry.trial), [])
        curve += [(entry.start + place, loss, lr) for place, loss in enumerate(entry.losses)]
    return kept, trials


def _line(panel: "Axes", curve: Curve, column: int, **style: object) -> None:
    """Draw losses (column 1) or rates (2) by step."""
    if not curve:
        return
    table: NDArray[np.float64] = np.array(curve, dtype=np.float64)
    block = -(-len(table) // MAX_POINTS)
    if block > 1:
        whole = len(table) - len(table) % block
        table = table[:whole].reshape(-1, block, 3).mean(axis=1)
    values = np.where(np.isfinite(table[:, column]), table[:, column], np.nan)
    panel.plot(table[:, 0], values, **style)  # pyright: ignore[reportArgumentType]


def _forecasts(panel: "Axes", session: "Session") -> None:
    """Draw the forecast of each candidate at the end of its stage, with its deviation."""
    state = session.state
    stages = [(one.start + one.tau, (one.rate, one.scales), one.attempts) for one in state.history]
    if len(stages) <= state.stage:
        chosen = (state.rate or 0.0, state.scales)
        stages.append((state.stage_start + state.tau, chosen, state.attempts))
    first = True
    for end, chosen, attempts in stages:
        for attempt in filter(_known, attempts):
            won = (attempt.rate, attempt.scales) == chosen
            panel.errorbar(
                [end],
                [attempt.forecast or 0.0],
                yerr=[attempt.deviation or 0.0],
                fmt="o" if won else "x",
                markersize=5,
                color=COLOURS[1] if won else GREY,
                alpha=0.9 if won else 0.6,
                label="forecasts" if first else None,
            )
            first = False


def _known(attempt: "Attempt") -> bool:
    return attempt.status == "finished" and bool(np.isfinite(attempt.forecast or np.nan))


def _frame(panel: "Axes", kept: Curve, trials: "dict[tuple[int, int | None], Curve]") -> None:
    """Limit the axis to usual losses, so that a diverging loss does not flatten the plot."""
    everything = [loss for curve in (kept, *trials.values()) for _, loss, _ in curve]
    values = np.array(everything, dtype=np.float64)
    values = values[np.isfinite(values)]
    if len(values) < 2:
        return
    low, high = np.quantile(values, (0.0, 0.995))
    room = 0.08 * (high - low) or 1.0
    panel.set_ylim(low - room, high + room)
