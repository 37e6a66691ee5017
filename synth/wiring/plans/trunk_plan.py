"""Plans in which links are led over trunks between panels."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from topoloom.synth.errors import DoesNotFit
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring.ilp.objective import Objective, drained
from topoloom.synth.wiring.ilp.objective_rows import Stakes
from topoloom.synth.wiring.plans.infeasibility import require_partners
from topoloom.synth.wiring.plans.patch_plan import PatchPlan, bound_on_any, towards
from topoloom.synth.wiring.plant import Pair
from topoloom.synth.wiring.plant.free_ports import ours
from topoloom.synth.wiring.trunks.trunk_wiring import (
    Trunked,
    demanded,
    fewest,
    led_over_trunks,
    reaches_trunk,
    undecided,
)


def plan_over_trunks(
    topology: Topology,
    over: Trunked,
    objective: Objective,
    on_panels: Callable[[], PatchPlan],
) -> PatchPlan:
    """Return a plan with links over trunks where trunks are needed, or improve the objective.

    ``on_panels`` plans without trunks; it is tried where the trunk program is too large to solve.

    Raises
    ------
    DoesNotFit
        There is no way; the error names ports and trunks that are missing if that is proven.
    """
    ends, plant = over.ends, over.ends.plant
    if ends.duplex:
        require_partners(topology)
    links, _ = demanded(topology, ends.duplex)
    mine = ours(plant, ends.hosts)
    doomed, loose = _lost(over, links, mine)
    removes, adds = fewest(over, links, mine, loose)
    least, bound = removes + adds, bound_on_any(objective, plant, mine, removes, adds)
    try:
        wiring, proven, _ = led_over_trunks(topology, over)
    except DoesNotFit:
        if not undecided(over, links):
            raise
        plan = on_panels()
        plan = replace(plan, lower_bound=least, optimal=plan.moves == least)
        return plan if objective is Objective.MOVES else towards(objective, bound, [plan])
    whole = not loose
    plan = PatchPlan(topology, plant, wiring, least, proven)
    plan = replace(plan, optimal=plan.moves == least or (proven and whole))
    if objective is Objective.MOVES:
        return plan
    stakes = Stakes(objective, plant, Counter(pair.panel for pair in mine), doomed, whole)
    better, _, solved = led_over_trunks(topology, over, stakes)
    plans = [plan, replace(plan, wiring=better)]
    return towards(objective, max(bound, solved) if whole else bound, plans)


def _lost(
    over: Trunked, links: Counter[tuple[int, int]], mine: Sequence[Pair]
) -> tuple[frozenset[int], int]:
    """Return the hosts at pairs that no link of the topology can use as they are.

    Second, how many pairs may serve another link than the one they are of, which is not weighed:
    those that lead to a trunk, and single ones of several that make a link.
    """
    ends, plant = over.ends, over.ends.plant
    ways = [way for pair in links for row in over.today.get(pair, {}).values() for way in row]
    useful = {pair for way in ways for pair in way.pairs}
    node_of = {host: node for node, host in enumerate(ends.hosts)}

    def linked(pair: Pair) -> bool:
        u, v = (node_of.get(host, -1) for host in plant.hosts_of(pair))
        return (u, v) in links or (ends.duplex and (v, u) in links)

    lost = [pair for pair in mine if pair not in useful]
    parts = {pair for pair in mine if reaches_trunk(plant, pair)} | set(filter(linked, lost))
    return drained(plant, lost, plant.present.pairs), len(parts)
