"""Run every benchmark; arguments go to bench_forestcoll (see its --help)."""

import sys

from benchmarks import (
    bench_forestcoll,
    bench_schedules,
    bench_simulator,
    bench_slack,
    bench_synthesis,
)


def main() -> None:
    arguments, sys.argv[1:] = sys.argv[1:], []
    for benchmark in (bench_synthesis, bench_slack, bench_schedules, bench_simulator):
        benchmark.main()
        print()
    sys.argv[1:] = arguments
    bench_forestcoll.main()


if __name__ == "__main__":
    main()
