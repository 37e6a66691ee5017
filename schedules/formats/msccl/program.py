"""MSCCL XML programs as values, and the rules common to all runtimes that load them.

A `Program` holds the content of a file in the file's own terms: `write` prints a program, `read`
parses it, and reading a written program gives the same program.  The limits of each runtime are
in `schedules.formats.targets.runtimes`.
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
"""Most elements for one rank: its blocks and steps, all gpus, the root.

``MAX_NODES`` of microsoft/msccl src/graph/xml.h and of msccl_parser.h is 4096; one entry is
reserved for the next element, which may be the end of the file.
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
"""Default of msccl for a missing ``maxBytes``."""
PROTOCOLS = ("Simple", "LL", "LL128")
BUFFERS = ("i", "o", "s")
"""Input, output and scratch."""
RECEIVES = frozenset({"r", "rcs", "rrs", "rrc", "rrcs"})
SENDS = frozenset({"s", "rcs", "rrs", "rrcs"})
_READS = frozenset({"s", "rrs", "rrc", "rrcs", "cpy", "re"})
_WRITES = frozenset({"r", "rcs", "rrc", "rrcs", "cpy", "re"})
TYPES = RECEIVES | SENDS | {"cpy", "re", "nop"}
"""Types of steps.  The letters name the actions of a step, in order: ``r`` receive, ``r`` reduce
with the source buffer, ``c`` copy to the target buffer, ``s`` send; ``cpy``, ``re`` are local."""


class Dialect(StrEnum):
    """Families of runtimes, whose names and attributes differ.

    ``msccl``: the stand-alone library; ``azure``: the executor for NCCL with its
    scheduler; ``rccl``: the library for AMD devices.
    """

    MSCCL = "msccl"
    AZURE = "azure"
    RCCL = "rccl"


@dataclass(frozen=True, slots=True)
class Language:
    """Names and required attributes of the files of one dialect.

    Required and skipped elements follow ``mscclGetAlgoFromXMLAndSetAlgo`` in
    microsoft/msccl src/graph/topo.cc, and ``mscclGetAlgoFromXmlFile`` in
    src/misc/msccl/msccl_parser.cc of Azure/msccl-executor-nccl and ROCm/rccl.
    """

    collectives: Mapping[Collective, str]
    needs_name: bool
    needs_outofplace: bool
    """Whether ``outofplace`` and the byte limits are read and required."""
    unlimited_bytes: int
    """The value of ``maxBytes`` that means unlimited."""
    past_bytes: int
    """``maxBytes`` minus the largest accepted size."""


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
"""The elements that the runtimes read, from the outermost in, and the attributes that any reads."""
THREADS_OF_A_WARP = 32
"""Divisor of ``nthreads``, an attribute that only microsoft/msccl reads."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """One step; offsets and ``count`` in chunks; its dependency as (block, step), or -1, -1.

    ``is_awaited``: another block of the GPU waits for the step.
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
        """Whether the step reads the source buffer."""
        return self.type in _READS

    @property
    def writes(self) -> bool:
        """Whether the step writes the target buffer."""
        return self.type in _WRITES


@dataclass(frozen=True, slots=True)
class Block:
    """One thread block; a peer is -1 if the block has none."""

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

    ``modes`` holds the supported modes: True for in place, False for out of place.  ``channels`` is
    the number of channels, ``chunks`` that of all shards together, ``bytes`` the limits of sizes.
    """

    name: str
    protocol: str
    collective: Collective
    modes: tuple[bool, ...]
    channels: int
    chunks: int
    gpus: tuple[Gpu, ...]
    bytes: tuple[int, int] = (0, 0)
