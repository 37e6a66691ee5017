"""Plot of gaps: T_B relative to its bound by number of hosts, for several step counts."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from topoloom.app.documents.gaps import SizeGaps
from topoloom.app.plots.canvas import COLOURS
from topoloom.synth.evaluation.gaps import MORE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZE = (7.0, 8.0)
"""Inches."""

_MARKS = "o^svDPX*"


def draw(figure: "Figure", sizes: Sequence[SizeGaps]) -> None:
    """Draw a panel per number of steps above the bound, with a color per degree."""
    panels = figure.subplots(MORE, sharex=True, sharey=True)
    degrees = sorted({size.asked.degree for size in sizes})
    for more, panel in enumerate(panels):
        for index, degree in enumerate(degrees):
            shown = [
                (size.asked.nodes, 1 + float(gap))
                for size in sizes
                if size.asked.degree == degree and size.gaps is not None
                if (gap := size.gaps.within[more]) is not None
            ]
            panel.plot(
                [nodes for nodes, _ in shown],
                [over for _, over in shown],
                _MARKS[index % len(_MARKS)],
                color=COLOURS[index % len(COLOURS)],
                markersize=3,
                label=f"{degree} ports",
            )
        above = f"{more} more than the bound" if more else "the bound"
        panel.set_title(f"T_B over its bound, steps at most {above}")
    panels[0].legend(ncols=len(degrees) if len(degrees) < 5 else 5)
    panels[-1].set_xlabel("hosts")
