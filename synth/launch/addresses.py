"""Addresses and routes of hosts that cables join: one subnet for each cable (RFC 3021).

Each host has a loopback address, which the others reach over shortest paths.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network

from topoloom.synth.launch.launch import Launch

CABLES = IPv4Network("10.0.0.0/10")
LOOPBACKS = IPv4Network("10.64.0.0/16")
MOST_HOSTS = 512
"""Most hosts with addresses: each has a route to every other."""


@dataclass(frozen=True, slots=True)
class HostAddresses:
    """The addresses of a host.

    ``ports`` maps a peer to the host's own address on that cable, ``gates`` every other host to
    the peer that leads there.
    """

    loopback: str
    ports: Mapping[str, str]
    gates: Mapping[str, str]


def addresses(launch: Launch) -> Mapping[str, HostAddresses]:
    """Return the addresses by host; empty unless cables in both directions join all hosts.

    >>> from topoloom.synth.fabrics import fabric
    >>> from topoloom.synth.launch.launch import launch_of
    >>> found = addresses(launch_of(fabric("dgx-spark-4")))["spark0"]
    >>> found.ports, found.gates["spark2"]
    ({'spark1': '10.0.0.0', 'spark3': '10.0.0.2'}, 'spark1')
    """
    peers = {host.name: [port.peer for port in host.ports] for host in launch.hosts}
    if not launch.is_cabled or len(peers) > MOST_HOSTS:
        return {}
    ports: dict[str, dict[str, str]] = {name: {} for name in peers}
    subnets = CABLES.subnets(new_prefix=31)
    for name in peers:
        for peer in peers[name]:
            if peer not in ports[name]:
                one, other = next(subnets)
                ports[name][peer], ports[peer][name] = str(one), str(other)
    return {
        name: HostAddresses(str(LOOPBACKS[index + 1]), ports[name], _gates(peers, name))
        for index, name in enumerate(peers)
    }


def _gates(peers: Mapping[str, list[str]], start: str) -> dict[str, str]:
    """Return for every other host the first peer of a shortest path, breadth first."""
    gates = {peer: peer for peer in peers[start]}
    waiting = [*peers[start]]
    for host in waiting:
        for peer in peers[host]:
            if peer != start and peer not in gates:
                gates[peer] = gates[host]
                waiting.append(peer)
    return gates
