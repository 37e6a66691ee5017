"""The fabric of an iteration: hosts, accelerators inside them, and the ranks on these."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.groups.process_groups import ProcessGroups
from topoloom.synth.topology.topology import NodeId, Topology

Positions = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Fabric:
    """Hosts that are wired as a topology; every host holds some accelerators.

    Attributes:
        topology: Hosts, and switches between them.  Hosts relay.
        unit_bytes_per_second: Rate of one unit of capacity.
        alpha_seconds: Latency of a hop from host to host; a switch between them adds none.  None:
            every link has the latency that the topology states.
        accelerators: Accelerators of a host.
        inside_bytes_per_second: Rate of one accelerator to the others of its host; None with one
            accelerator.  A collective inside a host has no latency here.
    """

    topology: Topology
    unit_bytes_per_second: Fraction
    alpha_seconds: Fraction | None
    accelerators: int = 1
    inside_bytes_per_second: Fraction | None = None

    @property
    def delays(self) -> tuple[Positions | None, Fraction]:
        """The delay of every link as a multiple of a unit, and the seconds of the unit.

        None with one latency for all hops, whose unit is a hop.

        >>> links, us = [("a", "b"), ("b", "a")], Fraction(1, 10**6)
        >>> pair = Topology("ab", links, latencies={links[0]: 2 * us, links[1]: 3 * us})
        >>> Fabric(pair, Fraction(1), None).delays
        (array([2, 3]), Fraction(1, 1000000))
        """
        if self.alpha_seconds is not None:
            return None, self.alpha_seconds
        stated = [self.topology.latencies[link[:2]] for link in self.topology.links]
        scale = lcm(*(latency.denominator for latency in stated))
        ticks = [int(latency * scale) for latency in stated]
        unit = gcd(*ticks) or 1
        return np.array(ticks, np.int64) // unit, Fraction(unit, scale)

    @property
    def hosts(self) -> int:
        """Number of hosts."""
        return len(self.topology.compute_nodes)

    @property
    def ranks(self) -> int:
        """Number of accelerators."""
        return self.hosts * self.accelerators


@dataclass(frozen=True)
class RankPlacement:
    """Ranks on hosts: with g accelerators in a host, rank r runs on ``hosts[r // g]``.

    Raises:
        NoSchedule: The sizes of the dimensions do not multiply to the ranks.

    >>> placed = RankPlacement(ProcessGroups.parse("tensor=2,data=3"), ("a", "b", "c"), 2)
    >>> placed.host(3), placed.table()[0]
    ('b', ('a', '0-1', 0, 0))
    """

    processes: ProcessGroups
    hosts: tuple[NodeId, ...]
    accelerators: int = 1

    def __post_init__(self) -> None:
        ranks = len(self.hosts) * self.accelerators
        if self.processes.rank_count != ranks:
            raise NoSchedule(
                "/parallel",
                f"must multiply to the {ranks} ranks; {self.processes} has "
                f"{self.processes.rank_count}",
            )

    def host(self, rank: int) -> NodeId:
        """Return the host of a rank."""
        return self.hosts[rank // self.accelerators]

    @cached_property
    def coordinates(self) -> dict[str, Positions]:
        """By dimension: the coordinate of every rank."""
        ranks, found = np.arange(self.processes.rank_count), {}
        for name, size in self.processes.sizes:
            ranks, found[name] = np.divmod(ranks, size)
        return found

    def groups(self, kind: str, stage: int) -> Positions:
        """Return the groups of a kind in a pipeline stage, as rows of ranks in rank order."""
        inside = set(kind.split("+"))
        ranks = np.arange(self.processes.rank_count)
        key = np.zeros(len(ranks), np.int64)
        for name, size in self.processes.sizes:
            if name not in inside:
                key = key * size + self.coordinates[name]
        of_stage = self.coordinates.get("pipeline", np.zeros_like(ranks)) == stage
        ranks, key = ranks[of_stage], key[of_stage]
        order = np.argsort(key, kind="stable")
        return ranks[order].reshape(len(np.unique(key)), -1)

    def peers(self, stage: int, other: int) -> Positions:
        """Return (rank, peer) rows: every rank of a stage, and its peer in another stage."""
        weight = 1
        for name, size in self.processes.sizes:
            if name == "pipeline":
                ranks = np.flatnonzero(self.coordinates[name] == stage)
                return np.stack([ranks, ranks + (other - stage) * weight], axis=1)
            weight *= size
        raise NoSchedule("/parallel", "must have pipeline stages to send between")

    def table(self) -> list[tuple[object, ...]]:
        """Return one row per host: the host, and its coordinate in every dimension.

        A range such as 0-7 stands for several accelerators.
        """
        rows = []
        for number, host in enumerate(self.hosts):
            low = number * self.accelerators
            columns = [
                column[low : low + self.accelerators] for column in self.coordinates.values()
            ]
            rows.append((host, *(_range(column) for column in columns), number))
        return rows


def _range(values: Positions) -> object:
    low, high = int(values.min()), int(values.max())
    return low if low == high else f"{low}-{high}"
