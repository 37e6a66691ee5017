"""Collectives of process groups: direct sends beside the best rate of all groups at once.

    python -m benchmarks.bench_groups
    python -m benchmarks.bench_groups --most 12

Direct sends take one shortest path for each pair: along the first dimension, then along the next.
Their time is the load of the busiest link, for an all-to-all and up to 256 hosts for an allgather.
Groups of a mesh are all hosts, the left and the right half, both kinds of squares of a chessboard,
or the hosts of one corner; all other hosts forward.
"""

import argparse
import time
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise, product

from topoloom.schedules.groups.joint_rate import joint_rate
from topoloom.schedules.groups.process_groups import HostGroups
from topoloom.schedules.model.schedule import Collective
from topoloom.synth.topology.topology import Topology

SIDES = (6, 8, 12, 16, 24)
MOST_GATHERED = 256
Cell = tuple[int, ...]


def mesh(sides: Cell) -> Topology:
    """Return a mesh of hosts, numbered with the last coordinate fastest.

    >>> mesh((2, 3)).link_count
    14
    """
    number = {cell: at for at, cell in enumerate(product(*map(range, sides)))}
    links = [
        (at, number[other])
        for cell, at in number.items()
        for axis in range(len(sides))
        for step in (-1, 1)
        if (other := _moved(cell, axis, step)) in number
    ]
    return Topology(range(len(number)), links)


def _moved(cell: Cell, axis: int, step: int) -> Cell:
    return (*cell[:axis], cell[axis] + step, *cell[axis + 1 :])


def direct_rate(sides: Cell, groups: HostGroups) -> Fraction:
    """Return the rate of one path for each pair, corrected dimension by dimension.

    >>> direct_rate((1, 3), ((0, 1, 2),))
    Fraction(3, 2)
    """
    cells = list(product(*map(range, sides)))
    loads: Counter[tuple[Cell, Cell]] = Counter()
    for members in groups:
        for source, target in product(members, repeat=2):
            loads.update(pairwise(_path(cells[int(source)], cells[int(target)])))
    return Fraction(len(groups[0]), max(loads.values()))


def _path(source: Cell, target: Cell) -> Iterator[Cell]:
    yield source
    for axis, goal in enumerate(target):
        while source[axis] != goal:
            source = _moved(source, axis, 1 if goal > source[axis] else -1)
            yield source


def groups_of(sides: Cell) -> dict[str, HostGroups]:
    """Return the groups of a mesh by name.

    >>> {name: len(groups) for name, groups in groups_of((4, 4)).items()}
    {'all hosts': 1, 'two halves': 2, 'two colors': 2, 'one corner': 1, 'one color': 1}
    """
    cells = list(product(*map(range, sides)))
    half = [2 * cell[-1] >= sides[-1] for cell in cells]
    color = [sum(cell) % 2 for cell in cells]
    low = [all(2 * at < side for at, side in zip(cell, sides, strict=True)) for cell in cells]

    def where(marks: list[bool] | list[int], value: int) -> tuple[int, ...]:
        return tuple(at for at, mark in enumerate(marks) if mark == value)

    colors = (where(color, 0), where(color, 1))
    found = {
        "all hosts": (tuple(range(len(cells))),),
        "two halves": (where(half, 0), where(half, 1)),
        "two colors": colors,
        "one corner": (where(low, 1),),
        "one color": colors[:1],
    }
    return {name: groups for name, groups in found.items() if len(groups[0]) > 1}


def main() -> None:
    """Print one row for each mesh and kind of groups."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=24, help="longest side of a mesh")
    most = parser.parse_args().most
    print(
        f"{'mesh':6} {'groups':11} {'direct':>7}   all-to-all, allgather: best, ratio, gap, seconds"
    )
    for sides in [*((side, side) for side in SIDES if side <= most), (2, 2, 2), (4, 4, 4)]:
        topology = mesh(sides)
        for name, groups in groups_of(sides).items():
            direct = direct_rate(sides, groups)
            print(
                f"{'x'.join(map(str, sides)):6} {name:11} {float(direct):7.4f}", end="", flush=True
            )
            gathered = (Collective.ALLGATHER,) if topology.node_count <= MOST_GATHERED else ()
            for collective in (Collective.ALL_TO_ALL, *gathered):
                before = time.perf_counter()
                best = joint_rate(topology, groups, collective)
                seconds = time.perf_counter() - before
                ratio, gap = float(best.algbw / direct), float(best.gap)
                text = f"{float(best.algbw):8.4f} {ratio:6.2f} {gap:8.1e} {seconds:6.1f}"
                print(f"  {text}", end="", flush=True)
            print(flush=True)


if __name__ == "__main__":
    main()
