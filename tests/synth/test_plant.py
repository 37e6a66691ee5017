import copy
import csv
import io
import json
import time
from pathlib import Path

import jsonschema_rs
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import for_every
from tests.plant_tables import plant_csv
from tests.synth.plants import meshes, plants, trunked
from topoloom.synth.errors import InvalidPlant
from topoloom.synth.wiring.plant import (
    Layout,
    Mode,
    Pair,
    Plant,
    State,
    cross_wired,
    duplex,
    plant_digest,
    plant_document,
    read_plant,
    read_plant_text,
    uniform,
)
from topoloom.synth.wiring.plant.cable_lists import read_cables

SMALL = {
    "schema": "plant/1",
    "name": "lab",
    "link_budget_db": 4,
    "panels": [
        {"id": "ocs-1", "kind": "switch", "a": 4, "b": 4, "first": 1, "move_seconds": 0.05,
         "at_once": 4, "loss_db": 1.5, "profile": "sonic-ocs", "place": "row 2"},
        {"id": "ocs-2", "mode": "bidirectional", "ports": ["F1", "F2", "F3", "F4"]},
    ],
    "hosts": [
        {"id": "h0", "ports": [
            {"id": "0", "tx": "ocs-1/1A", "rx": "ocs-1/1B"},
            {"id": "1", "at": "ocs-2/F1"},
            {"id": "2"},
        ]},
        {"id": "h1", "state": "spare", "ports": [
            {"id": "0", "tx": ["ocs-1/2A", "ocs-1/3A"], "rx": ["ocs-1/2B", "ocs-1/3B"]},
            {"id": "1", "at": "ocs-2/F2", "state": "dead"},
        ]},
    ],
    "trunks": [{"from": "ocs-2/F4", "to": "ocs-3/7"}],
    "port_states": [{"port": "ocs-1/4A", "state": "reserved"}],
    "cross_connects": [
        {"panel": "ocs-1", "a": "1A", "b": "2B"},
        {"panel": "ocs-2", "a": "F2", "b": "F1", "foreign": True},
    ],
}  # fmt: skip
SMALL["panels"].append({"id": "ocs-3", "ports": 8})


def test_a_plant_says_what_its_document_says():
    plant = read_plant(SMALL)
    assert [panel.id for panel in plant.panels] == ["ocs-1", "ocs-2", "ocs-3"]
    assert plant.panels[0].a == ("1A", "2A", "3A", "4A")
    assert plant.panels[1].one_sided and plant.panels[1].mode is Mode.BIDIRECTIONAL
    assert plant.panels[0].move_seconds * 20 == 1 and plant.budget_db == 4
    assert plant.hosts[1].state is State.SPARE and plant.hosts[1].ports[1].state is State.DEAD
    assert len(plant.hosts[1].ports[0].tx) == 2
    assert plant.present.pairs == (Pair(0, 0, 1), Pair(1, 0, 1))
    assert plant.present.foreign == {Pair(1, 0, 1)}
    assert plant.hosts_of(Pair(0, 0, 1)) == (0, 1)
    assert plant.pair_name(Pair(0, 0, 1)) == "1A-2B"


@given(trunked())
def test_what_is_written_as_json_is_read_back(plant):
    document = json.loads(json.dumps(plant_document(plant)))
    assert read_plant(document) == plant
    assert plant_digest(read_plant(document)) == plant_digest(plant)
    assert read_plant_text(json.dumps(document)) == plant


@given(plants())
def test_yaml_says_the_same_as_json(plant):
    document = plant_document(plant)
    assert read_plant_text(yaml.safe_dump(document)) == plant


@given(trunked())
def test_what_is_written_as_csv_is_read_back_but_for_name_and_budget(plant):
    back = read_plant_text(plant_csv(plant))
    kept = {k: v for k, v in plant_document(plant).items() if k not in ("name", "link_budget_db")}
    assert plant_document(back) == kept | {"name": ""}


def test_the_digest_is_that_of_the_plant_and_not_of_what_is_plugged():
    plant = read_plant(SMALL)
    emptied = read_plant({**SMALL, "cross_connects": []})
    assert plant_digest(plant) == plant_digest(emptied)
    moved = copy.deepcopy(SMALL)
    moved["hosts"][0]["ports"][0]["tx"] = "ocs-1/4A"
    assert plant_digest(read_plant(moved)) != plant_digest(plant)


MISTAKES = [
    ("/schema", "plant/2", "/schema", 'must be "plant/1"'),
    ("/colour", "red", "/colour", "is unknown"),
    ("/panels", {}, "/panels", "must be a list"),
    ("/panels/0/id", "ocs-2", "/panels/1/id", "panel ocs-2 is there already"),
    ("/panels/0/kind", "magic", "/panels/0/kind", "must be one of manual, robot, switch"),
    ("/panels/0/a", 0, "/panels/0/a", "a number of ports"),
    ("/panels/1/ports", ["F1", "F1"], "/panels/1", "port F1 of ocs-2 is there twice"),
    ("/panels/1/a", 3, "/panels/1/ports", "either ports, or sides"),
    ("/panels/1/mode", "directed", "/panels/1/mode", "ocs-2 has no B side"),
    ("/panels/0/move_seconds", -1, "/panels/0/move_seconds", "not negative"),
    ("/panels/0/loss_db", "much", "/panels/0/loss_db", "must be a number"),
    ("/panels/0/at_once", 0, "/panels/0/at_once", "at least 1"),
    ("/panels/0/first", 2, "/panels/0/first", "must be 0 or 1"),
    ("/hosts/0/id", "h1", "/hosts/1/id", "host h1 is there already"),
    ("/hosts/0/ports/1/id", "0", "/hosts/0/ports/1/id", "h0: port 0 is there already"),
    ("/hosts/0/ports/0/tx", "ocs-9/1A", "/hosts/0/ports/0/tx/0", "no panel of the port"),
    ("/hosts/0/ports/0/tx", "ocs-1/9A", "/hosts/0/ports/0/tx/0", "ocs-1 has no port '9A'"),
    ("/hosts/0/ports/0/tx", "ocs-1", "/hosts/0/ports/0/tx/0", "written \"panel/port\""),
    ("/hosts/0/ports/0/tx", "ocs-1/4B", "/hosts/0/ports/0/tx/0", "port 4B of ocs-1 is on"),
    ("/hosts/0/ports/0/tx", "ocs-1/2A", "/hosts/1/ports/0/tx/0", "port 2A of ocs-1 has h0 0"),
    ("/hosts/0/ports/0/tx", "ocs-2/F3", "/hosts/0/ports/0/tx/0", "port F3 of ocs-2 carries"),
    ("/hosts/0/ports/1/at", "ocs-1/4A", "/hosts/0/ports/1/at/0", "port 4A of ocs-1 carries"),
    ("/hosts/0/ports/1/tx", "ocs-1/4A", "/hosts/0/ports/1/at", "either at, or tx and rx"),
    ("/hosts/0/ports/1/duplex", False, "/hosts/0/ports/1", "h0 1 has one fibre for both ways"),
    ("/hosts/1/ports/0/rx", "ocs-1/2B", "/hosts/1/ports/0", "h1 0 sends on 2 lanes, receives on 1"),
    ("/hosts/1/state", "gone", "/hosts/1/state", "must be one of free, spare, reserved, dead"),
    ("/trunks/0/to", "ocs-2/F3", "/trunks/0/to", "another panel"),
    ("/trunks/0/from", "ocs-2/F1", "/trunks/0/from", "port F1 of ocs-2 has h0 1 already"),
    ("/port_states/0/port", "ocs-1/5A", "/port_states/0/port", "ocs-1 has no port '5A'"),
    ("/cross_connects/0/a", "7A", "/cross_connects/0/a", "ocs-1 has no port '7A'"),
    ("/cross_connects/0/b", "1A", "/cross_connects/0/b", "must be another port of ocs-1"),
    ("/cross_connects/0/b", "3A", "/cross_connects/0/b", "other side of ocs-1"),
    ("/cross_connects/0/a", "3B", "/cross_connects/0/b", "other side of ocs-1"),
    ("/cross_connects/0/panel", "ocs-7", "/cross_connects/0/panel", "there is no panel 'ocs-7'"),
    ("/cross_connects/1", {"panel": "ocs-1", "a": "3A", "b": "2B"}, "/cross_connects/1/b",
     "port 2B of ocs-1 must be in one pair only; /cross_connects/0 has it"),
    ("/link_budget_db", "-3", "/link_budget_db", "must be a number"),
]  # fmt: skip


@for_every(("place", "value", "field", "rule"), MISTAKES)
def test_every_mistake_is_one_error_that_names_its_place_and_the_port(place, value, field, rule):
    document = copy.deepcopy(SMALL)
    *path, last = place.strip("/").split("/")
    part = document
    for step in path:
        part = part[int(step)] if isinstance(part, list) else part[step]
    part[int(last) if isinstance(part, list) else last] = value
    with pytest.raises(InvalidPlant) as caught:
        read_plant(document)
    assert caught.value.field == field
    assert rule in caught.value.rule


@pytest.mark.parametrize("text", ["", "a: [", "7", "[]", "{", "item\nwheel\n", "item,colour\n"])
def test_a_text_that_is_no_plant_is_refused(text):
    with pytest.raises(InvalidPlant):
        read_plant_text(text)


def test_a_yaml_bomb_is_refused():
    text = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
    for i in range(1, 9):
        text += f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]\n"
    start = time.process_time()
    with pytest.raises(InvalidPlant, match="at most 2000000 values"):
        read_plant_text(text)
    assert time.process_time() - start < 10


def test_a_table_of_cables_needs_no_rows_of_panels():
    plant = read_plant_text(
        "item,panel,port,host,host_port,fibre,to_port,state\n"
        "cable,p1,t0,h0,0,tx,,\n"
        "cable,p1,r0,h0,0,rx,,\n"
        "cable,p1,t1,h1,0,tx,,\n"
        "cable,p1,r1,h1,0,rx,,\n"
        "pair,p1,t0,,,,r1,foreign\n"
    )
    assert plant.panels[0].a == ("t0", "t1") and plant.panels[0].b == ("r0", "r1")
    assert plant.present.foreign == {Pair(0, 0, 1)}


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ("cable,p1,1,,0,tx,", "/rows/0/host"),
        ("cable,p1,1,h0,0,up,", "/rows/0/fibre"),
        ("trunk,p1,1,,,,2", "/rows/0/to_panel"),
        ("pair,p1,1,,,,", "/rows/0/to_port"),
        ("host,,,h0,,,", "/rows/0/state"),
    ],
)
def test_a_row_that_lacks_something_is_named(row, field):
    with pytest.raises(InvalidPlant) as caught:
        read_plant_text(f"item,panel,port,host,host_port,fibre,to_port\n{row}\n")
    assert caught.value.field == field


def _netbox(kind, device, name):
    return {
        "object_type": kind,
        "object_id": 1,
        "object": {"name": name, "device": {"name": device}},
    }


def _nautobot(side, kind, device, name):
    what = {"name": name, "device": {"name": device}}
    return {f"termination_{side}_type": kind, f"termination_{side}": what}


CABLES = [
    ("dcim.interface", "h0", "eth0", "dcim.rearport", "p1", "1", "connected"),
    ("dcim.rearport", "p1", "2", "dcim.interface", "h1", "eth0", "connected"),
    ("dcim.interface", "h2", "eth0", "dcim.frontport", "p2", "1", "connected"),
    ("dcim.frontport", "p1", "1", "dcim.frontport", "p1", "2", "connected"),
    ("dcim.frontport", "p1", "3", "dcim.frontport", "p1", "4", "planned"),
    ("dcim.rearport", "p1", "5", "dcim.rearport", "p2", "2", "connected"),
]


def test_cables_of_netbox_and_nautobot_say_the_same_plant():
    netbox = {
        "count": len(CABLES),
        "results": [
            {"a_terminations": [_netbox(*row[:3])], "b_terminations": [_netbox(*row[3:6])],
             "status": {"value": row[6], "label": row[6].title()}}
            for row in CABLES
        ],
    }  # fmt: skip
    nautobot = [
        _nautobot("a", *row[:3]) | _nautobot("b", *row[3:6]) | {"status": {"name": row[6].title()}}
        for row in CABLES
    ]
    out = io.StringIO()
    writer = csv.writer(out)
    sides = [f"side_{s}_{part}" for s in "ab" for part in ("type", "device", "name")]
    writer.writerow([*sides, "status"])
    writer.writerows(CABLES)
    plants = [read_cables(netbox), read_cables(nautobot), read_plant_text(out.getvalue())]
    assert plants[0] == plants[1] == plants[2] == read_plant_text(json.dumps(netbox))
    plant = plants[0]
    assert [host.id for host in plant.hosts] == ["h0", "h1", "h2"]
    assert [plant.pair_name(pair) for pair in plant.present.pairs] == ["1-2"]
    assert plant.full_name(plant.trunks[0].source) == "p1/5"


def test_a_cable_from_host_to_host_is_no_plant():
    with pytest.raises(InvalidPlant, match="past every panel"):
        read_cables([_nautobot("a", "dcim.interface", "h0", "e") |
                     _nautobot("b", "dcim.interface", "h1", "e")])  # fmt: skip


def _rest(kind_a, device_a, name_a, kind_b, device_b, name_b, status="connected"):
    return {
        "a_terminations": [_netbox(kind_a, device_a, name_a)],
        "b_terminations": [_netbox(kind_b, device_b, name_b)],
        "status": {"value": status},
    }


HOSTS = [_rest("dcim.interface", f"h{n}", "eth0", "dcim.rearport", "p1", f"{n}") for n in range(3)]
POWER = _rest("dcim.powerport", "h0", "psu0", "dcim.poweroutlet", "pdu", "1")
JUMPER = _rest("dcim.frontport", "p1", "0", "dcim.frontport", "p1", "1")


@pytest.mark.parametrize(
    ("row", "left_out"),
    [
        (POWER, "1 poweroutlet to powerport"),
        (_rest("dcim.interface", "h0", "mgmt", "dcim.interface", "h1", "mgmt"), "1 interface to i"),
        ({"a_terminations": [{"object_type": "dcim.powerfeed", "object": {"name": "feed"}}],
          "b_terminations": []}, "1 nothing to powerfeed"),
    ],
)  # fmt: skip
def test_a_cable_that_leads_to_no_panel_is_left_out_with_a_note(row, left_out):
    plant = read_cables([row, *HOSTS, JUMPER])
    assert plant == read_cables([*HOSTS, JUMPER])
    assert left_out in plant.assumed[0].text


def test_a_port_that_leads_to_neither_a_host_nor_a_jumper_keeps_what_is_plugged_there():
    circuit = _rest("circuits.circuittermination", "", "", "dcim.rearport", "p1", "7")
    jumper = _rest("dcim.frontport", "p1", "2", "dcim.frontport", "p1", "7")
    # A patch cord between two panels: hosts are cabled behind both ports.
    behind = _rest("dcim.interface", "h9", "eth0", "dcim.rearport", "p2", "9")
    cord = _rest("dcim.frontport", "p1", "0", "dcim.frontport", "p2", "9")
    plant = read_cables([circuit, jumper, cord, behind, *HOSTS])
    reserved = {plant.full_name(port) for port, state in plant.states.items()}
    assert reserved == {"p1/7", "p1/0", "p2/9"} and not plant.trunks
    assert "p1/7, p1/0, p2/9" in plant.assumed[0].text


def test_a_jumper_is_plugged_until_it_is_gone_and_not_while_it_is_planned():
    for status, plugged in (("connected", 1), ("decommissioning", 1), ("planned", 0)):
        jumper = JUMPER | {"status": {"value": status}}
        assert len(read_cables([*HOSTS, jumper]).present.pairs) == plugged


@given(st.data(), meshes(flavours=("one-sided",)))
def test_a_plant_is_read_back_from_its_cables_whatever_rear_ports_are_called(data, plant):
    fronts = [(panel.id, name) for panel in plant.panels for name in panel.a]
    ids = {front: number for number, front in enumerate(fronts)}

    def end(kind, port):
        here = plant.panels[port.panel].id, plant.port_name(port)
        name = here[1] if kind == "dcim.frontport" else f"rear of {here}"
        return {"object_type": kind,
                "object": {"id": ids[here], "name": name, "device": {"name": here[0]}}}  # fmt: skip

    def cable(a, b, status="connected"):
        ends = [a, b] if data.draw(st.booleans()) else [b, a]
        return {"a_terminations": ends[0], "b_terminations": ends[1], "status": {"value": status}}

    rows = [POWER]
    for host in plant.hosts:
        for port in host.ports:
            if port.tx:
                interface = [_netbox("dcim.interface", host.id, port.id)]
                rows.append(cable(interface, [end("dcim.rearport", fibre) for fibre in port.tx]))
    for trunk in plant.trunks:
        ends = [[end("dcim.rearport", port)] for port in (trunk.source, trunk.target)]
        rows.append(cable(*ends))
    for pair in plant.present.pairs:
        ends = [[end("dcim.frontport", port)] for port in plant.ends(pair)]
        rows.append(cable(*ends))
    answer = [
        {"name": name, "device": {"name": device}, "rear_port": {"id": ids[device, name]},
         "rear_port_position": 1}
        for device, name in fronts
    ]  # fmt: skip
    read = read_cables({"cables": data.draw(st.permutations(rows)), "front_ports": answer})
    assert _facts(read) == _facts(plant)


def _facts(plant):
    """What is cabled and plugged, by name."""
    hosts = {
        (host.id, port.id): [plant.full_name(fibre) for fibre in port.tx]
        for host in plant.hosts
        for port in host.ports
        if port.tx
    }
    trunks = {
        frozenset(plant.full_name(port) for port in (trunk.source, trunk.target))
        for trunk in plant.trunks
    }
    pairs = {
        frozenset(plant.full_name(port) for port in plant.ends(pair))
        for pair in plant.present.pairs
    }
    used = {name.rpartition("/")[0] for ends in (*hosts.values(), *trunks, *pairs) for name in ends}
    return hosts, trunks, pairs, {panel.id: panel.a for panel in plant.panels if panel.id in used}


REAR_IDS = {"R1": 11, "R2": 12}


def _front_ports(shape):
    """Return four front ports on two rear ports, the second of them turned round."""
    rows = []
    for name, rear, position in (
        ("F1", "R1", 1),
        ("F2", "R1", 2),
        ("F3", "R2", 2),
        ("F4", "R2", 1),
    ):
        row = {"name": name, "device": {"id": 1, "name": "p1"}}
        if shape == "rear_port":
            row |= {"rear_port": {"id": REAR_IDS[rear]}, "rear_port_position": position}
        else:
            row["rear_ports"] = [
                {"position": 1, "rear_port": REAR_IDS[rear], "rear_port_position": position}
            ]
        rows.append(row)
    return rows


def _with_ids(row):
    for side in "ab":
        for entry in row[f"{side}_terminations"]:
            entry["object"]["id"] = REAR_IDS.get(entry["object"]["name"], 99)
    return row


@pytest.mark.parametrize("shape", ["rear_port", "rear_ports"])
def test_rear_ports_are_the_front_ports_that_they_lead_to_in_order_of_position(shape):
    cables = [
        _with_ids(_rest("dcim.interface", f"h{n}", "eth0", "dcim.rearport", "p1", f"R{n}"))
        for n in (1, 2)
    ]
    cables.append(_rest("dcim.frontport", "p1", "F1", "dcim.frontport", "p1", "F3"))
    with pytest.raises(InvalidPlant, match="front and rear ports have different names"):
        read_cables(cables)
    plant = read_cables({"cables": cables, "front_ports": {"results": _front_ports(shape)}})
    at = [[plant.full_name(end) for end in host.ports[0].tx] for host in plant.hosts]
    assert at == [["p1/F1", "p1/F2"], ["p1/F4", "p1/F3"]]
    assert [plant.pair_name(pair) for pair in plant.present.pairs] == ["F1-F3"]
    assert plant.panels[0].a == ("F1", "F2", "F3", "F4") and not plant.assumed


EXPORTED = """ID,Label,Termination A,Termination B,Status,Type,Device A,Device B
1,,eth0,0,Connected,,h0,p1
2,,eth0,1,Connected,,h1,p1
3,power,psu0,o1,Connected,Power,h0,pdu
4,,0,1,Connected,,p1,p1
"""


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_the_table_that_netbox_exports_is_read_with_a_note(delimiter):
    plant = read_plant_text(EXPORTED.replace(",", delimiter))
    assert [host.id for host in plant.hosts] == ["h0", "h1"]
    assert [plant.pair_name(pair) for pair in plant.present.pairs] == ["0-1"]
    assert "read as panels (p1), all others as hosts" in plant.assumed[0].text
    for name in ("Side", "SIDE {} DEVICE"):
        names = [name.format(side) if "{" in name else f"{name} {side}" for side in "AB"]
        other = EXPORTED.replace("Device A", names[0]).replace("Device B", names[1])
        assert read_plant_text(other) == plant


@pytest.mark.parametrize(
    ("text", "field", "rule"),
    [
        ("termination_a_type,termination_a_id,termination_b_type,termination_b_id\n"
         "dcim.rearport,266,dcim.rearport,217\n", "", "holds ids only: export by REST or with"),
        ("ID,Label,Termination A,Termination B,Status,Type\n", "", "Device A and Device B"),
        (EXPORTED.replace("p1,p1", "p1,p2"), "", "states no types of ports"),
        (EXPORTED.replace(",0,1,", ',"0,2",1,'), "/rows/3", "several ports in one cell, in no"),
        (EXPORTED.replace("4,,0,1", "4,,0,0"), "/rows/3", "(line 5)"),
        ("side_a_device,side_a_type,side_a_name\n", "", "'side_b_device'"),
        ("item,panel,port,host,host_port,fibre\n\ncable,p1,0,h0,e0,at\ncable,p1,0,h1,e0,at\n",
         "/rows/1", "port 0 of p1 has h0 e0 already (line 4)"),
        ("item,panel,port\npair,p1,0,7\n", "/rows/0", "more cells than the header (line 2)"),
        ("item,panel,item\n", "", "has the column 'item' twice"),
        ("colour,size\nred,7\n", "", "a plant is plant/1"),
        ('{"count": 2, "results": [{"a_terminations": []}]}', "", "must be whole"),
        ('{"front_ports": []}', "", "an object with cables and front_ports"),
    ],
)  # fmt: skip
def test_a_table_that_cannot_be_read_is_refused_at_its_line(text, field, rule):
    with pytest.raises(InvalidPlant) as caught:
        read_plant_text(text)
    assert rule in caught.value.rule
    assert caught.value.field == field


def test_two_devices_of_one_name_are_not_one_panel():
    far = copy.deepcopy(HOSTS[2])
    far["b_terminations"][0]["object"]["device"]["id"] = 7
    with pytest.raises(InvalidPlant, match="two devices are called 'p1'") as caught:
        read_cables({"count": 2, "results": [HOSTS[0], far]})
    assert caught.value.field == "/results/1"


@pytest.mark.parametrize("layout", Layout)
def test_a_uniform_plant_is_a_plant_like_any_other(layout):
    plant = uniform(layout, 6, 3)
    read = read_plant(plant_document(plant))
    assert (read.panels, read.hosts) == (plant.panels, plant.hosts)


@pytest.mark.parametrize("plant", [duplex(5, 3), cross_wired(5, 4)], ids=lambda plant: plant.name)
def test_plants_of_the_builders_are_read_back(plant):
    assert isinstance(plant, Plant) and read_plant(plant_document(plant)) == plant


@pytest.mark.slow
def test_four_thousand_hosts_are_read_in_seconds():
    document = plant_document(uniform("per-port", 4096, 4))
    start = time.process_time()
    assert len(read_plant(document).hosts) == 4096
    assert time.process_time() - start < 5


def schema_of_the_page():
    text = (Path(__file__).parents[2] / "docs" / "reference" / "plant.md").read_text()
    return json.loads(text.partition("## JSON Schema")[2].split("```json")[1].split("```")[0])


@given(trunked())
def test_the_documented_schema_takes_what_is_written(plant):
    validator = jsonschema_rs.validator_for(schema_of_the_page())
    assert validator.is_valid(plant_document(plant))


@pytest.mark.parametrize(("place", "value"), [m[:2] for m in MISTAKES if "must be one" in m[3]])
def test_the_documented_schema_refuses_unknown_words(place, value):
    validator = jsonschema_rs.validator_for(schema_of_the_page())
    document = copy.deepcopy(SMALL)
    *path, last = place.strip("/").split("/")
    part = document
    for step in path:
        part = part[int(step)] if isinstance(part, list) else part[step]
    assert validator.is_valid(document)
    part[last] = value
    assert not validator.is_valid(document)


def test_the_plant_of_the_page_is_read():
    text = (Path(__file__).parents[2] / "docs" / "reference" / "plant.md").read_text()
    plant = read_plant_text(text.split("```yaml")[1].split("```")[0])
    assert plant.name == "hall 2" and len(plant.present.foreign) == 1
