"""The work order: one CSV row per move of a person or a robot, in execution order."""

import csv
import io

from synth.topology import NodeId
from synth.wiring.document import link_names, port_name
from synth.wiring.moves import PatchPlan
from synth.wiring.panels import Pair

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


def work_order(plan: PatchPlan) -> str:
    r"""Return the moves of a plan as CSV with the columns `COLUMNS`.

    All removes come first.  ``old_peer`` and ``new_peer`` are what the host port on
    the A side reaches before and after the whole plan.  ``done_by`` and ``done_at``
    are for the person who plugs.  A text that a spreadsheet would take for a formula
    gets an apostrophe in front.

    >>> from synth.topology import Topology
    >>> from synth.wiring import Panels, plan_moves
    >>> pair = Topology(["a", "b"], [("a", "b"), ("b", "a")])
    >>> print(work_order(plan_moves(pair, Panels.of(pair))).splitlines()[1])
    1,1,add,panel-0,0A,1B,,b:0,l0,a:0--b:0,1B receives light from a:0,,
    """
    before = {(pair.panel, pair.a): pair for pair in plan.present.pairs}
    after = {(pair.panel, pair.a): pair for pair in plan.final.pairs}
    links = link_names(plan)
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    moves = [("remove", pair) for pair in plan.removes] + [("add", pair) for pair in plan.adds]
    for step, (action, pair) in enumerate(moves, start=1):
        source, target = _host_ports(plan, pair)
        port = (pair.panel, pair.a)
        a, b = port_name(pair.a, "A"), port_name(pair.b, "B")
        adding = action == "add"
        row = (
            str(step),
            "1",
            action,
            plan.panels.id(pair.panel),
            a,
            b,
            _host_ports(plan, before[port])[1] if port in before else "",
            _host_ports(plan, after[port])[1] if port in after else "",
            links.get(pair, ""),
            f"{source}--{target}" if adding else "",
            f"{b} receives light from {source}" if adding else f"{a}-{b} is plugged",
            "",
            "",
        )
        writer.writerow([_plain(cell) for cell in row])
    return out.getvalue()


def _host_ports(plan: PatchPlan, pair: Pair) -> tuple[str, str]:
    """Return ``node:port`` of the two hosts that a pair joins."""
    hosts, lanes = plan.panels.host(pair), plan.panels.lane(pair)
    source, target = (
        f"{_node(plan, host)}:{lane}" for host, lane in zip(hosts, lanes, strict=True)
    )
    return source, target


def _node(plan: PatchPlan, host: int) -> NodeId:
    nodes = plan.topology.nodes
    return nodes[host] if host < len(nodes) else f"host {host}"


def _plain(cell: str) -> str:
    return "'" + cell if cell.startswith(_FORMULA) else cell
