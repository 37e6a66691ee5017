"""The limiting resource of an iteration: its time with 10 % more of every resource."""

from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from topoloom.schedules.iterations.event_simulation import simulate
from topoloom.schedules.iterations.fabric import Fabric
from topoloom.schedules.iterations.group_loads import RoutedGroups
from topoloom.schedules.iterations.iteration import Iteration
from topoloom.schedules.iterations.messages import COMPUTATIONS
from topoloom.synth.topology.topology import Capacity, Link, Topology

MORE = Fraction(11, 10)
COMPUTE, INSIDE, LATENCY = "computation", "links inside hosts", "latency"


class Gain(NamedTuple):
    """The time of an iteration with 10 % more of a resource; of latency, with 10 % less."""

    resource: str
    seconds: Fraction
    saved: Fraction


def sensitivity(iteration: Iteration, network: RoutedGroups) -> tuple[Gain, ...]:
    """Return the gain of every resource, largest first.

    Resources are computation, the latency of a hop, links inside hosts, and cables by capacity.
    Loads stay as they are; the algorithm of a message may change.
    """
    fabric = network.fabric
    times = {COMPUTE: _with_computation(iteration)}
    changed = {LATENCY: _with_latency(fabric, 2 - MORE)}
    if fabric.inside_bytes_per_second:
        faster = fabric.inside_bytes_per_second * MORE
        changed[INSIDE] = replace(fabric, inside_bytes_per_second=faster)
    classes = sorted(set(fabric.topology.capacities))
    for one in classes:
        name = "cables" if len(classes) == 1 else f"cables of capacity {one}"
        changed[name] = replace(fabric, topology=_widened(fabric, one))
    for name, other in changed.items():
        routed = iteration.plan.on(network.at_rates(other))
        order = iteration.plan.order
        times[name] = simulate(routed.operations, routed.shares, order).seconds
    whole = iteration.seconds
    found = [
        Gain(name, seconds, (whole - seconds) / whole if whole else Fraction(0))
        for name, seconds in times.items()
    ]
    return tuple(sorted(found, key=lambda gain: (-gain.saved, gain.resource)))


def _with_computation(iteration: Iteration) -> Fraction:
    faster = [
        one._replace(seconds=one.seconds / MORE) if one.kind in COMPUTATIONS else one
        for one in iteration.routed.operations
    ]
    return simulate(faster, iteration.routed.shares, iteration.plan.order).seconds


def _with_latency(fabric: Fabric, factor: Fraction) -> Fabric:
    """Return the fabric with a multiple of all latencies."""
    if fabric.alpha_seconds is not None:
        return replace(fabric, alpha_seconds=fabric.alpha_seconds * factor)
    latencies = {pair: latency * factor for pair, latency in fabric.topology.latencies.items()}
    return replace(fabric, topology=fabric.topology.with_latencies(latencies))


def _widened(fabric: Fabric, capacity: Capacity) -> Topology:
    """Return the topology with 10 % more of every link of a capacity."""
    topology = fabric.topology
    return Topology(
        topology.nodes,
        [
            Link(
                link.source, link.target, link.capacity * (MORE if link.capacity == capacity else 1)
            )
            for link in topology.links
        ],
        switches=topology.switches,
        multicast=topology.multicast,
        latencies=topology.latencies,
    )
