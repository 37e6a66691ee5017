"""The number of pieces of trees with the least simulated time found."""

from fractions import Fraction

from topoloom.schedules.model.schedule import TreeSchedule
from topoloom.schedules.simulate import Network, simulate
from topoloom.synth.topology.topology import Topology


def best_chunks(
    schedule: TreeSchedule, topology: Topology, network: Network, size_bytes: int, most: int = 1024
) -> tuple[int, Fraction]:
    """Return the number of pieces with the least simulated time found, and that time.

    The search tries powers of two up to ``most``, then moves up or down from the best by steps
    that halve when neither is better.  The time need not be convex in the number of pieces, so
    the result need not be the minimum.
    """
    known: dict[int, Fraction] = {}

    def time(chunks: int) -> Fraction:
        if chunks not in known:
            found = simulate(schedule, topology, network, size_bytes=size_bytes, chunks=chunks)
            known[chunks] = found.seconds
        return known[chunks]

    grid = sorted({*(1 << power for power in range(most.bit_length())), most})
    best = min(grid, key=time)
    gap = max(1, best // 4)
    while True:
        near = [c for c in (best - gap, best + gap) if 1 <= c <= most]
        better = min([best, *near], key=lambda chunks: (time(chunks), chunks))
        if better == best and gap == 1:
            return best, time(best)
        if better == best:
            gap = (gap + 1) // 2
        best = better
