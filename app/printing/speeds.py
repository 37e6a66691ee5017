"""What is said of how fast a schedule is."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from app.printing.words import fraction, seconds
from app.quantities import format_bytes

if TYPE_CHECKING:
    from schedules.speed import Speed

__all__ = ["lines_of", "show_speed"]


def show_speed(find: "Callable[[], Speed]", *, beside: bool) -> None:
    """Print how fast a schedule is on stdout, if its document is not there.

    Where stdout carries the document, a person at a terminal is told on stderr.
    """
    if beside or sys.stderr.isatty():
        for line in lines_of(find()):
            print(line, file=sys.stdout if beside else sys.stderr)


def lines_of(speed: "Speed") -> list[str]:
    """Return bandwidths, the gap to the optimum, and the time of a size that was given."""
    lines = [
        f"algbw  {float(speed.algbw / 10**9):.4f} GB/s",
        f"busbw  {float(speed.busbw / 10**9):.4f} GB/s",
    ]
    if speed.gap is not None:
        above = f"{fraction(str(speed.gap))} above the optimum" if speed.gap else "none, optimal"
        lines.append(f"gap    {above} for much data")
    if speed.seconds is not None and speed.on.size_bytes is not None:
        hop = f"{float(speed.on.alpha_seconds * 10**6):g} us per hop"
        lines.append(
            f"time   {seconds(speed.seconds)} for {format_bytes(speed.on.size_bytes)}, {hop}"
        )
    return lines
