"""Designs that weigh today's wiring, by REST and on the command line."""

import json

import pytest
from typer.testing import CliRunner

from app.cli import app

QUESTION = {"nodes": 18, "degree": 4, "collective": "allgather", "bytes": "1MB"}


@pytest.fixture
def plugged(client):
    """What is plugged after the slower point of the frontier was wired."""
    frontier = client.post("/v1/designs", json=QUESTION).json()["frontier"]
    source = {"topology": {"id": frontier[-1]["topology_id"]}}
    return frontier, client.post("/v1/patch-plans", json=source).json()


def test_a_design_says_how_each_point_is_reached_and_what_less_change_costs(client, plugged):
    frontier, plan = plugged
    made = client.post("/v1/designs", json=QUESTION | {"present": plan})
    assert made.status_code == 201, made.text
    found = made.json()
    moves = [point["rewiring"]["moves"] for point in found["frontier"]]
    assert moves[-1] == 0 < moves[0]
    seconds = [point["seconds"] for point in found["frontier"]]
    listed = [(row["seconds"], row["moves"]) for row in found["trade_off"]]
    assert set(listed) <= set(zip(seconds, moves, strict=True)) and (seconds[-1], 0) in listed
    assert found["best"]["seconds"] == min(seconds)
    stay = client.post("/v1/designs", json=QUESTION | {"present": plan, "max_moves": 0}).json()
    assert stay["best"]["topology_id"] == frontier[-1]["topology_id"]
    assert stay["id"] != found["id"]
    plain = client.post("/v1/designs", json=QUESTION).json()
    assert "trade_off" not in plain and "rewiring" not in plain["frontier"][0]


@pytest.mark.parametrize(
    ("more", "pointer"),
    [
        ({"max_moves": 3}, ""),
        ({"place": "free"}, ""),
        ({"panels": "single", "plant": {}}, ""),
        ({"present": [{"panel": 9, "a": 0, "b": 0}]}, "/present/0/panel"),
        ({"plant": {"schema": "plant/2"}}, "/plant/schema"),
        ({"panels": "per-port", "max_moves": 1}, "/max_moves"),
    ],
)
def test_a_mistake_in_what_is_plugged_is_named(client, more, pointer):
    answer = client.post("/v1/designs", json=QUESTION | more)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == pointer


def test_the_command_line_reads_files_and_shows_moves_beside_times(client, plugged, tmp_path):
    _, plan = plugged
    (tmp_path / "today.json").write_text(json.dumps(plan))
    asked = ["design", "--nodes", "18", "--degree", "4", "--collective", "allgather"]
    asked += ["--bytes", "1MB", "--present", str(tmp_path / "today.json"), "--max-moves", "0"]
    shown = CliRunner().invoke(app, asked)
    assert shown.exit_code == 0, shown.output
    assert "0 moves (at least 0): " in shown.output
