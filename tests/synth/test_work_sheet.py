"""The printed work order: pages for persons, rows for moves, and labels for cables."""

import csv
import io
import re
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser

from hypothesis import given, settings

from tests.synth.plants import straight
from tests.synth.test_wiring_devices import scripts
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring import plan_moves, to_document
from topoloom.synth.wiring.devices import FORMATS, RENDERERS, read_script
from topoloom.synth.wiring.devices.work_pages import pages
from topoloom.synth.wiring.devices.work_sheet import SHORT
from topoloom.synth.wiring.plans.stages import Limits
from topoloom.synth.wiring.plant import Kind


class Sheet(HTMLParser):
    """Collects the rows of every page, the text outside tables, and the labels."""

    def __init__(self, text):
        super().__init__()
        self.pages, self.labels, self.texts, self.boxes = [[]], [], [[]], 0
        self.cell, self.label = None, False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        if tag == "section":
            self.pages.append([])
            self.texts.append([])
        if tag == "tr":
            self.pages[-1].append([])
        if tag in ("td", "th"):
            self.pages[-1][-1].append("")
        self.cell = tag if tag in ("td", "th") else None if tag != "span" else self.cell
        self.boxes += dict(attrs).get("class") == "box"
        if tag == "div" and not attrs:
            self.labels.append([""])
            self.label = True
        if tag == "br" and self.label:
            self.labels[-1].append("")

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.cell = None
        if tag == "div":
            self.label = False

    def handle_data(self, data):
        if self.cell:
            self.pages[-1][-1][-1] += data
        elif self.label:
            self.labels[-1][-1] += data
        elif data.strip():
            self.texts[-1].append(data.strip())


@settings(deadline=None, max_examples=12)
@given(scripts())
def test_the_pages_have_a_row_for_every_move_a_verify_row_and_two_labels_for_every_cable(script):
    sheet = Sheet(FORMATS["html"].write(script))
    rows = [row for page in sheet.pages[1:] for row in page if len(row) > 1]
    moves = [row for row in rows if row[0].isdecimal()]
    wanted = [
        ["plug" if move.adds else "pull", *script.plant.pair_name(move.pair).split("-")]
        for move in script.moves
    ]
    assert sorted(row[1:4] for row in moves) == sorted(wanted)
    assert [int(row[0]) for row in moves] == list(range(1, len(moves) + 1))
    verified = [row for row in rows if row[1] == "verify"]
    adding = {(page.stage, t.pair.panel) for page in pages(script) for t in page.tasks if t.adds}
    assert len(verified) == len(adding)
    assert sheet.boxes == len(moves) + len(verified)
    assert all(row[-3:] == ["done", "name", "time"] for row in rows if row[0] == "step")
    by_hand = [script.plant.panels[move.pair.panel].kind is Kind.MANUAL for move in script.moves]
    plugged = zip(script.moves, by_hand, strict=True)
    assert len(sheet.labels) == 2 * sum(move.adds and hand for move, hand in plugged)


@settings(deadline=None, max_examples=12)
@given(scripts())
def test_the_heading_that_every_sheet_repeats_names_the_panel_the_stage_and_the_plan(script):
    text = FORMATS["html"].write(script)
    assert "thead { display: table-header-group }" in text
    headings = [row[0] for page in Sheet(text).pages[1:] for row in page if len(row) == 1]
    assert headings == [
        f"{script.plant.panels[panel].id} {page.person}, stage {page.stage} of "
        f"{len(script.steps)}, plan {script.plan_id[:SHORT]}"
        for page in pages(script)
        for panel, _ in page.by_panel
    ]
    assert text.count("<thead>") == text.count('<th colspan="8" class="panel">') + 1  # the cover


@settings(deadline=None, max_examples=12)
@given(scripts())
def test_a_step_has_one_number_on_the_pages_and_in_the_table(script):
    table = csv.DictReader(io.StringIO(RENDERERS["csv"].write(script), newline=""))
    sheet = Sheet(FORMATS["html"].write(script))
    moves = [row[:4] for page in sheet.pages[1:] for row in page if row[0].isdecimal()]
    verbs = {"add": "plug", "remove": "pull"}
    assert moves == [
        [row["step"], verbs[row["action"]], row["from_port"].removeprefix("'"),
         row["to_port"].removeprefix("'")]
        for row in table
    ]  # fmt: skip


@settings(deadline=None, max_examples=25)
@given(scripts())
def test_a_page_is_one_persons_work_in_one_stage_and_names_the_hosts_that_lose_light(script):
    found = pages(script)
    keys = [(page.stage, page.person) for page in found]
    assert len(keys) == len(set(keys)) and [stage for stage, _ in keys] == sorted(
        stage for stage, _ in keys
    )
    plugged = set(script.base.pairs)
    for stage, step in enumerate(script.steps, start=1):
        own = [page for page in found if page.stage == stage]
        assert sorted(task.pair for page in own for task in page.tasks) == sorted(
            (*step.removes, *step.adds)
        )
        hosts = {host for pair in step.removes for host in script.plant.hosts_of(pair)} - {-1}
        names = {name for page in own for name in page.drained}
        assert names == {script.plant.hosts[host].id for host in hosts}
        # Every prefix of the steps finds its ports free, or its pair in place.
        for page in own:
            for task in page.tasks:
                ends = set(script.plant.ends(task.pair))
                taken = {port for pair in plugged for port in script.plant.ends(pair)}
                assert (task.pair in plugged) != task.adds
                assert not task.adds or ends.isdisjoint(taken)
                plugged ^= {task.pair}
    assert plugged == set(script.final.pairs)


def hall(kinds=(Kind.MANUAL,) * 3, places=("rack 10", "rack 9", "rack 10"), down=6):
    """Return the plan that changes a ring of six hosts to another, on three panels."""
    plant = straight(6, 3)
    panels = [
        replace(panel, kind=kind, place=place, move_seconds=Fraction(90))
        for panel, kind, place in zip(plant.panels, kinds, places, strict=True)
    ]
    plant = replace(plant, panels=tuple(panels), name="hall 2")

    def circulant(*jumps):
        nodes = [str(host) for host in range(6)]
        links = [(i, (i + s * j) % 6) for i in range(6) for j in jumps for s in (1, -1)]
        return Topology(nodes, sorted({(nodes[u], nodes[v]) for u, v in links}))

    base = plan_moves(circulant(1, 3), plant).final
    plan = plan_moves(circulant(2, 3), plant, base)
    return read_script(to_document(plan, Limits(max_links_down=down)), plant.with_present(base))


def test_panels_of_a_place_share_a_page_and_places_are_in_natural_order():
    script = hall()
    first = [page for page in pages(script) if page.stage == 1]
    persons = [page.person for page in first]
    assert persons == sorted(persons, key=lambda name: int(name.split()[1]))
    assert {page.person for page in pages(script)} <= {"rack 9", "rack 10"}
    apart = pages(hall(places=("", "", "")))
    assert {page.person for page in apart} <= {f"panel-{n}" for n in range(3)}


def test_the_cover_has_totals_and_the_time_of_people_who_work_at_once():
    script = hall()
    found = pages(script)
    assert all(page.seconds == 90 * len(page.tasks) for page in found)
    sheet = Sheet(FORMATS["html"].write(script))
    text = " ".join(sheet.texts[0])
    slowest = [
        max(page.seconds for page in found if page.stage == stage)
        for stage in range(1, len(script.steps) + 1)
    ]
    minutes, alone = (-(-sum(times) // 60) for times in (slowest, [p.seconds for p in found]))
    moves, removes = len(script.moves), sum(not move.adds for move in script.moves)
    assert "Plant hall 2" in text
    stages = "1 stage" if len(script.steps) == 1 else f"{len(script.steps)} stages"
    assert f"{moves} moves in {stages}: {removes} to pull" in text
    time = f"{minutes} min with one person for each page, {alone} min with one for all"
    assert f"{moves - removes} to plug. Time: {time}." in text
    cover = sheet.pages[0][1:]
    assert [row[1] for row in cover] == [page.person for page in found]
    assert sum(int(row[3]) + int(row[4]) for row in cover) == moves
    assert [row[6] for row in cover] == [", ".join(page.drained) or "none" for page in found]


def test_a_plant_without_times_is_said_to_state_none():
    script = hall()
    still = [replace(panel, move_seconds=Fraction(0)) for panel in script.plant.panels]
    text = FORMATS["html"].write(replace(script, plant=replace(script.plant, panels=tuple(still))))
    assert "Time: not stated by the plant." in " ".join(Sheet(text).texts[0])


def test_a_page_of_a_later_stage_says_what_it_waits_for():
    script = hall(down=2)
    assert len(script.steps) > 1
    for page, texts in zip(
        pages(script), Sheet(FORMATS["html"].write(script)).texts[1:], strict=True
    ):
        waits = f"Begin when all pages of stage {page.stage - 1} are done."
        assert (waits in texts) == (page.stage > 1)
        assert any(text.startswith("If a pair to pull is not there") for text in texts)


def test_a_label_names_the_port_that_it_is_for_and_the_nodes_at_both_ends():
    sheet = Sheet(FORMATS["html"].write(hall()))
    for one, other in zip(sheet.labels[::2], sheet.labels[1::2], strict=True):
        here, there = re.fullmatch(r"(panel-\d)/(\d[AB]) to (\d[AB])", one[0]), other[0]
        assert there == f"{here[1]}/{here[3]} to {here[2]}"
        assert one[1].split("--") == other[1].split("--")[::-1]
        assert all(re.fullmatch(r"\d:\d", end) for end in one[1].split("--"))


def test_what_commands_set_has_a_page_of_its_own_that_says_so():
    script = hall(kinds=(Kind.SWITCH, Kind.MANUAL, Kind.MANUAL), places=("rack 9",) * 3)
    persons = {page.person for page in pages(script)}
    assert persons <= {"rack 9", "panel-0"}
    sheet = Sheet(FORMATS["html"].write(script))
    for page, texts in zip(pages(script), sheet.texts[1:], strict=True):
        said = any(text.startswith("Commands set these pairs") for text in texts)
        assert said == (page.person == "panel-0")
