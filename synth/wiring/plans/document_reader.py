"""Reading a plan, with its topology and wiring, from its patch-plan/1 document."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from topoloom.synth.errors import InvalidTopology, InvalidWiring
from topoloom.synth.topology.topology import Link, Topology
from topoloom.synth.wiring.plans.panel_actions import Script, read_script
from topoloom.synth.wiring.plans.patch_plan import PatchPlan
from topoloom.synth.wiring.plant import Mode, Pair, Plant
from topoloom.synth.wiring.routes.link_wiring import Wiring, violations


def read_plan(
    document: Mapping[str, Any], plant: Plant | None = None, topology: Topology | None = None
) -> PatchPlan:
    """Return the plan that a patch-plan/1 document was written from.

    Args:
        plant: The plant that the plan was made on; not needed for the regular layouts.
        topology: The wired topology.  By default it is rebuilt from the links of the document,
            which is enough where all capacities are 1 and a pair carries light one way only.

    Raises:
        InvalidWiring: As `read_script`; or the topology differs, or is missing and needed.

    >>> from topoloom.synth.wiring import plan_moves, smallest_plant, to_document
    >>> ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    >>> plan = plan_moves(ring, smallest_plant(ring))
    >>> again = read_plan(to_document(plan))
    >>> again.topology == ring, again.wiring.routes == plan.wiring.routes, again.moves
    (True, True, 3)
    """
    script = read_script(document, plant)
    base = script.plant.with_present(script.base)
    try:
        hosts = _hosts(document["ports"], base)
        routes = _routes(script)
        topology = topology or _topology(hosts, routes, base)
        if topology.digest != document["topology_digest"]:
            raise InvalidWiring("/topology_digest", "is of another topology, which must be given")
        at = tuple(hosts[node] for node in topology.nodes)
        summary = document["summary"]
        bound, optimal = int(summary["lower_bound"]), summary["optimal"] is True
    except (KeyError, TypeError, ValueError, InvalidTopology) as error:
        if isinstance(error, InvalidWiring):
            raise
        raise InvalidWiring("", f"must be a whole patch-plan/1 document: {error}") from None
    if sorted(routes) != list(range(topology.link_count)):
        raise InvalidWiring("/final", f"must have all {topology.link_count} links")
    wiring = Wiring(base, at, tuple(routes[index] for index in range(topology.link_count)))
    if wrong := violations(wiring, topology):
        raise InvalidWiring("/final", wrong[0])
    plan = PatchPlan(topology, base, wiring, bound)
    return replace(plan, lower_bound=plan.moves) if optimal else plan


def _hosts(rows: list[dict[str, Any]], plant: Plant) -> dict[int | str, int]:
    """Return the host that every node sits on, nodes in the order of the topology."""
    places = {(plant.panels[port.panel].id, plant.port_name(port)): port for port in plant.at}
    return {
        row["endpoint"]["node"]: plant.at[places[row["device"], row["port"]]][0] for row in rows
    }


def _routes(script: Script) -> dict[int, tuple[Pair, ...]]:
    routes: dict[int, list[Pair]] = defaultdict(list)
    for pair, names in sorted(script.links.items()):
        for name in names.split("+"):
            routes[int(name.removeprefix("l"))].append(pair)
    return {index: tuple(pairs) for index, pairs in routes.items()}


def _topology(
    hosts: dict[int | str, int], routes: dict[int, tuple[Pair, ...]], plant: Plant
) -> Topology:
    node_at = {host: node for node, host in hosts.items()}
    links = []
    for index in sorted(routes):
        pair = routes[index][0]
        if plant.panels[pair.panel].mode is Mode.BIDIRECTIONAL:
            raise InvalidWiring("", "the plan does not say which way its links go; give topology")
        source, target = (node_at[host] for host in plant.hosts_of(pair))
        links.append(Link(source, target))
    return Topology(list(hosts), links)
