"""A group of local processes, one per rank, that lives as long as a ``with`` block."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any

from topoloom.schedules.errors import ExecutionFailed, TooLarge
from topoloom.schedules.execute.limits import MAX_RANKS
from topoloom.schedules.execute.processes.rank_process import Job, Report
from topoloom.schedules.execute.programs.rank_program import Program

START_SECONDS = 120.0
_GRACE_SECONDS = 5.0


class Team:
    """Processes that communicate over torch.distributed (gloo, loopback only).

    Args:
        ranks: Number of processes, 1 to `MAX_RANKS`.
        timeout_seconds: Time limit of a rank for a message, and of `run` for its whole job.

    Raises:
        TooLarge: More than `MAX_RANKS` ranks.
        ExecutionFailed: PyTorch is not installed, this is not Linux, or the processes do not
            connect in time.

    Attributes:
        process_ids (tuple of int): Process ids of the ranks, in order.

    On leaving the block all processes have ended, in every case; if this process is killed they
    end by themselves.  After a failure the team runs nothing more.  The processes are forked from
    a process that has loaded PyTorch, so they start at once.
    """

    def __init__(self, ranks: int, *, timeout_seconds: float = 60.0) -> None:
        if not 1 <= ranks <= MAX_RANKS:
            raise TooLarge("/ranks", f"must lie in 1 to {MAX_RANKS}")
        if not sys.platform.startswith("linux"):
            raise ExecutionFailed("/ranks", "runs on Linux only")
        if find_spec("torch") is None:
            raise ExecutionFailed("/ranks", "needs PyTorch: install topoloom[execute]")
        self.ranks = ranks
        self.timeout_seconds = timeout_seconds
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115  (closed in `close`)
        self._host, self._socket = _started(self._complaints)
        try:
            self._socket.send((ranks, START_SECONDS, timeout_seconds))
            self.process_ids: tuple[int, ...] = tuple(self._answer(START_SECONDS))
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "Team":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def run(self, jobs: list[Job]) -> list[Report]:
        """Return the report of every job, one for each of the first ranks; others wait.

        Raises:
            ExecutionFailed: A rank ended, failed, or waited too long for a message.
        """
        idle = [Job(None, Program(()), jobs[0].repeat)] * (self.ranks - len(jobs))
        try:
            self._socket.send([*jobs, *idle])
        except OSError:
            raise ExecutionFailed(
                "/ranks", f"the processes have ended{self._last_words()}"
            ) from None
        # Ranks notice a failure first, with more detail.
        return self._answer(self.timeout_seconds + _GRACE_SECONDS)[: len(jobs)]

    def close(self) -> None:
        """End all processes; return when they have ended."""
        if self._host.returncode is not None:
            return
        self._socket.close()
        # Not reaped yet, so no other process can have the number of its process group.
        deadline = time.monotonic() + _GRACE_SECONDS
        while time.monotonic() < deadline and not _has_ended(self._host.pid):
            time.sleep(0.005)
        os.killpg(self._host.pid, signal.SIGKILL)
        self._host.wait()
        self._complaints.close()

    def _answer(self, seconds: float) -> Any:
        try:
            if not self._socket.poll(seconds):
                rule = f"the ranks did not end within {seconds:g} s"
                raise ExecutionFailed("/timeout_seconds", rule)
            answer = self._socket.recv()
        except (EOFError, OSError):
            raise ExecutionFailed(
                "/ranks", f"the processes have ended{self._last_words()}"
            ) from None
        if isinstance(answer, str):
            raise ExecutionFailed("/ranks", answer)
        return answer

    def _last_words(self) -> str:
        self._complaints.seek(0)
        lines = self._complaints.read().decode(errors="replace").split("\n")
        last = [line.strip() for line in lines if line.strip()][-1:]
        return f": {last[0]}" if last else ""


def _started(complaints: Any) -> tuple[subprocess.Popen[bytes], Connection]:
    ours, theirs = socket.socketpair()
    with theirs:
        host = subprocess.Popen(
            # -P: import modules from this process's paths, not from the working directory.
            [
                sys.executable,
                "-P",
                "-m",
                "topoloom.schedules.execute.processes.rank_launcher",
                str(theirs.fileno()),
            ],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=complaints,
            start_new_session=True,
            env=_environment(),
        )
    return host, Connection(ours.detach())


def _environment() -> dict[str, str]:
    found = dict(os.environ)
    # An empty path means the working directory, which -P removes.
    found["PYTHONPATH"] = os.pathsep.join(path or str(Path.cwd()) for path in sys.path)
    # One thread for each rank, and no thread before the fork.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        found[name] = "1"
    return found | on_loopback()


def on_loopback() -> dict[str, str]:
    """Return the environment variables that restrict gloo to this machine.

    Without it gloo asks the name service for this host's address.
    """
    loopback = [name for _, name in socket.if_nameindex() if name.startswith("lo")]
    return {"GLOO_SOCKET_IFNAME": loopback[0]} if loopback else {}


def _has_ended(process: int) -> bool:
    """Return whether a child has ended, without reaping it."""
    return os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
