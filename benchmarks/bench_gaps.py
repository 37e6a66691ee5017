"""Gaps of frontiers to the bounds by number of hosts: eager schedules beside slack schedules.

    nice -n 19 python -m benchmarks.bench_gaps --out gaps.csv --most 1100 --stride 37
    python -m benchmarks.bench_gaps --out gaps.csv --summary

For every size: the least T_B over its bound, the worse of allgather and reduce-scatter, in as many
steps as the bound on steps and one, two and three more, by breadth-first broadcast alone and by the
best of it and slack schedules; and the steps above the bound at which T_B reaches its own bound.
Rows are appended to the file as they are computed, and a stopped run resumes after the existing
rows.  Sizes are taken in an order that covers the range early.
"""

import argparse
import csv
import time
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import NamedTuple

from topoloom.synth.errors import ImpossibleRequest
from topoloom.synth.evaluation.cost import Links
from topoloom.synth.evaluation.gaps import MORE, gaps_of
from topoloom.synth.search.frontier import frontier

DEGREES = (2, 3, 4, 6, 8)
FIELDS = ("nodes", "degree", "links", "schedule", "bound_steps", "optimal_at", "seconds")
NONE = ""
JUDGED = {"bfb": "broadcast", "best": "and labels"}


class Size(NamedTuple):
    """A size of the table, and the options of its search."""

    nodes: int
    degree: int
    links: str
    schedule: str


def sizes(least: int, most: int, stride: int, degrees: list[int]) -> Iterator[Size]:
    """Yield the sizes at which graphs exist: every ``stride``-th, and the prime after it.

    >>> [size.nodes for size in sizes(10, 12, 2, [2])][::4]
    [10, 11, 12, 13]
    """
    hosts = sorted({*range(least, most + 1, stride), *map(_prime, range(least, most + 1, stride))})
    for nodes, degree, links, schedule in product(hosts, degrees, Links, JUDGED):
        two_way = links is Links.BIDIRECTIONAL
        if degree < nodes and not (two_way and nodes * degree % 2):
            yield Size(nodes, degree, links.value, schedule)


def _prime(number: int) -> int:
    while any(number % divisor == 0 for divisor in range(2, int(number**0.5) + 1)):
        number += 1
    return number


def row(size: Size) -> dict[str, object]:
    """Return the row of a size."""
    began = time.process_time()
    judged: dict[str, object] = {"schedule": size.schedule}
    found = frontier(size.nodes, size.degree, Links(size.links), **judged)  # type: ignore[arg-type]
    seconds = time.process_time() - began
    gaps = gaps_of(point.gap(found.bounds) for point in found.points)
    return {
        **size._asdict(),
        "bound_steps": found.bounds.steps,
        "optimal_at": NONE if gaps.optimal_at is None else gaps.optimal_at,
        "seconds": f"{seconds:.2f}",
        **{
            f"gap_{more}": NONE if gap is None else str(gap) for more, gap in enumerate(gaps.within)
        },
    }


def computed(path: Path, wanted: list[Size]) -> list[dict[str, str]]:
    """Append the missing rows, and return all rows."""
    names = [*FIELDS, *(f"gap_{more}" for more in range(MORE))]
    if not path.exists():
        path.write_text(",".join(names) + "\n")
    known = {_size(one) for one in read(path)}
    # Far apart first: the rows of a stopped run represent the whole range.
    order = sorted(wanted, key=lambda size: (size.nodes * 2654435761 % 2**32, size))
    for size in order:
        if size not in known:
            try:
                found = row(size)
            except ImpossibleRequest:
                continue
            with path.open("a", newline="") as file:
                csv.DictWriter(file, names).writerow(found)
            print(*found.values(), flush=True)
    return read(path)


def read(path: Path) -> list[dict[str, str]]:
    """Return the rows of a file."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def _size(one: dict[str, str]) -> Size:
    return Size(int(one["nodes"]), int(one["degree"]), one["links"], one["schedule"])


def summary(rows: list[dict[str, str]]) -> Iterator[str]:
    """Yield the lines of a table: by degree and links, over the sizes known for both ways."""
    by_size = {_size(one): one for one in rows}
    sizes = {size._replace(schedule="") for size in by_size}
    both = [one for one in sizes if all(one._replace(schedule=by) in by_size for by in JUDGED)]
    heading = " | ".join(f"+{more}: mean, most, 0" for more in range(MORE))
    yield f"| ports, links | sizes | by | {heading} | seconds |"
    yield "|---" * (MORE + 4) + "|"
    for degree, links in sorted({(one.degree, one.links) for one in both}):
        alike = [one for one in both if (one.degree, one.links) == (degree, links)]
        for by, name in JUDGED.items():
            some = [by_size[one._replace(schedule=by)] for one in alike]
            cells = [_cell([one[f"gap_{more}"] for one in some]) for more in range(MORE)]
            mean = sum(float(one["seconds"]) for one in some) / len(some)
            yield f"| {degree}, {links} | {len(some)} | {name} | {' | '.join(cells)} | {mean:.2f} |"


def _cell(gaps: list[str]) -> str:
    known = [float(Fraction(gap)) for gap in gaps if gap != NONE]
    if not known:
        return "none"
    there = f"{sum(known) / len(known):.3f}, {max(known):.3f}, {sum(gap == 0 for gap in known)}"
    return there if len(known) == len(gaps) else f"{there} (of {len(known)})"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("gaps.csv"), help="the CSV file")
    parser.add_argument("--least", type=int, default=20, help="fewest hosts")
    parser.add_argument("--most", type=int, default=1100, help="most hosts")
    parser.add_argument("--stride", type=int, default=97, help="from a number of hosts to the next")
    parser.add_argument("--degrees", type=int, nargs="+", default=list(DEGREES))
    parser.add_argument("--summary", action="store_true", help="only of what is in the file")
    options = parser.parse_args()
    wanted = list(sizes(options.least, options.most, options.stride, options.degrees))
    rows = read(options.out) if options.summary else computed(options.out, wanted)
    print("\n".join(summary(rows)))


if __name__ == "__main__":
    main()
