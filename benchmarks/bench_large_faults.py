"""Processor seconds and memory of `topoloom schedule` on large fabrics with one fault.

    python -m benchmarks.bench_large_faults [--only rail] [--collective reduce-scatter]

Every row is a whole process with an empty database: it generates, verifies and writes the schedule.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="fabrics whose name contains this")
    parser.add_argument("--collective", default="allgather")
    asked = parser.parse_args()
    print("| fabric | fault | trees | s | MiB |")
    print("|---|---|---:|---:|---:|")
    for name, fault in CASES:
        if asked.only not in name:
            continue
        arguments = [name, "--collective", asked.collective, *fault]
        with tempfile.TemporaryDirectory() as folder:
            seconds, memory = measured(arguments, Path(folder))
            document = (Path(folder) / "schedule.json").read_text()
        trees = len(re.findall(r'"root":', document))
        shown = " ".join(fault) or "none"
        print(f"| `{name}` | {shown} | {trees} | {seconds:.1f} | {memory} |", flush=True)


if __name__ == "__main__":
    main()
