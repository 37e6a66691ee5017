"""What an NCCL tuner table can say, and how much of it NCCL's example plugin takes."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from topoloom.schedules.model.schedule import Collective

MAX_SIZE = 2**64 - 1
MAX_LINE = 255
"""Most characters of a line: the plugin reads the rest as a line of its own."""
MAX_CHANNELS = 32
"""Most channels that every NCCL since 2.4 has room for (``MAXCHANNELS``; 64 since 2.21)."""
ALGORITHMS = ("tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat")
PROTOCOLS = ("ll", "ll128", "simple")
COLLECTIVES: Mapping[Collective, str] = MappingProxyType(
    {
        Collective.ALLGATHER: "allgather",
        Collective.REDUCE_SCATTER: "reducescatter",
        Collective.ALLREDUCE: "allreduce",
        Collective.BROADCAST: "broadcast",
        Collective.REDUCE: "reduce",
    }
)


@dataclass(frozen=True, slots=True)
class Row:
    """One row; -1 machines or ranks are any number.

    ``channels`` are a number: for -1 the plugin answers the value it begins with, 1, and NCCL
    takes every answer but 0, so that -1 makes it run on one channel.  ``only`` are the numbers of
    pipelined operations and of registered buffers that the row is for, -1 for any.
    """

    collective: Collective
    first: int
    last: int
    algorithm: str
    protocol: str
    channels: int
    nodes: int
    ranks: int
    only: tuple[int, ...] = (-1, -1)

    def __str__(self) -> str:
        return (
            f"{COLLECTIVES[self.collective]},{self.first},{self.last},{self.algorithm},"
            f"{self.protocol},{self.channels},{self.nodes},{self.ranks}"
        )
