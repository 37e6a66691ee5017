"""The fewest moves from today's wiring to a topology.

Free are: which port of a host carries which of its links, and which panel carries which
link.  Who sits on which host is given here; `synth.wiring.placing` chooses it.

A *move* is one removed pair or one added pair, so a port that is pointed elsewhere
counts two.  With P the pairs of today that touch a host of the topology, T the pairs of its
links and k the pairs that stay, there are |P| - k removes and |T| - k adds: fewest moves
means most pairs kept.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from synth.errors import DoesNotFit
from synth.topology import Topology
from synth.wiring.aiming import aim_of, aimed
from synth.wiring.choose import NoRoom, choose
from synth.wiring.demand import Demand
from synth.wiring.objective import Goal, Objective, worth
from synth.wiring.plant import Pair, Plant, Present, State
from synth.wiring.plug import demand_of, joins_of, plugged
from synth.wiring.refusing import advice, lacking, require_partners, require_room
from synth.wiring.sites import Supply, supply
from synth.wiring.stakes import Stakes, at_least
from synth.wiring.trunked import (
    Trunked,
    demanded,
    fewest,
    led_over_trunks,
    reaches_trunk,
    trunked,
    undecided,
)
from synth.wiring.usable import ours
from synth.wiring.wiring import Wiring

__all__ = ["PatchPlan", "assign_ports", "bound_on_any", "plan_moves", "seats", "towards"]


@dataclass(frozen=True, eq=False)
class PatchPlan:
    """What to unplug and what to plug.

    ``plant`` has the wiring of today.  ``moves >= lower_bound`` always.  ``optimal`` means
    that no wiring of the topology on this plant, with the same freedom, needs fewer moves;
    without it that is not known.  ``goal`` says the same of what else the plan was chosen for.
    """

    topology: Topology
    plant: Plant
    wiring: Wiring
    lower_bound: int
    optimal: bool
    goal: Goal | None = None

    @property
    def present(self) -> Present:
        """The wiring of today."""
        return self.plant.present

    @cached_property
    def removes(self) -> tuple[Pair, ...]:
        """Pairs of today that must go, sorted."""
        target = set(self.wiring.pairs)
        return tuple(p for p in ours(self.plant, self.wiring.hosts) if p not in target)

    @cached_property
    def adds(self) -> tuple[Pair, ...]:
        """Pairs that are missing today, sorted."""
        return tuple(sorted(set(self.wiring.pairs) - set(self.present.pairs)))

    @cached_property
    def kept(self) -> int:
        """Links of the topology that stay on the pairs they have."""
        new = set(self.adds)
        return sum(new.isdisjoint(route) for route in self.wiring.routes)

    @property
    def moves(self) -> int:
        """Removes and adds together."""
        return len(self.removes) + len(self.adds)

    @cached_property
    def final(self) -> Present:
        """The wiring after the plan, pairs of other hosts included."""
        gone = set(self.removes)
        left = [pair for pair in self.present.pairs if pair not in gone]
        return Present.of([*left, *self.adds], self.present.foreign)


def seats(topology: Topology, plant: Plant, hosts: Sequence[int] | None = None) -> tuple[int, ...]:
    """Return the host that every node sits on where nobody chooses.

    Given hosts are checked.  Else, on a plant of named hosts, a node sits on the host of its
    name if every node has one; and otherwise, in order, on the hosts that are neither dead,
    reserved nor spare.

    Raises
    ------
    DoesNotFit
        The topology has switches or too many nodes, or a given host is not there.
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

    Parameters
    ----------
    topology : Topology
        No switches; regular or not, parallel links welcome.  Every link takes one port at
        each end whatever its capacity.  On duplex ports it must be bidirectional.
    plant : Plant
    present : Present, optional
        What is plugged today; left out, what the plant says.  Pairs between hosts that are
        not nodes of the topology stay untouched, and so do foreign pairs and pairs on
        reserved ports; every other pair that carries no link of the topology is removed.
    hosts : sequence of int, optional
        The number of the host of every node; left out, as in `seats`.
    spares : bool
        Whether spare ports are used.
    objective : Objective
        What there shall be least of; of plans that take as little of it, one of few moves.

    Returns
    -------
    PatchPlan
        Same input, same plan.  Its ``goal`` is set where the objective is not moves.

    Raises
    ------
    DoesNotFit
        The topology has switches, too many nodes or too large a degree, or there is no way
        over the panels; the error says which panel lacks ports of which host, if that is
        proven.
    InvalidPlant
        A present port does not exist or is in two pairs.

    Notes
    -----
    Lower bound.  A pair can stay only if it joins the two hosts of a link, so k is at most
    the size of the multiset intersection of today's host pairs and those of the links;
    ``lower_bound`` is the moves at that k.

    How the panels are chosen: `synth.wiring.choose`, and `synth.wiring.aiming` for least time or
    fewest drained hosts.  Within a channel every kept link keeps
    its ports, and any free ports serve the others.

    Examples
    --------
    >>> from synth.wiring.plant import sized
    >>> there = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    >>> back = there.transpose()
    >>> plant = sized(there)
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
    over = trunked(plant, at, spares)
    if over is None:
        return _on_panels(topology, plant, at, spares, objective)
    return _over_trunks(topology, plant, at, spares, over, objective)


def _on_panels(
    topology: Topology,
    plant: Plant,
    hosts: tuple[int, ...],
    spares: bool,
    objective: Objective = Objective.MOVES,
) -> PatchPlan:
    """Plan with every link on one panel, or one for each of its lanes."""
    found = supply(plant, hosts, spares)
    require_room(topology, found)
    demand = demand_of(topology, found)
    try:
        choice, proven = choose(demand)
    except NoRoom as error:
        more = advice(found, topology, lambda plant: _fits(topology, plant, hosts, spares))
        raise DoesNotFit("/links", lacking(error.missing, found) + more) from None
    wiring = plugged(topology, found, demand, choice)
    removes, adds = _fewest(topology, found, demand)
    plan = PatchPlan(topology, plant, wiring, removes + adds, proven)
    # Of several pairs that make one link some may be plugged: `choose` counts whole links.
    single = _pairs_of_a_link(found) == (1, 1)
    optimal = plan.moves == plan.lower_bound or (proven and single)
    plan = replace(plan, optimal=optimal)
    if objective is Objective.MOVES:
        return plan
    aim = aim_of(objective, found, demand, (removes, adds))
    choice, bound = aimed(demand, choice, aim)
    better = replace(plan, wiring=plugged(topology, found, demand, choice))
    return towards(objective, bound, [plan, better])


def towards(objective: Objective, bound: Fraction, plans: Sequence[PatchPlan]) -> PatchPlan:
    """Return the plan that takes least of an objective, with this bound of it.

    The first is one of fewest moves, by what is said of it.
    """
    worths = [worth(objective, plan.plant, plan.removes, plan.adds) for plan in plans]
    value, moves, number = min(
        (value, plan.moves, number)
        for number, (plan, value) in enumerate(zip(plans, worths, strict=True))
    )
    optimal = plans[0].optimal and moves == plans[0].moves
    return replace(
        plans[number],
        lower_bound=plans[0].lower_bound,
        optimal=optimal,
        goal=Goal(objective, value, bound),
    )


def _fits(topology: Topology, plant: Plant, hosts: tuple[int, ...], spares: bool) -> bool:
    try:
        plan_moves(topology, plant, hosts=hosts, spares=spares)
    except DoesNotFit:
        return False
    return True


def _over_trunks(
    topology: Topology,
    plant: Plant,
    hosts: tuple[int, ...],
    spares: bool,
    over: Trunked,
    objective: Objective,
) -> PatchPlan:
    """Plan with links over trunks where that is needed, or takes fewer moves."""
    if over.ends.duplex:
        require_partners(topology)
    links, _ = demanded(topology, over.ends.duplex)
    mine = ours(plant, hosts)
    removes, adds = fewest(over, links, mine)
    bound = removes + adds
    try:
        wiring, proven = led_over_trunks(topology, hosts, over)
    except DoesNotFit:
        # Where that is too large to be decided, panels alone may do.
        if not undecided(over, links):
            raise
        plan = _on_panels(topology, plant, hosts, spares)
        return replace(plan, lower_bound=bound, optimal=plan.moves == bound)
    plan = PatchPlan(topology, plant, wiring, bound, proven)
    # A pair from a host to a trunk may serve another link, too: that is not weighed.
    halves = any(reaches_trunk(plant, pair) for pair in mine)
    plan = replace(plan, optimal=plan.moves == bound or (proven and not halves))
    if objective is Objective.MOVES:
        return plan
    return towards(objective, bound_on_any(objective, plant, mine, removes, adds), [plan])


def bound_on_any(
    objective: Objective, plant: Plant, mine: Sequence[Pair], removes: int, adds: int
) -> Fraction:
    """Return what plans with so many removes of ``mine`` and so many adds at least must take."""
    stakes = Stakes(objective, plant, Counter(pair.panel for pair in mine), frozenset(), False)
    room = {
        number: len(panel.a) // 2 if panel.one_sided else min(len(panel.a), len(panel.b))
        for number, panel in enumerate(plant.panels)
    }
    at_hosts = Counter(host for pair in mine for host in set(plant.hosts_of(pair)) - {-1})
    return at_least(stakes, removes, adds, room, list(at_hosts.values()))


def assign_ports(topology: Topology, plant: Plant) -> Wiring:
    """Return a wiring of the topology on the plant, as if nothing were plugged but foreign pairs.

    >>> from synth.wiring.plant import sized
    >>> ring = Topology(range(3), [(0, 1), (1, 2), (2, 0), (0, 2)])
    >>> sorted(assign_ports(ring, sized(ring)).classes)
    [(0, 2, 3), (1,)]
    """
    foreign = plant.present.foreign
    return plan_moves(topology, plant, Present.of(foreign, foreign)).wiring


def _fewest(topology: Topology, found: Supply, demand: Demand) -> tuple[int, int]:
    """Return removes and adds that no wiring on these hosts can undercut."""
    node_of = {host: node for node, host in enumerate(found.hosts)}
    today: Counter[tuple[int, int]] = Counter()
    for pair in joins_of(found):
        u, v = (node_of[host] for host in found.plant.hosts_of(pair))
        today[(min(u, v), max(u, v)) if found.duplex else (u, v)] += 1
    least, most = _pairs_of_a_link(found)
    links = Counter(demand.links)
    kept = sum(min(today[ends], count * most) for ends, count in links.items())
    mine = len(ours(found.plant, found.hosts))
    return max(mine - kept, 0), max(links.total() * least - kept, 0)


def _pairs_of_a_link(found: Supply) -> tuple[int, int]:
    """Return how few and how many pairs one demanded link can take."""
    counts = set()
    for channel in found.channels:
        site = next((row[0] for row in channel.senders if row), None)
        if site is not None:
            both = found.duplex and site.tx != site.rx
            counts.add(len(site.tx) * (2 if both else 1))
    return (min(counts), max(counts)) if counts else (1, 1)
