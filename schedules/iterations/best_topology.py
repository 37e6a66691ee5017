"""The topology and the placement of least iteration time."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heappop, heappush
from itertools import permutations
from typing import NamedTuple

from topoloom.schedules.groups.process_groups import ProcessGroups
from topoloom.schedules.iterations.candidates import Candidate
from topoloom.schedules.iterations.communications import OnlyExchanges
from topoloom.schedules.iterations.event_simulation import simulate
from topoloom.schedules.iterations.fabric import Fabric, RankPlacement
from topoloom.schedules.iterations.group_loads import RoutedGroups
from topoloom.schedules.iterations.iteration import Iteration
from topoloom.schedules.iterations.job_operations import job_plan
from topoloom.schedules.iterations.job_plan import JobPlan, Routed, Times
from topoloom.schedules.iterations.least_time import TimeBound
from topoloom.schedules.iterations.operations import Timeline
from topoloom.schedules.iterations.path_loads import ShortestPaths
from topoloom.schedules.iterations.training_job import Sharding
from topoloom.synth.progress import report_progress
from topoloom.synth.topology.hops import hop_seconds
from topoloom.synth.topology.rates import UNITS
from topoloom.synth.topology.topology import Topology

SIMULATED = 2
"""Placements of a topology that are simulated in full."""


@dataclass(frozen=True, slots=True)
class Speeds:
    """Speeds of hosts, for any topology: the rate of a host over all ports, and latency.

    A topology that states rates has these.  ``alpha_seconds`` is the latency of every hop; None
    for the latencies that a topology states, else `synth.topology.hops.DEFAULT_ALPHA_US`.  See
    `fabric.Fabric` for the others.
    """

    host_bytes_per_second: Fraction
    alpha_seconds: Fraction | None
    accelerators: int = 1
    inside_bytes_per_second: Fraction | None = None

    def fabric(self, topology: Topology, ports: int) -> Fabric:
        """Return the fabric of a topology whose unit of capacity is one of the ports."""
        alpha = self.alpha_seconds
        return Fabric(
            topology,
            UNITS.get(topology.bandwidth_unit) or self.host_bytes_per_second / ports,
            hop_seconds(topology, None if alpha is None else alpha * 10**6),
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
    plan: JobPlan, short: JobPlan, candidate: Candidate, fabric: Fabric, free_seconds: Fraction
) -> PlacedIteration:
    """Return the iteration on a fabric, with the fastest placement of those simulated.

    Placements differ in the order of the dimensions beyond tensor and context groups.  If there are
    more than `SIMULATED`, simulations of ``short`` (`with_fewest_microbatches`) select them.
    """
    paths = ShortestPaths(fabric.topology, fabric.delays[0])
    tried = [RoutedGroups(fabric, one, paths) for one in placements(plan.job.processes, fabric)]
    if short is not plan and len(tried) > SIMULATED:
        tried = [one.network for one in fastest(short, tried, SIMULATED)]
    best = fastest(plan, tried, 1)[0]
    paths.forget()
    return PlacedIteration(
        candidate,
        best.network.placement,
        best.network,
        Iteration(plan, best.routed, best.timeline, free_seconds),
    )


class Simulated(NamedTuple):
    """A simulation of a plan on a network."""

    network: RoutedGroups
    routed: Routed
    timeline: Timeline


def fastest(plan: JobPlan, networks: Sequence[RoutedGroups], count: int) -> list[Simulated]:
    """Return the simulations of least time, at most ``count``; of equal times, the first networks.

    Best-first search: of all networks, the one of least time or lower bound gets the next of a
    bound by its all-to-alls, a bound by all its communications, and a simulation.
    """
    bound = TimeBound(plan)
    queue = [(Fraction(0), place, 0) for place in range(len(networks))]
    times, simulated = dict[int, Times](), dict[int, Simulated]()
    found = list[Simulated]()
    while queue and len(found) < count:
        _, place, step = heappop(queue)
        network = networks[place]
        if step == 0:
            seconds = bound.seconds(plan.times(OnlyExchanges(network)))
        elif step == 1:
            times[place] = plan.times(network)
            seconds = bound.seconds(times[place])
        elif step == 2:
            one = plan.routed(times.pop(place))
            timeline = simulate(one.operations, one.shares, plan.order)
            simulated[place] = Simulated(network, one, timeline)
            seconds = timeline.seconds
        else:
            found.append(simulated[place])
            continue
        heappush(queue, (seconds, place, step + 1))
    return found


def with_fewest_microbatches(plan: JobPlan) -> JobPlan:
    """Return the plan with the fewest microbatches that pass all phases of its pipeline.

    Gradients and gathered parameters, which an iteration sends once, shrink in proportion.
    """
    job = plan.job
    count = min(job.microbatches, job.least_microbatches)
    if count == job.microbatches:
        return plan
    full = job.sharding is Sharding.FULL
    share = Fraction(1) if full else Fraction(count, job.microbatches)
    layers = tuple(
        replace(
            layer,
            parameters=int(layer.parameters * share),
            expert_parameters=int(layer.expert_parameters * share),
        )
        for layer in job.layers
    )
    return job_plan(replace(job, microbatches=count, layers=layers), plan.seconds)


def placed_iterations(
    plan: JobPlan,
    offered: Iterable[Candidate],
    speeds: Speeds,
    ports: int,
    free_seconds: Fraction,
) -> list[PlacedIteration]:
    """Return the iterations on all candidates, in their order."""
    found, tried, short = [], tuple(offered), with_fewest_microbatches(plan)
    for number, candidate in enumerate(tried):
        report_progress("iterations on topologies", number, len(tried))
        fabric = speeds.fabric(candidate.topology, ports)
        found.append(placed_iteration(plan, short, candidate, fabric, free_seconds))
    return found


def placements(processes: ProcessGroups, fabric: Fabric) -> Iterator[RankPlacement]:
    """Yield the placements that are tried; the first is that of the job.

    >>> from topoloom.synth.recipes.build import build
    >>> from topoloom.synth.recipes.recipe import parse
    >>> fabric = Fabric(build(parse("BiRing(8)")), Fraction(1), Fraction(0))
    >>> tried = list(placements(ProcessGroups.parse("tensor=2,pipeline=2,data=2"), fabric))
    >>> len(tried), str(tried[0].processes)
    (2, 'tensor=2,pipeline=2,data=2')
    """
    inner = [one for one in processes.sizes if one[0] in ("tensor", "context")]
    outer = [one for one in processes.sizes if one[0] not in ("tensor", "context") and one[1] > 1]
    single = [one for one in processes.sizes if one[0] not in ("tensor", "context") and one[1] == 1]
    for sizes in permutations(outer):
        groups = ProcessGroups((*inner, *sizes, *single))
        yield RankPlacement(groups, fabric.topology.compute_nodes, fabric.accelerators)
