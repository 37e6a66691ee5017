"""The choice of channels as an integer program: exact where small, and why nothing fits.

Variable x[k, c, t]: how many links between node pair k use channel c, turned (t) or not; a
reward variable y <= x counts those that are there today.  The same program with *slack*, a
number of additional sites at a price, says where ports are missing: if no slack-free solution
of its relaxation exists, no choice exists, and the places with slack are the certificate.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from topoloom.synth.wiring import limits
from topoloom.synth.wiring.assignment.demand import Choice, Demand, Ends
from topoloom.synth.wiring.ilp.program import Program


@dataclass(frozen=True, slots=True)
class Missing:
    """Ports that a node lacks in a channel for the links to fit."""

    channel: int
    node: int
    receives: bool
    count: int


class Kept(NamedTuple):
    """A column that counts links which stay: between these ends in a channel, ``there`` at most."""

    column: int
    ends: Ends
    channel: int
    there: int


@dataclass
class Written:
    """The program of a demand: its keys with their counts, and what each x column stands for.

    ``kept`` has the reward columns: column x, key, channel and number of links there today.
    """

    demand: Demand
    program: Program = field(default_factory=Program)
    keys: list[Ends] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    columns: list[tuple[int, int, bool]] = field(default_factory=list)
    room: dict[tuple[int, int, bool], int] = field(default_factory=dict)
    kept: list[Kept] = field(default_factory=list)

    def choice(self, values: list[int]) -> Choice | None:
        """Return the choice that columns stand for; None if they are none that fits.

        The solver computes in floating point: nothing is taken from it unchecked.
        """
        given: dict[Ends, list[tuple[int, bool]]] = {key: [] for key in self.keys}
        for (k, channel, turned), amount in zip(self.columns, values, strict=False):
            given[self.keys[k]] += [(channel, turned)] * amount
        if any(len(given[key]) != n for key, n in zip(self.keys, self.counts, strict=True)):
            return None
        taken = [given[ends].pop(0) for ends in self.demand.links]
        choice = Choice(
            np.array([channel for channel, _ in taken], np.int64),
            np.array([turned for _, turned in taken], np.bool_),
        )
        return choice if self.demand.fits(choice) else None


def variables(demand: Demand) -> int:
    """Return the number of x variables of the program."""
    ways = sum(1 if shared or not demand.turnable else 2 for shared in demand.shared)
    return len(set(demand.links)) * ways


def written(demand: Demand, *, keeping: bool) -> Written:
    """Return the program without objective; ``keeping``: with the columns of what stays."""
    found = Written(demand)
    program = found.program
    for ends, count in sorted(Counter(demand.links).items()):
        found.keys.append(ends)
        found.counts.append(count)

    def limit(channel: int, node: int, receives: bool) -> int:
        at = (channel, node, receives and not demand.shared[channel])
        if at not in found.room:
            sites = demand.receiving if at[2] else demand.sending
            found.room[at] = program.row(-np.inf, float(sites[channel, node]))
        return found.room[at]

    for k, (u, v) in enumerate(found.keys):
        count = float(found.counts[k])
        total = program.row(count, count)
        for channel, shared in enumerate(demand.shared):
            for turned in (False, True) if demand.turnable and not shared else (False,):
                source, target = (v, u) if turned else (u, v)
                column = program.column(count)
                found.columns.append((k, channel, turned))
                for row in (total, limit(channel, source, False), limit(channel, target, True)):
                    program.put(row, column)
    if keeping:
        _keep(found)
    return found


def _keep(found: Written) -> None:
    demand, program = found.demand, found.program
    for column, (k, channel, turned) in enumerate(found.columns):
        u, v = found.keys[k][::-1] if turned else found.keys[k]
        ends = (min(u, v), max(u, v)) if demand.shared[channel] else (u, v)
        there = demand.joined[channel][ends]
        if there:
            reward = program.column(float(there))
            program.row(0, np.inf, {column: 1.0, reward: -1.0})
            found.kept.append(Kept(reward, ends, channel, there))


def best_choice(demand: Demand) -> tuple[Choice | None, bool]:
    """Return the choice that keeps most, and whether that is proven.

    None if there is none (proven), or none was found within the limit of nodes.
    """
    if not len(demand.sources):
        return Choice.straight(np.zeros(0, np.int64)), True
    found = written(demand, keeping=True)
    for kept in found.kept:
        found.program.cost[kept.column] = -1.0
    solved = found.program.solve(nodes=limits.MAX_EXACT_NODES)
    if solved.values is None:
        return None, solved.proven
    choice = found.choice(solved.values)
    return choice, choice is not None and solved.proven


def missing_ports(demand: Demand, integral: bool) -> list[Missing]:
    """Return fewest additional sites with which all links would fit; empty if none are needed.

    With ``integral`` false this is the linear relaxation, quick at any size.  Sites that the
    relaxation finds missing are missing; an empty result does not prove that the links fit.
    """
    if not len(demand.sources):
        return []
    found = written(demand, keeping=False)
    program = found.program
    slack = {}
    for at, row in found.room.items():
        slack[at] = program.column(float(len(demand.sources)), 1.0)
        program.put(row, slack[at], -1.0)
    solved = program.solve(integral, limits.MAX_EXACT_NODES)
    lacking = []
    for (channel, node, receives), column in slack.items() if solved.exact else ():
        count = solved.exact[column]
        if count > 1e-6:
            lacking.append(Missing(channel, node, receives, int(np.ceil(count - 1e-6))))
    return lacking
