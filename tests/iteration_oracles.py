"""Slow but obvious: max-min fair speeds, the simulation of an iteration, greatest loads."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from topoloom.schedules.iterations.communications import Network
from topoloom.schedules.iterations.event_simulation import simulate
from topoloom.schedules.iterations.iteration import Iteration, free_iteration_seconds
from topoloom.schedules.iterations.job_plan import JobPlan
from topoloom.schedules.iterations.link_sharing import Row
from topoloom.schedules.iterations.operations import Operation

Shares = Mapping[int, Sequence[Fraction]]


def simulate_iteration(plan: JobPlan, network: Network) -> Iteration:
    """Return one iteration of a job."""
    routed = plan.on(network)
    timeline = simulate(routed.operations, routed.shares, plan.order)
    return Iteration(plan, routed, timeline, free_iteration_seconds(plan))


def shares_of(row: Row) -> list[Fraction]:
    """Return the shares of all links."""
    return [Fraction(load, row.peak) for load in row.loads.tolist()]


def fair_speeds(shares: Shares) -> dict[int, Fraction]:
    """Return max-min fair speeds: raise all, fix those on a full link, repeat."""
    found: dict[int, Fraction] = {}
    links = range(max(map(len, shares.values()), default=0))
    rising = set(shares)
    while rising:
        level, full = Fraction(1), list[int]()
        for link in links:
            use = {row: one[link] for row, one in shares.items() if link < len(one)}
            slope = sum((use.get(row, 0) for row in rising), Fraction(0))
            if slope:
                fixed = sum((use.get(row, 0) * speed for row, speed in found.items()), Fraction(0))
                at = (1 - fixed) / slope
                if at < level:
                    level, full = at, []
                if at == level:
                    full.append(link)
        stopped = {
            row
            for row in rising
            if level == 1 or any(link < len(shares[row]) and shares[row][link] for link in full)
        }
        found |= dict.fromkeys(stopped, level)
        rising -= stopped
    return found


def simulated(
    operations: Sequence[Operation], rows: Sequence[Row]
) -> list[tuple[Fraction, Fraction]]:
    """Return exact start and end of every operation, by one event after another.

    Time is a fraction: no clock with ticks, no components, no caches.
    """
    count = len(operations)
    before: list[set[int]] = []
    last: dict[str, int] = {}
    for index, one in enumerate(operations):
        before.append({*one.after, *([last[one.stream]] if one.stream in last else [])})
        last[one.stream] = index
    start, end = dict[int, Fraction](), dict[int, Fraction]()
    latency: dict[int, Fraction] = {}
    left: dict[int, Fraction] = {}
    now = Fraction(0)
    while len(end) < count:
        changed = True
        while changed:
            changed = False
            for index, one in enumerate(operations):
                if index not in start and before[index] <= end.keys():
                    start[index], latency[index] = now, one.seconds
                    changed = True
                if latency.get(index) == 0:
                    del latency[index]
                    if one.traffic is None or not one.transfer:
                        end[index] = now
                    else:
                        left[index] = one.transfer
                    changed = True
                if left.get(index) == 0:
                    del left[index]
                    end[index] = now
                    changed = True
        row_of = {index: operations[index].traffic or 0 for index in left}
        fair = fair_speeds({row: shares_of(rows[row]) for row in row_of.values()})
        speed = {index: fair[row] for index, row in row_of.items()}
        steps = [*latency.values(), *(left[index] / speed[index] for index in left)]
        if not steps:
            break
        step = min(steps)
        now += step
        latency = {index: one - step for index, one in latency.items()}
        left = {index: one - step * speed[index] for index, one in left.items()}
    return [(start[index], end[index]) for index in range(count)]
