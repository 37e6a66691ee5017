"""The choice of channels as an integer program: exact where small, and why nothing fits.

Variable x[k, c, t]: how many links between node pair k use channel c, turned (t) or not; a
reward variable y <= x counts those that are there today.  The same program with *slack*, a
number of additional sites at a price, says where ports are missing: if no slack-free solution
of its relaxation exists, no choice exists, and the places with slack are the certificate.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from synth.wiring.demand import Choice, Demand, Ends, Integers

__all__ = ["EXACT_NODES", "EXACT_VARIABLES", "Missing", "best_choice", "missing_ports", "variables"]

EXACT_VARIABLES = 600
"""Largest integer program tried for fewest moves: its x variables."""

EXACT_NODES = 200
"""Branch-and-bound nodes after which the best choice found so far is taken."""


@dataclass(frozen=True, slots=True)
class Missing:
    """Ports that a node lacks in a channel for the links to fit."""

    channel: int
    node: int
    receives: bool
    count: int


@dataclass
class _Program:
    """Columns and rows of the program, as they are written down."""

    demand: Demand
    keys: list[Ends] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    columns: list[tuple[int, int, bool]] = field(default_factory=list)
    entries: list[tuple[int, int, float]] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)

    def row(self, low: float, high: float) -> int:
        self.low.append(low)
        self.high.append(high)
        return len(self.low) - 1

    def solve(self, cost: NDArray[Any], upper: Any, integral: bool) -> Any:
        rows, columns, values = (np.array(part) for part in zip(*self.entries, strict=True))
        matrix = coo_array((values, (rows, columns)), shape=(len(self.low), len(cost)))
        low: Any = self.low
        high: Any = self.high
        return milp(
            cost,
            integrality=np.full(len(cost), int(integral)),
            bounds=Bounds(0, upper),
            constraints=LinearConstraint(matrix.tocsr(), low, high),
            # No time limit: the answer must not depend on the machine.
            options={"node_limit": EXACT_NODES, "mip_rel_gap": 0} if integral else {},
        )


def variables(demand: Demand) -> int:
    """Return the number of x variables of the program."""
    ways = sum(1 if shared or not demand.turnable else 2 for shared in demand.shared)
    return len(set(demand.links)) * ways


def _written(demand: Demand) -> tuple[_Program, dict[tuple[int, int, bool], int]]:
    """Return the program without objective, and the row of every limit on sites."""
    program = _Program(demand)
    for ends, count in sorted(Counter(demand.links).items()):
        program.keys.append(ends)
        program.counts.append(count)
    room: dict[tuple[int, int, bool], int] = {}

    def limit(channel: int, node: int, receives: bool) -> int:
        at = (channel, node, receives and not demand.shared[channel])
        if at not in room:
            sites = demand.receiving if at[2] else demand.sending
            room[at] = program.row(-np.inf, float(sites[channel, node]))
        return room[at]

    for k, (u, v) in enumerate(program.keys):
        total = program.row(program.counts[k], program.counts[k])
        for channel, shared in enumerate(demand.shared):
            for turned in (False, True) if demand.turnable and not shared else (False,):
                source, target = (v, u) if turned else (u, v)
                column = len(program.columns)
                program.columns.append((k, channel, turned))
                program.entries.append((total, column, 1))
                program.entries.append((limit(channel, source, False), column, 1))
                program.entries.append((limit(channel, target, True), column, 1))
    return program, room


def best_choice(demand: Demand) -> tuple[Choice | None, bool]:
    """Return the choice that keeps most, and whether that is proven.

    None if there is none (proven), or none was found within the limit of nodes.
    """
    program, _ = _written(demand)
    xs = len(program.columns)
    upper = [float(program.counts[k]) for k, _, _ in program.columns]
    cost = [0.0] * xs
    for column, (k, channel, turned) in enumerate(program.columns):
        u, v = program.keys[k][::-1] if turned else program.keys[k]
        there = demand.joined[channel][(min(u, v), max(u, v)) if demand.shared[channel] else (u, v)]
        if there:
            reward = xs + len(upper) - xs
            row = program.row(0, np.inf)
            program.entries += [(row, column, 1), (row, reward, -1)]
            upper.append(float(there))
            cost.append(-1.0)
    if not program.keys:
        return Choice.straight(np.zeros(0, np.int64)), True
    result = program.solve(np.array(cost), np.array(upper), integral=True)
    if result.x is None:
        return None, result.status == 2
    choice = _choice(demand, program, np.round(result.x[:xs]).astype(np.int64))
    # The solver computes in floating point: take nothing from it unchecked.
    if choice is None or not demand.fits(choice):
        return None, False
    return choice, result.status == 0


def _choice(demand: Demand, program: _Program, amounts: Integers) -> Choice | None:
    given: dict[Ends, list[tuple[int, bool]]] = {key: [] for key in program.keys}
    for (k, channel, turned), amount in zip(program.columns, amounts.tolist(), strict=True):
        given[program.keys[k]] += [(channel, turned)] * amount
    if any(
        len(given[key]) != count for key, count in zip(program.keys, program.counts, strict=True)
    ):
        return None
    taken = [given[ends].pop(0) for ends in demand.links]
    return Choice(
        np.array([channel for channel, _ in taken], np.int64),
        np.array([turned for _, turned in taken], np.bool_),
    )


def missing_ports(demand: Demand, integral: bool) -> list[Missing]:
    """Return fewest additional sites with which all links would fit; empty if none are needed.

    With ``integral`` false this is the relaxation, quick at any size: what it finds missing
    is missing, but nothing missing does not say that the links fit.
    """
    program, room = _written(demand)
    if not program.keys:
        return []
    xs = len(program.columns)
    for number, row in enumerate(room.values()):
        program.entries.append((row, xs + number, -1))
    cost = np.concatenate([np.zeros(xs), np.ones(len(room))])
    upper = np.array([float(program.counts[k]) for k, _, _ in program.columns])
    everything = np.concatenate([upper, np.full(len(room), float(len(demand.sources)))])
    result = program.solve(cost, everything, integral)
    if result.x is None:
        return []
    found = []
    for (channel, node, receives), slack in zip(room, result.x[xs:].tolist(), strict=True):
        if slack > 1e-6:
            found.append(Missing(channel, node, receives, int(np.ceil(slack - 1e-6))))
    return found
