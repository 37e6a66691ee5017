"""Addresses and routes of a switchless fabric: which NIC faces which, subnet by subnet.

Every cable is a subnet of its own with two addresses (RFC 3021); every host has a loopback
address that the others reach over shortest paths.  It is for ports whose two directions lead to
one other port: over a ring of one-way fibers no address can be resolved.
"""

import json
from collections import deque
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from topoloom.synth.errors import DoesNotFit
from topoloom.synth.wiring.plans.panel_actions import Script
from topoloom.synth.wiring.plant import Pair, Plant, Port
from topoloom.synth.wiring.plant.light_paths import ways

MOST_HOSTS = 512
"""Most hosts: every one has a route to every other."""

CABLES = IPv4Network("10.0.0.0/10")
LOOPBACKS = IPv4Network("10.64.0.0/16")

End = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Cable:
    """Two ports of hosts, as (host, port), that face each other."""

    one: End
    other: End


def cables(script: Script) -> tuple[Cable, ...]:
    """Return the host ports that face each other after the plan, sorted.

    Raises:
        DoesNotFit: Light that a port sends goes to another port than that from which it receives.
    """
    plant = script.plant
    partner: dict[Port, Port] = {}
    for led in ways(plant, script.final.pairs):
        partner[led.start], partner[led.end] = led.end, led.start
    found: set[Cable] = set()
    for h, host in enumerate(plant.folded.hosts):
        for p, port in enumerate(host.ports):
            faces = [
                {plant.at.get(partner[end]) if end in partner else None for end in side}
                for side in (port.tx, port.rx)
            ]
            if faces[0] | faces[1] <= {None}:
                continue
            there = faces[0] | faces[1]
            if len(there) != 1:
                raise DoesNotFit(
                    "/format",
                    f"port {port.id} of {host.id} sends to one port and receives from another; "
                    "addresses need ports that face each other",
                )
            (other,) = there
            if other is not None:
                found.add(Cable(*sorted(((h, p), other))))
    return tuple(sorted(found, key=lambda cable: (cable.one, cable.other)))


def write_deployment(script: Script) -> str:
    """Return a JSON file: by host its NICs with peers and addresses, routes and environment.

    ``cross_connects`` has the pairs that lead from NIC to NIC.
    """
    faced = cables(script)
    used = sorted({end[0] for cable in faced for end in (cable.one, cable.other)})
    if len(used) > MOST_HOSTS:
        raise DoesNotFit("/format", f"routes are written for at most {MOST_HOSTS} hosts")
    plant = script.plant
    rows: dict[int, dict[str, Any]] = {
        host: {
            "loopback": f"{LOOPBACKS[host + 1]}/32",
            "nics": [],
            "routes": [],
            "environment": {},
        }
        for host in used
    }
    gates: dict[int, list[tuple[int, IPv4Address, str]]] = {host: [] for host in used}
    for number, cable in enumerate(faced):
        addresses = (CABLES[2 * number], CABLES[2 * number + 1])
        for (mine, there), (address, far) in zip(
            ((cable.one, cable.other), (cable.other, cable.one)),
            (addresses, addresses[::-1]),
            strict=True,
        ):
            nic = plant.hosts[mine[0]].ports[mine[1]].id
            gates[mine[0]].append((there[0], far, nic))
            rows[mine[0]]["nics"].append(
                {
                    "port": nic,
                    "address": f"{address}/31",
                    "peer": plant.hosts[there[0]].id,
                    "peer_port": plant.hosts[there[0]].ports[there[1]].id,
                    "peer_address": str(far),
                }
            )
    for host, hops in _first_hops(gates).items():
        for target, (address, nic) in sorted(hops.items()):
            rows[host]["routes"].append(
                {"to": rows[target]["loopback"], "via": str(address), "port": nic}
            )
        names = [nic["port"] for nic in rows[host]["nics"]]
        rows[host]["environment"] = {
            "NCCL_IB_HCA": "=" + ",".join(dict.fromkeys(names)),
            "NCCL_IB_SUBNET_AWARE_ROUTING": "1",
            "NCCL_CROSS_NIC": "1",
        }
    document = {
        "schema": "deployment/1",
        "plan_id": script.plan_id,
        "hosts": {plant.hosts[host].id: row for host, row in rows.items()},
        "cross_connects": [_pair_row(plant, pair) for pair in script.final.pairs],
    }
    return json.dumps(document, indent=1)


def _pair_row(plant: Plant, pair: Pair) -> dict[str, str]:
    a, b = map(plant.port_name, plant.ends(pair))
    return {"panel": plant.panels[pair.panel].id, "a": a, "b": b}


def _first_hops(
    gates: dict[int, list[tuple[int, IPv4Address, str]]],
) -> dict[int, dict[int, tuple[IPv4Address, str]]]:
    """Return for every host the gate towards every other, on a shortest path."""
    found = {}
    for start in gates:
        hops: dict[int, tuple[IPv4Address, str]] = {}
        queue = deque()
        for neighbour, address, nic in gates[start]:
            if neighbour not in hops:
                hops[neighbour] = (address, nic)
                queue.append(neighbour)
        while queue:
            node = queue.popleft()
            for neighbour, _, _ in gates[node]:
                if neighbour != start and neighbour not in hops:
                    hops[neighbour] = hops[node]
                    queue.append(neighbour)
        found[start] = hops
    return found
