"""The work order for people: a printed page for each person and stage, and a table."""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from html import escape
from html.parser import HTMLParser

from topoloom.synth.errors import InvalidWiring
from topoloom.synth.wiring.devices.device_report import Entry, Report, Verb, commands
from topoloom.synth.wiring.devices.work_pages import Page, minutes, pages
from topoloom.synth.wiring.plans.panel_actions import Script
from topoloom.synth.wiring.plans.work_order import (
    Order,
    Task,
    as_written,
    cabled_name,
    order_csv,
)
from topoloom.synth.wiring.plant import Kind, Plant
from topoloom.synth.wiring.plant.csv_rows import read_rows
from topoloom.synth.wiring.plant.current_wiring import named_pairs

GENERATOR = "Topoloom work order"
"""Name that marks the pages as a work order."""

SHORT = len("sha256:") + 12
"""Characters of the id of a plan on a page."""

OF_A_MOVE = ("stage", "action", "panel", "from_port", "to_port")
"""Columns that identify the table of a work order."""

_STYLE = """
@page { size: A4; margin: 12mm }
@page { @bottom-right { content: "sheet " counter(page) " of " counter(pages) } }
@page { @bottom-right { font: 8pt sans-serif } }
body { font: 9pt sans-serif }
h1 { font-size: 16pt; margin: 0 } h2 { font-size: 14pt; margin: 0 }
h3 { font-size: 11pt; margin: 10px 0 4px; break-after: avoid }
p { margin: 4px 0 }
.page { break-before: page }
table { border-collapse: collapse; width: 100%; margin: 10px 0 }
thead { display: table-header-group } tr { break-inside: avoid }
td, th { border: 1px solid #888; padding: 2px 5px; text-align: left; vertical-align: top }
.cover td { white-space: nowrap } .cover .wide { white-space: normal }
th { background: #eee; print-color-adjust: exact }
.step { width: 2.5em; text-align: right } .done { width: 2.5em; text-align: center }
.name { width: 6em } .time { width: 3.5em } .cover .by { min-width: 9em }
.panel { font-size: 10pt } .panel span { float: right; font-weight: normal; font-size: 8pt }
td { overflow-wrap: anywhere } td:nth-child(2) { white-space: nowrap }
.box { display: inline-block; width: 11px; height: 11px; border: 1.5px solid #000 }
.verify td { border-top: 2px solid #000 }
.fill { border-bottom: 1px solid #000; display: inline-block; min-width: 10em }
.labels { display: grid; grid-template-columns: repeat(4, 1fr); gap: 3px }
.labels div { border: 1px dashed #888; padding: 2px 4px; font: 7pt monospace }
.labels div { break-inside: avoid; overflow-wrap: anywhere }
code { white-space: nowrap } .name-of { display: inline-block }
"""


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


def read_order(text: str, plant: Plant) -> Report:
    """Return the report of the moves of a work order in CSV."""
    cells = [(f"/line/{row.line}", row.cells) for row in read_rows(text, exact=True)]
    moves = [
        (where, row["action"].strip().lower(), as_written(row["panel"]),
         as_written(row["from_port"]), as_written(row["to_port"]))
        for where, row in cells
    ]  # fmt: skip
    return _moved(moves, plant)


def _moved(moves: list[tuple[str, str, str, str, str]], plant: Plant) -> Report:
    """Return the report of moves, given as place, verb, panel and both ports."""
    verbs = {"remove": Verb.REMOVE, "add": Verb.ADD}
    for where, verb, *_ in moves:
        if verb not in verbs:
            raise InvalidWiring(where, f"must be remove or add; not {verb[:40]!r}")
    rows = [(where, {"panel": panel, "a": a, "b": b}) for where, _, panel, a, b in moves]
    pairs = named_pairs(rows, plant)
    return commands(
        Entry(where, verbs[verb], pair)
        for (where, verb, *_), pair in zip(moves, pairs, strict=True)
    )


def write_sheet(script: Script) -> str:
    """Return printable HTML: a cover with totals, then a page for each person and stage.

    A page lists the hosts to drain and the moves in order, panel by panel, with a box to tick, a
    name and a time for every move.  The last row of a panel verifies its new pairs.  The labels of
    the new cables of manual panels follow, one for each end.
    """
    found = pages(script)
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8"><title>Work order</title>',
        f'<meta name="generator" content="{GENERATOR}">',
        f"<style>{_STYLE}</style></head><body>",
        *_cover(script, found),
    ]
    for number, page in enumerate(found, start=1):
        parts += _page(script, page, f"page {number} of {len(found)}")
    return "\n".join([*parts, "</body></html>"]) + "\n"


def _cover(script: Script, found: tuple[Page, ...]) -> Iterator[str]:
    moves = sum(len(page.tasks) for page in found)
    removes = sum(page.removes for page in found)
    hall = f"<p>Plant {escape(script.plant.name)}</p>" if script.plant.name else ""
    yield f"<h1>Work order</h1>{hall}<p>Plan {escape(script.plan_id)}</p>"
    stages = "1 stage" if len(script.steps) == 1 else f"{len(script.steps)} stages"
    yield f"<p>{moves} moves in {stages}: {removes} to pull, "
    yield f"{moves - removes} to plug. Time: {_total(found)}.</p>"
    yield '<table class="cover"><thead><tr>'
    yield "<th>stage</th><th>where</th><th>steps</th><th>pull</th><th>plug</th>"
    yield '<th>time</th><th>hosts to drain</th><th class="by">done by</th></tr></thead>'
    for page in found:
        cells = (
            f"{page.stage} of {len(script.steps)}", page.person, _steps(page), str(page.removes),
            str(len(page.tasks) - page.removes), minutes(page.seconds),
        )  # fmt: skip
        yield "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        yield f'<td class="wide">{_unbroken(page.drained) or "none"}</td><td></td></tr>'
    yield "</table><p>Finish all pages of a stage before the next stage begins. Check the end: "
    yield "<code>topoloom patch verify PLAN --observed FILE</code></p>"


def _total(found: tuple[Page, ...]) -> str:
    """Return the time of all stages: with the pages of a stage at once, and one by one."""
    stages = {page.stage for page in found}
    slowest = [max(p.seconds for p in found if p.stage == stage) for stage in stages]
    at_once, alone = (sum(times, Fraction(0)) for times in (slowest, [p.seconds for p in found]))
    if not alone:
        return minutes(alone) if found else "none"
    return f"{minutes(at_once)} with one person for each page, {minutes(alone)} with one for all"


def _unbroken(names: Iterable[str], mark: str = ",", gap: str = " ") -> str:
    """Return names as HTML: a line breaks between names, and not at a hyphen of one."""
    spans = [f'<span class="name-of">{escape(name)}' for name in names]
    return f"{mark}</span>{gap}".join(spans) + "</span>" * bool(spans)


def _steps(page: Page) -> str:
    return f"{page.tasks[0].step} to {page.tasks[-1].step}"


def _page(script: Script, page: Page, number: str) -> Iterator[str]:
    """Yield the parts of one page."""
    adds = len(page.tasks) - page.removes
    yield f'<section class="page"><h2>Stage {page.stage} of {len(script.steps)}: '
    yield f"{escape(page.person)}</h2><p>Plan {escape(script.plan_id[:SHORT])}, {number}</p>"
    yield f"<p>Steps {_steps(page)}: {page.removes} to pull, {adds} to plug. "
    yield f"Time: {minutes(page.seconds)}.</p>"
    if page.stage > 1:
        yield f"<p>Begin when all pages of stage {page.stage - 1} are done.</p>"
    yield f"<p>Drain first: {_unbroken(page.drained) or 'no host'}.</p>"
    yield "<p>If a pair to pull is not there, or a check fails, stop and report the step.</p>"
    yield '<p>Name <span class="fill"></span> Date <span class="fill"></span></p>'
    for panel, own in page.by_panel:
        row = script.plant.panels[panel]
        if row.kind is not Kind.MANUAL:
            yield "<p>Commands set these pairs: <code>topoloom patch render</code></p>"
        yield f'<table data-panel="{escape(row.id)}"><thead>{_heading(script, page, row.id)}'
        yield '<tr><th class="step">step</th>'
        yield "<th>do</th><th>from</th><th>to</th><th>check</th>"
        yield '<th class="done">done</th><th class="name">name</th><th class="time">time</th>'
        yield "</tr></thead>"
        yield from (_row(script, task) for task in own)
        yield from _verify(script, own)
        yield "</table>"
    yield from _labels(script, page)
    yield "</section>"


def _heading(script: Script, page: Page, panel: str) -> str:
    """Return the row that every sheet of paper repeats: a sheet alone says where its moves are."""
    where = f"{page.person}, stage {page.stage} of {len(script.steps)}"
    return (
        f'<tr><th colspan="8" class="panel">{escape(panel)} <span>{escape(where)}, '
        f"plan {escape(script.plan_id[:SHORT])}</span></th></tr>"
    )


_SIGNED = (
    '<td class="done"><span class="box"></span></td><td class="name"></td><td class="time"></td>'
)


def _row(script: Script, task: Task) -> str:
    one, other = script.plant.ends(task.pair)
    a, b = map(script.plant.port_name, (one, other))
    check = f"carries {script.label(task.pair)}"
    if task.adds:
        check = f"{b} receives light from {script.peers.get(one, script.plant.full_name(one))}"
    return (
        f'<tr data-move="{"add" if task.adds else "remove"}" data-a="{escape(a)}" '
        f'data-b="{escape(b)}"><td class="step">{task.step}</td>'
        f"<td>{'plug' if task.adds else 'pull'}</td><td>{escape(a)}</td><td>{escape(b)}</td>"
        f"<td>{escape(check)}</td>{_SIGNED}</tr>"
    )


def _verify(script: Script, own: tuple[Task, ...]) -> Iterator[str]:
    adds = [task for task in own if task.adds]
    if adds:
        ports = ", ".join(script.plant.port_name(script.plant.ends(t.pair)[1]) for t in adds)
        pairs = "the new pair" if len(adds) == 1 else f"all {len(adds)} new pairs"
        what = f"light on {pairs}: {ports}"
        yield f'<tr class="verify"><td></td><td>verify</td><td colspan="3">{escape(what)}</td>'
        yield f"{_SIGNED}</tr>"


def _labels(script: Script, page: Page) -> Iterator[str]:
    """Yield the labels of both ends of every new cable: the own port first, then the other."""
    plant = script.plant
    labels = []
    for task in page.tasks:
        if task.adds and plant.panels[task.pair.panel].kind is Kind.MANUAL:
            for here, there in (plant.ends(task.pair), plant.ends(task.pair)[::-1]):
                ports = f"{plant.full_name(here)} to {plant.port_name(there)}"
                nodes = [script.peers.get(port, plant.full_name(port)) for port in (here, there)]
                labels.append(f"<div>{escape(ports)}<br>{_unbroken(nodes, '--', '')}</div>")
    if labels:
        yield "<h3>Labels of the new cables, one for each end</h3>"
        yield f'<div class="labels">{"".join(labels)}</div>'


class _Moves(HTMLParser):
    """Collects the moves of the tables of a work order."""

    def __init__(self) -> None:
        super().__init__()
        self.ours, self.ended, self.panel = False, False, ""
        self.moves: list[tuple[str, str, str, str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the panel of a table, and the move of a row."""
        given = {name: value or "" for name, value in attrs}
        self.ours = self.ours or given.get("content") == GENERATOR
        self.panel = given.get("data-panel", self.panel)
        if "data-move" in given:
            ports = given.get("data-a", ""), given.get("data-b", "")
            where = f"/line/{self.getpos()[0]}"
            self.moves.append((where, given["data-move"], self.panel, *ports))

    def handle_endtag(self, tag: str) -> None:
        """Note the end of the page."""
        self.ended = self.ended or tag == "html"


def read_sheet(text: str, plant: Plant) -> Report | None:
    """Return the report of the moves of a work order in HTML; None for another page.

    Raises:
        InvalidWiring: The page is cut off, or names what the plant does not have.
    """
    reader = _Moves()
    try:
        reader.feed(text)
        reader.close()
    except (ValueError, AssertionError):  # character references and declarations that are none
        raise InvalidWiring(f"/line/{reader.getpos()[0]}", "must be HTML") from None
    if not reader.ours:
        return None
    if not reader.ended:
        raise InvalidWiring("", "is a work order without its end")
    return _moved(reader.moves, plant)
