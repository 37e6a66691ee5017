"""Curves over latency and bandwidth beside the linear programs and the hardware of a paper.

    git clone https://github.com/tommasobo/SC26_ProvisioningAINetworks
    python -m benchmarks.bench_network_curves SC26_ProvisioningAINetworks

Reads the data of "Provisioning Networks for AI Supercomputers" from a clone, at two commits: traces
of 64 GPUs with curves of one linear program for the whole trace, and 64 signatures of Grok traces
on 16 to 256 GPUs with the curves and solve times of their linear programs.  Their kernels take a
measured time drawn at random, ours the mean.  The traces of Grok on 2,048 and 4,096 GPUs are not
public: of these, the script compares the slope that a curve ends with.
"""

import argparse
import csv
import io
import json
import re
import subprocess
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from topoloom.schedules.formats.collective_trace import (
    TraceOptions,
    read_kernel_times,
    read_rings,
    read_trace,
)
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.network_curves.convex_curve import value_at
from topoloom.schedules.network_curves.network import Network
from topoloom.schedules.network_curves.program import (
    Program,
    Stream,
    latency_curves,
    program_pieces,
)
from topoloom.schedules.network_curves.ring_collective import (
    Channel,
    RingCollective,
    step_messages,
)

TRACES_AT, SIGNATURES_AT = "900c48b", "081c8f3"
TRACES = {"ar_128m_16n_ch1": 0, "ar_128m_16n_auto": 4, "mixed_16n_ch1": 0}
"""Trace -> a rank with rows."""
COLLECTIVES = {
    "allreduce": Collective.ALLREDUCE,
    "allgather": Collective.ALLGATHER,
    "reducescatter": Collective.REDUCE_SCATTER,
}
PER_BYTE, END = Fraction(4, 100), Fraction(10**6)
SIGNATURE = re.compile(r"(\w+)_ring_(\w+)_(\d+)B_(\d+)r_(\d+)ch")
CHUNK, SLICES = 2**20, 2
FULL_GROUP = 22
"""Allgathers and reduce-scatters of Grok's iteration among one rank of each host."""


class Clone:
    """The files of a clone at a commit."""

    def __init__(self, path: Path, commit: str) -> None:
        self._call = ["git", "-C", str(path)]
        self._commit = commit

    def text(self, path: str) -> str:
        """Return the content of a file."""
        return self._git("show", f"{self._commit}:{path}")

    def paths(self, part: str) -> list[str]:
        """Return the paths of files that contain a text."""
        return [one for one in self._names() if part in one]

    def _names(self) -> list[str]:
        return self._git("ls-tree", "-r", "--name-only", self._commit).splitlines()

    def _git(self, *words: str) -> str:
        done = subprocess.run([*self._call, *words], check=True, capture_output=True, text=True)
        return done.stdout


def network(clone: Clone) -> Network:
    """Return the rates of the paper's linear programs."""
    kernels = read_kernel_times(json.loads(clone.text("data/npkit/npkit_alps_simple.json")))
    return Network(Fraction(350), Fraction(333, 100000), Fraction(200), kernels)


def trace_rows(clone: Clone) -> Iterator[str]:
    """Yield a row of the table for each trace: times at 4 us, errors and CPU time."""
    rates = network(clone)
    for name, rank in TRACES.items():
        folder = f"data/output/final_plots/data/{name}"
        rings = read_rings(clone.text(f"{folder}/comm_ring_info.csv"))
        text = clone.text(f"{folder}/collective_instances.csv")
        for separate in (True, False):
            trace = read_trace(text, rings, TraceOptions(rank, separate_channels=separate))
            latency_curves(trace.program, rates, PER_BYTE, END)  # compiles the kernel
            begin = time.process_time()
            curves = latency_curves(trace.program, rates, PER_BYTE, END)
            pieces = program_pieces(trace.program, curves, Fraction(0), END)
            spent = time.process_time() - begin
            known = _curve(clone.text(f"{folder}/latency_full_runtime.csv"))
            ratios = [float(value_at(pieces, place)) / value for place, value in known]
            # The known points are 5 us apart: interpolate at 4 us.
            theirs = known[0][1] + 0.8 * (known[1][1] - known[0][1])
            yield (
                f"| {name} | {'own' if separate else 'shared'} | {len(curves)} "
                f"| {trace.program.measured / 1e6:.2f} ms | {theirs / 1e6:.2f} ms "
                f"| {float(value_at(pieces, Fraction(4000))) / 1e6:.2f} ms "
                f"| {min(ratios) - 1:+.1%} to {max(ratios) - 1:+.1%} | {spent * 1000:.1f} ms |"
            )


def _curve(text: str) -> list[tuple[Fraction, float]]:
    rows = csv.DictReader(io.StringIO(text))
    return [(Fraction(row["L"]), float(row["runtime"])) for row in rows]


def signature_rows(clone: Clone, rates: Network) -> Iterator[tuple[float, bool, float, float, int]]:
    """Yield the largest error, equal slopes, both CPU times and variables of each signature."""
    for path in clone.paths("_composite_regen/collective_cache/"):
        found = json.loads(clone.text(path))
        work = _work(found["description"])
        program = Program((Stream(0, {work: 1}),), 0)
        latency_curves(program, rates, PER_BYTE, END)
        begin = time.process_time()
        pieces = latency_curves(program, rates, PER_BYTE, END)[work]
        spent = time.process_time() - begin
        known = found["piecewise"]["pieces"]
        errors = [
            abs(float(value_at(pieces, Fraction(at))) / max(c + a * at for a, c in known) - 1)
            for at in range(0, int(END) + 1, 5000)
        ]
        same = [int(piece.slope) for piece in pieces] == [int(slope) for slope, _ in known]
        yield max(errors), same, spent, found["solve_time_s"], found["lp_vars"]


def _work(description: str, ranks: int = 0) -> RingCollective:
    """Return the collective of a signature, on hosts of four ranks."""
    found = SIGNATURE.match(description)
    if found is None:
        raise SystemExit(f"no signature: {description}")
    collective, size, channels = COLLECTIVES[found[1]], int(found[3]), int(found[5])
    ranks = ranks or int(found[4])
    messages = step_messages(collective, ranks, size // channels, CHUNK, SLICES, "simple")
    period = (0, 0, 0, 1) if ranks > 4 else (0,)
    return RingCollective(collective, ranks, (Channel(period, messages),))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("clone", type=Path, help="clone of the paper's repository")
    clone = parser.parse_args().clone
    traces = Clone(clone, TRACES_AT)
    print(*trace_rows(traces), sep="\n")

    rates, earlier = network(traces), Clone(clone, SIGNATURES_AT)
    rows = sorted(signature_rows(earlier, rates))
    for limit in (0.001, 0.01, 0.02, 0.5, 9):
        print(f"{sum(row[0] <= limit for row in rows)} of {len(rows)} within {limit:.1%}")
    same, ours, theirs, variables = (sum(row[at] for row in rows) for at in range(1, 5))
    print(f"{same} with equal slopes; CPU time {ours:.3f} s")
    print(f"linear programs: {theirs:.0f} s for {variables:,} variables")

    summary = earlier.text(
        "data/revalidation/grok_N64_composite_regen/comp/sweeps/signature_summary.csv"
    )
    names = [row["signature"] for row in csv.DictReader(io.StringIO(summary))]
    program = Program((Stream(0, {_work(name, 4096): 1 for name in names}),), 0)
    begin = time.process_time()
    latency_curves(program, rates, PER_BYTE, END)
    print(f"{len(names)} signatures on 4,096 ranks: {time.process_time() - begin:.3f} s")

    for hosts in (512, 1024):
        sweep = traces.text(f"data/output/grok_final/grok_N{hosts}_latency_sweep.csv")
        points = [*csv.DictReader(io.StringIO(sweep))][-2:]
        times = [float(point["runtime_ns"]) for point in points]
        places = [float(point["L_ns"]) for point in points]
        slope = (times[1] - times[0]) / (places[1] - places[0])
        one = RingCollective(Collective.ALLGATHER, hosts, (Channel((1,), (1,)),))
        path = latency_curves(Program((Stream(0, {one: 1}),), 0), rates, PER_BYTE, END)[one][-1]
        print(f"{hosts} hosts: slope {slope:.1f}, ours {FULL_GROUP} x {int(path.slope)}")


if __name__ == "__main__":
    main()
