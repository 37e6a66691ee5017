"""The patch-plan/1 document: everything an operator or a device renderer needs.

``docs/explanation/wiring.md`` describes it field by field.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import zip_longest
from typing import Any

from topoloom.synth.errors import InvalidWiring
from topoloom.synth.progress import report_progress
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring.ilp.objective import Goal
from topoloom.synth.wiring.plans.patch_plan import PatchPlan
from topoloom.synth.wiring.plans.stages import Limits, Stage, stages_of
from topoloom.synth.wiring.plant import Pair, Plant, Port, Present, plant_digest
from topoloom.synth.wiring.plant.current_wiring import read_present

Rate = Callable[[Topology], Fraction | None]
"""Finds the share of the wanted topology's throughput that is left; None where not known."""


def to_document(
    plan: PatchPlan, limits: Limits | None = None, rate: Rate | None = None
) -> dict[str, Any]:
    """Return the patch-plan/1 document (JSON types only) of a plan.

    The document holds no time and no property of the machine: equal plans give equal bytes.  The
    stages keep ``limits``; ``rate`` returns the remaining throughput of each stage.

    >>> from topoloom.synth.wiring import plan_moves, smallest_plant
    >>> pair = Topology(["a", "b"], [("a", "b"), ("b", "a")])
    >>> document = to_document(plan_moves(pair, smallest_plant(pair)))
    >>> [(op["op"], op["a"], op["b"]) for op in document["stages"][0]["ops"][:2]]
    [('add', '0A', '1B'), ('add', '1A', '0B')]
    >>> document["summary"]["moves"], document["summary"]["optimal"]
    (2, True)
    """
    plant = plan.plant
    final = _by_panel(plant, plan.final)
    links = link_names(plan)
    limits = limits or Limits()
    stages = stages_of(plan, limits) if plan.moves else ()
    detailed = limits.any or plant.uniform is None
    document: dict[str, Any] = {
        "schema": "patch-plan/1",
        "topology_digest": plan.topology.digest,
        **_plant(plant),
        "base": {
            device: {"digest": _digest(_pair_names(plant, pairs)), "pairs": len(pairs)}
            for device, pairs in _by_panel(plant, plan.present).items()
        },
        "devices": [
            {"id": panel.id, "a_ports": len(panel.a), "b_ports": len(panel.b)}
            for panel in plant.panels
        ],
        "ports": _ports(plan),
        "stages": [
            _stage(plan, links, stage, number, limits, rate)
            for number, stage in _told("weighing stages", stages)
        ],
        "summary": {
            "moves": plan.moves,
            "removes": len(plan.removes),
            "adds": len(plan.adds),
            "kept": plan.kept,
            "lower_bound": plan.lower_bound,
            "optimal": plan.optimal,
            "stages": len(stages),
            **({"seconds": float(sum(s.seconds for s in stages))} if detailed else {}),
            **({"objective": goal_document(plan.goal)} if plan.goal else {}),
            **({"with_spare_port": spare._asdict()} if (spare := plan.with_spare_port) else {}),
        },
        "final": {
            device: {
                "digest": _digest(_pair_names(plant, pairs)),
                "pairs": [_final_pair(plan, pair, links) for pair in pairs],
            }
            for device, pairs in final.items()
        },
    }
    return {"schema": "patch-plan/1", "plan_id": _digest(document), **document}


def goal_document(goal: Goal) -> dict[str, Any]:
    """Return the objective of a plan beside its moves, as JSON values.

    >>> from fractions import Fraction
    >>> from topoloom.synth.wiring import Objective
    >>> goal_document(Goal(Objective.DRAINED, Fraction(3), Fraction(2)))["gap"]
    1.0
    """
    return {
        "least": goal.objective.value,
        "value": float(goal.value),
        "lower_bound": float(goal.lower_bound),
        "gap": float(goal.gap),
        "optimal": goal.optimal,
    }


def _told(what: str, stages: Sequence[Stage]) -> Iterator[tuple[int, Stage]]:
    for number, stage in enumerate(stages, start=1):
        report_progress(what, number - 1, len(stages))
        yield number, stage


def _digest(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def _plant(plant: Plant) -> dict[str, Any]:
    """Return the plant of the plan: a regular layout, or the identity of a given plant."""
    made = plant.uniform
    if made is None:
        said: dict[str, Any] = {"name": plant.name, "digest": plant_digest(plant)}
        if plant.assumed:
            said["assumed"] = [one.to_document() for one in plant.assumed]
        return {"plant": said}
    return {"panels": {"layout": made.layout.value, "hosts": made.hosts, "lanes": made.lanes}}


def link_names(plan: PatchPlan) -> dict[Pair, str]:
    """Return the name of the link on every pair of the target: ``l`` and its index.

    A pair that carries light both ways has two links, joined by a plus.
    """
    return {
        pair: "+".join(f"l{index}" for index in links)
        for pair, links in plan.wiring.links_of.items()
    }


def _pair_names(plant: Plant, pairs: Iterable[Pair]) -> list[str]:
    return [plant.pair_name(pair) for pair in pairs]


def _by_panel(plant: Plant, present: Present) -> dict[str, list[Pair]]:
    pairs: dict[str, list[Pair]] = {panel.id: [] for panel in plant.panels}
    for pair in present.pairs:
        pairs[plant.panels[pair.panel].id].append(pair)
    return pairs


def _ports(plan: PatchPlan) -> list[dict[str, Any]]:
    """Return the cabling map: which port of which node sits on which panel port."""
    rows: list[dict[str, Any]] = []
    plant = plan.plant
    for node, number in zip(plan.topology.nodes, plan.wiring.hosts, strict=True):
        host = plant.folded.hosts[number]
        for index, port in enumerate(host.ports):
            if plant.uniform is not None:
                endpoint: dict[str, Any] = {"node": node, "port": index}
            else:
                endpoint = {"node": node, "host": host.id, "port": port.id}
            name = f"{node}:{endpoint['port']}"
            both = port.tx == port.rx
            sides = [[(end, "both") for end in port.tx]] if both else [
                [(end, "tx") for end in port.tx], [(end, "rx") for end in port.rx]
            ]  # fmt: skip
            lanes = zip_longest(*sides)
            fibres = [fibre for lane in lanes for fibre in lane if fibre is not None]
            rows += [_port_row(plant, end, endpoint, f"{name}:{fibre}") for end, fibre in fibres]
    return rows


def _port_row(plant: Plant, end: Port, endpoint: dict[str, Any], label: str) -> dict[str, Any]:
    return {
        "device": plant.panels[end.panel].id,
        "port": plant.port_name(end),
        "side": end.side.value,
        "endpoint": endpoint,
        "label": label,
    }


def _pair_row(plant: Plant, pair: Pair) -> dict[str, str]:
    one, other = plant.ends(pair)
    return {"a": plant.port_name(one), "b": plant.port_name(other)}


def _final_pair(plan: PatchPlan, pair: Pair, links: dict[Pair, str]) -> dict[str, Any]:
    row: dict[str, Any] = _pair_row(plan.plant, pair)
    if pair in links:
        row["link"] = links[pair]
    if pair in plan.present.foreign:
        row["foreign"] = True
    return row


def _stage(
    plan: PatchPlan,
    links: dict[Pair, str],
    stage: Stage,
    number: int,
    limits: Limits,
    rate: Rate | None,
) -> dict[str, Any]:
    # A port holds one pair: all that is in the way goes before anything comes.
    forward = [("remove", pair) for pair in stage.removes]
    forward += [("add", pair) for pair in stage.adds]
    verify = [("verify", pair) for pair in stage.adds]
    inverse = {"remove": "add", "add": "remove"}
    backward = [(inverse[op], pair) for op, pair in reversed(forward)]
    effect: dict[str, Any] = {
        "links_down": stage.links_down,
        "capacity_left": str(stage.capacity_left),
        "connected": stage.connected,
    }
    if limits.any or plan.plant.uniform is None:
        effect["seconds"] = float(stage.seconds)
        effect["hosts_drained"] = [plan.plant.hosts[host].id for host in stage.drained]
    left = rate(stage.dark) if rate and stage.connected else None
    if left is not None:
        effect["bandwidth_left"] = str(left)
    return {
        "id": number,
        "ops": _ops(plan.plant, forward + verify, links),
        "undo": _ops(plan.plant, backward, links),
        "effect": effect,
    }


def _ops(
    plant: Plant, steps: list[tuple[str, Pair]], links: dict[Pair, str]
) -> list[dict[str, Any]]:
    ops: list[dict[str, Any]] = []
    for number, (op, pair) in enumerate(steps, start=1):
        row: dict[str, Any] = {
            "n": number,
            "op": op,
            "device": plant.panels[pair.panel].id,
            **_pair_row(plant, pair),
        }
        if pair in links:
            row["link"] = links[pair]
        if op == "remove":
            row["expect"] = f"{row['a']}-{row['b']}"
        ops.append(row)
    return ops


def apply(document: dict[str, Any], present: Present, plant: Plant) -> Present:
    """Carry out the ops of a patch-plan/1 document on a wiring and return the result.

    Every op checks its condition as an executor must: a removed or verified pair is
    there, an added pair finds both ports free.

    Raises:
        InvalidWiring: With a pointer to the op whose condition does not hold.

    >>> ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    >>> from topoloom.synth.wiring import plan_moves, smallest_plant
    >>> plant = smallest_plant(ring)
    >>> document = to_document(plan_moves(ring, plant))
    >>> apply(document, Present(), plant) == plan_moves(ring, plant).final
    True
    """
    for index, stage in enumerate(document["stages"]):
        present = _run(stage["ops"], f"/stages/{index}/ops", present, plant)
    return present


def revert(document: dict[str, Any], present: Present, plant: Plant) -> Present:
    """Carry out the undo lists of a patch-plan/1 document, last stage first."""
    for index, stage in reversed(list(enumerate(document["stages"]))):
        present = _run(stage["undo"], f"/stages/{index}/undo", present, plant)
    return present


def _run(ops: list[dict[str, Any]], pointer: str, present: Present, plant: Plant) -> Present:
    rows = [{"panel": op["device"], "a": op["a"], "b": op["b"]} for op in ops]
    pairs = set(present.pairs)
    used = {port for pair in pairs for port in plant.ends(pair)}
    for index, (op, row) in enumerate(zip(ops, rows, strict=True)):
        (pair,) = read_present([row], plant).pairs
        ends = set(plant.ends(pair))
        if op["op"] == "add":
            if ends & used:
                raise InvalidWiring(f"{pointer}/{index}", "both ports must be free")
            pairs.add(pair)
            used |= ends
            continue
        if pair not in pairs:
            raise InvalidWiring(f"{pointer}/{index}", f"{op['a']}-{op['b']} must be plugged")
        if op["op"] == "remove":
            pairs.remove(pair)
            used -= ends
    return Present.of(pairs, present.foreign & pairs)
