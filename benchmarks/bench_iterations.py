"""Training iterations of five public models on hosts of 4 and 8 ports.

For every preset, number of hosts and number of ports: the best topology and placement, its
iteration time, and the times on a torus, on rings and on an ideal switch of the same host
bandwidth.  Run `python -m benchmarks.bench_iterations [PRESET...] [--hosts 64,256,1024]`.
"""

import argparse
import time
from fractions import Fraction

from topoloom.schedules.iterations.iteration_design import IterationDesign, iteration_design
from topoloom.schedules.iterations.job_request import HostRates, planned_job
from topoloom.schedules.iterations.presets import JOB_PRESETS

MICROBATCHES = {"deepseek-v3": 16}
"""Fewer microbatches than the source has, for shorter simulations."""

HEADING = (
    "| preset | hosts | ports | best topology | ranks count through | time | exposed | limited by "
    "| torus | rings | switch |\n|---|---|---|---|---|---|---|---|---|---|---|"
)


def main() -> None:
    """Print a table row for every case, as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("presets", nargs="*", default=list(JOB_PRESETS))
    parser.add_argument("--hosts", default="64,256,1024")
    parser.add_argument("--ports", default="4,8")
    asked = parser.parse_args()
    print(HEADING)
    for hosts in map(int, asked.hosts.split(",")):
        for name in asked.presets:
            for ports in map(int, asked.ports.split(",")):
                begun = time.process_time()
                found = _designed(name, hosts, ports)
                spent = time.process_time() - begun
                print(f"{_row(name, hosts, ports, found)}  <!-- {spent:.0f} s -->", flush=True)


def _designed(name: str, hosts: int, ports: int) -> IterationDesign:
    rates = HostRates(Fraction(1, 10**5), Fraction(1, 2))
    preset = JOB_PRESETS[name]
    planned = planned_job(hosts, rates, preset, microbatches=MICROBATCHES.get(name))
    return iteration_design(planned.job, ports, planned.speeds, planned.flops_per_second)


def _row(name: str, hosts: int, ports: int, found: IterationDesign) -> str:
    best = found.best
    others = {one.candidate.name.split()[-1]: one for one in found.baselines}
    tori = [one for one in found.baselines if one.candidate.name.startswith("torus")]
    torus = min(tori, key=lambda one: one.seconds, default=None)
    columns = [
        name,
        str(hosts),
        str(ports),
        f"`{_short(best.candidate.name)}`",
        str(best.placement.processes),
        _seconds(best.seconds),
        f"{float(best.iteration.exposed_share):.1%}",
        found.limit.resource,
        *(
            "–" if one is None else f"{float(one.seconds / best.seconds):.3f}x"
            for one in (torus, others.get("rings"), others["switch"])
        ),
    ]
    return f"| {' | '.join(columns)} |"


def _seconds(value: Fraction) -> str:
    return f"{float(value):.4g} s" if value >= 1 else f"{float(value * 1000):.4g} ms"


def _short(recipe: str) -> str:
    return recipe if len(recipe) <= 44 else f"{recipe[:43]}…"


if __name__ == "__main__":
    main()
