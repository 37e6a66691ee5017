"""Answers of devices, files of NetBox and rendered plans are read back as the same wiring."""

import csv
import io
import json
from dataclasses import replace

import jsonpatch
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.hostile_inputs import spoilt
from tests.plant_tables import plant_csv
from tests.synth.plants import plants
from tests.synth.test_wiring_devices import config_of, scripts, table_of, torus
from topoloom.synth.errors import DoesNotFit, InvalidWiring
from topoloom.synth.launch import LAUNCH_FILES
from topoloom.synth.wiring import cross_wired, plan_moves, read_present, to_document, uniform
from topoloom.synth.wiring.devices import RENDERERS, read_script
from topoloom.synth.wiring.devices.wiring_reader import read_wiring, read_wiring_text
from topoloom.synth.wiring.plant import Kind, Mode, Plant, Present, plant_document

OF_WIRINGS = [form for form in RENDERERS if form not in LAUNCH_FILES]
"""Formats that state pairs or moves; launch files name hosts only."""
SIDED = ("sonic-cli", "sonic-patch", "sonic-config", "calient-tl1", "dicon")
"""Formats of devices with two sides."""
EXAMPLE = uniform("single", hosts=4, lanes=1)
TWO = uniform("per-port", hosts=4, lanes=2)


def known_to_netbox(script):
    """Return the pairs that a list of new cables has: the jumpers that the plan adds."""
    kinds = [panel.kind for panel in script.plant.panels]
    new = set(script.final.pairs) - set(script.base.pairs)
    return tuple(sorted(pair for pair in new if kinds[pair.panel] in (Kind.MANUAL, Kind.ROBOT)))


def read_back(form, script):
    """Return what is read from a text, and what should be; None if the form cannot be written."""
    try:
        text = RENDERERS[form].write(script)
    except DoesNotFit:
        return None
    if form != "netbox-csv":
        seen = read_wiring_text(text, script.plant, script.base)
        assert {*script.panels} <= seen.panels and not seen.dark
        return seen.present, script.final
    # NetBox says "planned" until the cables are plugged.
    wanted = known_to_netbox(script)
    text = text.replace(",planned,", ",connected,")
    return (
        (read_wiring_text(text, script.plant, Present()).present.pairs, wanted) if wanted else None
    )


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.filter_too_much])
@given(scripts())
def test_every_rendered_format_is_read_back_as_the_wiring_after_the_plan(script):
    assume(script.moves)
    one_sided = any(panel.one_sided for panel in script.plant.panels)
    for form in OF_WIRINGS:
        found = read_back(form, script)
        if found is not None:
            assert found[0] == found[1], form
        else:
            assert form in ("deployment", "netbox-csv") or (form in SIDED and one_sided), form


def test_a_deployment_is_read_back_as_its_cross_connects():
    plant = cross_wired(16, 4)
    script = read_script(to_document(plan_moves(torus(), plant)), plant)
    text = RENDERERS["deployment"].write(script)
    assert read_wiring_text(text, plant).present == script.final


@settings(deadline=None, max_examples=12)
@given(scripts())
def test_a_plan_and_a_plant_in_each_of_its_forms_state_their_pairs(script):
    plant = script.plant.with_present(script.final)
    bare = replace(plant, present=Present(), uniform=None)
    texts = [json.dumps(plant_document(plant)), plant_csv(plant)]
    for text in texts:
        assert read_wiring_text(text, bare).present == script.final


@pytest.mark.parametrize("form", LAUNCH_FILES)
def test_a_launch_file_is_no_wiring(form):
    plant = Plant(
        cross_wired(16, 4).panels,
        tuple(
            replace(host, ports=tuple(replace(port, id=f"mlx5_{port.id}") for port in host.ports))
            for host in cross_wired(16, 4).hosts
        ),
    )
    script = read_script(to_document(plan_moves(torus(), plant)), plant)
    with pytest.raises(InvalidWiring, match="not the wiring of panels"):
        read_wiring_text(RENDERERS[form].write(script), plant)


# Answers of devices, by the rules of their manuals, one panel after another.


def sonic_table(plant, panel, pairs, status):
    head = ["id", "a_side", "b_side"] + (["a_side_status", "b_side_status"] if status else [])
    rows = [
        [f"{a}A-{b}B", f"{a}A", f"{b}B"] + (["tuned", "tuned"] if status else [])
        for a, b in ((pair.a + 1, pair.b + 1) for pair in pairs)
    ]
    widths = [max(len(row[n]) for row in [head, *rows]) for n in range(len(head))]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True))
             for row in [head, ["-" * w for w in widths], *rows]]  # fmt: skip
    return "\n".join(line.rstrip() for line in lines) + "\n"


def scpi_answer(plant, panel, pairs):
    first = 0 if plant.panels[panel].one_sided else len(plant.panels[panel].a)
    ins, outs = ([*side] for side in ((p.a + 1 for p in pairs), (p.b + 1 + first for p in pairs)))
    return f"(@{','.join(map(str, ins))}),(@{','.join(map(str, outs))})\n"


def tl1_answer(rows):
    body = "".join(f'   "{row}"\r\n' for row in rows)
    return f"\r\n   lab-7 26-11-26 10:15:00\r\nM  123 COMPLD\r\n{body};\r\n"


def tl1_patches(plant, panel, pairs):
    first = 0 if plant.panels[panel].one_sided else len(plant.panels[panel].a)
    return tl1_answer(f"{pair.a + 1},{pair.b + 1 + first}" for pair in pairs)


def tl1_connections(plant, panel, pairs):
    both = plant.panels[panel].mode is Mode.BIDIRECTIONAL
    sign, kind = ("-", "2way") if both else (">", "1way")
    return tl1_answer(
        f"{a}{sign}{b}:SRCPORT={a},DSTPORT={b},GRPNAME=lab,CONNNAME={a}{sign}{b},CONNTYPE={kind}"
        for a, b in ((pair.a + 1, pair.b + 1) for pair in pairs)
    )


def netconf_reply(plant, panel, pairs):
    first = 0 if plant.panels[panel].one_sided else len(plant.panels[panel].a)
    rows = "".join(
        f"<pair><ingress>{p.a + 1}</ingress><egress>{p.b + 1 + first}</egress></pair>"
        for p in pairs
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<rpc-reply xmlns="urn:ietf:params:xml:ns:netconf:base:1.0" message-id="7"><data>\n'
        f'<cross-connects xmlns="http://www.polatis.com/yang/optical-switch">{rows}'
        "</cross-connects></data></rpc-reply>\n"
    )


def restconf_reply(plant, panel, pairs):
    first = 0 if plant.panels[panel].one_sided else len(plant.panels[panel].a)
    rows = [{"ingress": pair.a + 1, "egress": pair.b + 1 + first} for pair in pairs]
    return json.dumps({"optical-switch:cross-connects": {"pair": rows}}, indent=1) + "\n"


def config_db(plant, panel, pairs):
    return json.dumps(config_of(table_of(pairs)), indent=4) + "\n"


SIDED_ANSWERS = {
    "show config": lambda *of: sonic_table(*of, status=False),
    "show status": lambda *of: sonic_table(*of, status=True),
    "CONFIG_DB": config_db,
    "RTRV-CRS": tl1_connections,
}
ANSWERS = SIDED_ANSWERS | {
    "SCPI": scpi_answer,
    "RTRV-PATCH": tl1_patches,
    "NETCONF": netconf_reply,
    "RESTCONF": restconf_reply,
}


def answers(plant, answer):
    """Return what all panels of a plant answer, below a heading for each."""
    return "".join(
        f"# panel {panel.id}\n"
        + answer(plant, number, [p for p in plant.present.pairs if p.panel == number])
        for number, panel in enumerate(plant.panels)
    )


@settings(deadline=None, max_examples=30)
@given(plants())
def test_the_answers_of_devices_state_what_is_plugged(plant):
    for name, answer in ANSWERS.items():
        if name in SIDED_ANSWERS and any(panel.one_sided for panel in plant.panels):
            continue
        seen = read_wiring_text(answers(plant, answer), plant, Present())
        assert seen.present == plant.present, name
        assert seen.panels == frozenset(range(len(plant.panels))) and not seen.notes


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_of_one_device_needs_the_name_of_its_panel_if_there_are_several(name):
    text = ANSWERS[name](TWO, 1, [])
    with pytest.raises(InvalidWiring, match="# panel ID"):
        read_wiring_text(text, TWO)
    found = read_wiring_text(f"# panel panel-1\n{text}", TWO.with_present(Present.of([(0, 2, 3)])))
    assert found.panels == {1} and found.present == Present.of([(0, 2, 3)])
    assert found.notes == ("The text does not describe panel-0: their 1 known pairs are kept.",)
    assert read_wiring_text(text, EXAMPLE).panels == {0}


@pytest.mark.parametrize(
    "text",
    [
        "admin@panel-1:~$ show ocs cross-connect config\nid     a_side    b_side\n"
        "-----  --------  --------\n2A-3B  2A        3B\nadmin@panel-1:~$ \n",
        json.dumps(
            {
                "DEVICE_METADATA": {"localhost": {"hostname": "panel-1"}},
                "OCS_CROSS_CONNECT": {"2A-3B": {"a_side": "2A", "b_side": "3B"}},
            }
        ),
        tl1_answer(["2,7"]).replace("lab-7", "panel-1"),
    ],
    ids=["prompt", "hostname", "TL1 header"],
)
def test_a_device_that_states_its_name_needs_no_heading(text):
    found = read_wiring_text(text, TWO)
    assert found.panels == {1} and found.present == Present.of([(1, 1, 2)])


def test_a_cross_connect_that_is_not_tuned_is_dark():
    text = sonic_table(EXAMPLE, 0, Present.of([(0, 0, 1), (0, 2, 3)]).pairs, status=True)
    found = read_wiring_text(text.replace("tuned", "tuning", 1), EXAMPLE)
    assert found.dark == {found.present.pairs[0]}
    rows = [{"panel": 0, "a": 0, "b": 1, "light": False}, {"panel": 0, "a": 2, "b": 3}]
    assert read_wiring(rows, EXAMPLE) == found
    table = "panel,a,b,light\n0,0A,1B,false\n0,2A,3B,true\n"
    assert read_wiring_text(table, EXAMPLE) == found


def test_a_two_way_connection_on_a_directed_panel_is_two_pairs():
    row = "1-2:SRCPORT=1,DSTPORT=2,GRPNAME=lab,CONNNAME=1-2,CONNTYPE=2way"
    found = read_wiring_text(tl1_answer([row]), EXAMPLE)
    assert found.present == Present.of([(0, 0, 1), (0, 1, 0)])


def cable(device, a, b, status="connected", kind="dcim.frontport"):
    ends = {
        side: [{"object_type": kind, "object": {"name": name, "device": {"name": device}}}]
        for side, name in (("a_terminations", a), ("b_terminations", b))
    }
    return ends | {"status": {"value": status}}


def test_netbox_states_the_jumpers_of_the_panels_that_its_cables_name():
    today = Present.of([(0, 3, 3), (1, 0, 1)])
    rows = [
        cable("panel-1", "1A", "2B"),
        cable("panel-1", "3B", "2A"),
        cable("panel-1", "3A", "1B", "planned"),
        cable("panel-1", "0A", "0B", "decommissioning"),
        cable("elsewhere", "1", "2"),
    ]
    for answer in (rows, {"count": 5, "results": rows}):
        found = read_wiring(answer, TWO.with_present(today))
        assert found.present == Present.of([(0, 3, 3), (1, 0, 0), (1, 1, 2), (1, 2, 3)])
        assert found.panels == {1}
        assert "The list has 1 planned cables: they are not plugged yet." in found.notes
    columns = ("side_a_device", "side_a_type", "side_a_name",
               "side_b_device", "side_b_type", "side_b_name", "status")  # fmt: skip
    out = io.StringIO()
    table = csv.writer(out)
    table.writerow(columns)
    for row in rows:
        ends = [row[side][0] for side in ("a_terminations", "b_terminations")]
        cells = [
            (end["object"]["device"]["name"], end["object_type"], end["object"]["name"])
            for end in ends
        ]
        table.writerow((*cells[0], *cells[1], row["status"]["value"]))
    assert read_wiring_text(out.getvalue(), TWO.with_present(today)) == found
    with pytest.raises(InvalidWiring, match="none of which leads to a panel"):
        read_wiring([cable("elsewhere", "1", "2")], TWO)


@settings(deadline=None, max_examples=15)
@given(script=scripts(("one-way", "duplex on directed", "two-sided")))
def test_a_patch_that_config_db_takes_is_read_as_what_it_leaves(script):
    """jsonpatch applies every patch; the reader sees the same wiring."""
    assume(script.moves)
    rows = json.loads(RENDERERS["sonic-patch"].write(script))
    states = {
        panel.id: {"OCS_CROSS_CONNECT": table_of(p for p in script.base.pairs if p.panel == n)}
        for n, panel in enumerate(script.plant.panels)
    }
    for row in rows:
        states[row["device"]] = jsonpatch.apply_patch(states[row["device"]], row["patch"])
        states[row["device"]].setdefault("OCS_CROSS_CONNECT", {})
    after = read_wiring(rows, script.plant, script.base).present.pairs
    assert after == read_wiring(states, script.plant, Present()).present.pairs


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("# panel panel-0\nconfig ocs cross-connect delete 1A-2B", "/line/2: removes 0A-1B"),
        ("config ocs cross-connect add 4A-2B safe", "/line/1: adds 3A-1B to panel-0, where 3A-3B"),
        ("# panel panel-0\n\nROUTE1:SCAN 0\n", "/line/3: removes 0A from panel-0"),
        ("# panel ocs\n(@),(@)", "/line/1: there is no panel 'ocs'"),
        ("(@1,2),(@5)", "/line/1: must list as many outputs as inputs"),
        ("(@1),(@4)", "/line/1: panel-0 has no pair of 1 and 4"),
        ("id a_side b_side\n1A-9B 1A 9B", "/line/2: panel-0 has no pair 1A-9B"),
        ("id a_side b_side\n1A-1B 1A 1B\nreboot", "/line/3: is no line of the table of 'show"),
        ("id a_side b_side\n1A-1B 1A 1B\n1A-2B 1A 2B", "/line/3/a: port 0A of panel-0"),
        ("M  1 COMPLD\n  \"1,5\"\n", "/line/1: begins an answer of TL1 without end"),
        ("M  1 DENY\n  IITA\n;", "/line/1: is a refusal of panel-0"),
        ("M  1 COMPLD\n  \"RACK=1\"\n;", "/line/2: is no cross-connect"),
        ("<data><a/></data>", "/line/1: holds no cross-connects"),
        ("<rpc-reply>\n<rpc-error/></rpc-reply>", "/line/1: holds an error"),
        ("<data><pair><ingress>x</ingress></pair></data>", "/line/1: "),
        ("<!DOCTYPE a><data/>", "must have no DOCTYPE"),
        ("<edits>\n<edit device='x'/></edits>", "/line/2: must name a panel"),
        ("<graphml><graph><edge source='a' target='b'/></graph></graphml>", "GraphML of a graph"),
        ("digraph {\n a -> b;\n}", "/line/2: is an edge without panel"),
        ('{"OCS_CROSS_CONNECT": {"1A-2C": {}}}', "/OCS_CROSS_CONNECT/1A-2C: must be a cross-"),
        ('[{"device": "x", "patch": []}]', "/0/device: must be a panel"),
        ('{\n"a": ', "/line/2: must be JSON"),
        ('[{"panel": 0, "a": 1, "b": 2, "a": 3}]', "must be JSON: an object names 'a' twice"),
        ("panel,a,b\npanel-0,0A,1B\npanel-0,7A,2B", "/line/3/a: panel-0 has no port 7A"),
        ("", "is empty"),
        ("\n\n%PDF-1.4", "/line/3: is a PDF document"),
        ("<html><body>Sign in</body></html>", "is an HTML page"),
        ('{"schema": "topology/1", "nodes": 2, "links": []}', "is a topology"),
        ("0 1\n1 2\n2 0", "is a topology"),
        ("SwitchName=s0 Nodes=n[0-3]", "is a topology"),
        ('<algo name="x"/>', "is a schedule, an MSCCL XML program"),
        ("hello", "is in no known format"),
    ],
)  # fmt: skip
def test_a_mistake_and_a_foreign_text_are_named_with_their_line(text, rule):
    plant = EXAMPLE.with_present(Present.of([(0, 3, 3)]))
    with pytest.raises(InvalidWiring) as caught:
        read_wiring_text(text, plant)
    assert rule in str(caught.value)
    assert "\n" not in caught.value.rule


def samples():
    """Return a text in every format that is read."""
    plant = replace(EXAMPLE, uniform=None).with_present(Present.of([(0, 0, 1), (0, 2, 3)]))
    from topoloom.synth.topology.topology import Topology

    ring = Topology([f"{i}" for i in range(4)], [(f"{i}", f"{(i + 1) % 4}") for i in range(4)])
    script = read_script(to_document(plan_moves(ring, plant)), plant)
    rendered = {form: RENDERERS[form].write(script) for form in OF_WIRINGS if form != "deployment"}
    found = {name: answers(plant, answer) for name, answer in ANSWERS.items()}
    found |= {"plant": json.dumps(plant_document(plant)), "plant table": plant_csv(plant)}
    found["pairs"] = "panel,a,b,light\npanel-0,0A,1B,false\n"
    found["netbox"] = json.dumps({"results": [cable("panel-0", "1A", "2B")]})
    return plant, rendered | found


PLANT, SAMPLES = samples()


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", SAMPLES)
@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_a_truncated_or_spoilt_text_is_a_wiring_or_one_clear_error(name, data):
    text = SAMPLES[name]
    cut = st.integers(0, len(text)).map(lambda end: text[:end])
    given_text = data.draw(cut | spoilt(text))
    try:
        found = read_wiring_text(given_text, PLANT)
    except InvalidWiring as error:
        assert error.rule and "\n" not in error.rule and len(error.rule) < 1000
    else:
        ports = [port for pair in found.present.pairs for port in PLANT.ends(pair)]
        assert len(ports) == len(set(ports))


MEMBERS = [
    *("OCS_CROSS_CONNECT", "DEVICE_METADATA", "cross_connects", "schema", "final", "panel-0"),
    *("optical-switch:cross-connects", "pair", "panel", "a", "b", "patch", "op", "path", "device"),
    *("results", "a_terminations", "text"),
]


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(MEMBERS),
        inner | st.just("patch-plan/1"), max_size=3),
    max_leaves=12,
))  # fmt: skip
def test_any_json_values_are_a_wiring_or_one_clear_error(document):
    try:
        read_wiring(document, PLANT)
    except InvalidWiring as error:
        assert error.rule


def test_the_rows_that_were_read_before_are_read_as_before():
    rows = [{"panel": "panel-0", "a": "3A", "b": 0, "foreign": True}, {"panel": 0, "a": 1, "b": 2}]
    assert read_wiring(rows, EXAMPLE).present == read_present(rows, EXAMPLE)
