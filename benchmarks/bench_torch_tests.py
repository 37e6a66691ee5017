"""Run PyTorch's own tests of back ends on "topoloom" beside gloo, and count the outcomes.

    python -m benchmarks.bench_torch_tests [--only NAME ...] [--json FILE]

`torch_harness` says which tests these are.  Every test starts four processes, or as many as
the variable WORLD_SIZE states: some tests need eight.  A test that a back end skips needs a device,
a package or a back end that the machine does not have.
"""

import argparse
import json
import unittest
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.torch_harness import TESTS


def names(words: Sequence[str] = ()) -> list[str]:
    """Return the tests with these names, or parts of a name; by default all."""
    found = unittest.defaultTestLoader.getTestCaseNames(TESTS["gloo"])
    whole = set(words) & set(found)
    parts = set(words) - whole
    return [
        name
        for name in found
        if not (whole or parts) or name in whole or any(part in name for part in parts)
    ]


def outcome(backend: str, name: str) -> tuple[str, str]:
    """Run a test; return "passed", "skipped" or "failed", and the reason."""
    found = unittest.TestResult()
    TESTS[backend](name).run(found)
    faults = found.failures + found.errors
    if faults:
        return "failed", faults[0][1]
    return ("skipped", found.skipped[0][1]) if found.skipped else ("passed", "")


def main() -> None:
    """Print the outcomes that differ, and how often each occurs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="WORD", help="parts of names, or =NAME"
    )
    parser.add_argument("--backend", nargs="+", default=TESTS, choices=TESTS)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the outcomes")
    asked = parser.parse_args()
    results: dict[str, dict[str, tuple[str, str]]] = {each: {} for each in asked.backend}
    for name in names(asked.only):
        for backend, held in results.items():
            held[name] = outcome(backend, name)
        kinds = [held[name][0] for held in results.values()]
        if len(set(kinds)) > 1 or "failed" in kinds:
            print(
                f"{name}: {', '.join(map(' '.join, zip(results, kinds, strict=True)))}", flush=True
            )
    for backend, held in results.items():
        counted = Counter(kind for kind, _ in held.values())
        told = (f"{counted[kind]} {kind}" for kind in ("passed", "skipped", "failed"))
        print(f"{backend}: {', '.join(told)}")
    if asked.json:
        asked.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
