"""Processor seconds and memory of `topoloom schedule` on large fabrics with one fault.

    python -m benchmarks.bench_large_faults [--only rail] [--collective reduce-scatter]

Every row is a whole process with an empty database: it generates, verifies and writes the schedule.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from multiprocessing import get_context
from pathlib import Path
from typing import Any

CASES = (
    ("dgx-a100-128", ()),
    ("dgx-a100-128", ("--without-link", "3.gpu5,plane1")),
    ("dgx-a100-128", ("--slow-link", "3.gpu5,plane1=1/2")),
    ("dgx-a100-128", ("--without-link", "3.gpu5,3.nvswitch")),
    ("dgx-a100-128", ("--without-node", "3.gpu5")),
    ("rail-128-8", ("--without-link", "3.gpu5,rail5")),
    ("mi250-64", ("--without-link", "3.gpu5,fabric")),
    ("mi250-64", ("--without-link", "3.gpu0,3.gpu4")),
    ("dgx-h100-96", ("--without-node", "3.gpu5")),
    ("ndv2-128", ("--without-link", "3.gpu0,3.gpu1")),
)


def measured(arguments: list[str], folder: Path) -> tuple[float, int]:
    """Return processor seconds and peak memory in MiB of a process."""
    environment = os.environ | {"TOPOLOOM_DATABASE_URL": f"sqlite:///{folder / 'empty.db'}"}
    with (folder / "schedule.json").open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "topoloom", "schedule", *arguments],
            env=environment,
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stderr is not None
        told = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(told)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024


def height(tree: dict[str, Any]) -> int:
    """Return the hops from the root to the farthest rank; edges are breadth first from the root."""
    depth = {tree["root"]: 0}
    for edge in tree["edges"]:
        near, far = (edge[0], edge[-1]) if edge[0] in depth else (edge[-1], edge[0])
        depth[far] = depth[near] + 1
    return max(depth.values())


def shape(path: Path) -> tuple[int, int]:
    """Return the number of trees of a schedule, and their largest height."""
    document = json.loads(path.read_bytes())
    trees = [tree for part in document.get("parts", [document]) for tree in part["trees"]]
    return len(trees), max(map(height, trees))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="fabrics whose name contains this")
    parser.add_argument("--collective", default="allgather")
    asked = parser.parse_args()
    print("| fabric | fault | trees | largest height | s | MiB |")
    print("|---|---|---:|---:|---:|---:|")
    for name, fault in CASES:
        if asked.only not in name:
            continue
        arguments = [name, "--collective", asked.collective, *fault]
        with tempfile.TemporaryDirectory() as folder:
            seconds, memory = measured(arguments, Path(folder))
            # In a process of its own: the next one measured would begin with its memory.
            with get_context("spawn").Pool(1) as pool:
                trees, highest = pool.apply(shape, (Path(folder) / "schedule.json",))
        shown = " ".join(fault) or "none"
        print(
            f"| `{name}` | {shown} | {trees} | {highest} | {seconds:.1f} | {memory} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
