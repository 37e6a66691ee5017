"""The sizes of data that an exported program accepts, and their cost in scratch."""

from dataclasses import dataclass

from topoloom.schedules.errors import NotExportable
from topoloom.schedules.formats.targets.runtimes import Runtime

DEFAULT_SCRATCH_BUDGET = 1 << 30
"""Bytes of scratch that a program may have a runtime allocate before any call."""

MAX_INSTANCES = 16


@dataclass(frozen=True, slots=True)
class Sizes:
    """The accepted sizes of data of a program, and the scratch budget of a GPU.

    Without ``max_bytes`` only the budget limits the size.  The default ``scratch_budget`` is
    `DEFAULT_SCRATCH_BUDGET` on runtimes that allocate scratch on loading; elsewhere unlimited.
    """

    min_bytes: int = 0
    max_bytes: int | None = None
    scratch_budget: int | None = None

    def within(self, scratch: int, whole: int, runtime: Runtime) -> tuple[int, int | None]:
        """Return the least and the largest size for a program on a runtime; None is no limit.

        Args:
            scratch, whole: Most chunks of scratch of a GPU, and chunks of all data.

        Raises:
            NotExportable: A requested size takes more scratch than the budget or the device has, or
                no size remains.

        >>> from topoloom.schedules.formats.targets.runtimes import RUNTIMES
        >>> Sizes().within(7, 8, RUNTIMES["msccl-a100"])
        (0, 1227133513)
        >>> Sizes().within(7, 8, RUNTIMES["azure"])
        (0, None)
        >>> Sizes(max_bytes=1 << 40).within(7, 8, RUNTIMES["msccl-a100"])  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        topoloom.schedules.errors.NotExportable: /max_bytes: needs 962072674304 bytes of \
scratch on ...
        """
        if self.max_bytes is not None and self.max_bytes < self.min_bytes:
            raise NotExportable("/max_bytes", f"must be at least min_bytes, {self.min_bytes}")
        room = self._room(runtime) if scratch else None
        if room is None:
            return self.min_bytes, self.max_bytes
        most = room * whole // scratch
        if self.max_bytes is None and self.min_bytes <= most:
            return self.min_bytes, most
        asked, field = self.min_bytes, "/min_bytes"
        if self.max_bytes is not None:
            asked, field = self.max_bytes, "/max_bytes"
        if asked > most:
            raise NotExportable(
                field,
                f"needs {-(-asked * scratch // whole)} bytes of scratch on {runtime.name}, of "
                f"which {room} may be taken: at most {most} bytes of data fit",
            )
        return self.min_bytes, self.max_bytes

    def _room(self, runtime: Runtime) -> int | None:
        """Return the available scratch in bytes; None without a budget."""
        if self.scratch_budget is not None:
            return min(self.scratch_budget, runtime.memory_bytes)
        if not runtime.scratch_at_start:
            return None
        # An explicitly requested size need only fit the device.
        return DEFAULT_SCRATCH_BUDGET if self.max_bytes is None else runtime.memory_bytes


ALL_SIZES = Sizes()


def require_instances(instances: int) -> None:
    """Raise unless messages can be cut into this number of parts.

    >>> require_instances(0)
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.NotExportable: /instances: must be 1 to 16
    """
    if not 1 <= instances <= MAX_INSTANCES:
        raise NotExportable("/instances", f"must be 1 to {MAX_INSTANCES}")
