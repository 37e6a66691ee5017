"""Tables of a traced program over latency and bandwidth."""

from collections.abc import Iterator, Mapping
from typing import Any

import typer

from topoloom.app.cli.output.formatting import seconds
from topoloom.app.cli.output.text_table import Column, Table

_UNITS = {"latency_us": "us", "gbps": "Gbit/s"}
_OTHER = {"latency_us": "gbps", "gbps": "latency_us"}


def _time(milliseconds: float) -> str:
    return seconds(milliseconds / 1000)


def show_curves(answer: Mapping[str, Any]) -> None:
    """Print the time, the signatures, the curves and what slows the program down."""
    typer.echo(
        f"rank {answer['rank']}: {answer['collectives']} collectives of "
        f"{len(answer['signatures'])} signatures, measured {_time(answer['measured_ms'])}, "
        f"computed {_time(answer['ms'])}"
    )
    if answer["signatures"]:
        typer.echo()
        _signature_table(answer["signatures"]).print(False)
    typer.echo()
    curve_table(answer).print(False)
    typer.echo()
    for curve in answer["curves"]:
        typer.echo(_tolerance(curve))


def _signature_table(rows: list[dict[str, Any]]) -> Table:
    return Table(
        (
            Column("collective", "collective", left=True),
            Column("ranks", "ranks"),
            Column("channels", "channels", drop=1),
            Column("bytes per step", "step_bytes", "{:,}".format),
            Column("count", "count"),
            Column("time of one", "ms", _time),
        ),
        rows,
    )


def curve_table(answer: Mapping[str, Any]) -> Table:
    """Return a row for each piece of each curve."""
    return Table(
        (
            Column("over", "axis", left=True),
            Column("at", "at", left=True),
            Column("from", "start", left=True),
            Column("time", "ms", _time),
            Column("critical path has", "path", left=True),
            *(
                Column(None, name)
                for name in ("over", "latency_us", "gbps", "latencies", "sent_bytes")
            ),
            Column(None, "exact_fixed_ns"),
        ),
        [*_rows(answer)],
    )


def _rows(answer: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for curve in answer["curves"]:
        over = curve["over"]
        other = _OTHER[over]
        for piece in curve["pieces"]:
            latencies, sent = piece.get("latencies"), piece.get("sent_bytes")
            yield {
                **piece,
                "over": over,
                other: curve[other],
                "axis": "latency" if over == "latency_us" else "bandwidth",
                "at": f"{curve[other]:.6g} {_UNITS[other]}",
                "start": f"{piece[over]:.6g} {_UNITS[over]}",
                "path": f"{latencies:,} latencies" if sent is None else f"{sent:,} bytes",
            }


def _tolerance(curve: Mapping[str, Any]) -> str:
    """Return the line of a curve's slowdowns."""
    over, word = curve["over"], "least" if curve["over"] == "gbps" else "most"
    found = (
        f"{one[over]:.6g} {_UNITS[over]} for {one['slowdown']:.0%}"
        if over in one
        else f"any for {one['slowdown']:.0%}"
        for one in curve["tolerances"]
    )
    what = "bandwidth" if over == "gbps" else "latency"
    other = _OTHER[over]
    return (
        f"{word} {what} at {curve[other]:.6g} {_UNITS[other]}, against "
        f"{curve['reference']:.6g} {_UNITS[over]}: {', '.join(found)}"
    )
