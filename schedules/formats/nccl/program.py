"""What an NCCL tuner table can say, and how much of it NCCL's example plugin takes."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from schedules.model import Collective

__all__ = ["ALGORITHMS", "COLLECTIVES", "MAX_LINE", "MAX_SIZE", "PROTOCOLS", "Row"]

MAX_SIZE = 2**64 - 1
MAX_LINE = 255
"""Most characters of a line: the plugin reads the rest as a line of its own."""
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
    """One row; -1 is any number, or for ``channels`` the run time's choice."""

    collective: Collective
    first: int
    last: int
    algorithm: str
    protocol: str
    channels: int
    nodes: int
    ranks: int

    def __str__(self) -> str:
        return (
            f"{COLLECTIVES[self.collective]},{self.first},{self.last},{self.algorithm},"
            f"{self.protocol},{self.channels},{self.nodes},{self.ranks}"
        )
