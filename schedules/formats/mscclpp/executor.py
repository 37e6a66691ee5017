"""What MSCCL++'s executor calls things, and how much it takes.

As read in the sources of version 0.9.0; the file itself carries no version.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from schedules.model import Collective

__all__ = [
    "ALIGNMENT",
    "COLLECTIVES",
    "MAX_BUFFER_BYTES",
    "MAX_CHANNELS",
    "MAX_OPERATIONS",
    "MAX_SEMAPHORES_PER_OPERATION",
    "MAX_THREAD_BLOCKS",
    "ChannelType",
]

MAX_OPERATIONS = 64
"""Most operations of a thread block."""
MAX_CHANNELS = 16
"""Most channels of one type, and remote buffers reached by it, of a thread block."""
MAX_SEMAPHORES_PER_OPERATION = 16
MAX_THREAD_BLOCKS = 80
"""Most thread blocks of a GPU.  All of them wait for each other, so all must run at once, one
on each multiprocessor; of the devices of the bundled fabrics V100 has the fewest."""
ALIGNMENT = 16
"""Bytes that the size of every chunk is a multiple of."""
MAX_BUFFER_BYTES = 2**32 - 1
"""Offsets into a buffer, and sizes, have 32 bits."""

COLLECTIVES: Mapping[Collective, str] = MappingProxyType(
    {
        Collective.ALLGATHER: "allgather",
        Collective.REDUCE_SCATTER: "reducescatter",
        Collective.ALLREDUCE: "allreduce",
    }
)


class ChannelType(StrEnum):
    """How a GPU reaches another: by its own stores, or through a proxy and the network."""

    MEMORY = "memory"
    PORT = "port"
