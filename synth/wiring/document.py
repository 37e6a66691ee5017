"""The patch-plan/1 document: everything an operator or a device renderer needs.

``docs/wiring.md`` describes it field by field.
"""

import hashlib
import json
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from synth.errors import InvalidTopology, InvalidWiring, Unreachable
from synth.topology import Topology
from synth.wiring.moves import PatchPlan
from synth.wiring.panels import Pair, Panels
from synth.wiring.present import Present, read_present

__all__ = ["apply", "link_names", "port_name", "revert", "to_document"]


def to_document(plan: PatchPlan) -> dict[str, Any]:
    """Return the patch-plan/1 document (JSON types only) of a plan.

    It holds no time and nothing of the machine: the same plan gives the same bytes.

    >>> from synth.wiring import Panels, plan_moves
    >>> pair = Topology(["a", "b"], [("a", "b"), ("b", "a")])
    >>> document = to_document(plan_moves(pair, Panels.of(pair)))
    >>> [(op["op"], op["a"], op["b"]) for op in document["stages"][0]["ops"][:2]]
    [('add', '0A', '1B'), ('add', '1A', '0B')]
    >>> document["summary"]["moves"], document["summary"]["optimal"]
    (2, True)
    """
    panels = plan.panels
    final = _by_panel(panels, plan.final)
    links = link_names(plan)
    document: dict[str, Any] = {
        "schema": "patch-plan/1",
        "topology_digest": plan.topology.digest,
        "panels": {
            "layout": panels.layout.value,
            "hosts": panels.hosts,
            "lanes": panels.lanes,
        },
        "base": {
            device: {"digest": _digest(_pair_names(pairs)), "pairs": len(pairs)}
            for device, pairs in _by_panel(panels, plan.present).items()
        },
        "devices": [
            {"id": device, "a_ports": panels.ports_per_side, "b_ports": panels.ports_per_side}
            for device in panels.ids
        ],
        "ports": _ports(plan.topology, panels),
        "stages": [_stage(plan, links)] if plan.moves else [],
        "summary": {
            "moves": plan.moves,
            "removes": len(plan.removes),
            "adds": len(plan.adds),
            "kept": plan.kept,
            "lower_bound": plan.lower_bound,
            "optimal": plan.optimal,
            "stages": 1 if plan.moves else 0,
        },
        "final": {
            device: {
                "digest": _digest(_pair_names(pairs)),
                "pairs": [_final_pair(pair, links) for pair in pairs],
            }
            for device, pairs in final.items()
        },
    }
    return {"schema": "patch-plan/1", "plan_id": _digest(document), **document}


def _digest(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def port_name(port: int, side: str) -> str:
    """Return how a panel port is written, such as ``3A``."""
    return f"{port}{side}"


def link_names(plan: PatchPlan) -> dict[Pair, str]:
    """Return the name of the link on every pair of the target: ``l`` and its index."""
    return {pair: f"l{index}" for index, pair in enumerate(plan.wiring.pairs)}


def _pair_names(pairs: Iterable[Pair]) -> list[str]:
    return [f"{pair.a}A-{pair.b}B" for pair in pairs]


def _by_panel(panels: Panels, present: Present) -> dict[str, list[Pair]]:
    pairs: dict[str, list[Pair]] = {device: [] for device in panels.ids}
    for pair in present.pairs:
        pairs[panels.id(pair.panel)].append(pair)
    return pairs


def _ports(topology: Topology, panels: Panels) -> list[dict[str, Any]]:
    """Return the cabling map: which port of which node sits on which panel port."""
    rows: list[dict[str, Any]] = []
    for host, node in enumerate(topology.nodes):
        for lane in range(panels.lanes):
            at = panels.port(host, lane)
            for side, port, fibre in (("A", at.a, "tx"), ("B", at.b, "rx")):
                rows.append(
                    {
                        "device": panels.id(at.panel),
                        "port": port_name(port, side),
                        "side": side,
                        "endpoint": {"node": node, "port": lane},
                        "label": f"{node}:{lane}:{fibre}",
                    }
                )
    return rows


def _final_pair(pair: Pair, links: dict[Pair, str]) -> dict[str, Any]:
    row = {"a": port_name(pair.a, "A"), "b": port_name(pair.b, "B")}
    if pair in links:
        row["link"] = links[pair]
    return row


def _stage(plan: PatchPlan, links: dict[Pair, str]) -> dict[str, Any]:
    # A port holds one pair: all that is in the way goes before anything comes.
    forward = [("remove", pair) for pair in plan.removes]
    forward += [("add", pair) for pair in plan.adds]
    verify = [("verify", pair) for pair in plan.adds]
    inverse = {"remove": "add", "add": "remove"}
    backward = [(inverse[op], pair) for op, pair in reversed(forward)]
    return {
        "id": 1,
        "ops": _ops(plan.panels, forward + verify, links),
        "undo": _ops(plan.panels, backward, links),
        "effect": _effect(plan),
    }


def _ops(
    panels: Panels, steps: list[tuple[str, Pair]], links: dict[Pair, str]
) -> list[dict[str, Any]]:
    ops: list[dict[str, Any]] = []
    for number, (op, pair) in enumerate(steps, start=1):
        row: dict[str, Any] = {
            "n": number,
            "op": op,
            "device": panels.id(pair.panel),
            "a": port_name(pair.a, "A"),
            "b": port_name(pair.b, "B"),
        }
        if pair in links:
            row["link"] = links[pair]
        if op == "remove":
            row["expect"] = f"{row['a']}-{row['b']}"
        ops.append(row)
    return ops


def _effect(plan: PatchPlan) -> dict[str, Any]:
    """Return what the kept links alone can do, while all else is dark."""
    topology, present = plan.topology, set(plan.present.pairs)
    kept = [
        link
        for link, pair in zip(topology.links, plan.wiring.pairs, strict=True)
        if pair in present
    ]
    total = sum(topology.capacities, Fraction(0))
    left = sum((link.capacity for link in kept), Fraction(0))
    return {
        "links_down": len(plan.removes),
        "capacity_left": str(left / total) if total else "1",
        "connected": _connected(Topology(topology.nodes, kept)),
    }


def _connected(topology: Topology) -> bool:
    if topology.node_count == 1:
        return True
    try:
        topology.require_connected()
    except (InvalidTopology, Unreachable):
        return False
    return True


def apply(document: dict[str, Any], present: Present, panels: Panels) -> Present:
    """Carry out the ops of a patch-plan/1 document on a wiring and return the result.

    Every op checks its condition as an executor must: a removed or verified pair is
    there, an added pair finds both ports free.

    Raises
    ------
    InvalidWiring
        With a pointer to the op whose condition does not hold.

    >>> ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    >>> from synth.wiring import Panels, plan_moves
    >>> panels = Panels.of(ring)
    >>> document = to_document(plan_moves(ring, panels))
    >>> apply(document, Present(), panels) == plan_moves(ring, panels).final
    True
    """
    for index, stage in enumerate(document["stages"]):
        present = _run(stage["ops"], f"/stages/{index}/ops", present, panels)
    return present


def revert(document: dict[str, Any], present: Present, panels: Panels) -> Present:
    """Carry out the undo lists of a patch-plan/1 document, last stage first."""
    for index, stage in reversed(list(enumerate(document["stages"]))):
        present = _run(stage["undo"], f"/stages/{index}/undo", present, panels)
    return present


def _run(ops: list[dict[str, Any]], pointer: str, present: Present, panels: Panels) -> Present:
    rows = [{"panel": op["device"], "a": op["a"], "b": op["b"]} for op in ops]
    pairs = set(present.pairs)
    used = {(pair.panel, side, port) for pair in pairs for side, port in _ends(pair)}
    for index, (op, row) in enumerate(zip(ops, rows, strict=True)):
        (pair,) = read_present([row], panels).pairs
        ends = {(pair.panel, side, port) for side, port in _ends(pair)}
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
    return Present.of(pairs)


def _ends(pair: Pair) -> tuple[tuple[str, int], tuple[str, int]]:
    return ("A", pair.a), ("B", pair.b)
