"""Tables of sweeps and of gaps."""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

from topoloom.app.cli.output.formatting import fraction, seconds, short_id
from topoloom.app.cli.output.text_table import Column, Table
from topoloom.app.documents.fault_rows import lost_of, worst_first
from topoloom.app.documents.gaps import SizeGaps
from topoloom.app.requests.renamed import both_names
from topoloom.synth.evaluation.gaps import MORE

_LONGEST = 44


def _short(recipe: str) -> str:
    return recipe if len(recipe) <= _LONGEST else f"{recipe[: _LONGEST - 1]}…"


_HOSTS = (Column("nodes", "nodes"), Column("degree", "degree"))
_TOPOLOGY = (
    Column("topology", "name", left=True),
    Column("id", "topology_id", short_id, left=True),
)
_PROBLEM = (Column("problem", "problem", left=True),)
_COLUMNS = {
    "sizes": (*_HOSTS, *_TOPOLOGY, Column("steps", "steps"), Column("T_B", "bandwidth", fraction)),
    "workload": (
        *_HOSTS,
        *_TOPOLOGY,
        Column("time", "seconds", seconds),
        Column("bound", "bound_seconds", seconds),
    ),
    "iteration": (
        Column("job", "job", left=True),
        *_HOSTS,
        Column("topology", "name", _short, left=True, drop=2),
        Column("ranks", "parallel", left=True, drop=1),
        Column("time", "seconds", seconds),
        Column("exposed", "exposed_share", "{:.1%}".format),
        Column("limited by", "limit", left=True, drop=6),
        Column("torus", "torus_seconds", seconds, drop=5),
        Column("rings", "rings_seconds", seconds, drop=4),
        Column("switch", "switch_seconds", seconds, drop=3),
    ),
    "fault-analysis": (
        Column("lost", "lost", left=True),
        Column(None, "part"),
        Column("count", "alike"),
        Column("algbw", "algbw", "{:.4g}".format),
        Column(None, "inverse_rate"),
        Column("left", "left", fraction),
    ),
}


def sweep_table(sweep: dict[str, Any]) -> Table:
    """Return the table of a sweep/1 document; faults are sorted worst first."""
    answers, kind = sweep["rows"], both_names(sweep, ("over",))["kind"]
    if kind == "fault-analysis":
        answers = worst_first(answers)
    rows = [row for answer in answers for row in _rows(answer)]
    problem = _PROBLEM if any("problem" in row for row in rows) else ()
    return Table((*_COLUMNS[kind], *problem), rows)


def _rows(answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "part" in answer:
        yield answer | {"lost": lost_of(answer)}
    elif "points" in answer:
        hosts = {name: answer[name] for name in ("nodes", "degree")}
        yield from (hosts | point for point in answer["points"])
    else:
        yield answer


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
