"""The interface between a job and a network: the time and the link shares of a collective."""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from math import lcm
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray


class Traffic(StrEnum):
    """The communication that all groups of a kind run at once."""

    ALLREDUCE = "allreduce"
    ALLGATHER = "allgather"
    REDUCE_SCATTER = "reduce-scatter"
    ALL_TO_ALL = "all-to-all"
    SEND_NEXT = "send-next"
    SEND_PREVIOUS = "send-previous"
    SEND_MIRROR = "send-mirror"

    def target(self, stage: int, stages: int) -> int | None:
        """Return the stage that receives a message; None for a collective.

        >>> Traffic.SEND_MIRROR.target(0, 4), Traffic.ALLREDUCE.target(0, 4)
        (3, None)
        """
        targets = {
            Traffic.SEND_NEXT: (stage + 1) % stages,
            Traffic.SEND_PREVIOUS: (stage - 1) % stages,
            Traffic.SEND_MIRROR: stages - 1 - stage,
        }
        return targets.get(self)


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """The links that a communication uses: it takes ``loads[e] / peak`` of link e at speed 1."""

    loads: NDArray[np.int64]
    peak: int

    @classmethod
    def of(cls, *shares: int | Fraction) -> "Row":
        """Return a row of shares, in the order of the links.

        >>> Row.of(1, Fraction(1, 2)).loads.tolist()
        [2, 1]
        """
        peak = lcm(*(Fraction(one).denominator for one in shares))
        return cls(np.array([int(one * peak) for one in shares], np.int64), peak)


class Cost(NamedTuple):
    """The time of a collective that runs alone, and the links that it uses.

    ``algorithm`` names the algorithm; ``latency`` is in seconds, ``transfer`` the seconds on the
    links, ``row`` the share of every link during the transfer.
    """

    algorithm: str
    latency: Fraction
    transfer: Fraction
    row: Row

    @property
    def seconds(self) -> Fraction:
        """Time without other communications."""
        return self.latency + self.transfer


class Network(Protocol):
    """A network that carries the collectives of a job."""

    def cost(self, kind: str, traffic: Traffic, stage: int, size_bytes: Fraction) -> Cost:
        """Return the cost of one collective in all groups of a kind in a pipeline stage at once.

        ``size_bytes`` is the size in one group: the result of an allgather, the input of a
        reduce-scatter or allreduce, the data that one rank sends otherwise.
        """
        ...


FREE = Cost("free", Fraction(0), Fraction(0), Row.of())


class FreeNetwork:
    """A network on which every communication takes no time.

    >>> FreeNetwork().cost("data", Traffic.ALLREDUCE, 0, Fraction(8)).seconds
    Fraction(0, 1)
    """

    def cost(self, kind: str, traffic: Traffic, stage: int, size_bytes: Fraction) -> Cost:
        """Return a cost of zero."""
        return FREE


@dataclass(frozen=True, slots=True)
class OnlyExchanges:
    """A network on which only the all-to-alls of another network take time.

    The `least_time.TimeBound` on it is not above that on the other network, and needs few costs.
    """

    network: Network

    def cost(self, kind: str, traffic: Traffic, stage: int, size_bytes: Fraction) -> Cost:
        """Return the cost on the other network, or zero."""
        if traffic is not Traffic.ALL_TO_ALL:
            return FREE
        return self.network.cost(kind, traffic, stage, size_bytes)
