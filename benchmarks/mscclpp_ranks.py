"""The ranks of a communicator of MSCCL++ as processes on one GPU, for bench_mscclpp_gpu.

A process for each rank, as in a real program: the executor's kernel has one pointer to semaphores,
a variable of the module, so ranks that are threads of one process would share it.
"""

import ctypes
import json
import multiprocessing
import subprocess
import time
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from benchmarks.mscclpp_calls import TYPES, Plan, Step, contents, fault, read


def compile_rank(source: Path, build: Path, cuda: Path, made: Path) -> None:
    """Compile `mscclpp_rank.cpp` against a built MSCCL++ into a library."""
    code, libraries = (
        Path(__file__).with_name("mscclpp_rank.cpp"),
        next(build.rglob("libmscclpp.so")).parent,
    )
    headers = [source / "include", build / "include", cuda / "include"]
    runtime = next(each for each in (cuda / "lib64", cuda / "lib") if each.exists())
    command = ["g++", "-std=c++20", "-O2", "-fPIC", "-shared", "-DMSCCLPP_USE_CUDA", str(code)]
    command += [f"-I{each}" for each in headers]
    command += [f"-L{each}" for each in (libraries, runtime, runtime / "stubs")]
    command += [f"-Wl,-rpath,{each}" for each in (libraries, runtime)]
    command += [
        "-lmscclpp",
        "-lcudart",
        "-Wl,--no-as-needed",
        "-lcuda",
        "-lnvidia-ml",
        "-o",
        str(made),
    ]
    subprocess.run(command, check=True)


class Rank:
    """One rank: `mscclpp_rank.cpp` on the GPU of this process."""

    def __init__(self, library: Path, rank: int) -> None:
        self.calls, self.rank = ctypes.CDLL(str(library)), rank
        self.calls.fault.restype = ctypes.c_char_p
        self.handle = ctypes.c_void_p()
        self.held: list[ctypes.c_void_p] = []
        self.now: list[ctypes.c_void_p] = []
        self.plan: Plan | None = None

    def call(self, name: str, *arguments: object) -> None:
        """Call a C function; raise its fault."""
        if getattr(self.calls, name)(*arguments):
            raise RuntimeError(self.calls.fault().decode())

    def describe(self) -> str:
        """Return the names of GPU and versions."""
        text = ctypes.create_string_buffer(200)
        self.call("describe", text, ctypes.c_size_t(200))
        return text.value.decode()

    def open(self, address: str, path: str) -> None:
        """Meet the other ranks, and load a plan."""
        self.plan = read(json.loads(Path(path).read_text()))
        place = (address.encode(), path.encode())
        self.call("open_rank", ctypes.byref(self.handle), self.rank, self.plan.ranks, *place)

    def close(self) -> None:
        """Free the plan and its buffers."""
        self.call("close_rank", self.handle)
        while self.held:
            self.call("release", self.held.pop())

    def allocated(self, size: int) -> ctypes.c_void_p:
        """Allocate memory that is freed with the plan: until then other ranks have it open."""
        self.held.append(ctypes.c_void_p())
        self.call("allocate", ctypes.byref(self.held[-1]), ctypes.c_size_t(size))
        return self.held[-1]

    def run(self, step: Step) -> str | None:
        """Run the plan once; return what is wrong in this rank's memory, or None."""
        assert self.plan is not None
        place, memory, inputs = contents(self.plan, self.rank, step)
        if not step.kept:
            self.now = [self.allocated(size) for size in place.sizes]
        for there, here in zip(self.now, memory, strict=True):
            self.call(
                "copy", there, ctypes.c_void_p(here.ctypes.data), ctypes.c_size_t(here.nbytes)
            )
        self.call("barrier", self.handle)
        ends = []
        for at, first, last in (place.source, place.target):
            start = ctypes.c_void_p((self.now[at].value or 0) + first)
            ends += [start, ctypes.c_size_t(last - first)]
        self.call("execute", self.handle, *ends, TYPES[step.kind])
        self.call("barrier", self.handle)
        for there, here in zip(self.now, memory, strict=True):
            self.call(
                "copy", ctypes.c_void_p(here.ctypes.data), there, ctypes.c_size_t(here.nbytes)
            )
        return fault(self.plan, self.rank, step, inputs, memory)


def serve(connection: Connection, library: Path, rank: int) -> None:
    """Run the methods that the parent names, and send an error or a result for each."""
    mine = Rank(library, rank)
    while True:
        try:
            name, arguments = connection.recv()
        except (EOFError, ConnectionError):
            return
        try:
            connection.send(("", getattr(mine, name)(*arguments)))
        except Exception as error:
            connection.send((f"{type(error).__name__}: {error}", None))


class Pool:
    """The processes of all ranks, started again after a hang."""

    def __init__(self, library: Path, seconds: float) -> None:
        self.compiled, self.seconds = library, seconds
        self.ends: list[tuple[Any, Any]] = []

    def ask(self, ranks: int, name: str, *arguments: object) -> list[Any]:
        """Ask the first ranks, and return their answers; raise RuntimeError for the first fault."""
        context = multiprocessing.get_context("spawn")
        while len(self.ends) < ranks:
            ours, theirs = context.Pipe()
            rank = len(self.ends)
            process = context.Process(target=serve, args=(theirs, self.compiled, rank), daemon=True)
            process.start()
            theirs.close()
            self.ends.append((process, ours))
        for _, connection in self.ends[:ranks]:
            connection.send((name, arguments))
        end = time.monotonic() + self.seconds
        answers: dict[int, Any] = {}
        while len(answers) < ranks:
            waiting = {self.ends[rank][1]: rank for rank in range(ranks) if rank not in answers}
            ready = wait(list(waiting), max(0.0, end - time.monotonic()))
            if not ready:
                missing = sorted(waiting.values())
                raise RuntimeError(f"ranks {missing}: no answer in {self.seconds:g} s")
            for rank in (rank for connection, rank in waiting.items() if connection in ready):
                answers[rank] = self._answer(rank)
        return [answers[rank] for rank in range(ranks)]

    def _answer(self, rank: int) -> Any:
        try:
            error, answer = self.ends[rank][1].recv()
        except (EOFError, ConnectionError):
            raise RuntimeError(f"rank {rank}: its process ended") from None
        if error:
            raise RuntimeError(f"rank {rank}: {error}")
        return answer

    def stop(self) -> None:
        """End all processes."""
        for process, connection in self.ends:
            process.kill()
            process.join()
            connection.close()
        self.ends.clear()
