"""Plans whose links are led over panels and trunks, pair by pair."""

from collections.abc import Callable
from dataclasses import replace

from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring import limits
from topoloom.synth.wiring.ilp.objective import Objective
from topoloom.synth.wiring.plans.infeasibility import require_partners
from topoloom.synth.wiring.plans.patch_plan import PatchPlan, bound_on_any, towards
from topoloom.synth.wiring.routes.lead_links import SCOPES, LedWiring, LinkLeader
from topoloom.synth.wiring.routes.resources import Resources
from topoloom.synth.wiring.routes.route_program import TooLarge


def plan_over_trunks(
    topology: Topology,
    resources: Resources,
    objective: Objective,
    on_panels: Callable[[], PatchPlan],
) -> PatchPlan:
    """Return a plan with links over trunks where trunks are needed, or improve the objective.

    ``on_panels`` plans without trunks; it is tried where the program is too large to solve.

    Raises
    ------
    DoesNotFit
        There is no way; the error names ports and trunks that are missing if that is proven.
    """
    if resources.duplex:
        require_partners(topology)
    leader, plant = LinkLeader(topology, resources), resources.plant
    removes, adds = leader.fewest()

    def planned(led: LedWiring) -> PatchPlan:
        return PatchPlan(topology, plant, led.wiring, int(max(led.bound, removes + adds)))

    try:
        plans = [planned(leader.led(limits.MAX_TRUNK_VARIABLES))]
    except TooLarge:
        plans = [replace(on_panels(), lower_bound=removes + adds)]
    if objective is Objective.MOVES:
        return plans[0]
    bound = bound_on_any(objective, plant, resources.mine, removes, adds)
    try:
        better = leader.led(limits.MAX_TRUNK_VARIABLES, objective)
    except TooLarge:
        return towards(objective, bound, plans)
    plans.append(replace(plans[0], wiring=better.wiring))
    return towards(objective, max(bound, better.bound), plans)


def by_parts(plan: PatchPlan, resources: Resources) -> PatchPlan:
    """Return a plan of the fewest moves on panels, where single pairs of a link may stay.

    The same plan if it meets its bound, or if the program is too large.
    """
    if plan.optimal or resources.most_strands < 2:
        return plan
    try:
        led = LinkLeader(plan.topology, resources).led(
            limits.MAX_EXACT_VARIABLES, scopes=SCOPES[:1]
        )
    except TooLarge:
        return plan
    better = replace(plan, wiring=led.wiring, lower_bound=int(max(led.bound, plan.lower_bound)))
    return min((better, replace(plan, lower_bound=better.lower_bound)), key=lambda plan: plan.moves)
