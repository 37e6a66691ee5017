"""Today's wiring as a second axis of a design: how many moves it takes to each point."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from schedules.design.answer import Point
from synth.build import build
from synth.errors import DoesNotFit
from synth.progress import tell
from synth.topology import Topology

if TYPE_CHECKING:
    from synth.wiring import Plant

__all__ = ["Change", "Today", "changes_to", "not_beaten", "within"]


@dataclass(frozen=True, slots=True)
class Change:
    """How a topology is reached from today's wiring.

    ``moves`` is None, and ``refused`` says why, where it does not fit the plant.  No plan has
    fewer moves than ``lower_bound``; with ``optimal`` none has fewer than ``moves``.
    """

    moves: int | None
    lower_bound: int = 0
    kept: int = 0
    optimal: bool = False
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Today:
    """What is plugged today, on which plant, and how much of it may change.

    With ``free_hosts`` nodes sit on whichever hosts need fewest moves; ``spares`` uses spare
    ports; ``most_moves`` is None where any number will do.
    """

    plant: "Plant"
    free_hosts: bool = False
    spares: bool = False
    most_moves: int | None = None

    def change_to(self, topology: Topology) -> Change:
        """Return how a topology is reached.

        >>> from synth.wiring import plan_moves, sized
        >>> ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
        >>> today = Today(sized(ring).with_present(plan_moves(ring, sized(ring)).final))
        >>> today.change_to(ring).moves, today.change_to(ring.transpose()).moves
        (0, 6)
        """
        from synth.wiring import plan_moves
        from synth.wiring.placing import plan_placed

        planned = plan_placed if self.free_hosts else plan_moves
        try:
            plan = planned(topology, self.plant, spares=self.spares)
        except DoesNotFit as error:
            return Change(None, refused=error.rule)
        return Change(plan.moves, plan.lower_bound, plan.kept, plan.optimal)


def changes_to(points: Sequence[Point], today: Today) -> tuple[Change, ...]:
    """Return how each point is reached; points on one topology are planned once."""
    found: dict[object, Change] = {}
    for number, point in enumerate(points):
        tell("planning moves", number, len(points))
        recipe = point.measured.recipe
        if recipe not in found:
            found[recipe] = today.change_to(build(recipe))
    return tuple(found[point.measured.recipe] for point in points)


def within(points: Sequence[Point], changes: Sequence[Change], today: Today) -> tuple[Point, ...]:
    """Return the points that may be chosen: those that fit, within the moves that are allowed.

    Raises
    ------
    DoesNotFit
        There is none.
    """
    fitting = [(change.moves, p) for p, change in zip(points, changes, strict=True)
               if change.moves is not None]  # fmt: skip
    if not fitting:
        raise DoesNotFit("/plant", f"no point of the frontier fits: {changes[0].refused}")
    most = today.most_moves
    chosen = tuple(point for moves, point in fitting if most is None or moves <= most)
    if not chosen:
        least = min(moves for moves, _ in fitting)
        raise DoesNotFit(
            "/max_moves", f"for no point of the frontier a plan was found below {least} moves"
        )
    return chosen


def not_beaten(times: Sequence[Fraction], changes: Sequence[Change]) -> tuple[int, ...]:
    """Return the numbers of points that no other beats in time and moves, fastest first.

    Of points of equal time and moves the first stays.

    >>> not_beaten([Fraction(3), Fraction(1), Fraction(2)], [Change(0), Change(9), Change(9)])
    (1, 0)
    """
    order = sorted(
        (seconds, change.moves, number)
        for number, (seconds, change) in enumerate(zip(times, changes, strict=True))
        if change.moves is not None
    )
    found: list[int] = []
    fewest: int | None = None
    for _, moves, number in order:
        if fewest is None or moves < fewest:
            found.append(number)
            fewest = moves
    return tuple(found)
