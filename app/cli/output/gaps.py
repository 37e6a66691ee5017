"""Table of gaps, a row per size."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from topoloom.app.cli.output.text_table import Column, Table
from topoloom.app.documents.gaps import SizeGaps
from topoloom.synth.evaluation.gaps import MORE


def gap_table(sizes: Iterable[SizeGaps]) -> Table:
    """Return the table of T_B gaps, as shares of the bound, by steps above the step bound."""
    rows = [_row(size) for size in sizes]
    problem = (Column("problem", "problem", left=True),) if any(r["problem"] for r in rows) else ()
    return Table(
        (
            Column("nodes", "nodes"),
            Column("degree", "degree"),
            Column("links", "links", left=True),
            Column("bound", "bound_steps"),
            *(Column(f"+{more}", f"gap_{more}", _share) for more in range(MORE)),
            Column("optimal at", "optimal_at", "+{}".format),
            *problem,
        ),
        rows,
    )


def _row(size: SizeGaps) -> dict[str, Any]:
    hosts, gaps = size.asked, size.gaps
    row = {"nodes": hosts.nodes, "degree": hosts.degree, "links": hosts.links}
    row |= {"bound_steps": size.bound_steps, "problem": size.problem}
    if gaps is None:
        return row
    within = {f"gap_{more}": gap for more, gap in enumerate(gaps.within)}
    return row | within | {"optimal_at": gaps.optimal_at}


def _share(gap: Fraction) -> str:
    """Return a share of the bound as text.

    >>> _share(Fraction(0)), _share(Fraction(1, 300))
    ('0', '0.33%')
    """
    return f"{float(gap):.2%}" if gap else "0"
