"""Jumpers of passive panels in cable lists of NetBox and Nautobot."""

from collections.abc import Iterable

from topoloom.synth.errors import InvalidWiring
from topoloom.synth.wiring.devices.device_report import Report, whole_report
from topoloom.synth.wiring.plant import Plant
from topoloom.synth.wiring.plant.current_wiring import named_pairs
from topoloom.synth.wiring.plant.from_cables import PLANNED, PORTS, Cable


def read_jumpers(cables: Iterable[Cable], plant: Plant) -> Report:
    """Return the report of cables: those between two ports of one panel of the plant.

    Planned cables are not plugged.  The report states all pairs of the panels that a cable names.

    Raises:
        InvalidWiring: No cable leads to a panel of the plant, or a cable names a port that the
            panel lacks.
    """
    rows: list[tuple[str, dict[str, str]]] = []
    panels: set[int] = set()
    planned = 0
    for cable in cables:
        ends = [end for end in (*cable.a, *cable.b) if end.type in PORTS]
        panels |= {plant.panel_index[end.device] for end in ends if end.device in plant.panel_index}
        inside = len(ends) == 2 == len(cable.a) + len(cable.b)
        if (
            not inside
            or ends[0].device != ends[1].device
            or ends[0].device not in plant.panel_index
        ):
            continue
        if cable.status == PLANNED:
            planned += 1
            continue
        line = cable.origin.line
        where = cable.origin.place if line is None else f"/line/{line}"
        rows.append((where, {"panel": ends[0].device, "a": ends[0].name, "b": ends[1].name}))
    if not panels:
        raise InvalidWiring("", "is a list of cables, none of which leads to a panel of the plant")
    pairs = named_pairs([(where, _sided(row, plant)) for where, row in rows], plant)
    report = whole_report(zip((where for where, _ in rows), pairs, strict=True), panels)
    note = (f"The list has {planned} planned cables: they are not plugged yet.",)
    return Report(report.entries, report.stated, notes=note if planned else ())


def _sided(row: dict[str, str], plant: Plant) -> dict[str, str]:
    """Return a row with its ports on their sides: a list names the ends in any order."""
    panel = plant.panels[plant.panel_index[row["panel"]]]
    turned = row["b"] in panel.a and row["a"] in panel.b
    return {**row, "a": row["b"], "b": row["a"]} if turned else row
