"""The operations of a job before and after a network gives its messages their times."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.iterations.communications import Cost, Network, Row
from topoloom.schedules.iterations.link_sharing import LinkShares
from topoloom.schedules.iterations.messages import Message
from topoloom.schedules.iterations.operations import Operation, Order, order_of
from topoloom.schedules.iterations.training_job import Layer, TrainingJob

LayerSeconds = Callable[[Layer], tuple[Fraction, Fraction, Fraction]]
"""Seconds of a layer for one microbatch; see `iteration.layer_seconds`."""


class Routed(NamedTuple):
    """Operations on a network, their link shares, and the cost of every message by stage."""

    operations: list[Operation]
    shares: LinkShares
    costs: dict[tuple[int, Message], Cost]


class ClassTime(NamedTuple):
    """Time of the operations of a class; see `operations.Operation`."""

    seconds: Fraction
    transfer: Fraction = Fraction(0)
    row: int | None = None


class Times(NamedTuple):
    """The times of operations on a network, by class."""

    times: list[ClassTime]
    shares: LinkShares
    costs: dict[tuple[int, Message], Cost]


class Classes(NamedTuple):
    """Classes of operations that have equal times on any network.

    ``of`` is the class of every operation; ``members`` has one operation of every class.
    """

    of: NDArray[np.int64]
    members: list[int]


@dataclass(frozen=True)
class JobPlan:
    """The operations of a job, before a network gives its messages their times.

    ``messages[i]`` is the message of operation i, or None for a computation.  ``seconds`` are the
    times of the layers.
    """

    job: TrainingJob
    seconds: LayerSeconds
    operations: Sequence[Operation]
    messages: Sequence[Message | None]

    @cached_property
    def order(self) -> Order:
        """The order of the operations."""
        return order_of(self.operations)

    @cached_property
    def classes(self) -> Classes:
        """Operations with one message of a stream, and computations with one object as time."""
        known, of, members = dict[tuple[str, int], int](), list[int](), list[int]()
        for index, (one, message) in enumerate(zip(self.operations, self.messages, strict=True)):
            key = ("", id(one.seconds)) if message is None else (one.stream, id(message))
            found = known.setdefault(key, len(members))
            if found == len(members):
                members.append(index)
            of.append(found)
        return Classes(np.array(of, np.int64), members)

    def times(self, network: Network) -> Times:
        """Return the times of all classes on a network."""
        rows, row_of = list[Row](), dict[tuple[str, str, str], int]()
        costs, found = dict[tuple[int, Message], Cost](), list[ClassTime]()
        for index in self.classes.members:
            one, message = self.operations[index], self.messages[index]
            if message is None:
                found.append(ClassTime(one.seconds))
                continue
            cost = network.cost(message.kind, message.traffic, one.stage, message.size_bytes)
            costs[one.stage, message] = cost
            row = row_of.setdefault((one.stream, message.kind, cost.algorithm), len(rows))
            if row == len(rows):
                rows.append(cost.row)
            runs = message.runs
            found.append(ClassTime(cost.latency * runs, cost.transfer * runs, row))
        return Times(found, LinkShares(rows), costs)

    def routed(self, times: Times) -> Routed:
        """Return the operations with the times of their messages."""
        found = list(self.operations)
        for index, (one, message, number) in enumerate(
            zip(self.operations, self.messages, self.classes.of.tolist(), strict=True)
        ):
            if message is not None:
                time = times.times[number]
                found[index] = Operation(
                    *(one.stream, one.name, time.seconds, one.after),
                    *(time.row, time.transfer, one.kind, one.stage),
                )
        return Routed(found, times.shares, times.costs)

    def on(self, network: Network) -> Routed:
        """Return the operations with the times of their messages on a network."""
        return self.routed(self.times(network))
