"""Optima of every named fabric after single faults: an allgather, and an allreduce both ways.

    nice -n 19 python -m benchmarks.bench_faults --out faults.csv
    python -m benchmarks.bench_faults --out faults.csv --summary

Five faults each: the loss of a link of the first and of the last kind (kinds are those of
symmetry), the first link at half speed, the first link lost in one direction, a lost host.  An
allreduce runs its passes one after the other, or at its own optimum.  Rows are appended to the file
as they are computed, and a stopped run resumes after the existing rows.
"""

import argparse
import csv
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from topoloom.schedules.errors import ScheduleError
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.optimum.collective_optimum import collective_optimum
from topoloom.schedules.optimum.single_faults import fault_kinds
from topoloom.schedules.options import Options
from topoloom.synth.errors import SynthError
from topoloom.synth.fabrics import fabric
from topoloom.synth.topology.degrade import degraded
from topoloom.synth.topology.topology import Topology

FABRICS = (
    *("dgx-1v", "ndv2-2", "dgx-2", "dgx-a100-2", "dgx-a100-4", "dgx-h100-2", "dgx-h100-sharp-2"),
    *("gh200-nvl32", "gb200-nvl72", "gb200-nvl72-2", "gb200-nvl72-sharp", "mi250-1", "mi250-2"),
    *("mi300x", "mi300x-2", "tpu-v4-4x4x4", "tpu-v4-4x4x8-twisted", "tpu-v5p-4x4x4"),
    *("tpu-v5p-4x4x8-twisted", "tpu-v5e-8x8", "trainium2", "trainium2-ultra", "rail-4-8"),
    *("rail-only-4-8", "fat-tree-4", "dragonfly-4-2-2-9"),
)
FIELDS = ("fabric", "fault", "allgather", "sequential", "allreduce", "proven", "seconds")


def one_way(topology: Topology, source: object, target: object) -> Topology:
    """Return the topology without the links from one node to another."""
    kept = [link for link in topology.links if link[:2] != (source, target)]
    return Topology(
        topology.nodes,
        kept,
        switches=topology.switches,
        multicast=topology.multicast,
        name=f"{topology.name} without {source}->{target}",
        bandwidth_unit=topology.bandwidth_unit,
    )


def faults(topology: Topology) -> Iterator[tuple[str, Topology]]:
    """Yield the healthy fabric and its five faults, each with its description."""
    kinds = fault_kinds(topology)
    links = [kind.lost for kind in kinds if kind.part == "link"]
    host = next(kind.lost for kind in kinds if kind.part == "host")
    one, other = links[0]
    yield "none", topology
    yield f"{one}-{other}", degraded(topology, without_links=[links[0]])
    if len(links) > 1:
        yield "-".join(map(str, links[-1])), degraded(topology, without_links=[links[-1]])
    half = degraded(topology, slow_links=[(one, other, Fraction(1, 2))])
    yield f"{one}-{other} at 1/2", half
    yield f"{one}->{other}", one_way(topology, one, other)
    yield f"host {host[0]}", degraded(topology, without_nodes=host)


def figures(topology: Topology) -> dict[str, str]:
    """Return the exact optima of a fabric; empty if there are none."""
    found = dict.fromkeys(FIELDS[2:6], "")
    try:
        found["allgather"] = str(
            collective_optimum(topology, Collective.ALLGATHER, Options()).algbw
        )
        both = collective_optimum(topology, Collective.ALLREDUCE, Options())
    except (ScheduleError, SynthError) as error:
        return found | {"proven": str(error)}
    proven = "yes"
    if both.together is None:
        proven = both.together_left_out
    elif not both.together.exact:
        proven = f"at most {both.together.algbw}"
    return found | {
        "sequential": str(both.data / both.sequential),
        "allreduce": str(both.algbw),
        "proven": proven,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--summary", action="store_true", help="print the table, compute nothing")
    asked = parser.parse_args()
    if not asked.summary:
        compute(asked.out)
    show(asked.out)


def compute(out: Path) -> None:
    """Append the missing rows."""
    known = {(row["fabric"], row["fault"]) for row in rows(out)}
    with out.open("a", newline="") as file:
        writer = csv.writer(file)
        if not known:
            writer.writerow(FIELDS)
        for name in FABRICS:
            for fault, topology in faults(fabric(name)):
                if (name, fault) in known:
                    continue
                start = time.perf_counter()
                found = figures(topology)
                seconds = f"{time.perf_counter() - start:.2f}"
                writer.writerow([name, fault, *found.values(), seconds])
                file.flush()


def rows(out: Path) -> list[dict[str, str]]:
    """Return the existing rows."""
    if not out.exists():
        return []
    with out.open(newline="") as file:
        return list(csv.DictReader(file))


def show(out: Path) -> None:
    """Print the table of docs/benchmarks.md."""
    print("| fabric | lost | allgather | allreduce, passes apart | at its optimum | more by |")
    print("|---|---|---|---|---|---|")
    for row in rows(out):
        values = [Fraction(row[name]) if row[name] else None for name in FIELDS[2:5]]
        shown = ["–" if value is None else f"{float(value):.4g}" for value in values]
        more = ""
        if values[1] and values[2]:
            more = f"{float(values[2] / values[1]):.3g}" if values[2] > values[1] else ""
            more += "" if row["proven"] == "yes" else f" ({row['proven']})"
        name = f"`{row['fabric']}`" if row["fault"] == "none" else ""
        fault = "" if row["fault"] == "none" else row["fault"]
        print(f"| {name} | {fault} | {' | '.join(shown)} | {more} |")


if __name__ == "__main__":
    main()
