"""Times by data size: the scaled workload on topologies, by baselines and at the bound."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from topoloom.app.documents.bound_names import bound_name
from topoloom.app.requests.message_sizes import SizesRequest
from topoloom.schedules.baselines import PASSES, Operation, baselines, bound_seconds
from topoloom.schedules.compare.topology_algorithms import (
    ONE_SHOT,
    Routing,
    TopologyCosts,
    floor_seconds,
    topology_candidates,
)
from topoloom.schedules.model.schedule import Collective
from topoloom.synth.evaluation.cost import Cost, Links, all_to_all_bound


class Times:
    """Times in seconds of a workload, scaled to a total number of bytes.

    All tasks scale by the same factor, rounded to whole bytes, at least 1.
    """

    def __init__(self, request: SizesRequest, bounds: dict[str, Any]) -> None:
        self.request = request
        self.bounds = Cost(bounds["steps"], Fraction(bounds["bandwidth"]))

    def _scaled(self, size_bytes: int) -> Iterator[tuple[int, Operation]]:
        """Yield the count of each task, and the task with the speed of the hosts."""
        request, total = self.request, self.request.total_bytes
        for task in request.tasks:
            size = max(1, round(Fraction(task.size_bytes * size_bytes, total)))
            yield (
                task.count,
                Operation(task.collective, size, request.bytes_per_second, request.alpha_seconds),
            )

    def on(self, entry: dict[str, Any], size_bytes: int) -> Fraction:
        """Return the time on a frontier/1 point: with its schedules, or the fastest routing."""
        scaled = list(self._scaled(size_bytes))
        largest = max(work.size_bytes for _, work in scaled)
        offer = _offer(entry)
        total = Fraction(0)
        for count, work in scaled:
            ways = topology_candidates(offer, work, largest)
            usual = [way for way in ways if way.name in ONE_SHOT] or ways
            total += count * min(way.seconds(work.size_bytes) for way in usual)
        return total

    @property
    def bound_name(self) -> str:
        """The name of `bound`."""
        return bound_name(task.collective for task in self.request.tasks)

    def bound(self, size_bytes: int) -> Fraction:
        """Return the lower bound of the time in the usual passes, over all topologies."""
        request = self.request
        routes = all_to_all_bound(request.nodes, request.degree, Links(request.links))
        total = Fraction(0)
        for count, work in self._scaled(size_bytes):
            if work.collective in PASSES:
                least = bound_seconds(self.bounds.steps, self.bounds.bandwidth, work)
            else:
                least = floor_seconds(self.bounds, routes, work)
            total += count * least
        return total

    def baselines(self, size_bytes: int) -> dict[str, Fraction]:
        """Return the time of every baseline that these hosts can run.

        The shifted ring runs the tasks that a baseline does not support.
        """
        nodes, degree = self.request.nodes, self.request.degree
        links = Links(self.request.links)
        served = [
            (count, {found.name: found.seconds for found in baselines(nodes, degree, work, links)})
            for count, work in self._scaled(size_bytes)
        ]
        names = dict.fromkeys(name for _, found in served for name in found)
        return {
            name: sum(
                (count * found.get(name, found["shifted-ring"]) for count, found in served),
                Fraction(0),
            )
            for name in names
        }


def costs_of(entry: dict[str, Any], collective: Collective) -> Cost:
    """Return steps and T_B of a collective at a frontier/1 point, in steps or by routes."""
    offer = _offer(entry)
    used = {
        Collective.ALLGATHER: [offer.gather],
        Collective.REDUCE_SCATTER: [offer.scatter],
        Collective.ALLREDUCE: [offer.scatter, offer.gather],
        Collective.ALL_TO_ALL: [routing.cost for routing in offer.routings[-1:]],
    }[collective]
    bandwidth = sum((cost.bandwidth for cost in used), Fraction(0))
    return Cost(sum(cost.steps for cost in used), bandwidth)


def _offer(entry: dict[str, Any]) -> TopologyCosts:
    """Return the costs of a frontier/1 point."""
    routings = entry.get("all_to_all", {}).get("routings", ())
    return TopologyCosts(
        entry["nodes"],
        _cost(entry),
        _cost(entry["transpose"]),
        routings=tuple(Routing(routing["method"], _cost(routing)) for routing in routings),
        algorithm=entry["algorithm"],
    )


def _cost(facts: dict[str, Any]) -> Cost:
    return Cost(facts["steps"], Fraction(facts["bandwidth"]))
