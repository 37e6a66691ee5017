"""Time step schedules from the topology to the compressed file, with their peak memory.

    python -m benchmarks.bench_schedules [--large]

Each case runs in its own process; kernels are loaded and run once before the clock starts.  The
stages: *generated*, *verified* chunk by chunk, *packed* as in databases, *written* as schedule/1 in
.json.gz.  Seconds are the best of --repeat runs; memory is the largest resident size so far, with
the interpreter and the kernels (see the row "nothing").
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.timing import timed
from topoloom.app.files.local_files import write_text
from topoloom.schedules.formats.schedule.binary import pack
from topoloom.schedules.formats.schedule.write import write
from topoloom.schedules.generate.collectives import make
from topoloom.schedules.model.schedule import StepSchedule
from topoloom.schedules.steps import lift
from topoloom.schedules.verify import require_valid, step_cost
from topoloom.synth.evaluation.cost import Cost
from topoloom.synth.evaluation.measure import measure
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.topology.topology import Topology

RANDOM = "random digraph"
CASES = (
    ("bfb", "Hypercube(10)"),
    ("bfb", "Torus(32, 32)"),
    ("bfb", "Cayley(64, 35, 16, 64, 182, 815, 1023)"),
    ("bfb", "GeneralizedKautz(4, 1024)"),
    ("bfb", f"{RANDOM} 1024 8"),
    ("bfb", f"{RANDOM} 1024 16"),
    ("lifted", "LineGraph(3, Circulant(16, 3, 4))"),
    ("lifted", "DegreeExpansion(4, Circulant(256, 11, 12))"),
    ("lifted", "Power(2, BiRing(32))"),
    ("lifted", "Bidirected(GeneralizedKautz(2, 1024))"),
)
LARGE = (
    ("bfb", "Torus(64, 32)"),
    ("bfb", "GeneralizedKautz(4, 2048)"),
    ("bfb", f"{RANDOM} 2048 8"),
    ("bfb", "GeneralizedKautz(4, 4096)"),
    ("bfb", "Torus(64, 64)"),
)
COLUMNS = (
    "algorithm", "topology", "sends", "chunks", "T_L", "T_B", "generated", "MiB", "verified",
    "MiB", "packed", "MB", "written", "MB",
)  # fmt: skip


def random_digraph(nodes: int, degree: int) -> Topology:
    """Return ``degree`` random cyclic orders of the nodes, laid over each other."""
    rng = np.random.default_rng(1)
    orders = [rng.permutation(nodes) for _ in range(degree)]
    sources = np.concatenate(orders)
    targets = np.concatenate([np.roll(order, -1) for order in orders])
    return Topology.direct(nodes, sources, targets, name=f"{RANDOM} {nodes} {degree}")


def topology_of(text: str) -> Topology:
    if text.startswith(RANDOM):
        nodes, degree = text.removeprefix(RANDOM).split()
        return random_digraph(int(nodes), int(degree))
    return build(parse(text))


def generated(algorithm: str, topology: Topology) -> StepSchedule:
    schedule = make(topology, "allgather", algorithm)
    assert isinstance(schedule, StepSchedule)
    return schedule


def mebibytes() -> str:
    """Return the largest resident size of this process so far."""
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f}"


def case(algorithm: str, text: str, repeat: int) -> list[str]:
    """Measure one schedule in this process; return the columns after the name."""
    small = topology_of("Product(UniRing(2), BiRing(4))")
    for name in ("bfb", "lifted"):
        warm = generated(name, small)
        require_valid(warm, small)
        step_cost(warm, small)
    if text == "nothing":
        return ["", "", "", "", "", mebibytes(), *[""] * 6]
    topology = topology_of(text)
    made = timed(lambda: generated(algorithm, topology), repeat)
    schedule, made_size = made.result, mebibytes()
    checked = timed(lambda: require_valid(schedule, topology), repeat)
    checked_size = mebibytes()
    packed = timed(lambda: pack(schedule), repeat)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "schedule.json.gz"
        written = timed(lambda: write_text(path, write(schedule)), 1)
        size = path.stat().st_size
    cost = step_cost(schedule, topology)
    _require_claimed(algorithm, cost, topology)
    return [
        f"{sum(len(step) for step in schedule.steps):,}",
        f"{schedule.chunks_per_shard}",
        f"{cost.steps}",
        f"{cost.bandwidth}",
        f"{made.best:.2f} s",
        made_size,
        f"{checked.best:.2f} s",
        checked_size,
        f"{packed.best:.2f} s",
        f"{len(packed.result) / 1e6:.2f}",
        f"{written.best:.1f} s",
        f"{size / 1e6:.1f}",
    ]


def _require_claimed(algorithm: str, cost: Cost, topology: Topology) -> None:
    if algorithm == "lifted":
        claim = lift.claim_on(topology)
        kept = claim is None or claim.covers(cost)
    else:
        kept = cost == measure(topology)
    if not kept:
        sys.exit(f"{topology.name}: the schedule costs {cost}, not what was claimed")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--large", action="store_true", help="2048 and 4096 ranks too")
    parser.add_argument("--case", nargs=2, metavar=("ALGORITHM", "TOPOLOGY"), help="one case only")
    given = parser.parse_args()
    if given.case:
        print(json.dumps(case(*given.case, given.repeat)))
        return
    print("| " + " | ".join(COLUMNS) + " |")
    print("|---" * len(COLUMNS) + "|")
    for algorithm, text in (("", "nothing"), *CASES, *(LARGE if given.large else ())):
        command = [sys.executable, "-m", "benchmarks.bench_schedules"]
        command += ["--repeat", str(given.repeat), "--case", algorithm, text]
        found = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        print("| " + " | ".join([algorithm, text, *json.loads(found)]) + " |", flush=True)


if __name__ == "__main__":
    main()
