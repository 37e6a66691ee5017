"""The work order: one CSV row per move of a person or a robot, in execution order."""

import csv
import io

from synth.topology import NodeId
from synth.wiring.document import link_names
from synth.wiring.patch_plan import PatchPlan
from synth.wiring.plant import Port
from synth.wiring.stages import Limits, staged

__all__ = ["COLUMNS", "work_order"]

COLUMNS = (
    "step",
    "stage",
    "action",
    "panel",
    "from_port",
    "to_port",
    "old_peer",
    "new_peer",
    "link",
    "label_to_print",
    "check",
    "done_by",
    "done_at",
)

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""First characters that make a spreadsheet read a cell as a formula."""


def work_order(plan: PatchPlan, limits: Limits | None = None) -> str:
    r"""Return the moves of a plan as CSV with the columns `COLUMNS`.

    In every stage all removes come first.  ``old_peer`` and ``new_peer`` are what the host port on
    the A side reaches before and after the whole plan.  ``done_by`` and ``done_at``
    are for the person who plugs.  A text that a spreadsheet would take for a formula
    gets an apostrophe in front.

    >>> from synth.topology import Topology
    >>> from synth.wiring import plan_moves, sized
    >>> pair = Topology(["a", "b"], [("a", "b"), ("b", "a")])
    >>> print(work_order(plan_moves(pair, sized(pair))).splitlines()[1])
    1,1,add,panel-0,0A,1B,,b:0,l0,a:0--b:0,1B receives light from a:0,,
    """
    plant = plan.plant
    before, after = (
        {plant.ends(pair)[0]: pair for pair in state.pairs} for state in (plan.present, plan.final)
    )
    links, names = link_names(plan), _nodes(plan)
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    moves = [
        (number, action, pair)
        for number, stage in enumerate(staged(plan, limits), start=1)
        for action, pairs in (("remove", stage.removes), ("add", stage.adds))
        for pair in pairs
    ]
    for step, (number, action, pair) in enumerate(moves, start=1):
        source, target = (_host_port(plan, names, port) for port in plant.ends(pair))
        first = plant.ends(pair)[0]
        a, b = (plant.port_name(port) for port in plant.ends(pair))
        adding = action == "add"
        old, new = (
            _host_port(plan, names, plant.ends(state[first])[1]) if first in state else ""
            for state in (before, after)
        )
        row = (
            str(step),
            str(number),
            action,
            plant.panels[pair.panel].id,
            a,
            b,
            old,
            new,
            links.get(pair, ""),
            f"{source}--{target}" if adding else "",
            f"{b} receives light from {source}" if adding else f"{a}-{b} is plugged",
            "",
            "",
        )
        writer.writerow([_plain(cell) for cell in row])
    return out.getvalue()


def _nodes(plan: PatchPlan) -> dict[int, NodeId]:
    """Return the node that sits on each host."""
    return dict(zip(plan.wiring.hosts, plan.topology.nodes, strict=True))


def _host_port(plan: PatchPlan, names: dict[int, NodeId], port: Port) -> str:
    """Return ``node:port`` of what is cabled to a port of a panel."""
    at = plan.plant.at.get(port)
    if at is None:
        return plan.plant.full_name(port)
    host, number = at
    uniform = plan.plant.uniform is not None
    name = plan.plant.hosts[host].id
    node = names.get(host, f"host {name}" if uniform else name)
    return f"{node}:{number if uniform else plan.plant.hosts[host].ports[number].id}"


def _plain(cell: str) -> str:
    return "'" + cell if cell.startswith(_FORMULA) else cell
