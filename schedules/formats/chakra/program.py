"""What Chakra traces of a collective can say: nodes that send, receive and add bytes.

Of the node types of the format these three are used; sizes and places are in bytes.
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
"""Of the schema."""
COMPUTE, SEND, RECEIVE = 4, 5, 6
"""Values of `NodeType`."""
MAX_BYTES = 2**62
"""Most bytes of the data of one rank: sums of two sizes stay within 64 bits."""
MAX_TAG = 2**31 - 1
MAX_NODES = 1 << 15
"""Most nodes of one rank; the replay keeps who comes before whom, a bit for each pair."""
MAX_RANKS = 4096
RESULT = "result"
BUFFERS = ("data", "staging", RESULT)
"""Where bytes lie: in the data of the collective, or waiting to be added to it or passed on; in
an all-to-all what arrives for good is in the result."""


@dataclass(frozen=True, slots=True)
class Region:
    """Neighbouring bytes of a buffer of a rank, one of `BUFFERS`."""

    buffer: str
    first: int
    count: int

    @property
    def end(self) -> int:
        """The byte after the last."""
        return self.first + self.count


@dataclass(frozen=True, slots=True)
class Step:
    """One node: what it waits for (positions in the trace), and what it does.

    ``peer``, ``tag`` and ``size`` are of its message, and -1 where it has none.
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
    """One rank's nodes, each after those that it waits for."""

    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Traces:
    """A collective of ``size_bytes``, one trace per rank."""

    collective: Collective
    size_bytes: int
    ranks: tuple[Trace, ...]
