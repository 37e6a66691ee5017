"""NetBox follows a plan by lists for its REST interface."""

import csv
import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from tests.synth.plants import plants, topologies
from topoloom.app.cli import app
from topoloom.synth.errors import DoesNotFit, InvalidWiring
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring import Present, plan_moves, smallest_plant, to_document
from topoloom.synth.wiring.devices import read_script
from topoloom.synth.wiring.devices.netbox_csv import write_netbox
from topoloom.synth.wiring.devices.netbox_rest import FRONT, changes, read_inventory
from topoloom.synth.wiring.plant import Kind
from topoloom.synth.wiring.plant.ports import Side


def front_ports(plant):
    names = [
        (panel.id, name)
        for panel in plant.panels
        for side in ((Side.A,) if panel.one_sided else Side)
        for name in panel.names(side)
    ]
    return [{"id": 10 + n, "name": name, "device": {"name": device}}
            for n, (device, name) in enumerate(names)]  # fmt: skip


def moved_ring():
    """A ring of three turned round: every port is given to another."""
    ring = Topology("abc", [("a", "b"), ("b", "c"), ("c", "a")])
    plant = smallest_plant(ring)
    plan = plan_moves(ring.transpose(), plant, plan_moves(ring, plant).final)
    return read_script(to_document(plan)), plant


@settings(deadline=None, max_examples=30)
@given(st.data(), plants(states=False))
def test_the_csv_holds_the_jumpers_that_a_plan_adds_and_no_others(data, plant):
    try:
        plan = plan_moves(data.draw(topologies(plant)), plant)
    except DoesNotFit:
        return
    text = write_netbox(read_script(to_document(plan), plant))
    added = {pair for pair in plan.final.pairs if pair not in plan.present.pairs}
    rows = csv.DictReader(io.StringIO(text, newline=""))
    assert {(row["side_a_device"], row["side_a_name"], row["side_b_name"]) for row in rows} == {
        (plant.panels[pair.panel].id, *map(plant.port_name, plant.ends(pair)))
        for pair in added
        if plant.panels[pair.panel].kind is not Kind.SWITCH
    }
    assert all(",planned," in line for line in text.splitlines()[1:])


def test_a_port_that_holds_a_cable_that_the_plan_does_not_know_stops_it():
    script, plant = moved_ring()
    ports = front_ports(plant)
    ids = {row["name"]: row["id"] for row in ports}
    other = {
        "id": 77,
        "status": {"value": "connected"},
        "a_terminations": [{"object_type": FRONT, "object_id": ids["0A"]}],
        "b_terminations": [{"object_type": "dcim.interface", "object_id": 5}],
    }
    with pytest.raises(InvalidWiring, match="cable 77 holds front port 0A of panel-0") as caught:
        changes(script, read_inventory(ports, {"results": [other]}), done=True)
    assert caught.value.field == "/cables/results/0"


@pytest.mark.parametrize(
    ("ports", "cables", "pointer"),
    [
        ({}, [], "/front_ports"),
        ([{"id": 1}], [], "/front_ports/0"),
        ([], [{"id": "x"}], "/cables/0"),
        ({"results": [], "next": "http://…?offset=50"}, [], "/front_ports"),
        ([{"results": [], "count": 1}], [], "/front_ports"),
        ([{"id": i, "name": "1", "device": {"name": "p"}} for i in (1, 2)], [], "/front_ports/1"),
    ],
)
def test_a_mistake_in_what_netbox_said_is_named(ports, cables, pointer):
    with pytest.raises(InvalidWiring) as caught:
        read_inventory(ports, cables)
    assert caught.value.field == pointer


def test_the_command_writes_the_lists(tmp_path):
    pair = Topology(["a", "b"], [("a", "b"), ("b", "a")])
    plant = smallest_plant(pair)
    plan = plan_moves(pair, plant, Present.of([]))
    files = {"plan": to_document(plan), "ports": front_ports(plant), "cables": []}
    for name, content in files.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    asked = ["patch", "netbox", str(tmp_path / "plan.json")]
    asked += ["--front-ports", str(tmp_path / "ports.json")]
    said = CliRunner().invoke(app, [*asked, "--cables", str(tmp_path / "cables.json")])
    assert said.exit_code == 0, said.output
    assert [row["status"] for row in json.loads(said.output)["POST"]] == ["planned", "planned"]
