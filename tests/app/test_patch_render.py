"""Texts that are written of plans: every format, and names that strangers chose."""

import csv
import io
import json

import pytest

from topoloom.app.services import patch_plans
from topoloom.synth.wiring import uniform
from topoloom.synth.wiring.plant import plant_document

RING = {"topology": {"recipe": "BiRing(4)"}}
BREAK = "ocs-1\nsudo reboot\n#"


@pytest.fixture
def ring(topoloom, tmp_path):
    """Write the plan of a ring; return its file."""
    plan = tmp_path / "plan.json"
    assert topoloom("patch", "BiRing(4)", "--out", str(plan)).code == 0
    return plan


NUMBERED = sorted({*patch_plans.FORMATS} - {"mlx-hostfile"})
"""Formats of a plan whose ports are numbers: MLX names devices."""


@pytest.mark.parametrize("form", NUMBERED)
@pytest.mark.one_in(9)
def test_a_plan_in_a_file_is_rendered_as_the_stored_one_is(client, topoloom, ring, tmp_path, form):
    place = client.post("/v1/patch-plans", json=RING).headers["Location"]
    stored = client.get(place, params={"format": form})
    assert stored.status_code == 200
    rendered = topoloom("patch", "render", str(ring), "--format", form)
    assert rendered.code == 0, rendered.err
    if form == "json":
        assert json.loads(rendered.out) == stored.json() == json.loads(ring.read_text())
    elif form == "csv":
        assert [*csv.reader(io.StringIO(rendered.out))] == [*csv.reader(io.StringIO(stored.text))]
    else:
        assert rendered.out.split() == stored.text.split()


@pytest.mark.parametrize("form", ["x", "JSON", "sonic-cli\nreboot"])
def test_a_format_that_there_is_not_is_one_line(topoloom, ring, form):
    refused = topoloom("patch", "render", str(ring), "--format", form)
    assert refused.code == 2 and refused.err.count("\n") == 1
    assert "format: must be one of json, csv, sonic-cli" in refused.err


@pytest.mark.one_in(2)
@pytest.mark.parametrize("command", ["show", "render"])
@pytest.mark.parametrize("left_out", ["summary", "stages", "ports", "final", "panels"])
def test_a_plan_that_is_not_whole_is_one_line(topoloom, ring, command, left_out):
    document = json.loads(ring.read_text())
    del document[left_out]
    ring.write_text(json.dumps(document))
    asked = {"show": [], "render": ["--format", "csv"]}[command]
    refused = topoloom("patch", command, str(ring), *asked)
    if (command, left_out) == ("render", "summary"):
        assert refused.code == 0  # no text has it
    else:
        assert refused.code == 2 and refused.err.count("\n") == 1


def test_a_plant_with_a_line_break_in_a_name_makes_no_plan(client, topoloom, tmp_path):
    plant = plant_document(uniform("per-port", 4, 2)) | {"name": ""}
    text = json.dumps(plant).replace("panel-1", json.dumps(BREAK)[1:-1])
    refused = client.post("/v1/patch-plans", json=RING | {"plant": json.loads(text)})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == "/plant/panels/1/id"
    (tmp_path / "plant.json").write_text(text)
    said = topoloom("patch", "BiRing(4)", "--plant", str(tmp_path / "plant.json"))
    assert said.code == 2 and said.err.count("\n") == 1 and r"without '\n'" in said.err


def test_pairs_of_a_panel_that_there_is_not_are_refused_without_its_line_breaks(
    client, topoloom, ring, tmp_path
):
    pair = {"panel": BREAK + "\x1b[2J", "a": "0A", "b": "1B"}
    refused = client.post("/v1/patch-plans", json=RING | {"present": [pair]})
    assert refused.status_code == 422
    seen = tmp_path / "seen.json"
    seen.write_text(json.dumps([pair]))
    for asked in (["BiRing(4)", "--current-wiring"], ["verify", str(ring), "--observed"]):
        said = topoloom("patch", *asked, str(seen))
        assert said.code == 2 and said.err.count("\n") == 1 and "\x1b" not in said.err
    port = [pair | {"panel": "panel-0", "a": "0A\x1b[2J"}]
    seen.write_text(json.dumps(port))
    said = topoloom("patch", "BiRing(4)", "--current-wiring", str(seen))
    assert said.code == 2 and "\x1b" not in said.err and r"0A\x1b[2J" in said.err


@pytest.mark.slow
def test_a_plan_with_a_line_break_in_a_name_is_not_rendered(topoloom, ring):
    document = json.loads(ring.read_text())
    document["ports"][0]["endpoint"]["node"] = BREAK
    ring.write_text(json.dumps(document))
    for form in patch_plans.FORMATS:
        refused = topoloom("patch", "render", str(ring), "--format", form)
        assert refused.code == 2 and "must be printable text" in refused.err, form
