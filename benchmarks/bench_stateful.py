"""Sequences of requests by schemathesis against a running service; no answer may be a 5xx.

``python -m benchmarks.bench_stateful --cases 20000`` starts the service on its own database and
lets schemathesis follow documents through their life cycle: ids from one answer go into the next
request.  Every answer must have a status, a type and a body that the OpenAPI document describes.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.service_process import Service, line, started

PORT = 18777
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)
ROUND_SECONDS = 120


def main() -> None:
    """Run rounds of scenarios, each with its own seed, until the number of cases is reached."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--database", help="URL; SQLite in a folder of its own where left out")
    asked = parser.parse_args()
    answers: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        url = asked.database or f"sqlite:///{Path(folder) / 'stateful.db'}"
        with started(url, PORT, max_nodes=64, max_links=1024, wait_seconds=1) as service:
            begin, seed, failed = time.perf_counter(), asked.seed, 0
            while sum(answers.values()) < asked.cases:
                report = Path(folder) / f"{seed}.json"
                failed += _round(service, seed, report)
                told = json.loads(report.read_text())
                for status, count in told["answers"].items():
                    answers[status] = answers.get(status, 0) + count
                line(seed=seed, cases=sum(answers.values()), failed=failed, **told["documents"])
                seed += 1
            line(
                cases=sum(answers.values()),
                server_errors=sum(count for status, count in answers.items() if status >= "500"),
                failed_rounds=failed,
                seconds=round(time.perf_counter() - begin),
                memory_mib=service.resident_bytes >> 20,
                answers=dict(sorted(answers.items())),
            )
    sys.exit(1 if failed else 0)


def _round(service: Service, seed: int, report: Path) -> bool:
    """Run scenarios of one seed; return whether schemathesis found, and printed, a fault."""
    told: dict[str, Any] = {
        "SCHEMATHESIS_HOOKS": "benchmarks.stateful_hooks",
        "STATEFUL_SEED": str(seed),
        "STATEFUL_REPORT": str(report),
        "PYTHONPATH": str(Path.cwd()),
    }
    options = (
        f"--phases stateful --checks {','.join(CHECKS)} --max-time {ROUND_SECONDS} --seed {seed}"
    )
    quiet = (
        "--no-color --warnings off --suppress-health-check all --continue-on-failure --no-shrink "
        "--request-timeout 120"
    )
    done = subprocess.run(
        [
            sys.executable,
            *("-m", "schemathesis.cli", "run", f"{service.url}/openapi.json"),
            *options.split(),
            *quiet.split(),
        ],
        env=os.environ | told,
        cwd=report.parent,  # what it keeps between runs goes with the folder
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        print(done.stdout[-6000:], done.stderr[-2000:], file=sys.stderr)
    return bool(done.returncode)


if __name__ == "__main__":
    main()
