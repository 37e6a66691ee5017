"""Plot of gaps: T_B over its bound by number of hosts, for some numbers of steps."""

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
    """Draw a panel for every number of steps above their bound, a colour for every degree."""
    panels = figure.subplots(MORE, sharex=True, sharey=True)
    degrees = sorted({one.asked.degree for one in sizes})
    for more, panel in enumerate(panels):
        for index, degree in enumerate(degrees):
            shown = [
                (one.asked.nodes, 1 + float(gap))
                for one in sizes
                if one.asked.degree == degree and one.gaps is not None
                if (gap := one.gaps.within[more]) is not None
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
