"""Train candidates in parallel, each in a process forked from the trainer.

A fork shares the memory of the trainer copy-on-write: model, optimizer, data, generators and the
loop itself.  It returns from `TuningCallback.step` with the rate of its candidate, runs the loop
until the trial ends, writes its reports into a file, and exits.  The trainer waits, and reports
one candidate after the other to the tuner, which then restores a checkpoint.
Side effects of the loop happen once in every fork; buffered output of a fork is dropped.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from topoloom.learning_rate.callbacks.batch_replay import bytes_of
from topoloom.learning_rate.callbacks.snapshot import Stateful, pytorch
from topoloom.learning_rate.callbacks.storage import read, write
from topoloom.learning_rate.errors import CannotRestore, InvalidOptions
from topoloom.learning_rate.state_machine.candidate_rounds import branches, has_ended
from topoloom.learning_rate.state_machine.state import Action, State
from topoloom.learning_rate.state_machine.transitions import observe
from topoloom.learning_rate.tuner import InProcess, Tuner

COPIES = 3  # memory of a fork in sizes of its saved state: state, gradients, batches
MEMORY = Path("/proc/meminfo")


def forks_of(processes: int, tuner: Tuner) -> "Forks | None":
    """Return the forks, None for one process; `InvalidOptions` where the trainer cannot fork."""
    if isinstance(processes, bool) or not isinstance(processes, int) or processes < 1:
        raise InvalidOptions("/processes", "must be a whole number, at least 1")
    if processes == 1:
        return None
    if not isinstance(tuner, InProcess):
        raise InvalidOptions("/processes", "must be 1 where the tuner is not in process")
    if not hasattr(os, "fork"):
        raise InvalidOptions("/processes", "must be 1 where processes cannot be forked")
    if pytorch().cuda.is_available():
        raise InvalidOptions("/processes", "must be 1 with CUDA, which cannot be forked")
    return Forks(processes)


def at_once(processes: int, needed: int, free: int | None = None) -> int:
    """Return how many forks of ``needed`` bytes fit into memory at a time, 1 to ``processes``.

    >>> at_once(4, needed=100, free=250), at_once(4, needed=100, free=10**6)
    (2, 4)
    >>> at_once(4, needed=100, free=99)
    1
    """
    free = _free_memory() if free is None else free
    return processes if free is None else max(1, min(processes, free // max(1, needed)))


def _free_memory() -> int | None:
    """Return the available bytes of memory; None where the system does not state them."""
    try:
        lines = MEMORY.read_text().splitlines()
    except OSError:
        return None
    kibibytes = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return 1024 * int(kibibytes[0]) if kibibytes else None


class Branch:
    """The tuner of a fork: one candidate, to its end."""

    def __init__(self, state: State, finish: Callable[[list[list[float]]], NoReturn]) -> None:
        self._state, self._finish = state, finish
        self._reports: list[list[float]] = []

    @property
    def action(self) -> Action:
        """The next action of the fork."""
        return self._state.action

    def observe(self, losses: Sequence[float] = ()) -> Action:
        """Record a report; the process ends with the candidate."""
        self._reports.append([float(loss) for loss in losses])
        self._state = observe(self._state, losses)
        if has_ended(self._state):
            self._finish(self._reports)
        return self._state.action

    def state_dict(self) -> dict[str, Any]:
        """Return the state as plain JSON values."""
        return self._state.document()

    def load_state_dict(self, document: dict[str, Any]) -> None:
        """Raise `InvalidOptions`: a fork does not restore states."""
        raise InvalidOptions("/processes", "a fork cannot be loaded into")


class Forks:
    """The forks of a round, at most ``processes`` at a time, as memory allows."""

    def __init__(self, processes: int) -> None:
        self._processes = processes

    def round(self, state: State, parts: Mapping[str, Stateful]) -> "list[dict[str, Any]] | Branch":
        """Fork; return the result of each candidate or, in a fork, its tuner.

        The list ends before the first fork without a result; the trainer itself runs the
        remaining candidates.
        """
        states = branches(state)
        many = at_once(
            self._processes, COPIES * bytes_of([part.state_dict() for part in parts.values()])
        )
        if many < 2:
            return []
        trainer, folder = os.getpid(), Path(tempfile.mkdtemp(prefix="topoloom-forks-"))
        try:
            paths = [folder / f"{place}.pt" for place in range(len(states))]
            for first in range(0, len(states), many):
                children = []
                for branch, path in zip(states[first : first + many], paths[first:], strict=False):
                    sys.stdout.flush()
                    sys.stderr.flush()
                    child = os.fork()
                    if not child:
                        return _as_fork(branch, path)
                    children.append(child)
                for child in children:
                    os.waitpid(child, 0)
            return _results(paths)
        finally:
            if os.getpid() == trainer:
                shutil.rmtree(folder, ignore_errors=True)


def _as_fork(state: State, path: Path) -> Branch:
    pytorch().set_num_threads(1)  # a fork has no OpenMP threads

    def finish(reports: list[list[float]]) -> NoReturn:
        code = 1
        try:
            write(path, {"reports": reports})
            code = 0
        finally:
            os._exit(code)  # skips the trainer's exit handlers

    return Branch(state, finish)


def _results(paths: Sequence[Path]) -> list[dict[str, Any]]:
    results = []
    for path in paths:
        try:
            results.append(read(path))
        except CannotRestore:
            break
    return results
