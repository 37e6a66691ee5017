"""Objectives of a plan: fewest moves, least time, or fewest drained hosts.

Time assumes one stage: all removes, then all adds.  Panels work at the same time, each with its
number of simultaneous moves.  A host is drained if one of its ports loses light.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from topoloom.synth.wiring.plant import Pair, Plant
from topoloom.synth.wiring.plant.light_paths import ways


class Objective(StrEnum):
    """Quantity to minimize; ties are broken by fewer moves."""

    MOVES = "moves"
    SECONDS = "seconds"
    DRAINED = "drained"


@dataclass(frozen=True, slots=True)
class Goal:
    """Value of the objective of a plan: seconds, or hosts.

    ``lower_bound`` holds for all plans with the same freedom.
    """

    objective: Objective
    value: Fraction
    lower_bound: Fraction

    @property
    def gap(self) -> Fraction:
        """Upper bound of the distance of the plan from the optimum."""
        return self.value - self.lower_bound

    @property
    def optimal(self) -> bool:
        """Whether no plan takes less."""
        return self.value == self.lower_bound


def worth(
    objective: Objective, plant: Plant, removes: Iterable[Pair], adds: Iterable[Pair]
) -> Fraction:
    """Return the value of an objective for moves from the plugged pairs of a plant.

    >>> from topoloom.synth.wiring.plant import Present, uniform
    >>> plant = uniform("single", hosts=3, lanes=1).with_present(Present.of([(0, 0, 1)]))
    >>> [int(worth(one, plant, [Pair(0, 0, 1)], [Pair(0, 0, 2)])) for one in Objective]
    [2, 0, 2]
    """
    gone, come = tuple(removes), tuple(adds)
    if objective is Objective.SECONDS:
        return seconds(plant, gone) + seconds(plant, come)
    if objective is Objective.DRAINED:
        return Fraction(len(drained_hosts(plant, gone, plant.present.pairs)))
    return Fraction(len(gone) + len(come))


def panel_seconds(plant: Plant, panel: int, moves: int) -> Fraction:
    """Return the seconds that a number of moves takes on a panel."""
    made = plant.panels[panel]
    return made.move_seconds * -(-moves // made.at_once)


def seconds(plant: Plant, pairs: Iterable[Pair]) -> Fraction:
    """Return how long moves take that all panels begin at once."""
    counts = Counter(pair.panel for pair in pairs)
    times = (panel_seconds(plant, panel, count) for panel, count in counts.items())
    return max(times, default=Fraction(0))


def drained_hosts(plant: Plant, gone: Iterable[Pair], plugged: Iterable[Pair]) -> frozenset[int]:
    """Return the numbers of the hosts at the ends of removed pairs.

    Removing any pair of a path over trunks drains the hosts at both ends of the path.
    """
    taken = set(gone)
    hosts = {host for pair in taken for host in plant.hosts_of(pair)}
    if taken and plant.trunk_ends:
        for way in ways(plant, plugged):
            if not taken.isdisjoint(way.pairs):
                hosts |= {plant.at[way.start][0], plant.at[way.end][0]}
    return frozenset(hosts - {-1})
