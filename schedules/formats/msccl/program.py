"""What an MSCCL XML program can say, and what all run-times that load it have in common.

A `Program` is what a file holds, in the file's own terms: `write` prints one and `read` makes
one, and a program written and read is the same program.  How much of it each run-time takes is
told in `schedules.formats.targets.runtimes`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from topoloom.schedules.model.schedule import Collective

MAX_COUNT = 71
"""Most chunks one step may move."""
MAX_CHILDREN = 1024
"""Most children of one element."""
MAX_ELEMENTS = 4095
"""Most elements that matter to one rank: its blocks and steps, all gpus, the root.

``MAX_NODES`` of microsoft/msccl src/graph/xml.h and of msccl_parser.h is 4096; one place is for
the next element, which may be the end of the file.
"""
BLOCKS_PER_CHANNEL = 32
"""Most sending, and most receiving, thread blocks on one channel of a GPU."""
MAX_NAME = 63
"""Characters of a program's name that are kept: ``MSCCL_MAX_ALGO_NAME`` of microsoft/msccl."""
MAX_AWAITED_BLOCK = 127
"""Largest id of a thread block that others wait for: ``int8_t dependentBid[]``."""
MAX_OFFSET = 32767
"""Largest first chunk of a step in a buffer: ``int16_t srcOffset, dstOffset``."""
DEFAULT_MAX_BYTES = 1 << 27
"""What msccl takes for ``maxBytes`` where the file does not say it."""
PROTOCOLS = ("Simple", "LL", "LL128")
BUFFERS = ("i", "o", "s")
"""Input, output and scratch."""
RECEIVES = frozenset({"r", "rcs", "rrs", "rrc", "rrcs"})
SENDS = frozenset({"s", "rcs", "rrs", "rrcs"})
_READS = frozenset({"s", "rrs", "rrc", "rrcs", "cpy", "re"})
_WRITES = frozenset({"r", "rcs", "rrc", "rrcs", "cpy", "re"})
TYPES = RECEIVES | SENDS | {"cpy", "re", "nop"}
"""Types of steps.  Letters say what one does, in this order: ``r`` receive, ``r`` reduce with the
source buffer, ``c`` copy to the target buffer, ``s`` send; ``cpy`` and ``re`` stay on the GPU."""


class Dialect(StrEnum):
    """What families of run-times read: names and attributes differ.

    ``msccl``: the stand-alone library; ``azure``: the executor for NCCL with its
    scheduler; ``rccl``: the library for AMD devices.
    """

    MSCCL = "msccl"
    AZURE = "azure"
    RCCL = "rccl"


@dataclass(frozen=True, slots=True)
class Language:
    """How the files of one dialect say things: names, and attributes.

    Required and skipped elements follow ``mscclGetAlgoFromXMLAndSetAlgo`` in
    microsoft/msccl src/graph/topo.cc, and ``mscclGetAlgoFromXmlFile`` in
    src/misc/msccl/msccl_parser.cc of Azure/msccl-executor-nccl and ROCm/rccl.
    """

    collectives: Mapping[Collective, str]
    needs_name: bool
    needs_outofplace: bool
    """Whether ``outofplace`` and the byte limits are read, and must be there."""
    unlimited_bytes: int
    """The value of ``maxBytes`` that lets every size pass."""
    past_bytes: int
    """By how much ``maxBytes`` is above the largest size that passes."""


_NAMES = {
    Collective.ALLGATHER: "allgather",
    Collective.ALLREDUCE: "allreduce",
    Collective.ALL_TO_ALL: "alltoall",
}
_MSCCL = MappingProxyType(_NAMES | {Collective.REDUCE_SCATTER: "reduce_scatter"})
_OTHERS = MappingProxyType(_NAMES | {Collective.REDUCE_SCATTER: "reducescatter"})

LANGUAGES: Mapping[Dialect, Language] = MappingProxyType(
    {
        Dialect.MSCCL: Language(_MSCCL, True, False, 2**40, 1),
        Dialect.AZURE: Language(_OTHERS, False, True, 0, 0),
        Dialect.RCCL: Language(_OTHERS, False, True, 0, 0),
    }
)


_ALGO = (
    *("name", "proto", "nchannels", "nchunksperloop", "ngpus", "coll", "inplace", "outofplace"),
    *("minBytes", "maxBytes", "nthreads"),
)
_STEP = ("s", "type", "srcbuf", "srcoff", "dstbuf", "dstoff", "cnt", "depid", "deps", "hasdep")
ATTRIBUTES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "algo": frozenset(_ALGO),
        "gpu": frozenset(("id", "i_chunks", "o_chunks", "s_chunks")),
        "tb": frozenset(("id", "send", "recv", "chan")),
        "step": frozenset(_STEP),
    }
)
"""The elements that the run-times read, from the outermost in, and attributes that any reads."""
THREADS_OF_A_WARP = 32
"""Of what ``nthreads``, which microsoft/msccl alone reads, must be a multiple."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """One step; offsets and ``count`` in chunks, what it waits for as (block, step) or -1, -1.

    ``is_awaited``: another block of the GPU waits for it.
    """

    type: str
    source_buffer: str
    source_offset: int
    target_buffer: str
    target_offset: int
    count: int
    wait_block: int
    wait_step: int
    is_awaited: bool

    @property
    def reads(self) -> bool:
        """Whether it reads the source buffer."""
        return self.type in _READS

    @property
    def writes(self) -> bool:
        """Whether it writes the target buffer."""
        return self.type in _WRITES


@dataclass(frozen=True, slots=True)
class Block:
    """One thread block; peers are -1 where it has none."""

    send: int
    recv: int
    channel: int
    steps: tuple[Instruction, ...]


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU: the sizes of its buffers in chunks, and its thread blocks by id."""

    sizes: Mapping[str, int]
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """A whole program.

    ``modes`` holds whether it runs in place, for each way it may; ``channels`` is how many it
    uses; ``chunks`` are those of all shards together; ``bytes`` are the file's limits of sizes.
    """

    name: str
    protocol: str
    collective: Collective
    modes: tuple[bool, ...]
    channels: int
    chunks: int
    gpus: tuple[Gpu, ...]
    bytes: tuple[int, int] = (0, 0)
