"""The last step that wrote each chunk, while moves are assigned to thread blocks in order."""

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.formats.lowering.chunk_moves import MovePlan, Place


class LastWriters:
    """By GPU, buffer and chunk: the number of the last step that wrote it; 0 for none.

    O(chunks of the buffers that are written) memory.

    >>> from topoloom.schedules.model.schedule import Collective
    >>> found = LastWriters(MovePlan(Collective.ALLREDUCE, 2, 3, True, (0, 0), ()))
    >>> found.wrote(7, 1, ("o", 2), 2)
    >>> found.before(1, ("o", 0), 3), found.before(0, ("o", 0), 6)
    ([7], [])
    """

    def __init__(self, plan: MovePlan) -> None:
        self._whole, self._scratch = plan.whole, plan.scratch
        self._steps: dict[tuple[int, str], NDArray[np.int32]] = {}

    def before(self, gpu: int, place: Place, length: int) -> list[int]:
        """Return the steps that last wrote ``length`` chunks from a place on, in order."""
        found = self._steps.get((gpu, place[0]))
        if found is None:
            return []
        steps = np.unique(found[place[1] : place[1] + length]).tolist()
        return steps[1:] if steps and steps[0] == 0 else steps

    def wrote(self, step: int, gpu: int, place: Place, length: int) -> None:
        """Record that a step, counted from 1, wrote ``length`` chunks."""
        key = gpu, place[0]
        if key not in self._steps:
            size = self._scratch[gpu] if place[0] == "s" else self._whole
            self._steps[key] = np.zeros(size, np.int32)
        self._steps[key][place[1] : place[1] + length] = step
