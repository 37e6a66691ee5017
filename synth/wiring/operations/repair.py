"""Repair options for a dead port, link or host, with their moves.

Every option is an ordinary plan on the plant in which the faults are marked dead.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType

from topoloom.synth.errors import DoesNotFit, InvalidPlant, Unreachable
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring.plans.fewest_moves import plan_moves
from topoloom.synth.wiring.plans.patch_plan import PatchPlan
from topoloom.synth.wiring.plant import Pair, Plant, Port, State
from topoloom.synth.wiring.plant.light_paths import links_of
from topoloom.synth.wiring.routes.link_wiring import Wiring


class Way(StrEnum):
    """Kinds of repair, the least change of hosts and ports first."""

    REPATCH = "re-patch"
    SPARE_PORTS = "spare-ports"
    SPARE_HOST = "spare-host"
    LEFT_OUT = "left-out"


@dataclass(frozen=True, slots=True)
class Faults:
    """Dead parts: ports of panels, ports of hosts as (host, port), pairs, and hosts."""

    ports: tuple[Port, ...] = ()
    host_ports: tuple[tuple[int, int], ...] = ()
    pairs: tuple[Pair, ...] = ()
    hosts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Repair:
    """One way out: the plan, and the links of the topology that it gives up."""

    way: Way
    plan: PatchPlan
    lost: tuple[int, ...] = ()


def with_faults(plant: Plant, faults: Faults) -> Plant:
    """Return the plant in which these are dead; of a dead pair both ports are.

    >>> from topoloom.synth.wiring.plant import uniform
    >>> plant = with_faults(uniform("single", 2, 1), Faults(host_ports=((1, 0),)))
    >>> plant.hosts[1].ports[0].state
    <State.DEAD: 'dead'>
    """
    ends = [*faults.ports, *(port for pair in faults.pairs for port in plant.ends(pair))]
    states = dict(plant.states) | dict.fromkeys(ends, State.DEAD)
    hosts = list(plant.hosts)
    for host, number in faults.host_ports:
        if not (0 <= host < len(hosts) and 0 <= number < len(hosts[host].ports)):
            raise InvalidPlant("/hosts", f"there is no port {number} of host {host}")
        ports = list(hosts[host].ports)
        ports[number] = replace(ports[number], state=State.DEAD)
        hosts[host] = replace(hosts[host], ports=tuple(ports))
    for host in faults.hosts:
        hosts[host] = replace(hosts[host], state=State.DEAD)
    return replace(plant, hosts=tuple(hosts), states=MappingProxyType(states), uniform=None)


def lit_links(topology: Topology, wiring: Wiring, plant: Plant) -> tuple[int, ...]:
    """Return the links of a wiring that light still goes through on a plant, by index.

    A dead pair takes both directions of a duplex link.

    >>> from topoloom.synth.wiring.plant import cross_wired
    >>> both = Topology([0, 1], [(0, 1), (1, 0)])
    >>> plan = plan_moves(both, cross_wired(2, 2))
    >>> lost = Faults(pairs=(plan.wiring.routes[0][0],))
    >>> lit_links(both, plan.wiring, with_faults(plan.plant.with_present(plan.final), lost))
    ()
    """
    present = set(plant.present.pairs)
    dead = {
        pair
        for link in links_of(plant, wiring.pairs, wiring.pairs)
        if not all(pair in present and _alive(plant, pair) for pair in link)
        for pair in link
    }
    return tuple(index for index, route in enumerate(wiring.routes) if dead.isdisjoint(route))


def _alive(plant: Plant, pair: Pair) -> bool:
    for port in plant.ends(pair):
        if plant.state(port) is State.DEAD:
            return False
        at = plant.at.get(port)
        if at is not None:
            host = plant.hosts[at[0]]
            if State.DEAD in (host.state, host.ports[at[1]].state):
                return False
    return True


def repairs(plan: PatchPlan, faults: Faults) -> tuple[Repair, ...]:
    """Return the repair options for faults of a completed plan, fewest moves first.

    Of options with equally many moves the one that loses fewer links comes first.

    ``re-patch`` uses free ports, ``spare-ports`` also spare ones.  ``spare-host`` puts the nodes
    of dead hosts, or of hosts with dead ports, on spare or idle hosts.  ``left-out`` only removes
    dead pairs and gives up their links, and the nodes of dead hosts, if the rest is connected.
    Impossible options, and options no better than another with the same means, are omitted.

    Raises:
        InvalidPlant: A fault names an unknown part.

    >>> from topoloom.synth.wiring.plant import uniform
    >>> ring = Topology(range(4), [(i, (i + 1) % 4) for i in range(4)])
    >>> plan = plan_moves(ring, uniform("single", hosts=5, lanes=2))
    >>> ways = repairs(plan, Faults(pairs=(plan.wiring.routes[0][0],)))
    >>> [(repair.way.value, repair.plan.moves, repair.lost) for repair in ways]
    [('re-patch', 2, ()), ('spare-host', 4, ())]
    """
    plant = with_faults(plan.plant.with_present(plan.final), faults)
    topology, hosts = plan.topology, plan.wiring.hosts
    found: list[Repair] = []
    for way, spares in ((Way.REPATCH, False), (Way.SPARE_PORTS, True)):
        repaired = _planned(topology, plant, hosts, spares)
        if repaired and all(repaired.moves < other.plan.moves for other in found):
            found.append(Repair(way, repaired))
    moved = _moved(plan, plant, faults)
    if moved is not None:
        repaired = _planned(topology, plant, moved, spares=True)
        if repaired:
            found.append(Repair(Way.SPARE_HOST, repaired))
    found += _left_out(plan, plant)
    return tuple(sorted(found, key=lambda repair: (repair.plan.moves, len(repair.lost))))


def _planned(
    topology: Topology, plant: Plant, hosts: Sequence[int], spares: bool
) -> PatchPlan | None:
    try:
        return plan_moves(topology, plant, hosts=hosts, spares=spares)
    except DoesNotFit:
        return None


def _moved(plan: PatchPlan, plant: Plant, faults: Faults) -> list[int] | None:
    """Return the hosts with the hurt ones exchanged for others; None without enough others."""
    hurt = {*faults.hosts, *(host for host, _ in faults.host_ports)}
    for port in (*faults.ports, *(end for pair in faults.pairs for end in plant.ends(pair)[:1])):
        if port in plant.at:
            hurt.add(plant.at[port][0])
    used = set(plan.wiring.hosts)
    others = _idle(plant, used)
    hosts = list(plan.wiring.hosts)
    for node, host in enumerate(hosts):
        if host in hurt:
            if not others:
                return None
            hosts[node] = others.pop(0)
    return hosts if hosts != list(plan.wiring.hosts) else None


def _idle(plant: Plant, used: Iterable[int]) -> list[int]:
    """Return the hosts that no node sits on, spare ones first."""
    order = {State.SPARE: 0, State.FREE: 1}
    taken = set(used)
    free = [
        host for host, row in enumerate(plant.hosts) if host not in taken and row.state in order
    ]
    return sorted(free, key=lambda host: (order[plant.hosts[host].state], host))


def _left_out(plan: PatchPlan, plant: Plant) -> list[Repair]:
    """Return the option that only gives up dead parts; none if no node remains."""
    topology = plan.topology
    alive = lit_links(topology, plan.wiring, plant)
    lost = tuple(sorted(set(range(topology.link_count)) - set(alive)))
    at = [
        n for n, host in enumerate(plan.wiring.hosts) if plant.hosts[host].state is not State.DEAD
    ]
    if not lost or not at:
        return []
    kept = {topology.nodes[node] for node in at}
    links = [topology.links[index] for index in alive]
    left = Topology(
        [topology.nodes[node] for node in at],
        [link for link in links if {link.source, link.target} <= kept],
        bandwidth_unit=topology.bandwidth_unit,
    )
    try:
        left.require_connected()
        hosts = [plan.wiring.hosts[node] for node in at]
        return [Repair(Way.LEFT_OUT, plan_moves(left, plant, hosts=hosts, spares=True), lost)]
    except (DoesNotFit, Unreachable):
        return []
