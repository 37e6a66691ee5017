"""The topology and the placement of least iteration time."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

from topoloom.schedules.groups.process_groups import ProcessGroups
from topoloom.schedules.iterations.candidates import Candidate
from topoloom.schedules.iterations.fabric import Fabric, RankPlacement
from topoloom.schedules.iterations.group_loads import RoutedGroups
from topoloom.schedules.iterations.iteration import Iteration, simulate_iteration
from topoloom.schedules.iterations.job_operations import JobPlan
from topoloom.schedules.iterations.path_loads import ShortestPaths
from topoloom.synth.progress import report_progress
from topoloom.synth.topology.topology import NodeId, Topology

NUMBERING, NEAREST = "in the numbering of the topology", "by distance from the first host"


@dataclass(frozen=True, slots=True)
class Speeds:
    """Speeds of hosts, for any topology: the rate of a host over all ports, and latency.

    See `fabric.Fabric` for the others.
    """

    host_bytes_per_second: Fraction
    alpha_seconds: Fraction
    accelerators: int = 1
    inside_bytes_per_second: Fraction | None = None

    def fabric(self, topology: Topology, ports: int) -> Fabric:
        """Return the fabric of a topology whose unit of capacity is one of the ports."""
        return Fabric(
            topology,
            self.host_bytes_per_second / ports,
            self.alpha_seconds,
            self.accelerators,
            self.inside_bytes_per_second,
        )


@dataclass(frozen=True)
class PlacedIteration:
    """The iteration on a topology with its best placement."""

    candidate: Candidate
    placement: RankPlacement
    network: RoutedGroups
    iteration: Iteration

    @property
    def seconds(self) -> Fraction:
        """Time of the iteration."""
        return self.iteration.seconds


def placed_iteration(
    plan: JobPlan, candidate: Candidate, fabric: Fabric, free_seconds: Fraction
) -> PlacedIteration:
    """Return the iteration on a fabric, with the placement of least communication time.

    Placements differ in the order of the dimensions beyond tensor and context groups, and in the
    order of the hosts.  The sum of the times of all messages of the first and of the middle stage,
    each alone, selects the placement; the iteration is then simulated.
    """
    paths = ShortestPaths(fabric.topology)
    best: tuple[Fraction, RoutedGroups] | None = None
    for placement in placements(plan.job.processes, fabric):
        network = RoutedGroups(fabric, placement, paths)
        seconds = _message_seconds(plan, network)
        if best is None or seconds < best[0]:
            best = seconds, network
    assert best is not None
    network = best[1]
    iteration = simulate_iteration(plan, network, free_seconds)
    return PlacedIteration(candidate, network.placement, network, iteration)


def best_iterations(
    plan: JobPlan,
    offered: Iterable[Candidate],
    speeds: Speeds,
    ports: int,
    free_seconds: Fraction,
) -> list[PlacedIteration]:
    """Return the iterations on all candidates, fastest first; equal times by shorter names."""
    found, tried = [], tuple(offered)
    for number, candidate in enumerate(tried):
        report_progress("iterations on topologies", number, len(tried))
        fabric = speeds.fabric(candidate.topology, ports)
        found.append(placed_iteration(plan, candidate, fabric, free_seconds))
    return sorted(found, key=lambda one: (one.seconds, len(one.candidate.name), one.candidate.name))


def placements(processes: ProcessGroups, fabric: Fabric) -> Iterator[RankPlacement]:
    """Yield the placements that are tried; the first is that of the job.

    >>> from topoloom.synth.recipes.build import build
    >>> from topoloom.synth.recipes.recipe import parse
    >>> fabric = Fabric(build(parse("BiRing(8)")), Fraction(1), Fraction(0))
    >>> tried = list(placements(ProcessGroups.parse("tensor=2,pipeline=2,data=2"), fabric))
    >>> len(tried), str(tried[0].processes)
    (4, 'tensor=2,pipeline=2,data=2')
    """
    inner = [one for one in processes.sizes if one[0] in ("tensor", "context")]
    outer = [one for one in processes.sizes if one[0] not in ("tensor", "context") and one[1] > 1]
    single = [one for one in processes.sizes if one[0] not in ("tensor", "context") and one[1] == 1]
    natural = fabric.topology.compute_nodes
    orders = {NUMBERING: natural, NEAREST: _by_distance(fabric.topology)}
    if orders[NEAREST] == natural:
        del orders[NEAREST]
    for sizes in permutations(outer):
        groups = ProcessGroups((*inner, *sizes, *single))
        for name, hosts in orders.items():
            yield RankPlacement(groups, hosts, fabric.accelerators, name)


def _by_distance(topology: Topology) -> tuple[NodeId, ...]:
    """Return the hosts in the order of a breadth-first search from the first host."""
    following = defaultdict[NodeId, list[NodeId]](list)
    for link in topology.links:
        following[link.source].append(link.target)
    found = [topology.compute_nodes[0]]
    seen = set(found)
    for node in found:
        for other in following[node]:
            if other not in seen:
                seen.add(other)
                found.append(other)
    return tuple(node for node in found if node not in topology.switches)


def _message_seconds(plan: JobPlan, network: RoutedGroups) -> Fraction:
    """Return the sum of the times of all messages of two stages."""
    looked = {0, plan.job.stages // 2}
    counts = defaultdict[tuple[int, int], int](int)
    messages = {}
    for one, message in zip(plan.operations, plan.messages, strict=True):
        if message is not None and one.stage in looked:
            counts[one.stage, id(message)] += message.runs
            messages[id(message)] = message
    total = Fraction(0)
    for (stage, key), count in counts.items():
        message = messages[key]
        cost = network.cost(message.kind, message.traffic, stage, message.size_bytes)
        total += count * cost.seconds
    return total
