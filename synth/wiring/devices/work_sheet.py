"""The work order for people: on paper, with labels to cut out, and as a table."""

from html import escape

from topoloom.synth.wiring.plans.panel_actions import Script
from topoloom.synth.wiring.plans.work_order import Order, cabled_name, order_csv
from topoloom.synth.wiring.plant import Pair

_STYLE = """
body { font: 11pt sans-serif } h2 { break-before: page } h2:first-of-type { break-before: auto }
table { border-collapse: collapse; width: 100% } td, th { border: 1px solid #888; padding: 3px 6px }
th { text-align: left; background: #eee } .box { width: 1.2em }
.labels { display: flex; flex-wrap: wrap; gap: 4px; margin-top: 8px }
.labels span { border: 1px dashed #888; padding: 4px 8px; font: 9pt monospace }
"""


def walking_order(script: Script) -> tuple[int, ...]:
    """Return the panels that are worked on: by place, then in the order of the plant."""
    return tuple(sorted(script.panels, key=lambda p: (script.plant.panels[p].place, p)))


def write_order(script: Script) -> str:
    """Return the work order as CSV, as `synth.wiring.plans.work_order` writes it of a plan."""
    return order_csv(
        Order(
            script.plant,
            [(step.removes, step.adds) for step in script.steps],
            script.base,
            script.final,
            script.links,
            lambda port: script.peers.get(port) or cabled_name(script.plant, port, {}),
        )
    )


def write_sheet(script: Script) -> str:
    """Return printable HTML: stage by stage, panel by panel, a row for every move.

    A technician at a panel sees the cables to pull and to plug there.  The labels of the new
    cables follow each list, twice, for both ends.
    """
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8"><title>Work order</title>',
        f"<style>{_STYLE}</style></head><body>",
        f"<h1>Work order</h1><p>Plan {escape(script.plan_id)}</p>",
    ]
    for number in range(1, len(script.steps) + 1):
        parts.append(f"<h2>Stage {number} of {len(script.steps)}</h2>")
        for panel in walking_order(script):
            steps = dict(script.of_panel(panel))
            if number in steps:
                row = script.plant.panels[panel]
                place = f", {row.place}" if row.place else ""
                parts.append(f"<h3>{escape(row.id + place)}</h3>")
                parts += _table(script, steps[number].removes, steps[number].adds)
    return "\n".join([*parts, "</body></html>"]) + "\n"


def _table(script: Script, removes: tuple[Pair, ...], adds: tuple[Pair, ...]) -> list[str]:
    rows = ["<table><tr><th>do</th><th>from</th><th>to</th><th>cable</th><th></th></tr>"]
    for verb, pairs in (("pull", removes), ("plug", adds)):
        for pair in pairs:
            a, b = (escape(script.plant.port_name(port)) for port in script.plant.ends(pair))
            rows.append(
                f"<tr><td>{verb}</td><td>{a}</td><td>{b}</td>"
                f'<td>{escape(script.label(pair))}</td><td class="box"></td></tr>'
            )
    rows.append("</table>")
    if adds:
        labels = [f"<span>{escape(script.label(pair))}</span>" for pair in adds for _ in range(2)]
        rows.append(f'<div class="labels">{"".join(labels)}</div>')
    return rows
