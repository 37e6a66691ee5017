"""Run MSCCL++ plans on the executor of that library with all ranks on one GPU, and check the data.

    python -m benchmarks.mscclpp_plans --out plans
    python -m benchmarks.bench_mscclpp_gpu plans --mscclpp SOURCE --build BUILD --cuda CUDA

SOURCE is a checkout of microsoft/mscclpp 0.9.0, BUILD the folder in which CMake has built its
target ``mscclpp``, CUDA a CUDA toolkit.  Needs numpy and one GPU, nothing of Topoloom.

Every rank is a process (`mscclpp_ranks`).  The processes share the GPU in time slices, so times
mean nothing.  Every call is on fresh random data, and all bytes are compared (`mscclpp_calls`).
"""

import argparse
import json
import socket
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.mscclpp_calls import ORDERED, Step, read
from benchmarks.mscclpp_ranks import Pool, compile_rank

LARGEST = -1
"""Stands for the largest chunks that a plan accepts."""
CHUNKS = (16, 48, 4208, 65552)
"""Bytes of a chunk in the calls of a plan, all odd multiples of the 16 that the executor needs."""
FLOATS = ("float16", "bfloat16", "float32")


class Outcome(NamedTuple):
    """The outcome of a plan: ``calls`` that were right before the ``fault``, if there is one."""

    plan: str
    ranks: int
    collective: str
    inplace: bool
    channels: str
    blocks: int
    calls: int
    seconds: float
    fault: str


def address() -> str:
    """Return a free address on this machine."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"lo:127.0.0.1:{probe.getsockname()[1]}"


def steps(document: Any, chunks: Sequence[int], before: int, most: int) -> Iterator[Step]:
    """Yield the calls of a plan: sizes and types; with the buffers of the last call, and without.

    Every second size has unused bytes around its buffers.
    """
    plan = read(document)
    whole = max(plan.inputs + plan.outputs)
    least, limit = (document[f"{end}_message_size"] // whole for end in ("min", "max"))
    sizes = [limit if one == LARGEST else max(one, least) for one in chunks]
    sizes = [one for one in sizes if one <= limit and (one * whole <= most or one == limit)]
    around = (0, 0)
    for at, size in enumerate(sizes):
        around = (before, 512) if at % 2 else (0, 0)
        yield Step(size, "int32", at, *around)
        if size != limit:
            yield Step(size, "int32", 100 + at, *around, kept=True)
    if sizes and sizes[-1] != limit:
        yield Step(max(16, sizes[-1] // 32 * 16), "uint32", 200, *around, kept=True)
        for at, kind in enumerate(FLOATS):
            yield Step(sizes[len(sizes) // 2], kind, 300 + at)


def spoiled(document: Any) -> Any:
    """Return a plan whose first message is signaled without its data: the check must notice."""
    for block in (block for gpu in document["gpus"] for block in gpu["threadblocks"]):
        for at, operation in enumerate(block["ops"]):
            if operation["name"] in {"put", "pwsf"}:
                channel = {name: operation.get(name) for name in ("channel_type", "channel_ids")}
                instead = {"name": "signal"} | channel
                block["ops"][at] = instead if operation["name"] == "pwsf" else {"name": "nop"}
                return document | {"name": document["name"] + "-spoiled"}
    raise ValueError("no message to spoil")


def outcome(pool: Pool, path: Path, document: Any, calls: Sequence[Step]) -> Outcome:
    """Run all calls of a plan until one is wrong."""
    gpus, started, done, wrong = document["gpus"], time.monotonic(), 0, ""
    kinds = {channel["channel_type"] for gpu in gpus for channel in gpu["channels"]}
    try:
        pool.ask(len(gpus), "open", address(), str(path))
        for step in calls:
            answers = pool.ask(len(gpus), "run", step)
            faults = [f"rank {rank}: {each}" for rank, each in enumerate(answers) if each]
            if faults:
                wrong = f"{step}: {faults[0]}; {len(faults)} ranks"
                break
            done += 1
        pool.ask(len(gpus), "close")
    except RuntimeError as error:
        wrong = wrong or f"call {done}: {error}"
        pool.stop()
    return Outcome(
        path.name,
        len(gpus),
        document["collective"],
        document["inplace"],
        "+".join(sorted(kinds)),
        max(len(gpu["threadblocks"]) for gpu in gpus),
        done,
        round(time.monotonic() - started, 2),
        wrong,
    )


def main() -> None:
    """Run the plans of a folder, and print the outcomes; exit with 1 if one is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("plans", type=Path, nargs="+", help="plans, or folders of plans")
    parser.add_argument("--mscclpp", type=Path, help="checkout of MSCCL++ 0.9.0")
    parser.add_argument("--build", type=Path, help="folder in which CMake has built it")
    parser.add_argument("--cuda", type=Path, default=Path("/usr/local/cuda"))
    parser.add_argument("--compiled", type=Path, help="mscclpp_rank.cpp, already compiled")
    parser.add_argument("--chunks", type=int, nargs="+", default=CHUNKS, help="-1: the largest")
    parser.add_argument("--most", type=int, default=2**25, help="bytes of a call, at most")
    parser.add_argument(
        "--before", type=int, help="unused bytes before a buffer (default: 512; 0 with ports)"
    )
    parser.add_argument("--ordered", action="store_true", help="plans add in the order of ranks")
    parser.add_argument("--spoil", action="store_true", help="all plans must turn out wrong")
    parser.add_argument("--timeout", type=float, default=30, help="seconds of a call, at most")
    parser.add_argument("--seconds", type=float, default=1e9, help="then start no further plan")
    parser.add_argument("--json", type=Path, help="write the outcomes")
    asked = parser.parse_args()
    if asked.compiled is None and None in (asked.mscclpp, asked.build):
        parser.error("--mscclpp and --build are required, or --compiled")
    paths = [each for one in asked.plans for each in (sorted(one.rglob("*.json")) or [one])]
    with tempfile.TemporaryDirectory() as folder:
        library = asked.compiled or Path(folder) / "libmscclpp_rank.so"
        if asked.compiled is None:
            compile_rank(asked.mscclpp, asked.build, asked.cuda, library)
        pool, end, found = Pool(library, asked.timeout), time.monotonic() + asked.seconds, []
        print(pool.ask(1, "describe")[0], flush=True)
        for path in paths:
            if time.monotonic() > end:
                break
            document = json.loads(path.read_text())
            if asked.spoil:
                document, path = spoiled(document), Path(folder) / path.name
                path.write_text(json.dumps(document))
            ports = any(
                c["channel_type"] == "port" for g in document["gpus"] for c in g["channels"]
            )
            before = (0 if ports else 512) if asked.before is None else asked.before
            calls = list(steps(document, asked.chunks, before, asked.most))
            if asked.ordered:
                calls = [replace(step, kind=ORDERED) for step in calls]
            found.append(outcome(pool, path, document, calls))
            print(*found[-1], flush=True)
            if asked.json:
                asked.json.write_text(json.dumps([each._asdict() for each in found]))
        pool.stop()
    wrong = [each for each in found if each.fault]
    kinds = Counter((each.collective, each.channels) for each in found if not each.fault)
    print(*(f"{count} {' '.join(kind)}" for kind, count in sorted(kinds.items())), sep="\n")
    calls = sum(each.calls for each in found)
    print(f"{len(found)} of {len(paths)} plans ran, {calls} calls right, {len(wrong)} plans wrong")
    sys.exit(len(wrong) != (len(found) if asked.spoil else 0))


if __name__ == "__main__":
    main()
