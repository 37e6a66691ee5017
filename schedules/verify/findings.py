"""Violations of a schedule, and a bounded list of them."""

from dataclasses import dataclass, field

from topoloom.synth.topology.topology import NodeId


@dataclass(frozen=True, slots=True)
class Violation:
    """A violation and its place.

    ``place`` is a JSON pointer into the schedule/1 document, such as
    ``/steps/3/17`` (a send) or ``/trees/4/edges/0``.  ``rank`` and ``shard`` are ids
    of compute nodes, ``chunk`` is an index within the shard; each is None where the
    violation is not specific to one.
    """

    place: str
    sentence: str
    rank: NodeId | None = None
    shard: NodeId | None = None
    chunk: int | None = None

    def __str__(self) -> str:
        return f"{self.place or '/'}: {self.sentence}"


@dataclass(slots=True)
class Findings:
    """Violations found so far, at most ``limit`` of them."""

    limit: int
    found: list[Violation] = field(default_factory=list)

    @property
    def room(self) -> int:
        """The number of violations that the list can still hold."""
        return max(0, self.limit - len(self.found))

    def add(
        self,
        place: str,
        sentence: str,
        *,
        rank: NodeId | None = None,
        shard: NodeId | None = None,
        chunk: int | None = None,
    ) -> None:
        """Add a violation unless the list is full."""
        if self.room:
            self.found.append(Violation(place, sentence, rank, shard, chunk))
