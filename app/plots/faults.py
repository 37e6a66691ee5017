"""Plot of a fault survey: remaining algbw after each kind of single fault."""

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from topoloom.app.documents.fault_rows import lost_of, worst_first
from topoloom.app.plots.canvas import COLOURS, GREY, short

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_BARS = 60
_BAR = 0.26
_MAX_LABEL = 44
_COLOUR = {"link": COLOURS[0], "host": COLOURS[1], "switch": COLOURS[2]}


def size(document: dict[str, Any]) -> tuple[float, float]:
    """Return width and height of a plot in inches."""
    return 7.2, 1.9 + _BAR * min(len(document["rows"]), _MOST_BARS)


def draw(figure: "Figure", document: dict[str, Any]) -> None:
    """Draw a sweep/1 document over faults: a bar per kind, worst on top."""
    from matplotlib.patches import Patch

    rows = worst_first(document["rows"])
    shown = rows[:_MOST_BARS]
    panel = figure.subplots()
    shares = [100 * float(Fraction(row.get("left", 0))) for row in shown]
    places = range(len(shown), 0, -1)
    panel.barh(places, shares, height=0.7, color=[_COLOUR[row["part"]] for row in shown])
    panel.set_yticks(places, [_label(row) for row in shown])
    panel.grid(visible=False, axis="y")
    for place, share, row in zip(places, shares, shown, strict=True):
        text = f"{row['algbw']:.4g}" if "algbw" in row else "none"
        panel.annotate(text, (share, place), (3, 0), textcoords="offset points", va="center")
    panel.axvline(100, color=GREY, linewidth=1)
    panel.set_xlim(0, max(112, *(share + 12 for share in shares)))
    panel.set_xlabel("remaining algbw, % of the healthy algbw")
    hidden = len(rows) - len(shown)
    more = f"; {hidden} less severe kinds not shown" if hidden else ""
    panel.set_title(
        f"{document['question']['collective']} after every single fault{more}",
        loc="left",
        fontsize=10,
    )
    lost = list(dict.fromkeys(row["part"] for row in shown))
    handles = [Patch(color=_COLOUR[part], label=f"{part} lost") for part in lost]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(lost), frameon=False)


def _label(row: dict[str, Any]) -> str:
    alike = f" (one of {row['alike']})" if row["alike"] > 1 else ""
    return short(lost_of(row), _MAX_LABEL) + alike
