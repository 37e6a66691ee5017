"""NCCL tuner tables as values, and the limits of NCCL's example plugin."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from topoloom.schedules.model.schedule import Collective

MAX_SIZE = 2**64 - 1
MAX_LINE = 255
"""Most characters of a line: the plugin reads the rest as another line."""
MAX_CHANNELS = 32
"""Most channels of every NCCL since 2.4 (``MAXCHANNELS``; 64 since 2.21)."""
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
    """One row; -1 machines or ranks means any number.

    ``channels`` is a positive number: for -1 the plugin returns its initial value, 1, and NCCL
    accepts every value but 0, so -1 would select one channel.  ``only`` holds the numbers of
    pipelined operations and of registered buffers that the row matches, -1 for any.
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
