"""What the run times that load MSCCL XML call things, and how much they take."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from schedules.errors import NotExportable
from schedules.model import Collective

__all__ = [
    "BLOCKS_PER_CHANNEL",
    "DIALECTS",
    "MAX_CHILDREN",
    "MAX_COUNT",
    "MAX_ELEMENTS",
    "MAX_NAME",
    "Dialect",
    "Limits",
]

MAX_COUNT = 71
"""Most chunks one step may move."""
MAX_CHILDREN = 1024
"""Most children of one element."""
MAX_ELEMENTS = 4096
"""Most elements that matter to one rank: its blocks and steps, all gpus, the root."""
BLOCKS_PER_CHANNEL = 32
"""Most sending, and most receiving, thread blocks on one channel of a GPU."""
MAX_NAME = 63


class Dialect(StrEnum):
    """The families of run times.

    ``msccl``: the stand-alone library; ``azure``: the executor for NCCL with its
    scheduler; ``rccl``: the library for AMD devices.
    """

    MSCCL = "msccl"
    AZURE = "azure"
    RCCL = "rccl"

    @classmethod
    def of(cls, text: str) -> "Dialect":
        """Return the dialect of that name.

        >>> Dialect.of("nccl")
        Traceback (most recent call last):
        ...
        schedules.errors.NotExportable: /dialect: must be one of msccl, azure, rccl; not 'nccl'
        """
        if text in cls._value2member_map_:
            return cls(text)
        names = ", ".join(member.value for member in cls)
        raise NotExportable("/dialect", f"must be one of {names}; not {text!r}")


@dataclass(frozen=True, slots=True)
class Limits:
    """What one dialect takes: the most of each thing, names, and attributes."""

    thread_blocks: int
    """Per GPU."""
    steps: int
    """Per thread block."""
    channels: int
    collectives: Mapping[Collective, str]
    needs_outofplace: bool
    """Whether ``outofplace`` and the byte limits are read, and must be there."""
    unlimited_bytes: int
    """The value of ``maxBytes`` that lets every size pass."""


_NAMES = {Collective.ALLGATHER: "allgather", Collective.ALLREDUCE: "allreduce"}
_MSCCL = MappingProxyType(_NAMES | {Collective.REDUCE_SCATTER: "reduce_scatter"})
_OTHERS = MappingProxyType(_NAMES | {Collective.REDUCE_SCATTER: "reducescatter"})

DIALECTS: Mapping[Dialect, Limits] = MappingProxyType(
    {
        Dialect.MSCCL: Limits(216, 256, 32, _MSCCL, False, 2**40),
        Dialect.AZURE: Limits(1024, 256, 32, _OTHERS, True, 0),
        Dialect.RCCL: Limits(64, 64, 128, _OTHERS, True, 0),
    }
)
