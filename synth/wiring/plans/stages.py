"""A plan in stages: each removes some pairs, adds others, and verifies them.

A port holds one pair, so an added pair waits for the removal of the pairs at its two ports.  Pairs
whose ports are free are added in a first stage before any removal: make before break, as far as
free ports allow.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from topoloom.synth.errors import DoesNotFit, InvalidTopology, Unreachable
from topoloom.synth.progress import report_progress
from topoloom.synth.topology.topology import Link, Topology
from topoloom.synth.wiring.ilp.objective import drained_hosts, seconds
from topoloom.synth.wiring.plans.patch_plan import PatchPlan
from topoloom.synth.wiring.plant import Mode, Pair, Plant, Port
from topoloom.synth.wiring.plant.light_paths import links_of, ways

Unit = tuple[Pair, ...]
"""Pairs that move together: the lanes from one port of a host to another."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that hold at every stage of a plan.

    A stage removes at most ``max_links_down`` links (pairs that move together count once); None
    means unlimited.  With ``stay_connected`` the plugged pairs connect all nodes at all times.
    With ``make_before_break`` pairs whose ports are free are added before any removal.
    """

    max_links_down: int | None = None
    stay_connected: bool = False
    make_before_break: bool = False

    @property
    def any(self) -> bool:
        """Whether anything is limited."""
        return self != Limits()


@dataclass(frozen=True, slots=True)
class Stage:
    """Moves that are made together.

    ``links_down`` counts the removed links, each with all its pairs; ``drained`` are the numbers of
    the hosts that lose light.  ``dark`` is the topology of the plan's nodes after the removals and
    before the additions; ``capacity_left`` is its share of the wanted topology's capacity.
    ``seconds`` assume that all panels work at the same time, each with its number of simultaneous
    moves.
    """

    removes: tuple[Pair, ...]
    adds: tuple[Pair, ...]
    links_down: int
    drained: tuple[int, ...]
    dark: Topology
    capacity_left: Fraction
    seconds: Fraction

    @property
    def connected(self) -> bool:
        """Whether every node reaches every other while the stage runs."""
        return connected(self.dark)


def stages_of(plan: PatchPlan, limits: Limits | None = None) -> tuple[Stage, ...]:
    """Return the stages of a plan: none without moves, one without limits.

    Raises:
        DoesNotFit: Today's wiring does not connect the nodes that are to stay connected, or no
            order was found in which they do.

    Pairs are removed in the order in which removals free ports for additions.  A stage removes as
    many as the limits allow; a pair whose removal would disconnect the nodes waits for a later
    stage.  The plan may stop after every stage.

    >>> from topoloom.synth.wiring import plan_moves, smallest_plant
    >>> ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    >>> plant = smallest_plant(ring)
    >>> plan = plan_moves(ring.transpose(), plant, plan_moves(ring, plant).final)
    >>> [(len(s.removes), len(s.adds)) for s in stages_of(plan)]
    [(3, 3)]
    >>> [(len(s.removes), len(s.adds)) for s in stages_of(plan, Limits(max_links_down=1))]
    [(1, 0), (1, 1), (1, 2)]
    """
    limits = limits or Limits()
    work = _Work(plan)
    if limits.stay_connected and plan.moves and not connected(work.topology()):
        raise DoesNotFit("/stay_connected", "today's wiring does not connect the hosts")
    stages: list[Stage] = []
    if limits.make_before_break and (ready := work.ready()):
        stages.append(work.stage([], ready))
    total = len(work.removes) + len(work.adds)
    while work.removes or work.adds:
        report_progress("making stages", total - len(work.removes) - len(work.adds), total)
        chunk = work.chunk(limits)
        stages.append(work.stage(chunk, None))
        if not (stages[-1].removes or stages[-1].adds):
            raise DoesNotFit("/links", "the plan plugs ports that pairs which stay hold")
    return tuple(stages)


class _Work:
    """The remaining moves, and the pairs plugged so far."""

    def __init__(self, plan: PatchPlan) -> None:
        self.plan, self.plant = plan, plan.plant
        self.plugged = set(plan.present.pairs)
        self.node = {host: n for n, host in enumerate(plan.wiring.hosts)}
        self.holder = {port: pair for pair in plan.removes for port in self.plant.ends(pair)}
        self.adds = links_of(self.plant, plan.adds, plan.final.pairs)
        self.removes = self._in_order(links_of(self.plant, plan.removes, plan.present.pairs))

    def _in_order(self, units: list[Unit]) -> list[Unit]:
        """Order removals so that those of one added pair are adjacent, idle removals last."""
        unit_of = {pair: unit for unit in units for pair in unit}
        order: dict[Unit, None] = {}
        for add in self.adds:
            for port in _ports(self.plant, add):
                if port in self.holder:
                    order[unit_of[self.holder[port]]] = None
        return [*order, *(unit for unit in units if unit not in order)]

    def ready(self) -> list[Unit]:
        """Return the pairs that nothing stands in the way of."""
        busy = {port for pair in self.plugged for port in self.plant.ends(pair)}
        return [unit for unit in self.adds if busy.isdisjoint(_ports(self.plant, unit))]

    def chunk(self, limits: Limits) -> list[Unit]:
        """Return the removals of the next stage."""
        most = len(self.removes)
        if limits.max_links_down is not None:
            most = min(most, limits.max_links_down)
        if not limits.stay_connected or not self.removes:
            return self.removes[:most]
        if connected(self.topology(self.removes[:most])):
            return self.removes[:most]
        taken: list[Unit] = []
        for unit in self.removes:
            if len(taken) == most:
                break
            if connected(self.topology([*taken, unit])):
                taken.append(unit)
        if not taken:
            raise DoesNotFit(
                "/stay_connected", "no order was found in which the hosts stay connected"
            )
        return taken

    def stage(self, chunk: list[Unit], adds: list[Unit] | None) -> Stage:
        """Carry one stage out and return it."""
        removed = tuple(sorted(pair for unit in chunk for pair in unit))
        hosts = drained_hosts(self.plant, removed, self.plugged)
        self.plugged -= set(removed)
        gone = set(chunk)
        self.removes = [unit for unit in self.removes if unit not in gone]
        dark, left = self.topology(), self.capacity_left()
        ready = self.ready() if adds is None else adds
        come = set(ready)
        self.adds = [unit for unit in self.adds if unit not in come]
        added = tuple(sorted(pair for unit in ready for pair in unit))
        self.plugged |= set(added)
        return Stage(
            removed,
            added,
            len(chunk),
            tuple(sorted(hosts)),
            dark,
            left,
            seconds(self.plant, removed) + seconds(self.plant, added),
        )

    def topology(self, without: Iterable[Unit] = ()) -> Topology:
        """Return the plugged pairs, except some, as a topology of the plan's nodes."""
        gone = {pair for unit in without for pair in unit}
        links: list[Link] = []
        carried = self.plan.wiring.links_of
        wanted = self.plan.topology
        for way in ways(self.plant, self.plugged - gone):
            indices = {carried.get(pair, ()) for pair in way.pairs}
            if len(indices) == 1 and () not in indices:
                links += [wanted.links[index] for index in indices.pop()]
                continue
            u, v = (self.node.get(self.plant.at[port][0]) for port in (way.start, way.end))
            if u is None or v is None or u == v:
                continue
            links.append(Link(wanted.nodes[u], wanted.nodes[v]))
            if self.plant.panels[way.start.panel].mode is Mode.BIDIRECTIONAL:
                links.append(Link(wanted.nodes[v], wanted.nodes[u]))
        return Topology(wanted.nodes, links, bandwidth_unit=wanted.bandwidth_unit)

    def capacity_left(self) -> Fraction:
        topology = self.plan.topology
        total = sum(topology.capacities, Fraction(0))
        left = sum(
            (
                capacity
                for capacity, route in zip(
                    topology.capacities, self.plan.wiring.routes, strict=True
                )
                if self.plugged.issuperset(route)
            ),
            Fraction(0),
        )
        return Fraction(left / total) if total else Fraction(1)


def _ports(plant: Plant, unit: Unit) -> list[Port]:
    return [port for pair in unit for port in plant.ends(pair)]


def connected(topology: Topology) -> bool:
    """Whether every node reaches every other."""
    if topology.node_count == 1:
        return True
    try:
        topology.require_connected()
    except (InvalidTopology, Unreachable):
        return False
    return True
