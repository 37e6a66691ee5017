"""Run one job of SCCL, in an interpreter that has msccl-tools: JSON in, JSON out.

    {"nodes": 4, "links": [[source, target, chunks a round], ...],
     "asked": [[steps, rounds, chunks], ...]}

prints one line for each entry of ``asked``: whether such an allgather exists, and the solver's
seconds.
"""

import json
import sys
import time


def main() -> None:
    from msccl.collectives import allgather  # pyright: ignore[reportMissingImports]
    from msccl.instance import Instance  # pyright: ignore[reportMissingImports]
    from msccl.path_encoding import PathEncoding  # pyright: ignore[reportMissingImports]
    from msccl.topologies import Topology  # pyright: ignore[reportMissingImports]

    job = json.load(sys.stdin)
    nodes = job["nodes"]
    # By target, then by source.
    links = [[0] * nodes for _ in range(nodes)]
    for source, target, width in job["links"]:
        links[target][source] += width
    encoding = PathEncoding(Topology("given", links), allgather(nodes))
    answers = []
    for steps, rounds, chunks in job["asked"]:
        start = time.perf_counter()
        found = encoding.solve(Instance(steps, extra_rounds=rounds - steps, chunks=chunks))
        answers.append({"found": found is not None, "seconds": time.perf_counter() - start})
        print(json.dumps(answers[-1]), flush=True)


if __name__ == "__main__":
    main()
