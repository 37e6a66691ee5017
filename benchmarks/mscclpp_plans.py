"""Write MSCCL++ plans of every kind that Topoloom exports, for bench_mscclpp_gpu.

    python -m benchmarks.mscclpp_plans --out plans [--count 200] [--seed 1]

A plan for each fabric, collective, in or out of place, and kind of channels: memory, port, or both.
Then groups, unequal shards and several instances, each drawn at random.  The file names are in
random order, so that the first plans are a sample of all.
"""

import argparse
import random
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import topoloom
from topoloom.schedules.errors import NoSchedule, NotExportable
from topoloom.schedules.formats.mscclpp.replay import replay
from topoloom.schedules.formats.mscclpp.write import render
from topoloom.schedules.formats.targets.runtimes import RUNTIMES

FABRICS = (
    *("Complete(4)", "UniRing(5)", "BiRing(6)", "Kautz(2, 2)", "Circulant(9, 1, 2)", "Torus(4, 4)"),
    *("Hypercube(3)", "dgx-1v", "dgx-a100-1", "dgx-h100-1", "dgx-a100-2", "mi250-1", "mi300x"),
)
ALGORITHMS = {
    "allgather": ("forestcoll", "bfb", "lifted"),
    "reduce-scatter": ("forestcoll", "bfb", "lifted"),
    "allreduce": ("forestcoll", "bfb", "bfb-one-shot"),
    "all-to-all": ("mcf", "shortest-paths"),
    "broadcast": ("forestcoll",),
    "reduce": ("forestcoll",),
}
ROOTED = ("broadcast", "reduce")
RUNTIME = RUNTIMES["mscclpp-h100"]


class Case(NamedTuple):
    """A plan to be written; ``near``: the ranks of a machine."""

    fabric: str
    collective: str
    algorithm: str
    inplace: bool
    near: int
    instances: int = 1
    asked: tuple[tuple[str, Any], ...] = ()

    @property
    def name(self) -> str:
        """The name of the file."""
        fabric = "".join(each if each.isalnum() else "-" for each in self.fabric).strip("-")
        words = [fabric, self.collective, self.algorithm, "in" if self.inplace else "out"]
        words += [f"near{self.near}", f"x{self.instances}"]
        return "_".join([*words, *(word for word, _ in self.asked if word != "root")])


def cases(draw: random.Random) -> Iterator[Case]:
    """Yield every combination with equal shards, then others for the same fabrics."""
    for fabric, collective, inplace in product(FABRICS, ALGORITHMS, (False, True)):
        if inplace and collective == "all-to-all":
            continue
        nodes = topoloom.build(fabric).compute_nodes
        root = (("root", draw.choice(nodes)),) if collective in ROOTED else ()
        for algorithm in ALGORITHMS[collective]:
            for near in (1, len(nodes) // 2, len(nodes)):
                yield Case(fabric, collective, algorithm, inplace, near, asked=root)
        near = draw.choice([1, len(nodes)])
        yield Case(fabric, collective, ALGORITHMS[collective][0], inplace, near, 2, root)
        if collective == "all-to-all":
            continue
        group = sorted(draw.sample(range(len(nodes)), draw.randint(2, len(nodes) - 1)))
        members = tuple(nodes[at] for at in group)
        asked: dict[str, Any] = {"participants": members}
        if root:
            asked["root"] = draw.choice(members)
        yield Case(fabric, collective, "forestcoll", inplace, near, 1, tuple(asked.items()))
        if collective != "allreduce" and not root:
            shards = {node: draw.randint(1, 4) for node in nodes}
            yield Case(fabric, collective, "forestcoll", inplace, near, 1, (("shards", shards),))


def text(case: Case) -> str | None:
    """Return a plan, replayed; None if the algorithm or the executor does not allow it."""
    topology = topoloom.build(case.fabric)
    try:
        schedule = topoloom.schedule(
            topology, case.collective, algorithm=case.algorithm, **dict(case.asked)
        )
        options = {"inplace": case.inplace, "instances": case.instances}
        made = render(schedule, topology, RUNTIME, ranks_per_node=case.near, **options)
    except (NoSchedule, NotExportable):
        return None
    replay(made, RUNTIME)
    return made


def main() -> None:
    """Write the plans into a folder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    draw = random.Random(asked.seed)
    every = list(cases(draw))
    draw.shuffle(every)
    asked.out.mkdir(parents=True, exist_ok=True)
    written = 0
    for case in every:
        if written == asked.count:
            break
        made = text(case)
        if made is None:
            print(f"cannot be exported: {case.name}")
            continue
        (asked.out / f"{written:03}_{case.name}.json").write_text(made)
        written += 1
    print(f"{written} plans of {len(every)} cases")


if __name__ == "__main__":
    main()
