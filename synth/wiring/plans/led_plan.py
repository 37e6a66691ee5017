"""Plans whose links are led over panels and trunks, pair by pair, by an integer program."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from topoloom.synth.errors import DoesNotFit
from topoloom.synth.wiring import limits
from topoloom.synth.wiring.ilp.objective import Objective
from topoloom.synth.wiring.plans.infeasibility import require_partners
from topoloom.synth.wiring.plans.patch_plan import PatchPlan, bound_on_any, towards
from topoloom.synth.wiring.routes.lead_links import LedWiring, LinkLeader
from topoloom.synth.wiring.routes.route_program import TooLarge


def plan_over_trunks(
    leader: LinkLeader, objective: Objective, on_panels: Callable[[], PatchPlan]
) -> PatchPlan:
    """Return a plan with links over trunks where trunks are needed, or improve the objective.

    ``on_panels`` plans without trunks; it is tried where the program is too large to solve.

    Raises:
        DoesNotFit: There is no way; the error names ports and trunks that are missing if that is
            proven.
    """
    found = leader.resources
    if found.duplex:
        require_partners(leader.topology)
    removes, adds = leader.fewest()
    try:
        plan = plan_for_moves(leader, leader.led(limits.MAX_PATH_VARIABLES), removes + adds)
    except TooLarge:
        plan = replace(on_panels(), lower_bound=removes + adds)
    if objective is Objective.MOVES:
        return plan
    bound = bound_on_any(objective, found.plant, found.mine, removes, adds)
    return plan_for_objective(leader, objective, [plan], bound, limits.MAX_PATH_VARIABLES)


def plan_for_moves(leader: LinkLeader, led: LedWiring, bound: int) -> PatchPlan:
    """Return a plan of a wiring whose objective is moves; ``bound`` is another lower bound."""
    return PatchPlan(
        leader.topology, leader.resources.plant, led.wiring, int(max(led.bound, bound))
    )


def fewer(leader: LinkLeader, plan: PatchPlan, most: int) -> PatchPlan:
    """Return a plan of the fewest moves on panels, where single pairs of a link may stay.

    The same plan if it meets its bound, or if the program has more than ``most`` variables.
    """
    if plan.optimal:
        return plan
    try:
        led = leader.led(most)
    except (TooLarge, DoesNotFit):  # The program may find nothing within its limit of nodes.
        return plan
    better = plan_for_moves(leader, led, plan.lower_bound)
    return min((better, replace(plan, lower_bound=better.lower_bound)), key=lambda plan: plan.moves)


def plan_for_objective(
    leader: LinkLeader,
    objective: Objective,
    plans: Sequence[PatchPlan],
    bound: Fraction,
    most: int = limits.MAX_EXACT_VARIABLES,
) -> PatchPlan:
    """Return the best of some plans and of the program's plan for an objective.

    Args:
        objective: Not moves.
        plans: The first is the one with the fewest moves.
        bound: A lower bound of the objective.
        most: Columns up to which the program is solved; its relaxation is solved up to
            `limits.MAX_RELAXED_VARIABLES`.
    """
    try:
        led = leader.led(most, objective)
        plans, bound = [*plans, replace(plans[0], wiring=led.wiring)], max(bound, led.bound)
    except DoesNotFit:
        pass
    except TooLarge:
        bound = max(bound, leader.relaxed(limits.MAX_RELAXED_VARIABLES, objective))
    return towards(objective, bound, plans)
