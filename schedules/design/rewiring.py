"""Today's wiring as a second axis of a design: what it takes to reach each point.

That is counted in moves, in seconds of rewiring, or in hosts that are drained meanwhile.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from topoloom.schedules.design.answer import Change, Point, Weighed
from topoloom.synth.errors import DoesNotFit
from topoloom.synth.progress import tell
from topoloom.synth.recipes.build import build
from topoloom.synth.topology.topology import Topology

if TYPE_CHECKING:
    from topoloom.synth.wiring import PatchPlan, Plant

__all__ = ["Today", "changes_to", "not_beaten", "within"]


@dataclass(frozen=True, slots=True)
class Today:
    """What is plugged today, on which plant, and how much of it may change.

    With ``free_hosts`` nodes sit on whichever hosts need least; ``spares`` uses spare ports.
    Of what is ``weighed`` plans take as little as can be found.  ``most_moves``, ``most_seconds``
    and ``most_drained`` are None where any number will do.
    """

    plant: "Plant"
    free_hosts: bool = False
    spares: bool = False
    most_moves: int | None = None
    most_seconds: Fraction | None = None
    most_drained: int | None = None
    weighed: Weighed = "moves"

    @property
    def limits(self) -> dict[Weighed, Fraction]:
        """The limits that are given."""
        said: dict[Weighed, int | Fraction | None] = {
            "moves": self.most_moves,
            "seconds": self.most_seconds,
            "drained": self.most_drained,
        }
        return {one: Fraction(most) for one, most in said.items() if most is not None}

    def allows(self, change: Change) -> bool:
        """Whether a change fits the plant and keeps all limits."""
        return change.moves is not None and all(
            change.taken(one) <= most for one, most in self.limits.items()
        )

    def change_to(self, topology: Topology) -> Change:
        """Return how a topology is reached.

        The plan is chosen for what is weighed.  Where it breaks a limit, one is chosen for that
        limit as well; of plans that keep all limits the one counts that takes least.

        >>> from topoloom.synth.wiring import plan_moves, sized
        >>> ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
        >>> today = Today(sized(ring).with_present(plan_moves(ring, sized(ring)).final))
        >>> today.change_to(ring).moves, today.change_to(ring.transpose()).moves
        (0, 6)
        """
        try:
            found = [self._planned(topology, self.weighed)]
            for one, most in self.limits.items():
                if one != self.weighed and found[0].taken(one) > most:
                    found.append(self._planned(topology, one))
        except DoesNotFit as error:
            return Change(None, refused=error.rule)
        best = min(
            found,
            key=lambda change: (
                not self.allows(change), change.taken(self.weighed), change.moves or 0
            ),
        )  # fmt: skip
        goal = found[0].goal
        # A bound of what is weighed holds for every plan, whatever that was chosen for.
        weighed = None if goal is None else replace(goal, value=best.taken(self.weighed))
        return replace(best, goal=weighed)

    def _planned(self, topology: Topology, weighed: Weighed) -> Change:
        from topoloom.synth.wiring import Objective, plan_moves
        from topoloom.synth.wiring.placement.host_placement import plan_placed

        planned = plan_placed if self.free_hosts else plan_moves
        plan = planned(topology, self.plant, spares=self.spares, objective=Objective(weighed))
        return _change_of(plan)


def _change_of(plan: "PatchPlan") -> Change:
    from topoloom.synth.wiring.ilp.objective import Objective, worth

    seconds, drained = (
        worth(one, plan.plant, plan.removes, plan.adds)
        for one in (Objective.SECONDS, Objective.DRAINED)
    )
    return Change(
        plan.moves, plan.lower_bound, plan.kept, plan.optimal, seconds, int(drained), plan.goal
    )


def changes_to(points: "Sequence[Point]", today: Today) -> tuple[Change, ...]:
    """Return how each point is reached; points on one topology are planned once."""
    found: dict[object, Change] = {}
    for number, point in enumerate(points):
        tell("planning moves", number, len(points))
        recipe = point.measured.recipe
        if recipe not in found:
            found[recipe] = today.change_to(build(recipe))
    return tuple(found[point.measured.recipe] for point in points)


_SAID: dict[Weighed, tuple[str, str]] = {
    "moves": ("/max_moves", "moves"),
    "seconds": ("/max_rewiring_seconds", "seconds"),
    "drained": ("/max_drained", "drained hosts"),
}


def within(
    points: "Sequence[Point]", changes: Sequence[Change], today: Today
) -> "tuple[Point, ...]":
    """Return the points that may be chosen: those that fit, within the limits that are given.

    Raises
    ------
    DoesNotFit
        There is none.
    """
    fitting = [change for change in changes if change.moves is not None]
    if not fitting:
        raise DoesNotFit("/plant", f"no point of the frontier fits: {changes[0].refused}")
    chosen = tuple(p for p, change in zip(points, changes, strict=True) if today.allows(change))
    if not chosen:
        raise _too_much(fitting, today.limits)
    return chosen


def _too_much(changes: Sequence[Change], limits: dict[Weighed, Fraction]) -> DoesNotFit:
    """Return the error of limits that no change keeps: the first that alone is too tight."""
    for one, most in limits.items():
        least = min(change.taken(one) for change in changes)
        if least > most:
            pointer, what = _SAID[one]
            number = int(least) if least.denominator == 1 else float(least)
            return DoesNotFit(
                pointer, f"for no point of the frontier a plan was found below {number} {what}"
            )
    pointer, _ = _SAID[next(iter(limits))]
    words = " and ".join(_SAID[one][1] for one in limits)
    return DoesNotFit(
        pointer, f"for no point of the frontier a plan was found within the limits of {words}"
    )


def not_beaten(
    times: Sequence[Fraction],
    changes: Sequence[Change],
    weighed: Weighed = "moves",
) -> tuple[int, ...]:
    """Return the numbers of points that no other beats in time and what is weighed, fastest first.

    Of points that are equal in both the one of fewest moves stays, and of these the first.

    >>> not_beaten([Fraction(3), Fraction(1), Fraction(2)], [Change(0), Change(9), Change(9)])
    (1, 0)
    """
    order = sorted(
        (seconds, change.taken(weighed), change.moves, number)
        for number, (seconds, change) in enumerate(zip(times, changes, strict=True))
        if change.moves is not None
    )
    found: list[int] = []
    least: Fraction | None = None
    for _, taken, _, number in order:
        if least is None or taken < least:
            found.append(number)
            least = taken
    return tuple(found)
