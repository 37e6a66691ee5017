"""Run every benchmark; arguments go to bench_forestcoll (see its --help)."""

import sys

from benchmarks import bench_forestcoll, bench_schedules, bench_synthesis


def main() -> None:
    arguments, sys.argv[1:] = sys.argv[1:], []
    bench_synthesis.main()
    print()
    bench_schedules.main()
    sys.argv[1:] = arguments
    print()
    bench_forestcoll.main()


if __name__ == "__main__":
    main()
