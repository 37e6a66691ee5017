"""Least time and fewest drained hosts as rows of an integer program.

A program decides how many links take what; ``uses`` and ``keeps`` say of its columns which pairs
they add and which pairs of today they let stay.  With r and a the pairs that go and come on a
panel, c moves at once and s seconds each, whole numbers n >= r / c and m >= a / c of rounds, the
time is at least s n of the one plus s m of the other, on every panel.  A host is drained
unless all pairs of today at it stay.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf, lcm
from typing import NamedTuple

from topoloom.synth.wiring import limits
from topoloom.synth.wiring.ilp.objective import Objective, panel_seconds
from topoloom.synth.wiring.ilp.program import Program
from topoloom.synth.wiring.plant import Plant

PRECISION = 1e-6


class Use(NamedTuple):
    """A column that adds pairs: how many on which panel, for each link."""

    column: int
    pairs: Counter[int]


class Keep(NamedTuple):
    """A column that lets ways of today stay: of ``there`` alike ones between some hosts."""

    column: int
    pairs: Counter[int]
    there: int
    hosts: frozenset[int]


@dataclass(frozen=True, slots=True)
class Stakes:
    """The objective on a plant: removable pairs by panel, and hosts drained in any case."""

    objective: Objective
    plant: Plant
    mine: Counter[int]
    doomed: frozenset[int]

    def time(self, kept: Mapping[int, int], new: Mapping[int, int]) -> Fraction:
        """Return the seconds for given numbers of kept and of used pairs by panel."""
        gone = (panel_seconds(self.plant, p, n - kept.get(p, 0)) for p, n in self.mine.items())
        come = (panel_seconds(self.plant, p, n - kept.get(p, 0)) for p, n in new.items())
        return max(gone, default=Fraction(0)) + max(come, default=Fraction(0))


class Least(NamedTuple):
    """The columns of the best that was found, None for nothing, and a bound of the objective."""

    values: list[int] | None
    bound: Fraction


def least(
    program: Program, stakes: Stakes, uses: Sequence[Use], keeps: Sequence[Keep], integral: bool
) -> Least:
    """Return columns of least time or fewest drained hosts, and then of few moves.

    With ``integral`` false only the bound is found, by the program's relaxation.  Rows and
    columns are added to the program.
    """
    if stakes.objective is Objective.SECONDS:
        return _least_time(program, stakes, uses, keeps, integral)
    return _fewest_drained(program, stakes, uses, keeps, integral)


def _least_time(
    program: Program, stakes: Stakes, uses: Sequence[Use], keeps: Sequence[Keep], integral: bool
) -> Least:
    panels = {p for use in uses for p in use.pairs} | stakes.mine.keys()
    slow = sorted(p for p in panels if stakes.plant.panels[p].move_seconds)
    scale = lcm(*(stakes.plant.panels[p].move_seconds.denominator for p in slow))
    removing, adding = (program.column(inf, 1.0, integral=False) for _ in range(2))
    for panel in slow:
        made = stakes.plant.panels[panel]
        each = float(made.move_seconds * scale)
        kept = {keep.column: float(keep.pairs[panel]) for keep in keeps if keep.pairs[panel]}
        new = {use.column: -float(use.pairs[panel]) for use in uses if use.pairs[panel]}
        for total, low, entries in (
            (removing, float(stakes.mine[panel]), kept), (adding, 0.0, kept | new)
        ):  # fmt: skip
            rounds = program.column(inf)
            program.row(low, inf, entries | {rounds: float(made.at_once)})
            program.row(0, inf, {total: 1.0, rounds: -each})
    solved = program.solve(integral, limits.MAX_OBJECTIVE_NODES)
    bound = _whole(solved.bound) / scale
    if solved.values is None or not integral:
        return Least(None, bound)
    kept, new = _counted(solved.values, uses, keeps)
    value = stakes.time(kept, new)
    gone = max((panel_seconds(stakes.plant, p, stakes.mine[p] - kept[p]) for p in slow), default=0)
    come = max((panel_seconds(stakes.plant, p, new[p] - kept[p]) for p in slow), default=0)
    few_moves(program, uses, keeps)
    for panel in slow:
        # Within the times just found, every panel may make as many moves as fit.
        made = stakes.plant.panels[panel]
        kept = {keep.column: float(keep.pairs[panel]) for keep in keeps if keep.pairs[panel]}
        new = {use.column: -float(use.pairs[panel]) for use in uses if use.pairs[panel]}
        removes, adds = (made.at_once * int(time / made.move_seconds) for time in (gone, come))
        program.row(float(stakes.mine[panel] - removes), inf, kept)
        program.row(-float(adds), inf, kept | new)
    again = program.solve(integral, limits.MAX_OBJECTIVE_NODES)
    return Least(again.values or solved.values, value if solved.proven else min(bound, value))


def _fewest_drained(
    program: Program, stakes: Stakes, uses: Sequence[Use], keeps: Sequence[Keep], integral: bool
) -> Least:
    lost: dict[int, int] = {}
    for keep in keeps:
        for host in sorted(keep.hosts - stakes.doomed):
            if host not in lost:
                lost[host] = program.column(1.0, 1.0)
            there = float(keep.there)
            program.row(there, inf, {keep.column: 1.0, lost[host]: there})
    solved = program.solve(integral, limits.MAX_OBJECTIVE_NODES)
    bound = len(stakes.doomed) + _whole(solved.bound)
    if solved.values is None or not integral:
        return Least(None, bound)
    count = sum(solved.values[column] for column in lost.values())
    few_moves(program, uses, keeps)
    program.row(0, float(count), dict.fromkeys(lost.values(), 1.0))
    again = program.solve(integral, limits.MAX_OBJECTIVE_NODES)
    value = Fraction(len(stakes.doomed) + count)
    return Least(again.values or solved.values, value if solved.proven else min(bound, value))


def few_moves(program: Program, uses: Sequence[Use], keeps: Sequence[Keep]) -> None:
    """Have a program look for the fewest moves, and nothing else."""
    program.cost = [0.0] * len(program.cost)
    for use in uses:
        program.cost[use.column] = float(use.pairs.total())
    for keep in keeps:
        program.cost[keep.column] = -2.0 * keep.pairs.total()


def _counted(
    values: Sequence[int], uses: Sequence[Use], keeps: Sequence[Keep]
) -> tuple[Counter[int], Counter[int]]:
    """Return how many pairs stay, and how many carry links, on every panel."""
    found: tuple[Counter[int], Counter[int]] = Counter(), Counter()
    for total, rows in zip(found, (keeps, uses), strict=True):
        for row in rows:
            for panel, count in row.pairs.items():
                total[panel] += count * values[row.column]
    return found


def _whole(bound: float) -> Fraction:
    """Return the least whole number that a solver's bound allows."""
    return Fraction(max(0, ceil(bound - PRECISION))) if bound > -inf else Fraction(0)


def at_least(
    stakes: Stakes, removes: int, adds: int, room: Mapping[int, int], ends: Sequence[int] = ()
) -> Fraction:
    """Return a lower bound of an objective for given minimum numbers of removes and adds.

    Args:
        room: Most pairs that carry links, by panel.
        ends: Number of removable pairs of every host.

    In a time T a panel makes c floor(T / s) moves: the least T in which all panels together make
    enough, found among the times of single panels.  A removed pair drains a host, and a host
    cannot be drained by more pairs than it has.
    """
    if stakes.objective is Objective.SECONDS:
        return _soonest(stakes.plant, stakes.mine, removes) + _soonest(stakes.plant, room, adds)
    count, left = 0, removes
    for most in sorted(ends, reverse=True):
        if left <= 0:
            break
        count, left = count + 1, left - most
    return Fraction(max(count, len(stakes.doomed)))


def _soonest(plant: Plant, most: Mapping[int, int], moves: int) -> Fraction:
    """Return the least time in which panels, each with a maximum, make a number of moves."""

    def made(time: Fraction) -> int:
        return sum(
            min(count, plant.panels[p].at_once * int(time / plant.panels[p].move_seconds))
            if plant.panels[p].move_seconds
            else count
            for p, count in most.items()
        )

    best = Fraction(0)
    if made(best) >= moves:
        return best
    found: list[Fraction] = []
    for panel, count in most.items():
        each = plant.panels[panel]
        if not each.move_seconds:
            continue
        low, high = 1, -(-count // each.at_once)
        # The least number of this panel's rounds in which all together make enough.
        if made(high * each.move_seconds) < moves:
            continue
        while low < high:
            middle = (low + high) // 2
            if made(middle * each.move_seconds) >= moves:
                high = middle
            else:
                low = middle + 1
        found.append(low * each.move_seconds)
    return min(found, default=Fraction(0))
