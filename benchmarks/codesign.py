"""Write the tables of docs/explanation/co-design.md: the fastest algorithm by message size.

``python -m benchmarks.codesign`` writes them into the page; every time is exact until it is
printed.
"""

import re
from fractions import Fraction
from pathlib import Path

from topoloom.schedules.baselines import Baseline, Operation, assumed_baselines, baselines
from topoloom.schedules.compare.crossover import Candidate
from topoloom.schedules.compare.topology_algorithms import (
    TopologyCosts,
    floor_seconds,
    topology_candidates,
)
from topoloom.schedules.model.schedule import Collective
from topoloom.synth.evaluation.cost import all_to_all_bound
from topoloom.synth.search.frontier import Point, frontier

PAGE = Path(__file__).parent.parent / "docs" / "explanation" / "co-design.md"
CASES = {"12 hosts": (12, 4), "1024 hosts": (1024, 4)}
"""Name in the page -> hosts, ports; links of 25 Gbit/s, 10 us per hop."""

ALPHA = Fraction(10, 10**6)
RATE = Fraction(100 * 10**9, 8)
SIZES = {
    "1 KB": 10**3,
    "10 KB": 10**4,
    "100 KB": 10**5,
    "1 MB": 10**6,
    "10 MB": 10**7,
    "100 MB": 10**8,
    "1 GB": 10**9,
}


def _offer(nodes: int, point: Point) -> TopologyCosts:
    return TopologyCosts(nodes, point.cost, point.transpose, algorithm=point.algorithm)


def table(nodes: int, degree: int) -> str:
    """Return the Markdown table of an allreduce from 1 KB to 1 GB.

    >>> print(table(12, 4).splitlines()[2])  # doctest: +ELLIPSIS
    | 1 KB | Circulant(12, 2, 3) | bfb-one-shot | 20.88 us | 1.036 | ...
    """
    found = frontier(nodes, degree)
    names = [entry.name for entry in _against(nodes, degree, 1)]
    lines = [
        f"| size | topology | algorithm | time | to floor | {' | '.join(names)} |",
        "|---|---|---|" + "---:|" * (2 + len(names)),
    ]
    ways = [
        (str(point.recipe), way)
        for point in found.points
        for way in topology_candidates(_offer(nodes, point), _work(1), 10**9)
    ]
    routes = all_to_all_bound(nodes, degree)
    for label, size in SIZES.items():
        recipe, best = min(ways, key=lambda pair: pair[1].seconds(size))
        floor = floor_seconds(found.bounds, routes, _work(size))
        lines.append(_row(label, size, recipe, best, floor, nodes, degree))
    return "\n".join(lines)


def page(text: str) -> str:
    """Return the page with new tables, each between two marks."""
    for name, (nodes, degree) in CASES.items():
        mark = f"<!-- table: {name} -->\n"
        pattern = re.escape(mark) + r".*?(?=\n<!-- end -->)"
        text = re.sub(
            pattern, lambda _, m=mark, n=nodes, d=degree: m + table(n, d), text, flags=re.S
        )
    return text


def _work(size: int) -> Operation:
    return Operation(Collective.ALLREDUCE, size, RATE, ALPHA)


def _against(nodes: int, degree: int, size: int) -> tuple[Baseline, ...]:
    """Return the baselines: with the same cables, then with a switch."""
    switched = assumed_baselines(nodes, degree, _work(size))
    with_cables = baselines(nodes, degree, _work(size))
    return with_cables + tuple(one for one in switched if one.name == "switch-bruck")


def _row(
    label: str, size: int, recipe: str, best: Candidate, floor: Fraction, nodes: int, degree: int
) -> str:
    seconds = best.seconds(size)
    named = recipe if len(recipe) <= 40 else f"{recipe[:39]}…"
    against = [
        f"{_time(entry.seconds)}, {float(entry.seconds / seconds):.2f}x"
        for entry in _against(nodes, degree, size)
    ]
    cells = [label, named, best.name, _time(seconds), f"{float(seconds / floor):.3f}", *against]
    return f"| {' | '.join(cells)} |"


def _time(seconds: Fraction) -> str:
    for unit, factor in (("s", 1), ("ms", 1000)):
        if seconds * factor >= 1:
            return f"{float(seconds * factor):.4g} {unit}"
    return f"{float(seconds * 10**6):.4g} us"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text()))
