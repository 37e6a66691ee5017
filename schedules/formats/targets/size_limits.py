"""For which sizes of data an exported program is, and what scratch they cost."""

from dataclasses import dataclass

from topoloom.schedules.errors import NotExportable
from topoloom.schedules.formats.targets.runtimes import Runtime

DEFAULT_SCRATCH_BUDGET = 1 << 30
"""Bytes of scratch that a program may make a run-time allocate before anything is called."""

MAX_INSTANCES = 16


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of data that a program is for, and how much scratch a GPU may give for it.

    ``max_bytes`` left out is no limit but that of the budget; ``scratch_budget`` left out is
    `DEFAULT_SCRATCH_BUDGET` on run-times that allocate scratch at start, and elsewhere none.
    """

    min_bytes: int = 0
    max_bytes: int | None = None
    scratch_budget: int | None = None

    def within(self, scratch: int, whole: int, runtime: Runtime) -> tuple[int, int | None]:
        """Return the least and the largest size for a program on a run-time; None is no limit.

        Parameters
        ----------
        scratch, whole : int
            Chunks of scratch of one GPU at most, and of all data.

        Raises
        ------
        NotExportable
            A size that was asked for takes more scratch than the budget or the device has, or no
            size is left.

        Examples
        --------
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
        """Return how much scratch may be taken; None if nothing was said of it."""
        if self.scratch_budget is not None:
            return min(self.scratch_budget, runtime.memory_bytes)
        if not runtime.scratch_at_start:
            return None
        # What is asked for by name need only fit the device.
        return DEFAULT_SCRATCH_BUDGET if self.max_bytes is None else runtime.memory_bytes


ALL_SIZES = Sizes()


def require_instances(instances: int) -> None:
    """Raise unless messages can be cut into so many parts.

    >>> require_instances(0)
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.NotExportable: /instances: must be 1 to 16
    """
    if not 1 <= instances <= MAX_INSTANCES:
        raise NotExportable("/instances", f"must be 1 to {MAX_INSTANCES}")
