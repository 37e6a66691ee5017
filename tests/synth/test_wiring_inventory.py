"""NetBox follows a plan by lists for its REST interface."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from app.cli import app
from synth.errors import DoesNotFit, InvalidWiring
from synth.topology import Topology
from synth.wiring import Present, plan_moves, sized, to_document
from synth.wiring.devices import read_script
from synth.wiring.devices.inventory import FRONT, changes, read_inventory
from synth.wiring.plant import Kind
from synth.wiring.plant.ports import Side
from tests.synth.plants import plants, topologies


def front_ports(plant):
    names = [
        (panel.id, name)
        for panel in plant.panels
        for side in ((Side.A,) if panel.one_sided else Side)
        for name in panel.names(side)
    ]
    return [{"id": 10 + n, "name": name, "device": {"name": device}}
            for n, (device, name) in enumerate(names)]  # fmt: skip


def cable(number, ends, status):
    one, other = ([{"object_type": FRONT, "object_id": end}] for end in ends)
    return {"id": number, "a_terminations": one, "b_terminations": other,
            "status": {"value": status}}  # fmt: skip


def carried(cables, found):
    """Do to a list of cables what NetBox does with such lists."""
    status = {row["id"]: row["status"] for row in found.patch}
    gone = {row["id"] for row in found.delete}
    assert status.keys() | gone <= {row["id"] for row in cables}
    kept = [
        row | ({"status": {"value": status[row["id"]]}} if row["id"] in status else {})
        for row in cables
        if row["id"] not in gone
    ]
    free = 1 + max((row["id"] for row in cables), default=0)
    made = [
        row | {"id": free + n, "status": {"value": row["status"]}}
        for n, row in enumerate(found.post)
    ]
    return kept + made


@given(st.data(), plants(states=False))
def test_netbox_has_the_jumpers_of_a_plan_after_it_and_a_second_run_changes_nothing(data, plant):
    topology = data.draw(topologies(plant))
    try:
        plan = plan_moves(topology, plant)
    except DoesNotFit:
        return
    script = read_script(to_document(plan), plant)
    ports = front_ports(plant)
    ids = {(row["device"]["name"], row["name"]): row["id"] for row in ports}

    def ends(pair):
        device = plant.panels[pair.panel]
        return tuple(ids[device.id, plant.port_name(port)] for port in plant.ends(pair))

    def jumpers(pairs):
        return {frozenset(ends(p)) for p in pairs if plant.panels[p.panel].kind is not Kind.SWITCH}

    cables = [
        cable(n, ends(pair), "connected")
        for n, pair in enumerate(plan.present.pairs)
        if plant.panels[pair.panel].kind is not Kind.SWITCH
    ]
    for done in (False, True):
        cables = carried(cables, changes(script, read_inventory(ports, cables), done))
        again = changes(script, read_inventory({"results": ports}, {"results": cables}), done)
        assert again.given() == {"POST": [], "PATCH": [], "DELETE": []}
        if not done:
            planned = read_inventory(ports, cables).cables
            assert jumpers(plan.present.pairs) | jumpers(plan.final.pairs) == planned.keys()
    known = read_inventory(ports, cables).cables
    assert known.keys() == jumpers(plan.final.pairs)
    assert {status for _, status in known.values()} <= {"connected"}


@pytest.mark.parametrize(
    ("ports", "cables", "pointer"),
    [
        ({}, [], "/front_ports"),
        ([{"id": 1}], [], "/front_ports/0"),
        ([], [{"id": "x"}], "/cables/0"),
        ({"results": [], "next": "http://…?offset=50"}, [], "/front_ports"),
    ],
)
def test_a_mistake_in_what_netbox_said_is_named(ports, cables, pointer):
    with pytest.raises(InvalidWiring) as caught:
        read_inventory(ports, cables)
    assert caught.value.field == pointer


def test_the_command_writes_the_lists(tmp_path):
    pair = Topology(["a", "b"], [("a", "b"), ("b", "a")])
    plant = sized(pair)
    plan = plan_moves(pair, plant, Present.of([]))
    files = {"plan": to_document(plan), "ports": front_ports(plant), "cables": []}
    for name, content in files.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    asked = ["patch", "netbox", str(tmp_path / "plan.json")]
    asked += ["--front-ports", str(tmp_path / "ports.json")]
    said = CliRunner().invoke(app, [*asked, "--cables", str(tmp_path / "cables.json")])
    assert said.exit_code == 0, said.output
    assert [row["status"] for row in json.loads(said.output)["POST"]] == ["planned", "planned"]
