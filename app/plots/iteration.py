"""Plot of an iteration: every stream of every pipeline stage over time, colored by phase."""

from typing import TYPE_CHECKING

from topoloom.app.plots.canvas import COLOURS, GREY, MAX_NAME, short
from topoloom.schedules.errors import TooLarge
from topoloom.schedules.iterations.messages import COMPUTE, HOST, PHASES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from topoloom.schedules.iterations.iteration import Iteration

MAX_OPERATIONS = 200_000
_TRACED = {COMPUTE: COLOURS[0], HOST: GREY}
"""A traced job has none of the phases with the same colors: forward and reduce-experts."""
_PALETTE = _TRACED | dict(
    zip(
        (kind for kind in PHASES if kind not in _TRACED),
        (*COLOURS, "#F0E442", "#000000", GREY),
        strict=True,
    )
)


def size(iteration: "Iteration") -> tuple[float, float]:
    """Return width and height in inches."""
    return 10, 1.6 + 0.16 * len(_rows(iteration))


def draw(figure: "Figure", iteration: "Iteration") -> None:
    """Draw the timeline of an iteration.

    Raises:
        TooLarge: The iteration has more than `MAX_OPERATIONS` operations.
    """
    operations, timeline = iteration.plan.operations, iteration.timeline
    if len(operations) > MAX_OPERATIONS:
        rule = f"must have at most {MAX_OPERATIONS} operations for a plot"
        raise TooLarge("/model", f"{rule}; {len(operations)} are needed")
    rows = {name: place for place, name in enumerate(_rows(iteration))}
    panel = figure.subplots()
    for kind in PHASES:
        bars = [(index, one) for index, one in enumerate(operations) if one.kind == kind]
        by_row: dict[int, list[tuple[float, float]]] = {}
        for index, one in bars:
            start, end = float(timeline.start(index)), float(timeline.end(index))
            if end > start:
                by_row.setdefault(rows[one.stream], []).append((start, end - start))
        for row, spans in by_row.items():
            panel.broken_barh(spans, (row - 0.4, 0.8), color=_PALETTE[kind], linewidth=0)
        if by_row:
            panel.plot([], [], color=_PALETTE[kind], linewidth=6, label=kind)
    panel.set_yticks(range(len(rows)), list(rows), fontsize=5)
    panel.invert_yaxis()
    panel.set_xlabel("seconds")
    panel.legend(ncols=1, fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))
    panel.set_title(
        f"{short(iteration.job.name, MAX_NAME)}: {float(iteration.seconds):.4g} s, "
        f"{float(iteration.exposed_share):.1%} exposed communication",
        loc="left",
        fontsize=10,
    )


def _rows(iteration: "Iteration") -> list[str]:
    """Return the streams by stage, computations first."""
    streams = dict.fromkeys(one.stream for one in iteration.plan.operations if one.kind)
    stage_of = {one.stream: one.stage for one in iteration.plan.operations}
    return sorted(streams, key=lambda name: (stage_of[name], not name.startswith("compute"), name))
