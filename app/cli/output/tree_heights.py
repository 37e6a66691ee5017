"""Table of rates by tree height."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from topoloom.app.cli.output.formatting import seconds
from topoloom.app.cli.output.text_table import Column, Table

if TYPE_CHECKING:
    from topoloom.schedules.compare.height_tradeoff import HeightPoint


def heights_table(points: "Sequence[HeightPoint]", unit: str) -> Table:
    """Return the table of a curve, with times if the points have times."""
    timed = (Column("time", "seconds", seconds),) if points[0].seconds is not None else ()
    columns = (
        Column("height", "height"),
        Column(f"algbw, {unit}", "algbw", "{:.4f}".format),
        Column("gap", "gap", lambda gap: f"{float(gap):.4f}"),
        Column("trees per root", "trees_per_root"),
        *timed,
    )
    rows = [
        {
            "height": point.height,
            "algbw": float(point.algbw),
            "gap": str(point.gap) if point.gap.denominator == 1 else point.gap,
            "trees_per_root": point.trees_per_root,
            "seconds": point.seconds,
        }
        for point in points
    ]
    return Table(columns, rows)
