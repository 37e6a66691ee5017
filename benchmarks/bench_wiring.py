"""Moves, bound, gap and seconds of patch plans, beside a plain min-cost flow per switch.

``python -m benchmarks.bench_wiring --hosts 12 64 1024 --free 64 256 --pods 64x32``: hosts of 4
ports, on one panel per port and on two uneven panels; from empty, from another topology, and after
a dead port.  Then with chosen hosts, after a few changed links (``--few`` hosts, each with
``--seeds`` seeds: least/median/greatest value), also where hosts have several ports on a panel
(``--several``, HOSTSxPANELSxPORTSxCHANGES, ``+`` for duplex ports), and for least time and fewest
drained hosts (``--objectives``).  Then random demands of duplex pods: the share that fits and the
moves of ours, beside a flow that fills one switch after the other on the same panels, as published
systems do.  Seconds are CPU time.
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from statistics import median

import numpy as np
from scipy.optimize import linear_sum_assignment

from topoloom.synth.errors import DoesNotFit
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring import Objective, PatchPlan, Plant, cross_wired, plan_moves, uniform
from topoloom.synth.wiring.ilp.objective import worth
from topoloom.synth.wiring.operations.repair import Faults, repairs
from topoloom.synth.wiring.placement.host_placement import plan_placed
from topoloom.synth.wiring.plant import read_plant

DEGREE = 4


def regular(nodes: int, degree: int, seed: int) -> Topology:
    """Return the union of random cycles."""
    rng = np.random.default_rng(seed)
    cycles = [rng.permutation(nodes) for _ in range(degree)]
    ends = np.concatenate(cycles), np.concatenate([np.roll(cycle, -1) for cycle in cycles])
    return Topology.direct(nodes, *ends)


def uneven(hosts: int, lanes: int) -> Plant:
    """Return hosts with one port on a small panel and the rest on a large one."""
    where = [0 if lane < lanes - 1 else 1 for lane in range(lanes)]
    row = [
        {"id": f"p{p}", "a": lanes * hosts, "b": lanes * hosts, "kind": "switch"} for p in (0, 1)
    ]
    return read_plant(
        {
            "schema": "plant/1",
            "panels": row,
            "hosts": [
                {
                    "id": str(h),
                    "ports": [
                        {
                            "id": str(k),
                            "tx": f"p{p}/{lanes * h + k}A",
                            "rx": f"p{p}/{lanes * h + k}B",
                        }
                        for k, p in enumerate(where)
                    ],
                }
                for h in range(hosts)
            ],
        }
    )


def timed(work: Callable[[], PatchPlan]) -> tuple[PatchPlan, float]:
    """Return a plan and its seconds."""
    start = time.process_time()
    plan = work()
    return plan, time.process_time() - start


def report(name: str, plan: PatchPlan, seconds: float) -> None:
    """Print one row."""
    gap = plan.moves - plan.lower_bound
    print(f"{name:<44}{plan.moves:>8}{plan.lower_bound:>8}{gap:>7}{seconds:>9.2f}", flush=True)


def hosts_fixed(nodes: int) -> None:
    """Plan from empty, from another topology and after a fault, on two plants."""
    before, after = regular(nodes, DEGREE, 1), regular(nodes, DEGREE, 2)
    for shape, plant in (
        ("even", uniform("per-port", nodes + 1, DEGREE + 1)),
        ("uneven", uneven(nodes + 1, DEGREE + 1)),
    ):
        first, seconds = timed(lambda p=plant: plan_moves(before, p))
        report(f"{nodes} {shape}, from empty", first, seconds)
        plan, seconds = timed(lambda p=plant, f=first: plan_moves(after, p, f.final))
        report(f"{nodes} {shape}, from another topology", plan, seconds)
        port = first.plant.ends(first.wiring.routes[0][0])[0]
        start = time.process_time()
        ways = repairs(first, Faults(ports=(port,)))
        seconds = time.process_time() - start
        for way in ways:
            report(f"{nodes} {shape}, dead port, {way.way}", way.plan, seconds)


def changed(topology: Topology, count: int, seed: int) -> Topology:
    """Return the topology with the targets of ``count`` links permuted among these links."""
    rng = np.random.default_rng(seed)
    while True:
        chosen = rng.choice(topology.link_count, count, replace=False)
        targets = topology.targets.copy()
        targets[chosen] = np.roll(targets[chosen], 1)
        if (targets != topology.sources).all():
            return Topology.direct(topology.node_count, topology.sources, targets)


def few_changed(nodes: int, counts: list[int], spare: int, seeds: int) -> None:
    """Plan after a few changed links, with ``spare`` spare ports per host, on both plants."""
    for shape, plant in (
        ("even", uniform("per-port", nodes, DEGREE + spare)),
        ("uneven", uneven(nodes, DEGREE + spare)),
    ):
        before = [regular(nodes, DEGREE, seed) for seed in range(1, seeds + 1)]
        today = [plan_moves(one, plant).final for one in before]
        for count in counts:
            rows: list[tuple[float, ...]] = []
            for seed, (one, present) in enumerate(zip(before, today, strict=True)):
                wanted = changed(one, count, seed)
                plan, seconds = timed(partial(plan_moves, wanted, plant, present))
                roomier = plan.with_spare_port.moves if plan.with_spare_port else plan.moves
                ratio = plan.moves / max(plan.lower_bound, 1)
                rows.append((plan.moves, plan.lower_bound, ratio, roomier, seconds))
            print(
                f"{f'{nodes} {shape}, {spare} spare, {count} links changed':<44}{spread(rows)}",
                flush=True,
            )


def several_ports(hosts: int, panels: int, ports: int, changes: int, *, two_way: bool) -> None:
    """Plan after a few changed links where every host has several full ports on every panel."""

    def port(panel: int, number: int) -> dict[str, str]:
        end = f"p{panel}/{number}"
        return {"at": end} if two_way else {"tx": f"{end}A", "rx": f"{end}B"}

    size = hosts * ports
    row = {"mode": "bidirectional", "ports": size} if two_way else {"a": size, "b": size}
    plant = read_plant(
        {
            "schema": "plant/1",
            "panels": [{"id": f"p{panel}", "kind": "switch", **row} for panel in range(panels)],
            "hosts": [
                {
                    "id": str(host),
                    "ports": [
                        {"id": f"{panel}.{k}", **port(panel, host * ports + k)}
                        for panel in range(panels)
                        for k in range(ports)
                    ],
                }
                for host in range(hosts)
            ],
        }
    )
    before = regular(hosts, panels * ports // (2 if two_way else 1), 1)
    first, last = (
        Topology(range(hosts), [link for u, v in ends for link in ((u, v), (v, u))])
        if two_way
        else one
        for one in (before, changed(before, changes, 1))
        for ends in [zip(one.sources.tolist(), one.targets.tolist(), strict=True)]
    )
    today = plan_moves(first, plant).final
    plan, seconds = timed(lambda: plan_moves(last, plant, today))
    kind = " duplex" if two_way else ""
    report(f"{hosts} x {panels} x {ports}{kind}, {changes} links changed", plan, seconds)


def spread(rows: list[tuple[float, ...]]) -> str:
    """Return the least, median and greatest value of each column."""
    names = ("moves", "bound", "ratio", "with a spare port", "seconds")
    shown = []
    for name, column in zip(names, zip(*rows, strict=True), strict=True):
        values = (min(column), median(column), max(column))
        shown.append(f"{name} " + "/".join(f"{value:.4g}" for value in values))
    return ", ".join(shown)


def for_objectives(nodes: int) -> None:
    """Plan a quarter of new links for every objective, on panels with a slow one."""
    before = regular(nodes, DEGREE, 1)
    plant = uniform("per-port", nodes, DEGREE + 1)
    panels = [
        replace(panel, move_seconds=Fraction(60 if number == 0 else 1))
        for number, panel in enumerate(plant.panels)
    ]
    plant = replace(plant, panels=tuple(panels), uniform=None)
    plant = plant.with_present(plan_moves(before, plant).final)
    wanted = changed(before, nodes, 0)
    for objective in Objective:
        plan, cpu = timed(lambda o=objective: plan_moves(wanted, plant, objective=o))
        taken = [worth(one, plant, plan.removes, plan.adds) for one in Objective]
        bound = plan.lower_bound if plan.goal is None else plan.goal.lower_bound
        moves, time_taken, hosts = map(float, taken)
        print(
            f"{f'{nodes} hosts, least {objective}':<44}{moves:>8.0f} moves{time_taken:>9.0f} s"
            f"{hosts:>6.0f} drained, bound {float(bound):.0f}, {cpu:.2f} s of CPU",
            flush=True,
        )


def hosts_free(nodes: int) -> None:
    """Plan a relabeled topology, and another topology, with chosen hosts."""
    before, after = regular(nodes, DEGREE, 1), regular(nodes, DEGREE, 2)
    plant = uniform("per-port", nodes, DEGREE)
    today = plan_moves(before, plant).final
    perm = np.random.default_rng(3).permutation(nodes)
    same = Topology.direct(nodes, perm[before.sources], perm[before.targets])
    for name, wanted in (("names changed", same), ("another", after)):
        plan, seconds = timed(lambda w=wanted: plan_placed(w, plant, today))
        report(f"{nodes} hosts free, {name}", plan, seconds)


def pods(count: int, ports: int, seed: int) -> Topology:
    """Return a random two-way demand in which every pod has at most ``ports`` links."""
    rng = np.random.default_rng(seed)
    ends = np.repeat(np.arange(count), ports)
    rng.shuffle(ends)
    pairs = [(int(u), int(v)) for u, v in ends.reshape(-1, 2) if u != v]
    return Topology(range(count), [link for u, v in pairs for link in ((u, v), (v, u))])


def switch_by_switch(topology: Topology, switches: int, today: list[Counter]) -> tuple[bool, int]:
    """Fill one switch after the other by a matching of most pairs kept, then of most links.

    Return whether all links fit, and the number of kept pairs.
    """
    size = topology.node_count
    left = np.zeros((size, size), np.int64)
    np.add.at(left, (topology.sources, topology.targets), 1)
    kept = 0
    for switch in range(switches):
        cost = -1.0 * (left > 0)
        for (u, v), number in today[switch].items():
            if left[u, v] and number:
                cost[u, v] = -2.0
        rows, columns = linear_sum_assignment(cost)
        for u, v in zip(rows.tolist(), columns.tolist(), strict=True):
            if left[u, v]:
                left[u, v] -= 1
                kept += bool(today[switch][u, v])
    return not left.any(), kept


def beside_flows(count: int, ports: int, tries: int) -> None:
    """Compare share that fits, moves and time on random demands, tx and rx patched separately."""
    fits, theirs_fits, moves, bound, ours_s, theirs_s = 0, 0, 0, 0, 0.0, 0.0
    theirs_moves = 0
    plant = uniform("per-port", count, ports)
    for seed in range(tries):
        first = plan_moves(pods(count, ports, 2 * seed), plant)
        wanted = pods(count, ports, 2 * seed + 1)
        plan, seconds = timed(lambda w=wanted, f=first: plan_moves(w, plant, f.final))
        fits, moves, bound = fits + 1, moves + plan.moves, bound + plan.lower_bound
        ours_s += seconds
        today = [Counter() for _ in range(ports)]
        for pair in first.final.pairs:
            today[pair.panel][pair.a, pair.b] += 1
        start = time.process_time()
        done, kept = switch_by_switch(wanted, ports, today)
        theirs_s += time.process_time() - start
        theirs_fits += done
        theirs_moves += len(first.final.pairs) + wanted.link_count - 2 * kept
    print(
        f"{count} pods of {ports}: fit {fits}/{tries} beside {theirs_fits}/{tries}; moves "
        f"{moves / tries:.0f} beside {theirs_moves / tries:.0f} (what was placed), bound "
        f"{bound / tries:.0f}; {1000 * ours_s / tries:.0f} ms beside {1000 * theirs_s / tries:.0f}",
        flush=True,
    )
    crossed = sum(
        _fits(pods(count, ports, seed), cross_wired(count, ports)) for seed in range(tries)
    )
    print(f"{count} pods of {ports} duplex ports, cross-wired: fit {crossed}/{tries}")


def _fits(topology: Topology, plant: Plant) -> bool:
    try:
        plan_moves(topology, plant)
    except DoesNotFit:
        return False
    return True


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, nargs="*", default=[12, 64, 1024])
    parser.add_argument("--free", type=int, nargs="*", default=[12, 64, 256])
    parser.add_argument("--few", type=int, nargs="*", default=[64])
    parser.add_argument("--changed", type=int, nargs="*", default=[2, 8, 64])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--several", nargs="*", default=["150x4x2x64", "150x4x2x64+"])
    parser.add_argument("--objectives", type=int, nargs="*", default=[12, 64])
    parser.add_argument("--pods", nargs="*", default=["64x32"], metavar="PODSxPORTS")
    parser.add_argument("--tries", type=int, default=3)
    asked = parser.parse_args()
    plant, one = uniform("per-port", 64, DEGREE), regular(64, DEGREE, 0)  # compiles
    plan_moves(changed(one, 64, 0), plant, plan_moves(one, plant).final)
    print(f"{'plan':<44}{'moves':>8}{'bound':>8}{'gap':>7}{'seconds':>9}")
    for nodes in asked.hosts:
        hosts_fixed(nodes)
    for nodes in asked.free:
        hosts_free(nodes)
    for nodes in asked.few:
        for spare in (0, 1):
            few_changed(nodes, asked.changed, spare, asked.seeds)
    for size in asked.several:
        hosts, panels, ports, changes = map(int, size.rstrip("+").split("x"))
        several_ports(hosts, panels, ports, changes, two_way=size.endswith("+"))
    for nodes in asked.objectives:
        for_objectives(nodes)
    for size in asked.pods:
        count, ports = map(int, size.split("x"))
        beside_flows(count, ports, asked.tries)


if __name__ == "__main__":
    main()
