"""Designs that weigh today's wiring, by REST and on the command line."""

import json

import pytest
from typer.testing import CliRunner

from topoloom.app.cli import app

QUESTION = {"nodes": 18, "degree": 4, "collective": "allgather", "bytes": "1MB"}


PLANT = {
    "schema": "plant/1",
    "panels": [
        {"id": f"panel-{p}", "kind": "switch", "a": 18, "b": 18, "move_seconds": p + 0.5}
        for p in range(4)
    ],
    "hosts": [
        {
            "id": str(h),
            "ports": [
                {"id": str(p), "tx": f"panel-{p}/{h}A", "rx": f"panel-{p}/{h}B"} for p in range(4)
            ],
        }
        for h in range(18)
    ],
}


@pytest.fixture
def plugged(client):
    """What is plugged after the slower point of the frontier was wired."""
    frontier = client.post("/v1/designs", json=QUESTION).json()["frontier"]
    source = {"topology": {"id": frontier[-1]["topology_id"]}}
    return frontier, client.post("/v1/patch-plans", json=source).json()


@pytest.mark.slow
def test_a_design_says_how_each_point_is_reached_and_what_less_change_costs(client, plugged):
    frontier, plan = plugged
    made = client.post("/v1/designs", json=QUESTION | {"current_wiring": plan})
    assert made.status_code == 201, made.text
    found = made.json()
    moves = [point["rewiring"]["moves"] for point in found["frontier"]]
    assert moves[-1] == 0 < moves[0]
    seconds = [point["seconds"] for point in found["frontier"]]
    listed = [(row["seconds"], row["moves"]) for row in found["trade_off"]]
    assert set(listed) <= set(zip(seconds, moves, strict=True)) and (seconds[-1], 0) in listed
    assert found["best"]["seconds"] == min(seconds)
    unmoved = QUESTION | {"current_wiring": plan, "max_moves": 0}
    stay = client.post("/v1/designs", json=unmoved).json()
    assert stay["best"]["topology_id"] == frontier[-1]["topology_id"]
    assert stay["id"] != found["id"]
    plain = client.post("/v1/designs", json=QUESTION).json()
    assert "trade_off" not in plain and "rewiring" not in plain["frontier"][0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("weighed", "member", "limit"),
    [
        ("seconds", "rewiring_seconds", "max_rewiring_seconds"),
        ("drained", "drained", "max_drained"),
    ],
)
def test_seconds_and_drained_hosts_are_weighed_as_moves_are(
    client, plugged, weighed, member, limit
):
    frontier, plan = plugged
    question = QUESTION | {"current_wiring": plan, "plant": PLANT, "objective": weighed}
    made = client.post("/v1/designs", json=question)
    assert made.status_code == 201, made.text
    found = made.json()
    goals = [point["rewiring"]["objective"] for point in found["frontier"]]
    assert [goal["least"] for goal in goals] == [weighed, weighed]
    assert goals[-1]["value"] == 0 < goals[0]["lower_bound"] <= goals[0]["value"]
    first = found["trade_off"][0]
    assert first[member] == first["objective"]["value"] == goals[0]["value"]
    most = first[member] - 1
    stay = client.post("/v1/designs", json=question | {limit: most}).json()
    assert stay["best"]["topology_id"] == frontier[-1]["topology_id"]
    same = client.post("/v1/designs", json=question | {limit: most + 1}).json()
    assert same["best"] == found["best"]


@pytest.mark.slow
def test_moves_are_weighed_where_nothing_else_is_said(client, plugged):
    question = QUESTION | {"current_wiring": plugged[1]}
    first, said = (
        client.post("/v1/designs", json=question | more) for more in ({}, {"objective": "moves"})
    )
    assert first.json() == said.json() and "objective" not in first.json()["trade_off"][0]


@pytest.mark.parametrize(
    ("more", "pointer"),
    [
        ({"max_moves": 3}, ""),
        ({"max_rewiring_seconds": 3}, ""),
        ({"max_drained": 3}, ""),
        ({"objective": "seconds"}, ""),
        ({"panels": "per-port", "objective": "hours"}, "/objective"),
        ({"panels": "per-port", "max_drained": -1}, "/max_drained"),
        ({"panels": "per-port", "max_drained": 1.5}, "/max_drained"),
        ({"panels": "per-port", "max_rewiring_seconds": -0.5}, "/max_rewiring_seconds"),
        ({"plant": PLANT, "max_rewiring_seconds": 0}, "/max_rewiring_seconds"),
        ({"host_assignment": "free"}, ""),
        ({"panels": "single", "plant": {}}, ""),
        ({"current_wiring": [{"panel": 9, "a": 0, "b": 0}]}, "/current_wiring/0/panel"),
        ({"plant": {"schema": "plant/2"}}, "/plant/schema"),
        ({"panels": "per-port", "max_moves": 1}, "/max_moves"),
    ],
)
@pytest.mark.one_in(5)
def test_a_mistake_in_what_is_plugged_is_named(client, more, pointer):
    answer = client.post("/v1/designs", json=QUESTION | more)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == pointer


@pytest.mark.slow
def test_the_command_line_reads_files_and_shows_moves_beside_times(client, plugged, tmp_path):
    _, plan = plugged
    (tmp_path / "today.json").write_text(json.dumps(plan))
    asked = ["design", "--nodes", "18", "--degree", "4", "--collective", "allgather"]
    asked += ["--bytes", "1MB", "--max-moves", "0"]
    asked += ["--current-wiring", str(tmp_path / "today.json")]
    shown = CliRunner().invoke(app, asked)
    assert shown.exit_code == 0, shown.output
    assert "0 moves (at least 0): " in shown.output


@pytest.mark.slow
def test_the_command_line_shows_what_is_weighed_and_refuses_a_limit_below_nothing(
    plugged, topoloom, tmp_path
):
    _, plan = plugged
    today, plant = tmp_path / "today.json", tmp_path / "plant.json"
    today.write_text(json.dumps(plan))
    plant.write_text(json.dumps(PLANT))
    asked = ["design", "--nodes", "18", "--degree", "4", "--collective", "allgather"]
    asked += ["--bytes", "1MB", "--current-wiring", str(today), "--plant", str(plant)]
    for limit, weighed, said in (
        ("--max-rewiring-seconds", "seconds", "0 ns of 0 moves (at least 0 ns): "),
        ("--max-drained", "drained", "0 hosts drained by 0 moves (at least 0): "),
    ):
        shown = topoloom(*asked, "--objective", weighed, limit, "0")
        assert shown.code == 0 and said in shown.out, shown.err
        refused = topoloom(*asked, "--objective", weighed, limit, "-1")
        assert refused.code == 2 and f"topoloom: {limit}: " in refused.err, refused.err
        assert "Traceback" not in refused.err
