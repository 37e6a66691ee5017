"""What a design is asked for: hosts, how fast they are, and how far schedules may go."""

from dataclasses import dataclass
from fractions import Fraction

from topoloom.schedules.baselines import Operation
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.workloads.tasks import Task

__all__ = ["Limits", "Speed"]


@dataclass(frozen=True, slots=True)
class Speed:
    """What one host sends at most, all ports together, and the latency of one hop.

    Every message keeps its link busy for ``overhead_seconds`` beside its bytes, and every chunk
    of it for ``chunk_seconds``.
    """

    bytes_per_second: Fraction
    alpha_seconds: Fraction
    overhead_seconds: Fraction = Fraction(0)
    chunk_seconds: Fraction = Fraction(0)

    def operation(self, task: Task) -> Operation:
        """Return a task once, at this speed."""
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
    """Of how many hosts a schedule is asked for: in steps, and of all-to-all by routes."""

    scheduled_nodes: int
    routed_nodes: int

    def of(self, collective: Collective) -> int:
        """Return the limit for a collective."""
        return self.routed_nodes if collective is Collective.ALL_TO_ALL else self.scheduled_nodes
