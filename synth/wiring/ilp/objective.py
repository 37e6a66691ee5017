"""What a plan is chosen for: fewest moves, least time, or fewest hosts that are drained.

Time is that of one stage: all pairs go, then all come; panels work at the same time, each makes
so many moves at once.  A host is drained where light of one of its ports is taken away.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from topoloom.synth.wiring.plant import Pair, Plant
from topoloom.synth.wiring.plant.light_paths import ways


class Objective(StrEnum):
    """What there shall be least of; among plans of as little of it, fewer moves are better."""

    MOVES = "moves"
    SECONDS = "seconds"
    DRAINED = "drained"


@dataclass(frozen=True, slots=True)
class Goal:
    """How much of its objective a plan takes: seconds, or hosts.

    No plan with the same freedom takes less than ``lower_bound``.
    """

    objective: Objective
    value: Fraction
    lower_bound: Fraction

    @property
    def gap(self) -> Fraction:
        """What the plan may be away from the best."""
        return self.value - self.lower_bound

    @property
    def optimal(self) -> bool:
        """Whether no plan takes less."""
        return self.value == self.lower_bound


def worth(
    objective: Objective, plant: Plant, removes: Iterable[Pair], adds: Iterable[Pair]
) -> Fraction:
    """Return what moves away from what is plugged on a plant take of an objective.

    >>> from topoloom.synth.wiring.plant import Present, uniform
    >>> plant = uniform("single", hosts=3, lanes=1).with_present(Present.of([(0, 0, 1)]))
    >>> [int(worth(one, plant, [Pair(0, 0, 1)], [Pair(0, 0, 2)])) for one in Objective]
    [2, 0, 2]
    """
    gone, come = tuple(removes), tuple(adds)
    if objective is Objective.SECONDS:
        return seconds(plant, gone) + seconds(plant, come)
    if objective is Objective.DRAINED:
        return Fraction(len(drained(plant, gone, plant.present.pairs)))
    return Fraction(len(gone) + len(come))


def panel_seconds(plant: Plant, panel: int, moves: int) -> Fraction:
    """Return how long so many moves take on a panel."""
    made = plant.panels[panel]
    return made.move_seconds * -(-moves // made.at_once)


def seconds(plant: Plant, pairs: Iterable[Pair]) -> Fraction:
    """Return how long moves take that all panels begin at once."""
    counts = Counter(pair.panel for pair in pairs)
    times = (panel_seconds(plant, panel, count) for panel, count in counts.items())
    return max(times, default=Fraction(0))


def drained(plant: Plant, gone: Iterable[Pair], plugged: Iterable[Pair]) -> frozenset[int]:
    """Return the hosts, by number, at the ends of pairs of what is plugged that are taken away.

    Where a way leads over trunks the hosts at both its ends are drained with any of its pairs.
    """
    taken = set(gone)
    hosts = {host for pair in taken for host in plant.hosts_of(pair)}
    if taken and plant.trunk_ends:
        for way in ways(plant, plugged):
            if not taken.isdisjoint(way.pairs):
                hosts |= {plant.at[way.start][0], plant.at[way.end][0]}
    return frozenset(hosts - {-1})
