"""The launcher process: starts one process per rank, passes jobs on, and ends with its ranks.

`local_group.Team` runs it as ``python -m topoloom.schedules.execute.processes.rank_launcher
DESCRIPTOR``, where DESCRIPTOR is the number of the socket to the team.  The launcher loads PyTorch
once, without threads, and forks, so that ranks start at once.  Ranks end whenever it ends.
"""

import multiprocessing
import signal
import sys
import tempfile
import time
from importlib import import_module
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple

from topoloom.schedules.execute.processes import rank_process

_GRACE_SECONDS = 0.5


class Failed(Exception):
    """A rank has ended or failed; the text names the rank and the cause."""


class Member(NamedTuple):
    """One rank: its process and the pipe to it."""

    process: BaseProcess
    pipe: Connection


def main(descriptor: int) -> None:
    """Serve the process at the other end of a socket until that process closes it."""
    # Ctrl-C is for the calling process; that process then closes the socket.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    parent = Connection(descriptor)
    try:
        import_module("torch.distributed")
        ranks, *timeouts = parent.recv()
        with tempfile.TemporaryDirectory(prefix="topoloom-execute-") as folder:
            _serve(parent, ranks, folder, rank_process.Timeouts(*timeouts))
    except ImportError as error:
        parent.send(f"PyTorch cannot be loaded: {error}")
    except (EOFError, BrokenPipeError):
        return


def _serve(parent: Connection, ranks: int, folder: str, timeouts: rank_process.Timeouts) -> None:
    members: list[Member] = []
    try:
        for index in range(ranks):
            members.append(_member(index, ranks, folder, timeouts, parent, members))
        parent.send(_answers(parent, members))
        while True:
            _hand_out(members, parent.recv())
            parent.send(_answers(parent, members))
    except Failed as failure:
        parent.send(str(failure))
    finally:
        for member in members:
            member.process.kill()
        for member in members:
            member.process.join()


def _member(
    index: int,
    ranks: int,
    folder: str,
    timeouts: rank_process.Timeouts,
    parent: Connection,
    before: list[Member],
) -> Member:
    ours, theirs = multiprocessing.Pipe()

    def run() -> None:
        # If a rank kept a copy of these open, no process would see the end of this process.
        for connection in (parent, ours, *(member.pipe for member in before)):
            connection.close()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        rank_process.serve(theirs, index, ranks, folder, timeouts)

    process = multiprocessing.get_context("fork").Process(target=run)
    process.start()
    theirs.close()
    return Member(process, ours)


def _hand_out(members: list[Member], jobs: list[Any]) -> None:
    try:
        for member, job in zip(members, jobs, strict=True):
            member.pipe.send(job)
    except ConnectionError:
        raise Failed(_fate(members)) from None


def _answers(parent: Connection, members: list[Member]) -> list[Any]:
    """Return one answer of every rank.

    Raises:
        Failed: A rank ended, or reported a failure.
        EOFError: The calling process no longer waits for the answers.
    """
    answers: dict[int, Any] = {}
    while len(answers) < len(members):
        open_pipes = [m.pipe for i, m in enumerate(members) if i not in answers]
        ready = wait([parent, *open_pipes, *(member.process.sentinel for member in members)])
        if parent in ready:
            raise EOFError
        for index, member in enumerate(members):
            if member.pipe in ready and index not in answers:
                answers[index] = _received(member, index, members)
            elif member.process.sentinel in ready:
                raise Failed(_fate(members))
    return [answers[index] for index in range(len(members))]


def _received(member: Member, index: int, members: list[Member]) -> Any:
    try:
        answer = member.pipe.recv()
    except (EOFError, ConnectionError):
        raise Failed(_fate(members)) from None
    if isinstance(answer, str):
        # When a rank dies, the other ranks report first: return the cause, not the consequence.
        raise Failed(_fate(members, otherwise=f"rank {index} failed: {answer}"))
    return answer


def _fate(members: list[Member], otherwise: str = "a rank ended") -> str:
    """Return which rank ended without a report, if one did."""
    deadline = time.monotonic() + _GRACE_SECONDS
    while time.monotonic() < deadline:
        for index, member in enumerate(members):
            code = member.process.exitcode
            if code:
                by = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
                return f"rank {index} ended by {by}"
        time.sleep(0.02)
    return otherwise


if __name__ == "__main__":
    main(int(sys.argv[1]))
