"""The fewest moves from today's wiring to a topology.

The plan chooses the port of each link at its hosts, and the panel of each link.  The host of each
node is given here; `synth.wiring.placement.host_placement` chooses hosts.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from topoloom.synth.errors import DoesNotFit
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring import limits
from topoloom.synth.wiring.assignment.assign_channels import choose
from topoloom.synth.wiring.assignment.channel_swaps import improve_by_exchanges
from topoloom.synth.wiring.assignment.channels import Supply, supply
from topoloom.synth.wiring.assignment.demand import Demand
from topoloom.synth.wiring.assignment.realize import demand_of, links_with_channels
from topoloom.synth.wiring.assignment.secondary_objective import aim_of
from topoloom.synth.wiring.ilp.objective import Objective
from topoloom.synth.wiring.plans.infeasibility import advice, require_room
from topoloom.synth.wiring.plans.led_plan import (
    fewer,
    plan_for_moves,
    plan_for_objective,
    plan_over_trunks,
)
from topoloom.synth.wiring.plans.patch_plan import PatchPlan
from topoloom.synth.wiring.plans.spare_port import SparePort, with_spare_port
from topoloom.synth.wiring.plant import Plant, Present, State
from topoloom.synth.wiring.routes.lead_links import LedWiring, LinkLeader
from topoloom.synth.wiring.routes.link_wiring import Wiring
from topoloom.synth.wiring.routes.resources import Resources, resources_of
from topoloom.synth.wiring.routes.route_program import TooLarge


def seats(topology: Topology, plant: Plant, hosts: Sequence[int] | None = None) -> tuple[int, ...]:
    """Return the default host of every node, or the given hosts after a check.

    On a plant of named hosts, a node sits on the host of its name if every node has such a host.
    Otherwise nodes sit, in order, on the hosts that are neither dead, reserved nor spare.

    Raises:
        DoesNotFit: The topology has switches or too many nodes, or a given host is not there.
    """
    if topology.switches:
        name = min(map(str, topology.switches))
        raise DoesNotFit("/nodes", f"only hosts can be wired to panels; {name!r} is a switch")
    count = topology.node_count
    if hosts is not None:
        if len(hosts) != count or len(set(hosts)) != count:
            raise DoesNotFit("/nodes", f"{count} nodes need as many different hosts")
        if not all(0 <= host < len(plant.hosts) for host in hosts):
            raise DoesNotFit("/nodes", f"hosts are numbered from 0 to {len(plant.hosts) - 1}")
        return tuple(hosts)
    if plant.uniform is None:
        named = [plant.host_index.get(str(node)) for node in topology.nodes]
        if None not in named:
            return tuple(host for host in named if host is not None)
    free = [i for i, host in enumerate(plant.hosts) if host.state is State.FREE]
    if count > len(free):
        raise DoesNotFit("/nodes", f"{count} nodes need as many hosts; there are {len(free)}")
    return tuple(free[:count])


def plan_moves(
    topology: Topology,
    plant: Plant,
    present: Present | None = None,
    *,
    hosts: Sequence[int] | None = None,
    spares: bool = False,
    objective: Objective = Objective.MOVES,
) -> PatchPlan:
    """Return a wiring of the topology that is reached from today's by few moves.

    Args:
        topology: No switches; regular or not, parallel links welcome.  Every link takes one port at
            each end whatever its capacity.  On duplex ports it must be bidirectional.
        present: Pairs plugged today; by default those of the plant.  Pairs between hosts that are
            not nodes of the topology, foreign pairs, and pairs on reserved ports stay.  Every other
            pair that carries no link of the topology is removed.
        hosts: The number of the host of every node; by default as in `seats`.
        spares: Whether spare ports are used.
        objective: Quantity to minimize; ties are broken by few moves.

    Returns:
        Same input, same plan.  Its ``goal`` is set where the objective is not moves, and
        ``with_spare_port`` where all ports are in use and one more at every host saves moves.

    Raises:
        DoesNotFit: The topology has switches, too many nodes or too large a degree, or there is no
            way over the panels; the error says which panel lacks ports of which host, if that is
            proven.
        InvalidPlant: A present port does not exist or is in two pairs.

    Lower bound.  A pair can stay only if it joins the two hosts of a link, so k is at most
    the size of the multiset intersection of today's host pairs and those of the links;
    ``lower_bound`` is the moves at that k, or at what `synth.wiring.assignment.assign_channels`
    proves.

    How the panels are chosen: `synth.wiring.assignment.assign_channels`, and
    `synth.wiring.assignment.secondary_objective` for least time or fewest drained hosts.  Within a
    channel every kept link keeps its ports, and any free ports serve the others.

    >>> from topoloom.synth.wiring.plant import smallest_plant
    >>> there = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    >>> back = there.transpose()
    >>> plant = smallest_plant(there)
    >>> first = plan_moves(there, plant)
    >>> first.moves, plan_moves(there, plant, first.final).moves
    (3, 0)
    >>> plan = plan_moves(back, plant, first.final)
    >>> plan.moves, plan.kept, plan.lower_bound, plan.optimal
    (6, 0, 6, True)
    """
    if present is not None and present != plant.present:
        plant = plant.with_present(present)
    at = seats(topology, plant, hosts)
    leader = LinkLeader(topology, resources_of(plant, at, spares))
    if leader.resources.trunks:
        return plan_over_trunks(leader, objective, lambda: _on_panels(leader, spares))
    return _on_panels(leader, spares, objective)


def _on_panels(
    leader: LinkLeader, spares: bool, objective: Objective = Objective.MOVES
) -> PatchPlan:
    """Plan with every link on one panel, or one for each of its lanes."""
    topology, resources, found = leader.topology, leader.resources, supply(leader.resources)
    require_room(topology, found)
    demand = demand_of(topology, found)
    chosen = choose(demand)
    removes, adds = _fewest(resources, demand, demand.most_kept() if chosen is None else chosen[1])
    if chosen is None:
        plan = plan_for_moves(leader, _decided(leader, found, spares), removes + adds)
    else:
        wiring = leader.wiring(links_with_channels(found, demand, chosen[0]))
        several, one = limits.MAX_SEVERAL_VARIABLES, limits.MAX_EXACT_VARIABLES
        most = several if demand.has_several_sites else one
        plan = fewer(leader, PatchPlan(topology, resources.plant, wiring, removes + adds), most)
    plan = replace(plan, with_spare_port=_with_spare_port(resources, demand, plan.moves))
    if objective is Objective.MOVES:
        return plan
    aim, plans = aim_of(objective, found, demand, (removes, adds)), [plan]
    if chosen is not None:
        choice = improve_by_exchanges(demand, chosen[0], aim.stakes, aim.pairs, resources.hosts)
        plans.append(
            replace(plan, wiring=leader.wiring(links_with_channels(found, demand, choice)))
        )
    return plan_for_objective(leader, objective, plans, aim.bound)


def _decided(leader: LinkLeader, found: Supply, spares: bool) -> LedWiring:
    """Decide by integer program whether there is any wiring, where the search found none."""
    topology, hosts = leader.topology, leader.resources.hosts
    try:
        return leader.led(limits.MAX_PATH_VARIABLES)
    except TooLarge:
        error = leader.refused()
    except DoesNotFit as refused:
        error = refused

    def fits(plant: Plant) -> bool:
        try:
            plan_moves(topology, plant, hosts=hosts, spares=spares)
        except DoesNotFit:
            return False
        return True

    raise DoesNotFit("/links", error.rule + advice(found, topology, fits))


def assign_ports(topology: Topology, plant: Plant) -> Wiring:
    """Return a wiring of the topology on the plant, as if nothing were plugged but foreign pairs.

    >>> from topoloom.synth.wiring.plant import smallest_plant
    >>> ring = Topology(range(3), [(0, 1), (1, 2), (2, 0), (0, 2)])
    >>> [route[0].panel for route in assign_ports(ring, smallest_plant(ring)).routes]
    [0, 1, 0, 0]
    """
    foreign = plant.present.foreign
    return plan_moves(topology, plant, Present.of(foreign, foreign)).wiring


def _fewest(found: Resources, demand: Demand, most: int) -> tuple[int, int]:
    """Return removes and adds that no wiring on these hosts can undercut.

    ``most`` is the number of whole links that stay at most.
    """
    node_of = {host: node for node, host in enumerate(found.hosts)}
    today: Counter[tuple[int, int]] = Counter()
    for pair in found.joins:
        u, v = (node_of[host] for host in found.plant.hosts_of(pair))
        today[(min(u, v), max(u, v)) if found.duplex else (u, v)] += 1
    least, most_pairs = _pairs_of_a_link(found)
    links = Counter(demand.links)
    kept = sum(min(today[ends], count * most_pairs) for ends, count in links.items())
    if (least, most_pairs) == (1, 1):
        # Of several pairs that make one link some may be plugged: whole links say less of them.
        kept = min(kept, most)
    mine = len(found.mine)
    return max(mine - kept, 0), max(links.total() * least - kept, 0)


def _with_spare_port(found: Resources, demand: Demand, moves: int) -> SparePort | None:
    """Return the moves if every host had one more port; None if these are not fewer."""
    at_least = sum(_fewest(found, demand, demand.most_kept()))
    more = with_spare_port(demand) if moves > at_least else None
    if more is None:
        return None
    kept, most = more
    least, most_pairs = _pairs_of_a_link(found)
    roomier = len(found.mine) - kept * least + (len(demand.sources) - kept) * most_pairs
    return SparePort(roomier, sum(_fewest(found, demand, most))) if roomier < moves else None


def _pairs_of_a_link(found: Resources) -> tuple[int, int]:
    """Return how few and how many pairs one demanded link can take."""
    counts = found.strand_counts or {1}
    return min(counts), max(counts)
