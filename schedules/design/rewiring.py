"""The changes from today's wiring to each point, as a second axis of a design.

The changes count as moves, seconds of rewiring, or hosts drained meanwhile.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from topoloom.schedules.design.answer import Change, DesignPoint, Weighed
from topoloom.synth.errors import DoesNotFit
from topoloom.synth.progress import report_progress
from topoloom.synth.recipes.build import build
from topoloom.synth.topology.topology import Topology

if TYPE_CHECKING:
    from topoloom.synth.wiring import PatchPlan, Plant


@dataclass(frozen=True, slots=True)
class CurrentWiring:
    """Today's wiring and plant, and the limits on changes.

    With ``free_hosts``, nodes take the hosts that need the fewest changes; ``spares`` permits the
    use of spare ports.  Plans minimize the objective ``weighed``.  ``most_moves``, ``most_seconds``
    and ``most_drained`` are None without a limit.
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
        """The given limits."""
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
        """Return the change to a topology.

        The plan is chosen for the objective.  Where the plan breaks a limit, another is chosen for
        that limit.  Of the plans that keep all limits, the one with the least objective counts.

        >>> from topoloom.synth.wiring import plan_moves, smallest_plant
        >>> ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
        >>> plant = smallest_plant(ring)
        >>> today = CurrentWiring(plant.with_present(plan_moves(ring, plant).final))
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
        # A lower bound on the objective holds for every plan.
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


def planned_changes(points: "Sequence[DesignPoint]", today: CurrentWiring) -> tuple[Change, ...]:
    """Return the change to each point; points on one topology are planned once."""
    found: dict[object, Change] = {}
    for number, point in enumerate(points):
        report_progress("planning moves", number, len(points))
        recipe = point.measured.recipe
        if recipe not in found:
            found[recipe] = today.change_to(build(recipe))
    return tuple(found[point.measured.recipe] for point in points)


_SAID: dict[Weighed, tuple[str, str]] = {
    "moves": ("/max_moves", "moves"),
    "seconds": ("/max_rewiring_seconds", "seconds"),
    "drained": ("/max_drained", "drained hosts"),
}


def allowed_points(
    points: "Sequence[DesignPoint]", changes: Sequence[Change], today: CurrentWiring
) -> "tuple[DesignPoint, ...]":
    """Return the points to choose from: those that fit, within the given limits.

    Raises:
        DoesNotFit: There is no such point.
    """
    fitting = [change for change in changes if change.moves is not None]
    if not fitting:
        raise DoesNotFit("/plant", f"no point of the frontier fits: {changes[0].refused}")
    chosen = tuple(p for p, change in zip(points, changes, strict=True) if today.allows(change))
    if not chosen:
        raise _too_much(fitting, today.limits)
    return chosen


def _too_much(changes: Sequence[Change], limits: dict[Weighed, Fraction]) -> DoesNotFit:
    """Return the error of limits that no change keeps: the first limit that fails by itself."""
    for one, most in limits.items():
        least = min(change.taken(one) for change in changes)
        if least > most:
            pointer, what = _SAID[one]
            number = int(least) if least.denominator == 1 else float(least)
            return DoesNotFit(
                pointer, f"the least found on any point of the frontier is {number} {what}"
            )
    pointer, _ = _SAID[next(iter(limits))]
    words = " and ".join(_SAID[one][1] for one in limits)
    return DoesNotFit(
        pointer, f"no plan found on any point of the frontier keeps the limits of {words}"
    )


def pareto_front(
    times: Sequence[Fraction],
    changes: Sequence[Change],
    weighed: Weighed = "moves",
) -> tuple[int, ...]:
    """Return the indices of points on the Pareto front of time and objective, fastest first.

    Ties in both go to fewer moves, then to the first point.

    >>> pareto_front([Fraction(3), Fraction(1), Fraction(2)], [Change(0), Change(9), Change(9)])
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
