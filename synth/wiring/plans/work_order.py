"""The work order: one CSV row per move of a person or a robot, in execution order."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from topoloom.synth.topology.topology import NodeId
from topoloom.synth.wiring.plans.document_writer import link_names
from topoloom.synth.wiring.plans.patch_plan import PatchPlan
from topoloom.synth.wiring.plans.stages import Limits, staged
from topoloom.synth.wiring.plant import Pair, Plant, Port, Present

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

FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
"""Matches cells that a spreadsheet reads as formulas, with leading apostrophes allowed."""


class Order(NamedTuple):
    """The data of a work order.

    ``stages`` are removed and added pairs, ``links`` maps a pair to its link, and ``peer`` maps a
    port of a panel to the ``node:port`` cabled to the port.
    """

    plant: Plant
    stages: Iterable[tuple[Iterable[Pair], Iterable[Pair]]]
    before: Present
    after: Present
    links: Mapping[Pair, str]
    peer: Callable[[Port], str]


def work_order(plan: PatchPlan, limits: Limits | None = None) -> str:
    r"""Return the moves of a plan as CSV with the columns `COLUMNS`.

    In every stage all removes come first.  ``old_peer`` and ``new_peer`` are what the host port on
    the A side reaches before and after the whole plan.  ``done_by`` and ``done_at``
    are for the person who plugs.  A text that a spreadsheet would take for a formula
    gets an apostrophe in front.

    >>> from topoloom.synth.topology.topology import Topology
    >>> from topoloom.synth.wiring import plan_moves, sized
    >>> pair = Topology(["a", "b"], [("a", "b"), ("b", "a")])
    >>> print(work_order(plan_moves(pair, sized(pair))).splitlines()[1])
    1,1,add,panel-0,0A,1B,,b:0,l0,a:0--b:0,1B receives light from a:0,,
    """
    nodes = dict(zip(plan.wiring.hosts, plan.topology.nodes, strict=True))
    return order_csv(
        Order(
            plan.plant,
            [(stage.removes, stage.adds) for stage in staged(plan, limits)],
            plan.present,
            plan.final,
            link_names(plan),
            lambda port: cabled_name(plan.plant, port, nodes),
        )
    )


def order_csv(order: Order) -> str:
    """Return the CSV of a work order; see `work_order`."""
    plant = order.plant
    before, after = (
        {plant.ends(pair)[0]: pair for pair in state.pairs} for state in (order.before, order.after)
    )
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    moves = [
        (number, action, pair)
        for number, stage in enumerate(order.stages, start=1)
        for action, pairs in zip(("remove", "add"), stage, strict=True)
        for pair in pairs
    ]
    for step, (number, action, pair) in enumerate(moves, start=1):
        source, target = (order.peer(port) for port in plant.ends(pair))
        first = plant.ends(pair)[0]
        a, b = (plant.port_name(port) for port in plant.ends(pair))
        adding = action == "add"
        old, new = (
            order.peer(plant.ends(state[first])[1]) if first in state else ""
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
            order.links.get(pair, ""),
            f"{source}--{target}" if adding else "",
            f"{b} receives light from {source}" if adding else f"{a}-{b} is plugged",
            "",
            "",
        )
        writer.writerow([_plain(cell) for cell in row])
    return out.getvalue()


def cabled_name(plant: Plant, port: Port, nodes: Mapping[int, NodeId]) -> str:
    """Return the ``node:port`` cabled to a port of a panel, given the node on each host.

    A host without a node appears by its own name, a port without a cable by its panel.
    """
    at = plant.at.get(port)
    if at is None:
        return plant.full_name(port)
    host, number = at
    uniform = plant.uniform is not None
    name = plant.hosts[host].id
    node = nodes.get(host, f"host {name}" if uniform else name)
    return f"{node}:{number if uniform else plant.hosts[host].ports[number].id}"


def _plain(cell: str) -> str:
    return "'" + cell if FORMULA.match(cell) else cell
