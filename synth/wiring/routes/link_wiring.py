"""The pairs that carry each link of a topology, and an independent check of a wiring."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring.plant import Pair, Plant
from topoloom.synth.wiring.plant.light_paths import ways

Route = tuple[Pair, ...]
"""The pairs that carry one link: for every lane of the ports that it joins one, or two with a
trunk between."""


@dataclass(frozen=True, slots=False, eq=False)
class Wiring:
    """The host that every node sits on, and the route of every link, parallel to both."""

    plant: Plant
    hosts: tuple[int, ...]
    routes: tuple[Route, ...]

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """All pairs, sorted; one that carries a link both ways stands there once."""
        return tuple(sorted({pair for route in self.routes for pair in route}))

    @cached_property
    def links_of(self) -> dict[Pair, tuple[int, ...]]:
        """The links that a pair carries, by index: two on a bidirectional panel."""
        found: dict[Pair, tuple[int, ...]] = {}
        for index, route in enumerate(self.routes):
            for pair in route:
                found[pair] = (*found.get(pair, ()), index)
        return found


def violations(wiring: Wiring, topology: Topology) -> list[str]:
    """Return the faults of a wiring of a topology as messages; empty if there are none.

    The check is independent of the planner: it follows the pairs one by one.

    >>> from topoloom.synth.wiring.plant import smallest_plant
    >>> ring = Topology(range(2), [(0, 1), (1, 0)])
    >>> swapped = Wiring(smallest_plant(ring), (0, 1), ((Pair(0, 1, 0),), (Pair(0, 0, 1),)))
    >>> violations(swapped, ring)[0]
    'link 0 runs from 0 to 1, its pair 1A-0B of panel-0 from host 1 to host 0'
    """
    plant = wiring.plant
    if len(wiring.routes) != topology.link_count:
        return [f"{topology.link_count} links have {len(wiring.routes)} routes"]
    if len(set(wiring.hosts)) != topology.node_count:
        return [f"{topology.node_count} nodes are on {len(set(wiring.hosts))} hosts"]
    wrong: list[str] = []
    for index, (link, route) in enumerate(zip(topology.links, wiring.routes, strict=True)):
        ends = tuple(wiring.hosts[topology.position[end]] for end in (link.source, link.target))
        wrong += _wrong_route(plant, f"link {index}", (link.source, link.target), ends, route)
    used = Counter(
        port for pair in set(wiring.pairs) - plant.present.foreign for port in _ends(plant, pair)
    )
    busy = {port for pair in plant.present.foreign for port in _ends(plant, pair)}
    for port, count in sorted(used.items()):
        name = f"port {plant.port_name(port)} of {plant.panels[port.panel].id}"
        if count > 1:
            wrong.append(f"{name} is in {count} pairs")
        if port in busy:
            wrong.append(f"{name} is in a pair of others")
    return wrong


def _ends(plant: Plant, pair: Pair) -> tuple:
    return plant.ends(pair) if _exists(plant, pair) else ()


def _exists(plant: Plant, pair: Pair) -> bool:
    if not 0 <= pair.panel < len(plant.panels):
        return False
    panel = plant.panels[pair.panel]
    return 0 <= pair.a < len(panel.a) and 0 <= pair.b < len(panel.names("B"))


def _wrong_route(
    plant: Plant, name: str, nodes: tuple[int | str, ...], ends: tuple[int, ...], route: Route
) -> list[str]:
    for pair in route:
        if not 0 <= pair.panel < len(plant.panels):
            return [f"{name} is on panel {pair.panel}, which does not exist"]
        if not _exists(plant, pair):
            return [f"{name} uses a port that does not exist: {tuple(pair)}"]
    for pair in route:
        if not plant.trunk_ends.keys().isdisjoint(plant.ends(pair)):
            continue
        source, target = plant.hosts_of(pair)
        both_ways = plant.panels[pair.panel].mode == "bidirectional"
        if (source, target) != ends and not (both_ways and (target, source) == ends):
            return [
                f"{name} runs from {nodes[0]} to {nodes[1]}, its pair {plant.pair_name(pair)} of "
                f"{plant.panels[pair.panel].id} from host {source} to host {target}"
            ]
    return (
        []
        if _joins_whole_ports(plant, ends, route)
        else [f"{name} must join all lanes of two ports"]
    )


def _joins_whole_ports(plant: Plant, ends: tuple[int, ...], route: Route) -> bool:
    """Whether the pairs lead lane i of one port of the source to lane i of one of the target."""
    led = ways(plant, route)
    if sum(len(way.pairs) for way in led) != len(route):
        return False
    joined = {frozenset((way.start, way.end)) for way in led}
    reached = {plant.at[port] for way in led for port in (way.start, way.end)}
    senders, receivers = ({at for at in reached if at[0] == host} for host in ends)
    if len(senders) != 1 or len(receivers) != 1:
        return False
    (source,), (target,) = senders, receivers
    hosts = plant.folded.hosts
    tx, rx = hosts[source[0]].ports[source[1]].tx, hosts[target[0]].ports[target[1]].rx
    return len(tx) == len(rx) and joined == {frozenset(lane) for lane in zip(tx, rx, strict=True)}
