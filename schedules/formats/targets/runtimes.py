"""The runtimes that load exported programs, and their limits, as data.

A program that its file format allows can still fail to load: the arrays of the readers have fixed
sizes, and all thread blocks of a GPU wait for each other, so all must run at once, one on each
multiprocessor.  Both are limits of a *runtime*: a library on a device.

Limits of libraries come from their headers, named by ``source``; multiprocessors and memory come
from the makers' data sheets.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from topoloom.schedules.errors import NotExportable

MSCCL_XML, MSCCLPP_JSON = "msccl-xml", "mscclpp-json"
_DEFAULT_DIALECT = "msccl"


@dataclass(frozen=True, slots=True)
class Runtime:
    """A library on a device, and its limits.

    Attributes:
        form, dialect: The format that it loads, and for MSCCL XML the dialect.
        steps: Steps, or operations, of a thread block.
        blocks: Thread blocks of a GPU that the library has room for.
        multiprocessors: Multiprocessors of the device: the limit of thread blocks that run at once.
        memory_bytes: Memory of the device.
        channels: Channels of a GPU; 0 if the library has no limit of its own.
        scratch_at_start: Whether scratch for the largest size that a file allows is allocated on
            loading, not for the size of each call.
        multimem: Whether the device has instructions by which a switch copies and adds.
    """

    name: str
    form: str
    dialect: str | None
    device: str
    steps: int
    blocks: int
    multiprocessors: int
    memory_bytes: int
    channels: int
    scratch_at_start: bool
    source: str
    multimem: bool = False

    @property
    def thread_blocks(self) -> int:
        """Most thread blocks of a GPU: the library has room for all, and all run at once."""
        return min(self.blocks, self.multiprocessors)


_GIB = 1 << 30
_V100 = {"device": "V100", "multiprocessors": 80, "memory_bytes": 32 * _GIB}
_A100 = {"device": "A100", "multiprocessors": 108, "memory_bytes": 80 * _GIB}
_H100 = {"device": "H100", "multiprocessors": 132, "memory_bytes": 80 * _GIB}
_B200 = {"device": "B200", "multiprocessors": 148, "memory_bytes": 180 * _GIB}
_MI250X = {"device": "MI250X die", "multiprocessors": 110, "memory_bytes": 64 * _GIB}
_MI300X = {"device": "MI300X", "multiprocessors": 304, "memory_bytes": 192 * _GIB}

MAX_BLOCK_ARRAYS = 1024
"""Most thread blocks of a GPU in any of the libraries."""

_MSCCL = Runtime(
    "msccl-a100", MSCCL_XML, "msccl",
    steps=256, blocks=216, channels=32, scratch_at_start=True,
    source="microsoft/msccl src/include/msccl.h, src/init.cc", **_A100,
)  # fmt: skip
_AZURE = Runtime(
    "azure", MSCCL_XML, "azure",
    steps=64, blocks=MAX_BLOCK_ARRAYS, channels=32, scratch_at_start=False,
    source="Azure/msccl-executor-nccl makefiles/common.mk, src/misc/msccl/msccl_setup.cc", **_A100,
)  # fmt: skip
_RCCL = Runtime(
    "rccl", MSCCL_XML, "rccl",
    steps=64, blocks=64, channels=128, scratch_at_start=False,
    source="ROCm/rccl src/include/msccl/msccl_struct.h", **_MI250X,
)  # fmt: skip
_PLANS = Runtime(
    "mscclpp-a100", MSCCLPP_JSON, None,
    steps=64, blocks=MAX_BLOCK_ARRAYS, channels=0, scratch_at_start=False,
    source="microsoft/mscclpp 0.9.0 src/include/execution_common.hpp", **_A100,
)  # fmt: skip

RUNTIMES: Mapping[str, Runtime] = MappingProxyType(
    {
        runtime.name: runtime
        for runtime in (
            replace(_MSCCL, name="msccl-v100", **_V100),
            _MSCCL,
            replace(_MSCCL, name="msccl-h100", **_H100),
            _AZURE,
            replace(_AZURE, name="azure-h100", **_H100),
            # Built by `make MSCCL_MAX_NUM_STEPS=256`.
            replace(_AZURE, name="azure-256", steps=256),
            replace(_AZURE, name="azure-256-h100", steps=256, **_H100),
            _RCCL,
            replace(_PLANS, name="mscclpp-v100", **_V100),
            _PLANS,
            replace(_PLANS, name="mscclpp-mi250x", **_MI250X),
            replace(_PLANS, name="mscclpp-h100", multimem=True, **_H100),
            replace(_PLANS, name="mscclpp-b200", multimem=True, **_B200),
            replace(_PLANS, name="mscclpp-mi300x", **_MI300X),
        )
    }
)
"""The runtimes by name."""

DEFAULTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "msccl": ("msccl-a100", "msccl-h100"),
        "azure": ("azure", "azure-h100"),
        "rccl": ("rccl",),
        MSCCLPP_JSON: ("mscclpp-v100", "mscclpp-a100", "mscclpp-h100", "mscclpp-b200"),
    }
)
"""Default runtimes by dialect or format, smallest first.

A program is written for the first that accepts it, and read by the rules of the last.
"""


def runtime_of(name: str, form: str) -> Runtime:
    """Return the runtime of that name that loads that format.

    Raises:
        NotExportable: The runtime does not exist.

    >>> runtime_of("mscclpp-b200", "mscclpp-json").thread_blocks
    148
    >>> runtime_of("rccl", "mscclpp-json")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.NotExportable: /runtime: must be one of mscclpp-v100, ...; not 'rccl'
    """
    if name in RUNTIMES and RUNTIMES[name].form == form:
        return RUNTIMES[name]
    known = ", ".join(one.name for one in RUNTIMES.values() if one.form == form)
    raise NotExportable("/runtime", f"must be one of {known} for {form}; not {name!r}")


def runtimes_for(
    form: str, dialect: str | None = None, runtime: str | None = None
) -> tuple[Runtime, ...]:
    """Return the runtimes that match the options, smallest first; mostly one.

    Raises:
        NotExportable: The format has no such runtime, or the runtime has another dialect.

    >>> [one.name for one in runtimes_for("msccl-xml", "azure")]
    ['azure', 'azure-h100']
    >>> runtimes_for("msccl-xml", "azure", "rccl")
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.NotExportable: /dialect: must be rccl for the run-time rccl, \
or left out
    """
    if runtime is None:
        key = form if form != MSCCL_XML else dialect or _DEFAULT_DIALECT
        if key not in DEFAULTS:
            names = ", ".join(name for name in DEFAULTS if name != MSCCLPP_JSON)
            raise NotExportable("/dialect", f"must be one of {names}; not {dialect!r}")
        return tuple(RUNTIMES[name] for name in DEFAULTS[key])
    found = runtime_of(runtime, form)
    if dialect not in (None, found.dialect):
        rule = f"must be {found.dialect} for the run-time {found.name}, or left out"
        raise NotExportable("/dialect", rule)
    return (found,)


def target_runtimes(form: str, said: Runtime | str | None) -> tuple[Runtime, ...]:
    """Return a runtime itself, or the default runtimes of a dialect or format.

    >>> [one.name for one in target_runtimes("msccl-xml", "rccl")]
    ['rccl']
    """
    return (said,) if isinstance(said, Runtime) else runtimes_for(form, said)
