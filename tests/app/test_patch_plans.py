import csv
import io
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import get_args

import pytest
import yaml

from app.options.table import DeviceFormat
from app.services import patch_plans
from synth.build import build
from synth.recipe import parse
from synth.wiring import Present, apply, read_present, uniform
from synth.wiring.devices import FORMATS as DEVICES
from synth.wiring.plant import plant_document


@pytest.mark.parametrize("layout", ["per-port", "single"])
def test_carrying_out_a_plan_gives_the_wiring_it_promises(client, layout):
    made = client.post(
        "/v1/patch-plans", json={"topology": {"recipe": "Kautz(2, 2)"}, "panels": layout}
    )
    assert made.status_code == 201
    plan = made.json()
    panels = uniform(**plan["panels"])
    final = apply(plan, Present(), panels)
    assert final == read_present(plan, panels)
    joined = sorted(panels.hosts_of(pair) for pair in final.pairs)
    topology = build(parse("Kautz(2, 2)"))
    assert joined == sorted((link.source, link.target) for link in topology.links)
    assert client.get(made.headers["Location"]).json() == plan


def test_the_work_order_has_a_row_for_every_move(client):
    present = [{"panel": 0, "a": 0, "b": 1}, {"panel": 0, "a": 1, "b": 0}]
    made = client.post(
        "/v1/patch-plans", json={"topology": {"recipe": "UniRing(3)"}, "present": present}
    )
    assert made.json()["summary"]["removes"] == 1
    assert made.json()["summary"]["adds"] == 2
    order = client.get(made.headers["Location"], params={"format": "csv"})
    assert order.headers["Content-Type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(order.text)))
    assert [row["action"] for row in rows] == ["remove", "add", "add"]
    negotiated = client.get(made.headers["Location"], headers={"Accept": "text/csv"})
    assert negotiated.text == order.text


def test_a_plan_may_start_from_the_plan_before_it(client):
    source = {"topology": {"recipe": "BiRing(6)"}}
    first = client.post("/v1/patch-plans", json=source).json()
    second = client.post("/v1/patch-plans", json=source | {"present": first})
    assert second.json()["summary"]["moves"] == 0


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"topology": {"fabric": "dgx-a100-2"}}, "/topology"),
        ({"lanes": 1}, "/topology"),
        ({"hosts": 3}, "/topology"),
        ({"panels": "many"}, "/panels"),
        ({"present": [{"panel": 9, "a": 0, "b": 1}]}, "/present/0/panel"),
        ({"present": [{"panel": 0, "a": 0, "b": 99}]}, "/present/0/b"),
        ({"present": [{"panel": 0, "a": 0, "b": 1}] * 2}, "/present/1/a"),
        ({"present": {}}, "/present/schema"),
        ({"present": "none"}, "/present"),
        ({"hosts": 10**6, "lanes": 10**4}, "/hosts"),
    ],
)
def test_what_does_not_fit_is_refused_by_its_place(client, changes, pointer):
    answer = client.post("/v1/patch-plans", json={"topology": {"recipe": "BiRing(5)"}} | changes)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"].startswith(pointer)
    assert client.get("/v1/patch-plans").json()["items"] == []


def plant_of(hosts, lanes):
    return plant_document(replace(uniform("per-port", hosts, lanes), uniform=None, name="lab"))


def test_a_plan_on_a_plant_of_ones_own_names_its_hosts_and_is_read_back(client):
    body = {"topology": {"recipe": "BiRing(5)"}, "plant": plant_of(6, 2)}
    made = client.post("/v1/patch-plans", json=body)
    assert made.status_code == 201, made.text
    plan = made.json()
    assert plan["plant"]["name"] == "lab" and "panels" not in plan
    assert plan["ports"][0]["endpoint"] == {"node": 0, "host": "0", "port": "0"}
    listed = client.get("/v1/patch-plans").json()["items"][0]["request"]
    assert listed["plant"]["schema"] == "plant/1"
    again = client.post("/v1/patch-plans", json=body | {"present": plan})
    assert again.json()["summary"]["moves"] == 0


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"plant": {"schema": "plant/1"}, "lanes": 2}, ""),
        ({"plant": {"schema": "plant/2"}}, "/plant/schema"),
        ({"plant": plant_of(4, 2)}, "/topology"),
        ({"place": "anywhere"}, "/place"),
        ({"max_links_down": 0}, "/max_links_down"),
        ({"stay_connected": True}, "/stay_connected"),
    ],
)
def test_a_plant_or_a_limit_that_cannot_be_is_refused_by_its_place(client, changes, pointer):
    answer = client.post("/v1/patch-plans", json={"topology": {"recipe": "BiRing(5)"}} | changes)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"].startswith(pointer)


def test_stages_keep_their_limits_and_say_what_throughput_is_left(client):
    ring = {"topology": {"recipe": "Circulant(8, 1, 2)"}}
    first = client.post("/v1/patch-plans", json=ring).json()
    other = {"topology": {"recipe": "Circulant(8, 1, 3)"}, "present": first}
    limits = {"max_links_down": 4, "stay_connected": True}
    plan = client.post("/v1/patch-plans", json=other | limits).json()
    assert plan["summary"]["stages"] == len(plan["stages"]) > 1
    for stage in plan["stages"]:
        assert stage["effect"]["connected"] and stage["effect"]["links_down"] <= 4
        assert 0 < Fraction(stage["effect"]["bandwidth_left"]) <= 1
    stages = {row["stage"] for row in csv.DictReader(io.StringIO(
        client.get(f"/v1/patch-plans/{plan['id']}?format=csv").text
    ))}  # fmt: skip
    assert len(stages) == len(plan["stages"])


def test_nodes_may_be_placed_freely(client):
    first = client.post("/v1/patch-plans", json={"topology": {"recipe": "UniRing(7)"}}).json()
    other = {"topology": {"recipe": "DirectedCirculant(7, 3)"}, "present": first}
    assert client.post("/v1/patch-plans", json=other).json()["summary"]["moves"] == 14
    free = client.post("/v1/patch-plans", json=other | {"place": "free"}).json()
    assert free["summary"]["moves"] == 0


def test_formats_of_plans_are_those_that_devices_are_told():
    assert patch_plans.FORMATS.keys() == {"json", "csv"} | DEVICES.keys()
    assert get_args(DeviceFormat) == tuple(DEVICES)
    for name, form in DEVICES.items():
        assert patch_plans.FORMATS[name] == form.media_type
    assert len(set(patch_plans.FORMATS.values())) == len(patch_plans.FORMATS)


@pytest.mark.parametrize("form", [name for name in DEVICES if name != "deployment"])
def test_a_stored_plan_is_rendered_for_every_device(client, form):
    body = {"topology": {"recipe": "BiRing(5)"}, "plant": plant_of(5, 2)}
    place = client.post("/v1/patch-plans", json=body).headers["Location"]
    asked = client.get(place, params={"format": form})
    assert asked.status_code == 200
    media_type = patch_plans.FORMATS[form]
    assert asked.headers["Content-Type"].startswith(media_type)
    assert client.get(place, headers={"Accept": media_type}).text == asked.text


def test_a_format_that_a_plan_has_not_is_refused_with_the_reason(client):
    place = client.post("/v1/patch-plans", json={"topology": {"recipe": "UniRing(3)"}}).headers[
        "Location"
    ]
    answer = client.get(place, params={"format": "deployment"})
    assert answer.status_code == 422
    assert "face each other" in answer.text


def test_the_command_line_renders_and_verifies_a_plan_of_a_given_plant(topoloom, tmp_path):
    plant, plan, seen = (str(tmp_path / name) for name in ("plant.yaml", "plan.json", "seen.json"))
    Path(plant).write_text(yaml.safe_dump(plant_of(5, 2)))
    assert topoloom("patch", "BiRing(5)", "--plant", plant, "--out", plan).code == 0
    lines = topoloom("patch", "render", plan, "--plant", plant, "--format", "sonic-cli")
    assert lines.code == 0 and lines.out.count("cross-connect add") == 10
    refused = topoloom("patch", "render", plan, "--format", "sonic-cli")
    assert refused.code == 2 and "must be given too" in refused.err
    pairs = [
        pair | {"panel": panel}
        for panel, state in json.loads(Path(plan).read_text())["final"].items()
        for pair in state["pairs"]
    ]
    Path(seen).write_text(json.dumps(pairs))
    assert topoloom("patch", "verify", plan, "--observed", seen, "--plant", plant).code == 0
    Path(seen).write_text(json.dumps(pairs[1:]))
    broken = topoloom("patch", "verify", plan, "--observed", seen, "--plant", plant)
    assert broken.code == 1 and "missing" in broken.out and "1 missing" in broken.out
