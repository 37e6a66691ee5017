"""Schedules that rank 0 of a group makes and all other ranks read from the group's store."""

import base64
import json
import logging
from collections.abc import Callable
from typing import Any, TypeAlias

from topoloom.schedules.errors import ExecutionFailed, ScheduleError
from topoloom.schedules.execute.runner import Served
from topoloom.schedules.formats.schedule.binary import pack, unpack
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.torch_backend.design_schedules import Fabric
from topoloom.synth.errors import SynthError

_ERROR, _REASON = "error", "reason"

LOG = logging.getLogger("topoloom.torch")

FabricOf: TypeAlias = Callable[[int], Fabric]
"""Returns the fabric for a number of ranks."""


class SharedSchedules:
    """The schedules of one group.

    Rank 0 alone reads the design and makes schedules, so that all ranks run the same ones, and one
    host needs the file.

    Args:
        store: Store of the group.
        rank, ranks: This process's rank in the group; the number of ranks.
        fabric_of: Returns the fabric for the ranks; only rank 0 calls it.

    `of` is collective: all ranks call it in the same order.
    """

    def __init__(self, store: Any, rank: int, ranks: int, fabric_of: FabricOf) -> None:
        self._store, self._rank, self._ranks, self._fabric_of = store, rank, ranks, fabric_of
        self._fabric: Fabric | None = None

    def of(self, collective: Collective, root: int | None = None) -> tuple[Served, ...]:
        """Return the schedules of a collective; none if it has none, for a reason that is logged.

        Raises:
            ExecutionFailed: The design cannot be read; the error is raised on every rank.
        """
        key = f"{collective}/{root}"
        if self._rank == 0:
            self._store.set(key, json.dumps(self._answer(collective, root)))
        kind, content = json.loads(self._store.get(key))
        if kind == _ERROR:
            raise ExecutionFailed("/design", content)
        if kind == _REASON:
            LOG.warning("%s runs without a schedule: %s", collective, content)
            return ()
        return tuple(
            Served(unpack(base64.b64decode(packed)), first_bytes, chunks)
            for packed, first_bytes, chunks in content
        )

    def _answer(
        self, collective: Collective, root: int | None
    ) -> tuple[str, str | list[tuple[str, int, int]]]:
        """Return what rank 0 tells all ranks: the kind of answer, and its content."""
        try:
            fabric = self._fabric = self._fabric or self._fabric_of(self._ranks)
        except (OSError, ScheduleError, SynthError, ValueError) as error:
            return _ERROR, " ".join(str(error).split())
        if fabric.ranks != self._ranks:
            return _REASON, f"the design has {fabric.ranks} hosts, the group {self._ranks} ranks"
        try:
            served = fabric.schedules(collective, root)
        except (ScheduleError, SynthError) as error:
            return _REASON, " ".join(str(error).split())
        return "schedules", [_packed(each) for each in served]


def _packed(served: Served) -> tuple[str, int, int]:
    packed = base64.b64encode(pack(served.schedule)).decode()
    return packed, served.first_bytes, served.pipeline_chunks
