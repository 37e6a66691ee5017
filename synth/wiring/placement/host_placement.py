"""Placement of nodes on hosts that keeps as much of today's wiring as possible.

A topology isomorphic to today's wiring needs no move, so the search tries an isomorphism first.
Otherwise it puts linked nodes on joined hosts.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.errors import DoesNotFit
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring import limits
from topoloom.synth.wiring.ilp.objective import Objective
from topoloom.synth.wiring.placement.annealing import anneal, kept_arcs
from topoloom.synth.wiring.placement.closed_walks import most_kept
from topoloom.synth.wiring.placement.graph_isomorphism import Arcs, isomorphism
from topoloom.synth.wiring.plans.fewest_moves import plan_moves, seats
from topoloom.synth.wiring.plans.patch_plan import PatchPlan, bound_on_any
from topoloom.synth.wiring.plant import Plant, Present, State
from topoloom.synth.wiring.plant.light_paths import ways
from topoloom.synth.wiring.routes.resources import Resources, resources_of

Integers = NDArray[np.int64]


def plan_placed(
    topology: Topology,
    plant: Plant,
    present: Present | None = None,
    *,
    fixed: Mapping[int, int] | None = None,
    spares: bool = False,
    objective: Objective = Objective.MOVES,
) -> PatchPlan:
    """Return a plan of few moves in which nodes may sit on any host.

    Args:
        topology, plant, present, spares, objective: As for `plan_moves`.
        fixed: Nodes, by position, that must sit on a given host.

    Returns:
        ``wiring.hosts`` has the host of each node.  ``lower_bound`` holds for every placement.

    Raises:
        DoesNotFit: As `plan_moves`; or there are more than 4096 hosts, or two nodes on one host.

    Where panels are joined by trunks and no such placing fits, linked nodes are brought together
    on the hosts of one panel, so that few links need a trunk.

    Bound.  Of a node at most as many links out are kept as it has, and as its host has pairs
    out today; over all placings the sum is largest if both are sorted.  The same for links in.
    Nor can more stay than closed walks allow: see `synth.wiring.placement.closed_walks`.

    >>> from topoloom.synth.wiring.plant import smallest_plant
    >>> ring = Topology(range(5), [(i, (i + 1) % 5) for i in range(5)])
    >>> star = Topology(range(5), [(i, (i + 2) % 5) for i in range(5)])
    >>> plant = smallest_plant(ring)
    >>> today = plan_moves(ring, plant).final
    >>> plan_moves(star, plant, today).moves, plan_placed(star, plant, today).moves
    (10, 0)
    """
    if present is not None:
        plant = plant.with_present(present)
    fixed = fixed or {}
    pool = _pool(topology, plant, fixed, spares)
    today, index = _today(plant, pool, spares), {host: at for at, host in enumerate(pool)}
    # Today's wiring is counted by lanes, and so are the links.
    resources = resources_of(plant, pool, spares=True)
    # All ports have as many lanes.
    lanes = max((len(site.tx) for row in resources.senders.values() for site in row), default=1)
    ends = (
        np.repeat(side.astype(np.int64), lanes) for side in (topology.sources, topology.targets)
    )
    wanted = Arcs.of(topology.node_count, *ends)
    start = _start(topology, plant, pool, index, fixed)
    frozen = np.zeros(topology.node_count, np.bool_)
    frozen[list(fixed)] = True
    placed = None if fixed else _alike(wanted, today)
    if placed is None:
        placed = anneal(wanted, today, start, frozen)
    best = max((placed, start), key=lambda hosts: kept_arcs(wanted, today, hosts))
    try:
        plan = _planned(topology, plant, pool, (best, start), spares, objective)
    except DoesNotFit:
        if not plant.trunk_ends:
            raise
        # Trunks are few: put linked nodes on hosts of one panel.
        apart = anneal(wanted, _neighbours(plant, pool), start, frozen)
        plan = _planned(topology, plant, pool, (apart,), spares, objective)
    removes, adds = _fewest(topology, resources, lanes, today)
    plan = replace(plan, lower_bound=removes + adds)
    if plan.goal is None:
        return plan
    least = bound_on_any(objective, plant, resources.mine, removes, adds)
    return replace(plan, goal=replace(plan.goal, lower_bound=least))


def _planned(
    topology: Topology,
    plant: Plant,
    pool: tuple[int, ...],
    placings: tuple[Integers, ...],
    spares: bool,
    objective: Objective,
) -> PatchPlan:
    """Return the better of the plans of some placings; one that does not fit does not count."""
    plans: list[PatchPlan] = []
    refused: DoesNotFit | None = None
    for hosts in placings:
        try:
            chosen = [pool[at] for at in hosts.tolist()]
            plans.append(
                plan_moves(topology, plant, hosts=chosen, spares=spares, objective=objective)
            )
        except DoesNotFit as error:
            refused = refused or error
        if plans and not plans[0].moves:
            break
    if not plans:
        raise refused or DoesNotFit("/nodes", "no placing was tried")
    return min(plans, key=lambda plan: (plan.goal.value if plan.goal else 0, plan.moves))


def _pool(
    topology: Topology, plant: Plant, fixed: Mapping[int, int], spares: bool
) -> tuple[int, ...]:
    usable = {State.FREE, State.SPARE} if spares else {State.FREE}
    free = [at for at, host in enumerate(plant.hosts) if host.state in usable]
    pool = tuple(sorted({*free, *fixed.values()}))
    if len(pool) > limits.MAX_PLACED_HOSTS:
        raise DoesNotFit(
            "/hosts", f"places are chosen among at most {limits.MAX_PLACED_HOSTS} hosts"
        )
    if len(set(fixed.values())) != len(fixed):
        raise DoesNotFit("/nodes", "two nodes must not sit on one host")
    if topology.node_count > len(pool):
        raise DoesNotFit(
            "/nodes", f"{topology.node_count} nodes need as many hosts; there are {len(pool)}"
        )
    return pool


def _start(
    topology: Topology,
    plant: Plant,
    pool: tuple[int, ...],
    index: Mapping[int, int],
    fixed: Mapping[int, int],
) -> Integers:
    """Return the initial placement: default hosts, except for the fixed nodes."""
    try:
        usual: tuple[int, ...] = seats(topology, plant)
    except DoesNotFit:
        if topology.switches:
            raise
        usual = pool[: topology.node_count]
    taken = set(fixed.values())
    spare = [host for host in pool if host not in taken and host not in usual]
    placed = []
    for node, host in enumerate(usual):
        if node in fixed:
            placed.append(index[fixed[node]])
        elif host in taken or host not in index:
            placed.append(index[spare.pop()])
        else:
            placed.append(index[host])
    return np.array(placed, np.int64)


def _today(plant: Plant, pool: tuple[int, ...], spares: bool) -> NDArray[np.int16]:
    """Return how often each host of the pool is joined to each other, by places in the pool."""
    found = resources_of(plant, pool, spares)
    index = {host: at for at, host in enumerate(pool)}
    joined = np.zeros((len(pool), len(pool)), np.int16)
    useful = found.joins | {pair for pair in plant.present.pairs if -1 in plant.hosts_of(pair)}
    for way in ways(plant, useful):
        u, v = (index.get(plant.at[port][0]) for port in (way.start, way.end))
        if u is None or v is None:
            continue
        joined[u, v] += 1
        if found.duplex and plant.panels[way.start.panel].mode == "bidirectional":
            joined[v, u] += 1
    return joined


def _neighbours(plant: Plant, pool: tuple[int, ...]) -> NDArray[np.int16]:
    """Return, for hosts of the pool, whether they are cabled to some panel both."""
    panels = np.zeros((len(pool), len(plant.panels)), np.int16)
    for place, host in enumerate(pool):
        ports = plant.folded.hosts[host].ports
        panels[place, sorted({end.panel for port in ports for end in port.fibres})] = 1
    return np.where(panels @ panels.T > 0, np.int16(1 << 14), np.int16(0))


def _alike(wanted: Arcs, today: NDArray[np.int16]) -> Integers | None:
    """Return a placing in which today's wiring is the topology, if there is one."""
    used = np.flatnonzero(today.any(axis=0) | today.any(axis=1))
    if len(used) > wanted.size:
        return None
    idle = np.setdiff1d(np.arange(len(today)), used)[: wanted.size - len(used)]
    chosen = np.sort(np.concatenate([used, idle]))
    if len(chosen) < wanted.size:
        return None
    part = today[np.ix_(chosen, chosen)].astype(np.int64)
    sources, targets = np.nonzero(part)
    counts = part[sources, targets]
    image = isomorphism(wanted, Arcs(wanted.size, sources, targets, counts))
    return None if image is None else chosen[image]


def _fewest(
    topology: Topology,
    resources: Resources,
    lanes: int,
    today: NDArray[np.int16],
) -> tuple[int, int]:
    """Return removes and adds that no placing can undercut."""
    # On a bidirectional panel two links share the pairs of one.
    shared = {2 if kind.one_fibre else 1 for _, kind in resources.senders} or {1}
    kept = topology.link_count * lanes
    for degrees, axis in ((topology.out_degrees, 1), (topology.in_degrees, 0)):
        have = np.sort(today.sum(axis=axis, dtype=np.int64))[::-1][: topology.node_count]
        want = np.sort(degrees)[::-1] * lanes
        kept = min(kept, int(np.minimum(have, want).sum()))
    if lanes == 1:
        links = np.zeros((topology.node_count, topology.node_count), np.int64)
        np.add.at(links, (topology.sources, topology.targets), 1)
        kept = min(kept, most_kept(links, today.astype(np.int64)))
    adds = -(-(topology.link_count * lanes - kept) // max(shared))
    if len(resources.hosts) > topology.node_count or resources.plant.trunk_ends:
        return 0, adds
    return max(0, len(resources.mine) - kept // min(shared)), adds
