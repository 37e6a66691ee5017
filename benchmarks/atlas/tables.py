"""The text of the atlas: explanations of its columns, and its tables."""

from collections.abc import Sequence
from fractions import Fraction

from benchmarks.atlas.survey import LINKS, PUBLISHED, Published, Survey
from topoloom.synth.evaluation.cost import Cost
from topoloom.synth.search.frontier import Frontier, Point

MARK = "✓"
STEPS, EXCESS, FRONTIER = (f"atlas-{name}.svg" for name in ("steps", "excess", "frontier"))

OPENING = f"""\
# Atlas

The frontiers of `topoloom frontier` at many sizes, one table for each degree and kind of links,
beside the lower bounds. `make atlas` repeats all searches and writes this page.

- **N**: hosts. **Directed links** may run one way only; every **two-way link** has a partner in the
  opposite direction.
- **bounds**: lower bounds of steps and bandwidth for this size and degree
  ([derivation](../explanation/cost-model.md#lower-bounds)). A bound need not be reachable.
- **steps**: T_L, the steps of a breadth-first-broadcast allgather, which is the diameter.
- **bandwidth**: T_B in units of M/B
  ([definition](../explanation/cost-model.md#cost-of-a-topology)): the exact fraction, then rounded.
- **{MARK}**: the figure meets its bound.
- **transpose**: steps and bandwidth of the allgather on the transposed graph, equal to those of the
  reduce-scatter on the graph itself; *same* if they equal those of the allgather.
- **recipe**: the construction of the topology, as all [commands](cli.md) accept it.

A row is a point of the frontier: no other topology of the catalogue is at least as good in steps
and bandwidth, on the graph and on its transpose, and better in one of the four. So a row that looks
dominated has the better transpose.

Every cost is measured on the graph that the recipe builds. If automorphisms of the graph are
proven, one destination represents its orbit. Theorems choose the graphs to build and are never
printed: a graph that contradicts its theorem stops the run. The frontier is that of the catalogue;
without a {MARK}, better topologies may exist.

![least steps found, and the bound, over N](../images/{STEPS})

The plot shows the least steps of any point, and the bound.

![bandwidth above the bound at the least steps, over N](../images/{EXCESS})

The plot shows the cost of the fewest steps: the bandwidth of that point less (N-1)/N. A point
without excess may still have many steps; see the plot above.
"""


def page(found: Survey) -> str:
    """Return the text of the atlas."""
    parts = [OPENING, _summary(found)]
    if front := found.beside(PUBLISHED):
        parts.append(_beside(front, PUBLISHED))
    for (degree, links), fronts in found.chapters.items():
        parts.append(f"## Degree {degree}, {LINKS[links]}\n\n{_table(fronts)}")
    return "\n".join(parts)


def _table(fronts: Sequence[Frontier]) -> str:
    lines = [
        "| N | bounds | steps | bandwidth | | transpose | recipe |",
        "|---|---|---|---|---|---|---|",
    ]
    for front in fronts:
        size = f"{front.nodes} | {front.bounds.steps}, {front.bounds.bandwidth}"
        for point in front.points:
            lines.append(f"| {size} | {_figures(point, front.bounds)} | `{point.recipe}` |")
            size = " | "
    return "\n".join(lines) + "\n"


def _figures(point: Point, bounds: Cost) -> str:
    """Return the cells of steps, bandwidth exact and rounded, and transpose."""
    steps, bandwidth = point.cost.steps, point.cost.bandwidth
    turned = point.transpose
    other = "same" if turned == point.cost else f"{turned.steps}, {turned.bandwidth}"
    return (
        f"{steps}{' ' + MARK if steps == bounds.steps else ''} | "
        f"{bandwidth}{' ' + MARK if bandwidth == bounds.bandwidth else ''} | "
        f"{_rounded(bandwidth)} | {other}"
    )


def _rounded(value: Fraction, digits: int = 4) -> str:
    """Return a fraction with some decimals, rounded exactly, half to even.

    >>> _rounded(Fraction(341, 256))
    '1.3320'
    """
    whole, rest = divmod(round(value * 10**digits), 10**digits)
    return f"{whole}.{rest:0{digits}}"


def _summary(found: Survey) -> str:
    lines = [
        "## How often the bounds are met\n",
        "The sizes of each table, and at how many of them a point meets the bound of steps, a "
        "point that of\nbandwidth, and one point both.\n",
        "| degree | links | sizes | steps | bandwidth | both |",
        "|---|---|---|---|---|---|",
    ]
    for (degree, links), fronts in found.chapters.items():
        steps = bandwidth = both = 0
        for front in fronts:
            costs = [point.cost for point in front.points]
            steps += any(cost.steps == front.bounds.steps for cost in costs)
            bandwidth += any(cost.bandwidth == front.bounds.bandwidth for cost in costs)
            both += front.bounds in costs
        counts = f"{len(fronts)} | {steps} | {bandwidth} | {both}"
        lines.append(f"| {degree} | {LINKS[links]} | {counts} |")
    return "\n".join(lines) + "\n"


def _beside(front: Frontier, published: Published) -> str:
    """Return the published points, and our point with no more steps and bandwidth."""
    lines = [
        f"## N = {front.nodes}, degree {front.degree}, beside the published frontier\n",
        f"![both frontiers and the bounds](../images/{FRONTIER})\n",
        f"Published in {published.source}, bandwidths to three decimals; beside each point the "
        "one of ours with\nno more steps and, so rounded, no more bandwidth that has the least "
        "bandwidth.\n",
        "| published | ours | recipe |",
        "|---|---|---|",
    ]
    for steps, bandwidth in published.points:
        ours = [
            point
            for point in front.points
            if point.cost.steps <= steps and round(point.cost.bandwidth, 3) <= bandwidth
        ]
        cells = "none |"
        if ours:
            best = min(ours, key=lambda point: (point.cost.bandwidth, point.cost.steps))
            cells = f"{best.cost.steps}, {_rounded(best.cost.bandwidth, 3)} | `{best.recipe}`"
        lines.append(f"| {steps}, {_rounded(bandwidth, 3)} | {cells} |")
    return "\n".join(lines) + "\n"
