"""Compare schedules with gloo's own allreduce, in the same processes and by turns.

    python -m benchmarks.bench_runner [--ranks 4]

Four or eight processes on this machine's loopback.  Each round runs gloo, then the back end
"topoloom", then a `topoloom.Runner` for every topology, once.  The back end runs the first
topology.  The columns are the median and the least of the slowest rank's seconds, and the median
of the processor time of all ranks together.  The last two are more meaningful where processes wait
for cores.
"""

import argparse
import multiprocessing
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from importlib import import_module

import topoloom

SOURCES = {
    4: ("Complete(4)", "BiRing(4)"),
    8: ("Complete(8)", "Circulant(8, 1, 3)", "Hypercube(3)"),
}
SIZES = (64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10)


def main() -> None:
    """Print a line for each size and algorithm."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--ranks", type=int, default=8, choices=SOURCES)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--kib", type=int, nargs="+", default=SIZES, help="sizes")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        spawn = multiprocessing.get_context("spawn")
        ranks = [
            spawn.Process(target=_rank, args=(at, asked.ranks, folder, asked.rounds, asked.kib))
            for at in range(asked.ranks)
        ]
        for rank in ranks:
            rank.start()
        for rank in ranks:
            rank.join()


def _rank(rank: int, ranks: int, folder: str, rounds: int, sizes: list[int]) -> None:
    os.environ |= {"GLOO_SOCKET_IFNAME": "lo", "TOPOLOOM_DESIGN": SOURCES[ranks][0]}
    torch, group = import_module("torch"), import_module("torch.distributed")
    torch.set_num_threads(1)
    store = group.FileStore(f"{folder}/rendezvous", ranks)
    group.init_process_group("gloo", store=store, rank=rank, world_size=ranks)
    import_module("topoloom.torch")
    backend = group.new_group(backend="topoloom")
    runners = [topoloom.Runner(topoloom.schedule(source, "allreduce")) for source in SOURCES[ranks]]
    for size in sizes:
        tensor = torch.zeros(size << 8)
        ways: list[Callable[[], None]] = [
            lambda held=tensor: group.all_reduce(held),
            lambda held=tensor: group.all_reduce(held, group=backend),
            *((lambda held=tensor, one=one: one.all_reduce(held)) for one in runners),
        ]
        found: list[list[list[float]]] = [[] for _ in ways]
        for number in range(rounds + 1):
            for way, taken in zip(ways, found, strict=True):
                group.barrier()
                spent = torch.tensor(_timed(way), dtype=torch.float64)
                slowest, summed = spent[:1].clone(), spent[1:].clone()
                group.all_reduce(slowest, group.ReduceOp.MAX)
                group.all_reduce(summed)
                # The first round plans, and warms the connections.
                if number:
                    taken.append([float(slowest[0]), float(summed[0])])
        if rank == 0:
            _print(size, ranks, found)
    group.destroy_process_group()


def _timed(way: Callable[[], None]) -> list[float]:
    """Return seconds, and processor seconds of all threads of this process."""
    before, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    way()
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF)
    return [seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime]


def _print(kib: int, ranks: int, found: list[list[list[float]]]) -> None:
    told = [
        (statistics.median(seconds), min(seconds), statistics.median(spent))
        for seconds, spent in (zip(*one, strict=True) for one in found)
    ]
    for name, figures in zip(("gloo", "back end", *SOURCES[ranks]), told, strict=True):
        pairs = zip(("median", "least", "processors"), figures, told[0], strict=True)
        text = (f"{what} {one * 1e3:8.1f} ms x{one / gloo:5.2f}" for what, one, gloo in pairs)
        print(f"{kib:5} KiB  {name:20}", *text, sep="  ", flush=True)


if __name__ == "__main__":
    main()
