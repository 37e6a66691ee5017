"""The table of gaps: a row for every size."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from topoloom.app.cli.output.text_table import Column, Table
from topoloom.app.documents.gaps import SizeGaps
from topoloom.synth.evaluation.gaps import MORE

__all__ = ["gap_table"]


def gap_table(sizes: Iterable[SizeGaps]) -> Table:
    """Return the table: gaps of T_B as shares of its bound, by steps above theirs."""
    rows = [_row(one) for one in sizes]
    why = (Column("why not", "problem", left=True),) if any(r["problem"] for r in rows) else ()
    return Table(
        (
            Column("nodes", "nodes"),
            Column("degree", "degree"),
            Column("links", "links", left=True),
            Column("bound", "bound_steps"),
            *(Column(f"+{more}", f"gap_{more}", _share) for more in range(MORE)),
            Column("optimal at", "optimal_at", "+{}".format),
            *why,
        ),
        rows,
    )


def _row(one: SizeGaps) -> dict[str, Any]:
    asked, gaps = one.asked, one.gaps
    row = {"nodes": asked.nodes, "degree": asked.degree, "links": asked.links}
    row |= {"bound_steps": one.bound_steps, "problem": one.problem}
    if gaps is None:
        return row
    within = {f"gap_{more}": gap for more, gap in enumerate(gaps.within)}
    return row | within | {"optimal_at": gaps.optimal_at}


def _share(gap: Fraction) -> str:
    """Show a share of the bound.

    >>> _share(Fraction(0)), _share(Fraction(1, 300))
    ('0', '0.33%')
    """
    return f"{float(gap):.2%}" if gap else "0"
