"""Wirings are read from files as people and programs leave them, or refused with their place."""

import codecs
import csv
import io
import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.synth.plants import plants, topologies
from tests.synth.test_wiring_read_back import ANSWERS, OF_WIRINGS, SIDED_ANSWERS, answers
from topoloom.app.files.text_decoding import decode_text
from topoloom.synth.errors import DoesNotFit, InvalidWiring
from topoloom.synth.wiring import plan_moves, to_document, uniform
from topoloom.synth.wiring.devices import RENDERERS, read_script
from topoloom.synth.wiring.devices.wiring_reader import read_wiring, read_wiring_text
from topoloom.synth.wiring.plant import Present

EXAMPLE = uniform("single", hosts=12, lanes=1)
TABLES = ("csv", "netbox-csv")
NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6).filter(
    lambda name: name.isprintable() and bool(name.strip())
)


def lines_of(text):
    return text.replace("\r\n", "\n")


KEPT = {
    "as written": str.encode,
    "byte-order mark": lambda text: codecs.BOM_UTF8 + text.encode(),
    "UTF-16": lambda text: text.encode("utf-16"),
    "line feeds": lambda text: lines_of(text).encode(),
    "CRLF": lambda text: lines_of(text).replace("\n", "\r\n").encode(),
    "carriage returns": lambda text: lines_of(text).replace("\n", "\r").encode(),
    "blank lines below": lambda text: f"{text}\n \n\r\n\n".encode(),
    "blank lines above": lambda text: f"\n\r\n{text}".encode(),
}
"""Changes of a file that leave its content, as bytes of the file."""


@st.composite
def renamed(draw, plant):
    """The plant with other names of panels, ports and hosts: any that a plant takes."""

    def names(count):
        return tuple(draw(st.lists(NAMES, min_size=count, max_size=count, unique=True)))

    panels = []
    for panel, name in zip(plant.panels, names(len(plant.panels)), strict=True):
        ports = names(len(panel.a) + len(panel.b))
        a, b = ports[: len(panel.a)], ports[len(panel.a) :]
        panels.append(replace(panel, id=name, a=a, b=b))
    hosts = zip(plant.hosts, names(len(plant.hosts)), strict=True)
    return replace(
        plant, panels=tuple(panels), hosts=tuple(replace(host, id=name) for host, name in hosts)
    )


@st.composite
def scripts(draw):
    plant = draw(plants(most_hosts=4, most_panels=2))
    plant = draw(renamed(plant) | st.just(plant))
    try:
        plan = plan_moves(draw(topologies(plant)), plant)
    except DoesNotFit:
        assume(False)
    assume(plan.moves)
    return read_script(json.loads(json.dumps(to_document(plan))), plant)


def written(form, script):
    """Return a rendered plan; None if the format cannot write it, or has nothing of it."""
    try:
        text = RENDERERS[form].write(script)
    except DoesNotFit:
        return None
    if form != "netbox-csv":
        return text
    return text.replace(",planned,", ",connected,") if text.count("\n") > 1 else None


def read(data, form, script):
    """Return what is plugged after a file: NetBox states the new jumpers only."""
    base = Present() if form == "netbox-csv" else script.base
    return read_wiring_text(decode_text(data), script.plant, base).present


@pytest.mark.slow
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.filter_too_much])
@given(scripts(), st.sampled_from(list(KEPT)))
def test_a_file_of_any_names_is_read_back_however_it_was_saved(script, way):
    for form in OF_WIRINGS:
        text = written(form, script)
        if text is None:
            continue
        found = read(KEPT[way](text), form, script)
        assert found == (read(text.encode(), form, script) if form in TABLES else script.final), (
            form
        )
        if form == "csv":
            assert found == script.final


@pytest.mark.slow
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.filter_too_much])
@given(script=scripts(), data=st.data())
def test_a_table_is_read_with_its_columns_in_any_order_and_any_delimiter(script, data):
    for form in TABLES:
        text = written(form, script)
        if text is None:
            continue
        rows = list(csv.reader(io.StringIO(text, newline="")))
        order = data.draw(st.permutations(range(len(rows[0]))))
        # A line of a table that begins as a heading is one.
        assume(not any(row[order[0]].startswith("# panel ") for row in rows))
        out = io.StringIO(newline="")
        table = csv.writer(out, delimiter=data.draw(st.sampled_from(",;\t")))
        table.writerow(rows[0][column].upper().replace("_", " ") for column in order)
        table.writerows([row[column] for column in order] for row in rows[1:])
        assert read(out.getvalue().encode(), form, script) == read(text.encode(), form, script)


@pytest.mark.slow
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.filter_too_much])
@given(script=scripts(), data=st.data())
def test_a_file_that_is_cut_off_never_adds_a_pair_that_the_whole_file_lacks(script, data):
    moved = {*script.base.pairs, *script.final.pairs, *(move.pair for move in script.moves)}
    for form in OF_WIRINGS:
        text = written(form, script)
        if text is None:
            continue
        cut = text[: data.draw(st.integers(0, len(text) - 1))]
        try:
            found = read(cut.encode(), form, script)
        except InvalidWiring:
            continue
        assert moved.issuperset(found.pairs), form
        whole = ("html", "dot", "graphml", "polatis-netconf", "sonic-patch", "sonic-config")
        assert form not in whole or not text[len(cut) :].strip(), form


@settings(deadline=None, max_examples=20)
@given(plants(), st.sampled_from(list(KEPT)))
def test_the_answer_of_a_device_is_read_however_it_was_saved(plant, way):
    for name, answer in ANSWERS.items():
        if name in SIDED_ANSWERS and any(panel.one_sided for panel in plant.panels):
            continue
        data = KEPT[way](answers(plant, answer))
        assert read_wiring_text(decode_text(data), plant, Present()).present == plant.present, name


@settings(deadline=None, max_examples=20)
@given(plants(flavours=("one-way", "two-sided"), most_panels=1), st.data())
def test_a_row_that_is_there_twice_is_refused_with_both_lines(plant, data):
    assume(plant.present.pairs)
    for name in ("show config", "show status", "RTRV-PATCH", "RTRV-CRS"):
        lines = ANSWERS[name](plant, 0, plant.present.pairs).split("\n")
        rows = [n for n, line in enumerate(lines) if "A-" in line or "," in line or ">" in line]
        row = data.draw(st.sampled_from(rows))
        with pytest.raises(InvalidWiring, match=rf"^/line/{row + 2}.*/line/{row + 1} has it"):
            read_wiring_text("\n".join([*lines[: row + 1], *lines[row:]]), plant)


TRUE, FALSE = ("true", "TRUE", "Yes", "1", True, 1), ("false", "FALSE", "No", " 0 ", False, 0)
FLAGS = {None: False, "": False} | dict.fromkeys(TRUE, True) | dict.fromkeys(FALSE, False)


@given(
    st.lists(st.tuples(st.sampled_from([*TRUE, None, ""]), st.sampled_from([*FLAGS])), max_size=9)
)
def test_light_and_foreign_are_read_as_a_spreadsheet_writes_them(flags):
    rows = [
        {"panel": "panel-0", "a": f"{n}A", "b": f"{n}B", "light": light, "foreign": foreign}
        for n, (light, foreign) in enumerate(flags)
    ]
    table = "panel,a,b,light,foreign\n" + "".join(
        ",".join("" if cell is None else str(cell) for cell in row.values()) + "\n" for row in rows
    )
    for found in (read_wiring(rows, EXAMPLE), read_wiring_text(table, EXAMPLE)):
        assert len(found.present.pairs) == len(rows) and not found.dark
        foreign = {pair for pair in found.present.pairs if FLAGS[flags[pair.a][1]]}
        assert found.present.foreign == foreign


@pytest.mark.parametrize("value", FALSE)
def test_a_pair_without_light_is_dark_however_it_is_written(value):
    rows = [{"panel": 0, "a": 1, "b": 2, "light": value}]
    assert read_wiring(rows, EXAMPLE).dark
    assert read_wiring_text(f"panel,a,b,light\n0,1,2,{value}\n", EXAMPLE).dark


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("panel,a,b,light\n0,1,2,dark\n", "/line/2/light: must be true or false; not 'dark'"),
        ("panel,a,b,foreign\n0,1,2,ours\n", "/line/2/foreign: must be true or false"),
        ('[{"panel": 0, "a": 1, "b": 2, "light": []}]', "/0/light: must be true or false"),
        ("panel,a,b\n0,1,2\n0,2", "the last row has 2 of 3 cells and no line break (line 3)"),
        ("id a_side b_side\n1A-2B 3A 2B", "/line/2: states a_side '3A' for the pair 1A-2B"),
        ("id a_side b_side\n1A-2B 1A 3B", "/line/2: states b_side '3B' for the pair 1A-2B"),
        ('{"OCS_CROSS_CONNECT": {"1A-2B": {"b_side": "1B"}}}', "1A-2B: states b_side '1B'"),
        (
            '[{"op": "add", "path": "/OCS_CROSS_CONNECT/1A-2B", "value": {"a_side": "2A"}}]',
            "/0: states a_side '2A' for the pair 1A-2B",
        ),
        (
            "<cross-connects>\n<pair><ingress>1</ingress><ingress>2</ingress></pair></cross-connects>",
            "/line/2: must have one ingress with a number",
        ),
        ("digraph wiring {\n", "/line/1: ends the drawing without a line '}'"),
        ("ROUTE1:SCAN 2", "/line/1: may be cut off: it has no line break"),
    ],
)
def test_a_contradiction_and_a_cut_are_named(text, rule):
    with pytest.raises(InvalidWiring) as caught:
        read_wiring_text(text, EXAMPLE)
    assert rule in str(caught.value)


def test_a_message_of_netconf_is_read_with_its_end():
    reply = '\n\n<?xml version="1.0"?>\n<rpc-reply><data>\n</data></rpc-reply>\n]]>]]>\n'
    assert read_wiring_text(reply, EXAMPLE).panels == {0}
    wrong = reply.replace("<data>\n", "<data><cross-connects>\n<pair/></cross-connects>")
    with pytest.raises(InvalidWiring, match="/line/5: must have one ingress"):
        read_wiring_text(wrong, EXAMPLE)
