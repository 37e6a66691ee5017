"""Exchanges between distant hosts of a torus whose routers forward without latency.

A *plan* states, for every part of the data and every step, nearest partners first, the dimension
and distance of every host's partners.  A reduce-scatter follows the plan, an allgather runs it
in reverse, and an allreduce in one pass follows it with all of the data.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tests.baseline_runs.runs import gather, in_passes
from topoloom.schedules.baselines.operation import Operation
from topoloom.schedules.baselines.torus_topology import shifted_hosts
from topoloom.schedules.model.schedule import Collective, Schedule, StepSchedule, schedule_parts
from topoloom.schedules.model.transcript import Message, Span, Transcript
from topoloom.schedules.simulate import Network
from topoloom.schedules.simulate.messages import Messages, messages_of
from topoloom.schedules.simulate.run_messages import run_messages
from topoloom.schedules.simulate.transcript_messages import messages_of_transcript
from topoloom.schedules.steps.send_arrays import sends
from topoloom.synth.topology.topology import Topology


class Exchange(NamedTuple):
    """(partners, hosts): signed distance along ``axis`` of the partners of every host."""

    axis: int
    by: NDArray[np.int64]


ENTRY = 1 << 20
"""Capacity from a host into its router: enough to avoid waiting."""

ExchangePlan = Sequence[Sequence[Exchange]]
"""By part of the data, by step."""


@dataclass(frozen=True, slots=True)
class RoutedRun:
    """A schedule whose messages take paths of a torus.

    ``topology`` has a link for every communicating pair, for verification.  ``paths`` are the links
    of the ``torus`` that each pair crosses.  An allreduce in one pass is a transcript, since
    schedules cannot express it.
    """

    topology: Topology
    schedule: Schedule | Transcript
    torus: Topology
    paths: tuple[tuple[int, ...], ...]

    def seconds(self, degree: int, operation: Operation) -> Fraction:
        """Return the synchronous simulated time, with every message on its whole path at once.

        Hosts pass all messages of a step to their routers at once: overheads count once per step.
        """
        alpha = operation.alpha_seconds + operation.overhead_seconds
        network = Network(alpha, operation.bytes_per_second / degree)
        total = Fraction(0)
        for messages in self._messages():
            total += run_messages(
                self._crossing(messages), network, operation.size_bytes, 1, True
            ).seconds
            total += operation.chunk_seconds * _most_chunks(messages)
        return total

    def _messages(self) -> list[Messages]:
        if isinstance(self.schedule, Transcript):
            return [messages_of_transcript(self.schedule, self.topology)]
        return [messages_of(part, self.topology) for part in schedule_parts(self.schedule)]

    def _crossing(self, messages: Messages) -> Messages:
        """Return the messages over the paths, each with a wide link into its first router."""
        entries = self.torus.link_count
        paths = [(entries + at, *path) for at, path in enumerate(self.paths)]
        lengths = [len(paths[link]) for link in messages.hops.tolist()]
        return messages._replace(
            hop_start=np.cumsum([0, *lengths]),
            hops=np.array([hop for link in messages.hops.tolist() for hop in paths[link]]),
            capacities=(*self.torus.capacities, *(ENTRY,) * len(paths)),
            sources=np.zeros(entries + len(paths), np.int64),
            link_of=np.arange(entries),
        )


def _most_chunks(messages: Messages) -> int:
    """Return the sum over steps of the most chunks between two hosts."""
    steps = np.repeat(np.arange(len(messages.starts) - 1), np.diff(messages.starts))
    loads = np.zeros((len(messages.starts) - 1, len(messages.capacities)), np.int64)
    np.add.at(loads, (steps, messages.hops), messages.chunk_count)
    return int(loads.max(axis=1).sum())


def routed_run(
    shape: tuple[int, ...], copies: int, plan: ExchangePlan, operation: Operation, *, once: bool
) -> RoutedRun:
    """Return a collective by a plan on a torus with ``copies`` parallel links.

    ``once`` requests an allreduce in one pass.
    """
    hosts = np.arange(prod(shape))
    pairs = {}
    for exchange in (exchange for part in plan for exchange in part):
        for row in exchange.by:
            targets = shifted_hosts(hosts, shape, exchange.axis, row).tolist()
            for source, (target, by) in enumerate(zip(targets, row.tolist(), strict=True)):
                pairs[source, target] = _path(source, shape, exchange.axis, by)
    torus = Topology(hosts.tolist(), _torus_links(shape, copies))
    index = {(link.source, link.target): at for at, link in enumerate(torus.links)}
    topology = Topology(hosts.tolist(), pairs)
    paths = tuple(
        tuple(index[hop] for hop in pairs[link.source, link.target]) for link in topology.links
    )
    if once:
        return RoutedRun(topology, _one_pass(shape, plan), torus, paths)
    made = topology, _gathered(topology, shape, plan)
    running = in_passes(lambda _: made, operation.collective)
    return RoutedRun(topology, running.schedule, torus, paths)


def _one_pass(shape: tuple[int, ...], plan: ExchangePlan) -> Transcript:
    """Return the allreduce that exchanges the partial sums in every step."""
    hosts = np.arange(prod(shape))
    messages: list[Message] = []
    for number, part in enumerate(plan):
        held = [1 << host for host in hosts.tolist()]
        brought: list[list[int]] = [[] for _ in held]
        first = number * len(held)
        for exchange in part:
            sums, arrived = held[:], [needs[:] for needs in brought]
            for row in exchange.by:
                for source, target in enumerate(
                    shifted_hosts(hosts, shape, exchange.axis, row).tolist()
                ):
                    span = Span(first, first + len(held), sums[source])
                    brought[target].append(len(messages))
                    held[target] |= sums[source]
                    messages.append(Message(source, target, (span,), tuple(arrived[source])))
    bounds = tuple(len(plan) * host for host in range(len(hosts) + 1))
    return Transcript(Collective.ALLREDUCE, bounds, tuple(messages))


def _torus_links(shape: tuple[int, ...], copies: int) -> list[tuple[int, int, int]]:
    hosts = np.arange(prod(shape))
    return [
        (source, target, copies)
        for axis in range(len(shape))
        for way in (1, -1)
        for source, target in enumerate(shifted_hosts(hosts, shape, axis, way).tolist())
    ]


def _path(source: int, shape: tuple[int, ...], axis: int, by: int) -> tuple[tuple[int, int], ...]:
    one, start = (1 if by > 0 else -1), np.array(source)
    passed = [int(shifted_hosts(start, shape, axis, one * hop)) for hop in range(abs(by) + 1)]
    return tuple(pairwise(passed))


def _gathered(topology: Topology, shape: tuple[int, ...], plan: ExchangePlan) -> StepSchedule:
    """Return the allgather, which starts with distant partners and few shards."""
    hosts = np.arange(prod(shape))
    steps: list[list[NDArray[np.void]]] = [[] for _ in plan[0]]
    for number, part in enumerate(plan):
        shards = hosts[:, None]
        for step, exchange in enumerate(reversed(part)):
            targets = [shifted_hosts(hosts, shape, exchange.axis, row) for row in exchange.by]
            arrived = [shards]
            for target in targets:
                steps[step].append(sends(hosts[:, None], target[:, None], shards, number, 1, 0))
                brought = np.empty_like(shards)
                brought[target] = shards
                arrived.append(brought)
            shards = np.concatenate(arrived, axis=1)
    return gather(topology, len(plan), steps)
