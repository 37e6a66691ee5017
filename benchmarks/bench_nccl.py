"""ForestColl beside NCCL's algorithms by fabric and size: the figures of the ForestColl paper.

    python -m benchmarks.bench_nccl
    python -m benchmarks.bench_nccl --csv nccl.csv --plot nccl.svg

Every schedule is verified and timed by the same judge (`schedules.simulate.Judge`), each with its
best number of pieces.  NCCL's protocols, thread blocks and copies have no cost here.
"""

import argparse
import csv
import sys
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import topoloom
from topoloom.app.plots.canvas import COLOURS, STYLE
from topoloom.app.requests.base import format_bytes
from topoloom.schedules.baselines.nccl import NCCL_ALGORITHMS
from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.simulate import Judge, Network
from topoloom.synth.topology.rates import unit_bytes_per_second

FABRICS = (
    "dgx-a100-2",
    "dgx-a100-4",
    "dgx-h100-4",
    "mi250-2",
    "mi300x-2",
    "Boxes(dgx-h100, Complete(5))",
    "Boxes(mi300x, Complete(5))",
)
COLLECTIVES = (Collective.ALLGATHER, Collective.ALLREDUCE)
SIZES = (2**20, 2**24, 2**27, 2**30)
ALPHA_US = 10
OURS = "forestcoll"


class Row(NamedTuple):
    """The time of an algorithm; ``algbw`` is in GB/s."""

    fabric: str
    collective: str
    algorithm: str
    bytes: int
    seconds: float
    algbw: float


def rows_of(fabric: str, collective: Collective) -> Iterator[Row]:
    """Yield the times of ForestColl and of NCCL's algorithms that run on a fabric.

    >>> rows = list(rows_of("dgx-a100-2", Collective.ALLGATHER))
    >>> sorted({row.algorithm for row in rows})
    ['forestcoll', 'nccl-ring']
    """
    topology = topoloom.build(fabric)
    network = Network(Fraction(ALPHA_US, 10**6), unit_bytes_per_second(topology))
    schedules = {OURS: topoloom.schedule(topology, collective, algorithm=OURS)}
    for name, run in NCCL_ALGORITHMS.items():
        with suppress(NoSchedule):
            schedules[name] = run(topology, collective)
    for name, schedule in schedules.items():
        judge = Judge(schedule, topology, network)
        for size in SIZES:
            seconds = float(judge.time(size).seconds)
            yield Row(fabric, collective.value, name, size, seconds, size / seconds / 10**9)


def table(rows: list[Row]) -> Iterator[str]:
    """Yield the lines of a table: ForestColl, NCCL's fastest, and the ratio of their times."""
    yield "| fabric | collective | size | ForestColl GB/s | NCCL's fastest GB/s | ratio |"
    yield "|---|---|---|---|---|---|"
    for fabric, collective, size in dict.fromkeys((r.fabric, r.collective, r.bytes) for r in rows):
        there = [r for r in rows if (r.fabric, r.collective, r.bytes) == (fabric, collective, size)]
        (ours,) = (row for row in there if row.algorithm == OURS)
        best = max((row for row in there if row.algorithm != OURS), key=lambda row: row.algbw)
        yield (
            f"| `{fabric}` | {collective} | {format_bytes(size)} | {ours.algbw:.1f} | "
            f"{best.algbw:.1f} ({best.algorithm}) | {ours.algbw / best.algbw:.2f} |"
        )


def plot(rows: list[Row], path: Path) -> None:
    """Draw algbw over size: a panel for each fabric and collective."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    panels = list(dict.fromkeys((row.collective, row.fabric) for row in rows))
    across = len({row.fabric for row in rows})
    names = list(dict.fromkeys(row.algorithm for row in rows))
    with matplotlib.rc_context(STYLE | {"font.size": 7}):
        figure, axes = pyplot.subplots(
            -(-len(panels) // across), across, figsize=(2.2 * across, 4), sharex=True
        )
        for axis, (collective, fabric) in zip(axes.flat, sorted(panels), strict=True):
            for name, color in zip(names, COLOURS, strict=False):
                line = [r for r in rows if r[:3] == (fabric, collective, name)]
                if line:
                    axis.plot([r.bytes for r in line], [r.algbw for r in line], ".-", c=color)
            axis.set_xscale("log", base=2)
            axis.set_xticks(SIZES, [format_bytes(size) for size in SIZES], fontsize=5)
            axis.set_title(f"{fabric}\n{collective}", fontsize=6)
        handles = [
            pyplot.Line2D([], [], color=color) for _, color in zip(names, COLOURS, strict=False)
        ]
        figure.legend(handles, names, loc="lower center", ncols=len(names))
        figure.supylabel("algbw, GB/s")
        figure.tight_layout(rect=(0, 0.06, 1, 1))
        figure.savefig(path, metadata={"Date": None, "Creator": None})


def main() -> None:
    """Print the table; write the CSV and the plot if asked."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--fabric", action="append", help="repeatable; default: seven fabrics")
    options = parser.parse_args()
    rows = []
    for fabric in options.fabric or FABRICS:
        for collective in COLLECTIVES:
            rows += rows_of(fabric, collective)
            print(f"{fabric} {collective}", file=sys.stderr)
    print("\n".join(table(rows)))
    if options.csv:
        with options.csv.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(Row._fields)
            writer.writerows(rows)
    if options.plot:
        plot(rows, options.plot)


if __name__ == "__main__":
    main()
