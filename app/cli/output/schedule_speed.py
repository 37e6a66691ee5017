"""What is said of how fast a schedule is."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from topoloom.app.cli.output.formatting import fraction, seconds
from topoloom.app.requests.base import format_bytes

if TYPE_CHECKING:
    from fractions import Fraction

    from topoloom.schedules.compare.bandwidths import Speed

__all__ = ["lines_of", "show_speed"]


_WHOLE = {
    "msccl-xml": "where no message is cut into slices, as in topoloom simulate without --chunks",
    "mscclpp-json": "as the executor runs it, which cuts no message into slices; algbw is a limit",
    "chakra-et": "as simulators run it, which cut no message into slices; algbw is a limit",
}
"""By format of programs: what its rate means where messages stay whole."""
_TABLE = "of the schedule that the table compares NCCL with; the table itself sends nothing"


def show_speed(find: "Callable[[], Speed]", form: str = "json", *, beside: bool) -> None:
    """Print how fast a schedule is on stdout, if its document is not there.

    Where stdout carries the document, a person at a terminal is told on stderr.
    """
    if beside or sys.stderr.isatty():
        for line in lines_of(find(), form):
            print(line, file=sys.stdout if beside else sys.stderr)


def lines_of(speed: "Speed", form: str = "json") -> list[str]:
    """Return bandwidths, the gap to the optimum, and the time of a size that was given.

    Of a program, which was written in ``form``, also what differs from the schedule, and what
    its rate is where messages stay whole.
    """
    lines = [
        f"algbw  {_rate(speed.algbw)}",
        f"busbw  {_rate(speed.busbw)}",
    ]
    if speed.gap is not None:
        above = f"{fraction(str(speed.gap))} above the optimum" if speed.gap else "none, optimal"
        lines.append(f"gap    {above} for much data")
    # Traces end at whole bytes, which no printed digit shows.
    shown = _rate(speed.algbw)
    if speed.schedule_algbw is not None and _rate(speed.schedule_algbw) != shown:
        slower = speed.algbw < speed.schedule_algbw
        why = (
            "the file has fewer chunks, or its format states no paths and no copies by switches"
            if slower
            else "the file waits for no step, or its chunks are rounded"
        )
        lines.append(f"from   a schedule of {_rate(speed.schedule_algbw)}; {why}")
    if speed.whole is not None and form in _WHOLE and _rate(speed.whole) != shown:
        lines.append(f"whole  {_rate(speed.whole)} {_WHOLE[form]}")
    if form == "nccl-tuner-csv":
        lines.append(f"rates  {_TABLE}")
    if speed.seconds is not None and speed.on.size_bytes is not None:
        hop = f"{float(speed.on.alpha_seconds * 10**6):g} us per hop"
        lines.append(
            f"time   {seconds(speed.seconds)} for {format_bytes(speed.on.size_bytes)}, {hop}"
        )
    return lines


def _rate(rate: "Fraction") -> str:
    return f"{float(rate / 10**9):.4f} GB/s"
