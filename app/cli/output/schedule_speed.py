"""Text output of the speed of a schedule."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from topoloom.app.cli.output.formatting import fraction, seconds
from topoloom.app.cli.output.text_table import say
from topoloom.app.requests.base import format_bytes

if TYPE_CHECKING:
    from fractions import Fraction

    from topoloom.schedules.compare.bandwidths import Speed

_WHOLE = {
    "msccl-xml": "without slicing of messages, as in topoloom simulate without --chunks",
    "mscclpp-json": "in the executor, which does not slice messages; algbw is an upper bound",
    "chakra-et": "in simulators, which do not slice messages; algbw is an upper bound",
    "goal": "in simulators, which do not slice messages; algbw is an upper bound",
}
"""Program format -> meaning of the rate for unsliced messages."""
_TABLE = "of the schedule that the table compares with NCCL; the table itself sends no data"


def show_speed(find: "Callable[[], Speed]", form: str = "json", *, beside: bool) -> None:
    """Print the speed of a schedule to stdout if the document goes to a file (``beside``).

    If stdout carries the document, print the speed to stderr, on a terminal only.
    """
    if beside or sys.stderr.isatty():
        for line in lines_of(find(), form):
            say(line, error=not beside)


def lines_of(speed: "Speed", form: str = "json") -> list[str]:
    """Return the lines with bandwidths, gap to the optimum, and time for a given data size.

    For a program in the format ``form``, add the difference from the schedule and the rate for
    unsliced messages.
    """
    lines = [
        f"algbw  {_rate(speed.algbw)}",
        f"busbw  {_rate(speed.busbw)}",
    ]
    if speed.gap is not None:
        above = f"{fraction(str(speed.gap))} above the optimum" if speed.gap else "none, optimal"
        lines.append(f"gap    {above} for large data")
    # Compare printed digits: traces round chunks to whole bytes.
    shown = _rate(speed.algbw)
    if speed.schedule_algbw is not None and _rate(speed.schedule_algbw) != shown:
        slower = speed.algbw < speed.schedule_algbw
        why = (
            "the file has fewer chunks, or its format has no paths or copies by switches"
            if slower
            else "the file has no barriers between steps, or rounded chunks"
        )
        lines.append(f"from   a schedule of {_rate(speed.schedule_algbw)}; {why}")
    if speed.whole is not None and form in _WHOLE and _rate(speed.whole) != shown:
        lines.append(f"whole  {_rate(speed.whole)} {_WHOLE[form]}")
    if form == "nccl-tuner-csv":
        lines.append(f"rates  {_TABLE}")
    if speed.seconds is not None and speed.on.size_bytes is not None:
        alpha = speed.on.alpha_seconds
        hop = "latency of each link" if alpha is None else f"{float(alpha * 10**6):g} us per hop"
        lines.append(
            f"time   {seconds(speed.seconds)} for {format_bytes(speed.on.size_bytes)}, {hop}"
        )
    return lines


def _rate(rate: "Fraction") -> str:
    return f"{float(rate / 10**9):.4f} GB/s"
