"""The work order: one CSV row per move of a person or a robot, in walking order.

The walking order is by stage, place, and panel; names with numbers are in natural order.
"""

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from topoloom.synth.topology.topology import NodeId
from topoloom.synth.wiring.plans.document_writer import link_names
from topoloom.synth.wiring.plans.patch_plan import PatchPlan
from topoloom.synth.wiring.plans.stages import Limits, stages_of
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


class Task(NamedTuple):
    """A move of a work order: its step and its stage, both counted from 1."""

    step: int
    stage: int
    adds: bool
    pair: Pair


def natural(name: str) -> tuple[int | str, ...]:
    """Return the sort key of a name, whose numbers count as numbers.

    >>> sorted(["rack 10", "rack 9", "row"], key=natural)
    ['rack 9', 'rack 10', 'row']
    """
    parts = re.split("([0-9]+)", name)
    return tuple(int(part) if index % 2 else part for index, part in enumerate(parts))


def tasks(plant: Plant, stages: Iterable[tuple[Iterable[Pair], Iterable[Pair]]]) -> list[Task]:
    """Return the moves of a plan in walking order; on a panel the removes of a stage come first.

    Args:
        stages: The removed and the added pairs of every stage.
    """

    def walked(move: tuple[bool, Pair]) -> tuple[object, ...]:
        panel = plant.panels[move[1].panel]
        return natural(panel.place), natural(panel.id), move[0]

    moves = [
        (number, adds, pair)
        for number, stage in enumerate(stages, start=1)
        for adds, pair in sorted(
            ((adds, pair) for adds, pairs in zip((False, True), stage, strict=True)
             for pair in pairs),
            key=walked,
        )
    ]  # fmt: skip
    return [Task(step, *move) for step, move in enumerate(moves, start=1)]


def work_order(plan: PatchPlan, limits: Limits | None = None) -> str:
    r"""Return the moves of a plan as CSV with the columns `COLUMNS`.

    Rows are in the order of `tasks`.  ``old_peer`` and ``new_peer`` are what the host port on
    the A side reaches before and after the whole plan.  ``done_by`` and ``done_at``
    are for the person who plugs.  A text that a spreadsheet would take for a formula
    gets an apostrophe in front.

    >>> from topoloom.synth.topology.topology import Topology
    >>> from topoloom.synth.wiring import plan_moves, smallest_plant
    >>> pair = Topology(["a", "b"], [("a", "b"), ("b", "a")])
    >>> print(work_order(plan_moves(pair, smallest_plant(pair))).splitlines()[1])
    1,1,add,panel-0,0A,1B,,b:0,l0,a:0--b:0,1B receives light from a:0,,
    """
    nodes = dict(zip(plan.wiring.hosts, plan.topology.nodes, strict=True))
    return order_csv(
        Order(
            plan.plant,
            [(stage.removes, stage.adds) for stage in stages_of(plan, limits)],
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
    for step, number, adding, pair in tasks(plant, order.stages):
        source, target = (order.peer(port) for port in plant.ends(pair))
        first = plant.ends(pair)[0]
        a, b = (plant.port_name(port) for port in plant.ends(pair))
        old, new = (
            order.peer(plant.ends(state[first])[1]) if first in state else ""
            for state in (before, after)
        )
        row = (
            str(step),
            str(number),
            "add" if adding else "remove",
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


def as_written(cell: str) -> str:
    """Return a name from its cell: without the apostrophe in front of a formula.

    >>> as_written("'=x"), as_written("'x")
    ('=x', "'x")
    """
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell[1:]) else cell
