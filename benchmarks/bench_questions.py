"""Put random questions to a running service, and check every figure of the answers.

Sizes, degrees, kinds of links, collectives and amounts of data are random.  The best topology of
every design is read back by its id, by its short name and as a file that is uploaded again.  The
schedule is read back and replayed by `benchmarks.replayed`, which shares no code with the project.
All figures must agree.

    python -m benchmarks.bench_questions --count 200 --seed 1
"""

import argparse
import sys
import tempfile
import time
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from benchmarks.replayed import diameter, port_faults, schedule_cost

sys.path.append(str(Path(__file__).parent.parent / "examples"))

from client import Client, Refused
from tour import running_service

COLLECTIVES = ("allgather", "reduce-scatter", "allreduce")


@dataclass
class Tally:
    """Counts and faults over all questions."""

    answered: int = 0
    impossible: int = 0
    seconds: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def main() -> None:
    """Run all questions and print the results; exit 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100, help="how many questions")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--nodes", type=int, default=1100, help="largest number of hosts")
    options = parser.parse_args()
    rng, tally = Random(options.seed), Tally()
    with tempfile.TemporaryDirectory() as folder, running_service(Path(folder)) as client:
        for number in range(options.count):
            question = drawn(rng, options.nodes)
            line = asked(client, question, tally)
            print(f"{number + 1:>4}  {line}", flush=True)
    print(
        f"\n{tally.answered} designs, {tally.impossible} that cannot exist, "
        f"{len(tally.faults)} faults; a design with its schedule took "
        f"{median(tally.seconds):.2f} s (median), {max(tally.seconds):.2f} s (slowest)"
    )
    for fault in tally.faults:
        print(fault)
    sys.exit(1 if tally.faults else 0)


def drawn(rng: Random, most: int) -> dict[str, Any]:
    """Return a random question; each order of magnitude of the size is equally likely."""
    nodes = round(3 * (most / 3) ** rng.random())
    return {
        "nodes": nodes,
        "degree": min(rng.randint(2, 8), nodes - 1),
        "links": rng.choice(("unidirectional", "bidirectional")),
        "collective": rng.choice(COLLECTIVES),
        "bytes": rng.randint(1, 2**30),
    }


def asked(client: Client, question: dict[str, Any], tally: Tally) -> str:
    """Put a question, check the answer, and return a line on it."""
    shown = "{nodes:>5} x {degree} {links:<14} {collective:<14}".format(**question)
    odd = question["nodes"] % 2 and question["degree"] % 2
    start = time.perf_counter()
    try:
        design = client.post("/v1/designs", question)
    except Refused as refused:
        if question["links"] == "bidirectional" and odd:
            # The handshake lemma: the degrees of a graph add up to an even number.
            tally.impossible += 1
            return f"{shown} none: {refused}"
        tally.faults.append(f"{shown} {refused}")
        return tally.faults[-1]
    seconds = time.perf_counter() - start
    tally.answered += 1
    tally.seconds.append(seconds)
    try:
        faults = wrong(client, question, design)
    except (Refused, ValueError) as broken:
        faults = [str(broken)]
    tally.faults += [f"{shown} {fault}" for fault in faults]
    best = design["best"]
    return f"{shown} {seconds:>7.2f} s  {best['name']}" + "".join(f"  {f}" for f in faults)


def wrong(client: Client, question: dict[str, Any], design: dict[str, Any]) -> list[str]:
    """Return every figure of a design that the documents and the replay do not confirm."""
    best = design["best"]
    names = ("topology_id", "within_steps")
    point = next(one for one in design["frontier"] if all(one.get(n) == best.get(n) for n in names))
    eager = point["algorithm"] == "bfb"
    topology = client.get(f"/v1/topologies/{best['topology_id']}")
    claimed = {"steps": point["steps"], "bandwidth": point["bandwidth"]}
    faults = port_faults(topology, question["degree"], question["links"] == "bidirectional")
    if len(topology["nodes"]) != question["nodes"]:
        faults.append(f"the topology has {len(topology['nodes'])} nodes")
    if diameter(topology) > claimed["steps"] or (eager and diameter(topology) < claimed["steps"]):
        faults.append(f"claimed {claimed['steps']} steps, the diameter is {diameter(topology)}")
    for source in (
        {"id": best["topology_id"][:12]},
        {"name": topology["name"]},
        {"document": {key: value for key, value in topology.items() if key != "id"}},
        {"recipe": point["recipe"]},
    ):
        again = client.post("/v1/topologies", source)
        measured = client.post("/v1/costs", {"topology": {"id": again["id"]}})
        # Slack schedules are confirmed below, by their schedule.
        if eager and {name: measured[name] for name in claimed} != claimed:
            faults.append(f"read back by {next(iter(source))} it costs {measured}")
    schedule = client.get(f"/v1/schedules/{best['schedule']['id']}")
    gather, scatter = (
        (cost["steps"], Fraction(cost["bandwidth"])) for cost in (point, point["transpose"])
    )
    expected = {
        "allgather": gather,
        "reduce-scatter": scatter,
        "allreduce": (gather[0] + scatter[0], gather[1] + scatter[1]),
    }[question["collective"]]
    if schedule_cost(schedule, topology) != expected:
        faults.append(f"the schedule costs {schedule_cost(schedule, topology)}, not {expected}")
    return faults


if __name__ == "__main__":
    main()
