"""The request for a design: hosts, their speed, and limits on schedules."""

from dataclasses import dataclass
from fractions import Fraction

from topoloom.schedules.baselines import Operation
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.workloads.tasks import Task


@dataclass(frozen=True, slots=True)
class Speed:
    """The rate of one host over all ports together, and the latency of one hop.

    Every message occupies its link for ``overhead_seconds`` in addition to its bytes, and every
    chunk of it for ``chunk_seconds``.
    """

    bytes_per_second: Fraction
    alpha_seconds: Fraction
    overhead_seconds: Fraction = Fraction(0)
    chunk_seconds: Fraction = Fraction(0)

    def operation(self, task: Task) -> Operation:
        """Return one run of a task at this speed."""
        return Operation(
            task.collective,
            task.size_bytes,
            self.bytes_per_second,
            self.alpha_seconds,
            self.overhead_seconds,
            self.chunk_seconds,
        )


@dataclass(frozen=True, slots=True)
class Limits:
    """Maximum hosts of schedules: in steps, and of all-to-all by routes."""

    scheduled_nodes: int
    routed_nodes: int

    def max_nodes(self, collective: Collective) -> int:
        """Return the limit for a collective."""
        return self.routed_nodes if collective is Collective.ALL_TO_ALL else self.scheduled_nodes
