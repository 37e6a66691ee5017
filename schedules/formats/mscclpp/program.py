"""MSCCL++ execution plans as values, and the limits of that library's executor.

As in the sources of version 0.9.0; the file itself carries no version.  The runtime limits thread
blocks and their operations, see `schedules.formats.targets.runtimes`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from topoloom.schedules.model.schedule import Collective

MAX_CHANNELS = 16
"""Most channels of one type, and most remote buffers over one type, of a thread block."""
MAX_SEMAPHORES_PER_OPERATION = 16
ALIGNMENT = 16
"""Divisor of the size of every chunk in bytes."""
MAX_BUFFER_BYTES = 2**32 - 1
"""Offsets into a buffer, and sizes, have 32 bits."""
MAX_GPUS = 4096
MAX_CHUNKS = 1 << 28
BUFFERS = ("i", "o", "s")
"""Input, output and scratch."""

SIGNALS = frozenset({"signal", "rlxsignal", "pwsf"})
WAITS = frozenset({"wait", "rlxwait"})
SEMAPHORES = frozenset({"sem_acquire", "sem_release"})
PUTS = frozenset({"put", "pwsf"})
SWITCHED = frozenset({"glres", "gstore"})
"""Operations of a switch: add the data of all GPUs and store the sum in all, or store in all."""
NAMES = tuple(sorted({"nop", "copy", "re"} | SIGNALS | WAITS | SEMAPHORES | PUTS | SWITCHED))
"""Operations that move and add data between ranks without packets."""
SWITCH = "switch"
"""The type of the channels of `SWITCHED`, which join all GPUs instead of two."""
EVERY_GPU = -1

COLLECTIVES: Mapping[Collective, str] = MappingProxyType(
    {
        Collective.ALLGATHER: "allgather",
        Collective.REDUCE_SCATTER: "reducescatter",
        Collective.ALLREDUCE: "allreduce",
        Collective.ALL_TO_ALL: "alltoall",
        Collective.BROADCAST: "broadcast",
        Collective.REDUCE: "reduce",
    }
)


def _members(*names: str, **holding: Mapping[str, Any]) -> Mapping[str, Any]:
    return dict.fromkeys(names, _NOTHING) | holding


_NOTHING: Mapping[str, Any] = MappingProxyType({})
_BUFFER = _members("type", "buffer_id", "switch_channel_id", "index", "size")
_OPERATION = _members(
    *("name", "channel_type", "channel_ids", "reduce_op", "barrier_id", "num_threadblocks"),
    *("semaphore_ids", "ops"),
    tbg_info=_members("tb_id", "tbg_size"),
    iter_context=_members("unit_size", "num_chunks"),
    src_buff=_BUFFER,
    dst_buff=_BUFFER,
)
_CHANNEL = _members(
    *("channel_type", "connected_to", "buffer_type"), rank_groups=_members("size", "ranks")
)
_THREAD_BLOCK = _members(
    "id",
    ops=_OPERATION,
    channels=_members("channel_type", "channel_ids", "buff"),
    remote_buffer_refs=_members("access_channel_type", "remote_buffer_ids"),
)
MEMBERS = _members(
    *("name", "collective", "protocol", "inplace", "reuse_resources", "num_threads_per_block"),
    *("use_double_scratch_buffer", "buffer_alignment", "min_message_size", "max_message_size"),
    *("root", "idle"),
    gpus=_members(
        *("id", "input_chunks", "output_chunks", "scratch_chunks"),
        channels=_CHANNEL,
        remote_buffers=_members("rank", "type", "access_channel_types"),
        semaphores=_members("init_value"),
        threadblocks=_THREAD_BLOCK,
    ),
)
"""The members of a plan that the executor reads, with the members of each.

The executor skips ``root``, ``idle`` and ``reduce_op``; this package reads them.
"""


class ChannelType(StrEnum):
    """The path from a GPU to another: its own stores, or a proxy and the network."""

    MEMORY = "memory"
    PORT = "port"


@dataclass(frozen=True, slots=True)
class Chunks:
    """Neighboring chunks of a buffer of a GPU, or (`EVERY_GPU`) of that buffer of all GPUs."""

    gpu: int
    buffer: str
    first: int
    count: int


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation; ``channel`` is a channel of the GPU, by type and number."""

    name: str
    sources: tuple[Chunks, ...] = ()
    target: Chunks | None = None
    channel: tuple[ChannelType, int] | None = None
    semaphores: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """One thread block."""

    operations: tuple[Operation, ...]


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU: sizes of its buffers in chunks, peers of its channels, values of its semaphores.

    ``switches`` are the buffers of its channels over a switch.
    """

    sizes: Mapping[str, int]
    peers: Mapping[ChannelType, tuple[int, ...]]
    semaphores: tuple[int, ...]
    blocks: tuple[Block, ...]
    switches: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """A whole plan; ``chunks`` is the number of chunks of all shards together.

    ``bounds``: the bounds of the shard of each GPU, in chunks; in a broadcast and a reduce all
    chunks are the root's.  ``idle``: GPUs that take no part.
    """

    name: str
    collective: Collective
    inplace: bool
    chunks: int
    gpus: tuple[Gpu, ...]
    bounds: tuple[int, ...]
    idle: frozenset[int] = frozenset()
