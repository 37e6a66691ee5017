"""Simulation of schedules that run at once on one topology, each with its own size of data."""

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.model.schedule import (
    RouteSchedule,
    Schedule,
    SequenceSchedule,
    TreeSchedule,
)
from topoloom.schedules.simulate.clock import Network
from topoloom.schedules.simulate.engine import CHOSEN_MESSAGES
from topoloom.schedules.simulate.lockstep import lockstep_of
from topoloom.schedules.simulate.messages import Messages, messages_of
from topoloom.schedules.simulate.routes_as_chains import routes_as_chains
from topoloom.schedules.simulate.run_messages import Simulation, run_messages
from topoloom.synth.topology.topology import Topology

Ints = NDArray[np.int64]


def simulate_together(
    sized: Sequence[tuple[Schedule, int]],
    topology: Topology,
    network: Network,
    *,
    chunks: int | None = None,
) -> Simulation:
    """Return the time until all schedules end that start at once.

    Every link sends the messages of all schedules in turn, as trees of one schedule
    (`schedules.simulate.simulate`).

    Args:
        sized: Valid schedules of trees or routes, and the size of each in bytes, as for `simulate`.
        topology, network: As for `simulate`.
        chunks: Pieces of every message.  Default: the best in lock step.

    Raises:
        NoSchedule: A schedule has steps or passes in sequence, or links of the topology share a
            limit.
        InvalidSchedule, TooLarge: As `simulate`.

    >>> from topoloom.schedules.model.schedule import Collective, Route
    >>> pair = Topology("ab", [("a", "b"), ("b", "a")])
    >>> routes = (Route(("a", "b"), 1), Route(("b", "a"), 1))
    >>> swap = RouteSchedule(Collective.ALL_TO_ALL, pair.digest, ("a", "b"), 1, routes)
    >>> simulate_together([(swap, 20), (swap, 40)], pair, Network(Fraction(1), 10)).seconds
    Fraction(4, 1)
    """
    if topology.shared:
        raise NoSchedule("/topology", "has links that share a limit: only their rates are known")
    if chunks is not None and chunks < 1:
        raise NoSchedule("/chunks", "must be at least 1")
    messages = _joined([(_messages(one, topology), size) for one, size in sized])
    if chunks is None:
        most = CHOSEN_MESSAGES // max(1, len(messages.units))
        chunks = lockstep_of(messages, network, 1).best_chunks(max(1, most))
    return run_messages(messages, network, 1, chunks, synchronous=False)


def _messages(schedule: Schedule, topology: Topology) -> Messages:
    if isinstance(schedule, RouteSchedule):
        schedule = routes_as_chains(schedule, topology.switches)
    if isinstance(schedule, SequenceSchedule) and schedule.together:
        return messages_of(schedule, topology)
    if not isinstance(schedule, TreeSchedule):
        raise NoSchedule("/kind", "must be trees or routes where several schedules run at once")
    return messages_of(schedule, topology)


def _joined(parts: Sequence[tuple[Messages, int]]) -> Messages:
    """Return the messages of all parts by level; a unit is in bytes."""
    units = [one.unit * size for one, size in parts]
    scale = lcm(*(unit.denominator for unit in units))
    common = gcd(*(int(unit * scale) for unit in units))
    found = [one for one, _ in parts]
    levels = np.concatenate(
        [np.repeat(np.arange(len(one.starts) - 1), np.diff(one.starts)) for one in found]
    )
    order = np.argsort(levels, kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    first = np.cumsum([0, *(len(one.units) for one in found)]).tolist()
    weights = [
        weight * int(unit * scale) // common
        for (one, _), unit in zip(parts, units, strict=True)
        for weight in one.units
    ]
    needs = [place[one.needs + start] for one, start in zip(found, first, strict=False)]
    hop_start, hops = _gathered([(one.hop_start, one.hops) for one in found], order)
    need_start, needed = _gathered(
        [(one.need_start, need) for one, need in zip(found, needs, strict=True)], order
    )
    return found[0]._replace(
        units=[weights[at] for at in order.tolist()],
        unit=Fraction(common, scale),
        hop_start=hop_start,
        hops=hops,
        starts=_starts(np.bincount(levels)),
        need_start=need_start,
        needs=needed,
        first_chunk=np.concatenate([one.first_chunk for one in found])[order],
        chunk_count=np.concatenate([one.chunk_count for one in found])[order],
        opens=np.concatenate([one.opens for one in found])[order],
    )


def _gathered(rows: Sequence[tuple[Ints, Ints]], order: Ints) -> tuple[Ints, Ints]:
    """Return the rows of all parts in another order, as starts and values."""
    counts = np.concatenate([np.diff(starts) for starts, _ in rows])
    values = np.concatenate([values for _, values in rows])
    ends = np.cumsum(counts)
    starts = _starts(counts[order])
    shift = np.repeat((ends - counts)[order] - starts[:-1], counts[order])
    return starts, values[np.arange(len(values)) + shift]


def _starts(counts: Ints) -> Ints:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]).astype(np.int64)
