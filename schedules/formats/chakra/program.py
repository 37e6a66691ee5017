"""Chakra traces of a collective as values: nodes that send, receive and add bytes.

Only these three node types of the format are used.  Sizes and offsets are in bytes.
"""

from dataclasses import dataclass

from topoloom.schedules.model.schedule import Collective

COLLECTIVES = (
    Collective.ALLGATHER,
    Collective.REDUCE_SCATTER,
    Collective.ALLREDUCE,
    Collective.ALL_TO_ALL,
)
VERSION = "0.0.4"
"""Version of the schema."""
COMPUTE, SEND, RECEIVE = 4, 5, 6
"""Values of `NodeType`."""
MAX_BYTES = 2**62
"""Largest data of one rank in bytes; the sum of two sizes stays within 64 bits."""
MAX_TAG = 2**31 - 1
MAX_NODES = 1 << 15
"""Most nodes of one rank; the replay keeps one bit for each ordered pair of nodes."""
MAX_RANKS = 4096
RESULT = "result"
BUFFERS = ("data", "staging", RESULT)
"""Names of buffers: the data of the collective; bytes that wait to be added or forwarded; the
result of an all-to-all."""


@dataclass(frozen=True, slots=True)
class Region:
    """Neighboring bytes of a buffer of a rank, one of `BUFFERS`."""

    buffer: str
    first: int
    count: int

    @property
    def end(self) -> int:
        """The byte after the last."""
        return self.first + self.count


@dataclass(frozen=True, slots=True)
class Step:
    """One node: its operation, and the positions in the trace of the nodes that it waits for.

    ``peer``, ``tag`` and ``size`` describe its message; -1 without a message.
    """

    kind: int
    before: tuple[int, ...]
    reads: tuple[Region, ...]
    writes: tuple[Region, ...]
    peer: int
    tag: int
    size: int


@dataclass(frozen=True, slots=True)
class Trace:
    """The nodes of one rank, each after the nodes that it waits for."""

    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Traces:
    """A collective of ``size_bytes``, one trace per rank."""

    collective: Collective
    size_bytes: int
    ranks: tuple[Trace, ...]
