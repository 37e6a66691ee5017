"""Requests take the text of a plant's file, as the command line takes the file."""

import json
from typing import get_args

import pytest
import yaml

from tests.cases import for_every
from tests.plant_tables import plant_csv
from topoloom.app.requests.plant_source import PlantFormat
from topoloom.synth.wiring.plant import TEXT_FORMATS, plant_document, read_plant

QUESTIONS = {
    "/v1/patch-plans": {"topology": {"recipe": "UniRing(3)"}},
    "/v1/patch-plans/cross-wiring": {},
    "/v1/designs": {"nodes": 3, "degree": 1, "collective": "allreduce", "bytes": "1MB"},
}
HALL = {
    "schema": "plant/1",
    "panels": [{"id": "p1", "a": 3, "b": 3}],
    "hosts": [
        {"id": f"h{n}", "ports": [{"id": "0", "tx": f"p1/{n}A", "rx": f"p1/{n}B"}]}
        for n in range(3)
    ],
    "cross_connects": [{"panel": "p1", "a": "0A", "b": "2B"}],
}
CABLES = """side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name,status
h0,dcim.interface,eth0,p1,dcim.rearport,0,connected
h0,dcim.interface,eth1,p1,dcim.rearport,3,connected
h1,dcim.interface,eth0,p1,dcim.rearport,1,connected
h1,dcim.interface,eth1,p1,dcim.rearport,4,connected
h2,dcim.interface,eth0,p1,dcim.rearport,2,connected
h2,dcim.interface,eth1,p1,dcim.rearport,5,connected
p1,dcim.frontport,0,p1,dcim.frontport,2,connected
h0,dcim.powerport,psu0,pdu,dcim.poweroutlet,1,connected
"""
TEXTS = [
    ("UniRing(3)", "json", json.dumps(HALL)),
    ("UniRing(3)", "yaml", yaml.safe_dump(HALL)),
    ("UniRing(3)", "csv", plant_csv(read_plant(HALL))),
    ("BiRing(3)", "csv", CABLES),
]


def test_the_formats_of_requests_are_those_of_the_reader():
    assert get_args(PlantFormat) == TEXT_FORMATS


@pytest.mark.parametrize(("recipe", "form", "text"), TEXTS)
def test_a_text_by_rest_and_a_file_on_the_command_line_are_one_plan(
    client, topoloom, tmp_path, recipe, form, text
):
    (tmp_path / "plant").write_text(text)
    said = topoloom("patch", recipe, "--plant", str(tmp_path / "plant"))
    assert said.code == 0, said.err
    for plant in ({"text": text}, {"text": text, "format": form}):
        answer = client.post(
            "/v1/patch-plans", json={"topology": {"recipe": recipe}, "plant": plant}
        )
        assert answer.json() == json.loads(said.out)


def test_what_a_text_does_not_state_is_told_in_the_plan_and_on_the_command_line(
    client, topoloom, tmp_path
):
    (tmp_path / "cables.csv").write_text(CABLES)
    said = topoloom("patch", "BiRing(3)", "--plant", str(tmp_path / "cables.csv"))
    notes = [one["text"] for one in json.loads(said.out)["plant"]["assumed"]]
    assert notes[0] == "Cables that lead to no panel are left out: 1 poweroutlet to powerport."
    assert [line.removeprefix("note: ") for line in said.err.splitlines()] == notes


@for_every(
    ("plant", "pointer", "detail"),
    [
        (
            {
                "text": CABLES.replace(
                    "h1,dcim.interface,eth0,p1,dcim.rearport,1",
                    "h1,dcim.interface,eth0,p1,dcim.rearport,0",
                )
            },
            "/plant/text/rows/2",
            "port 0 of p1 has h0 eth0 already (line 4)",
        ),
        ({"text": "item,panel\nwheel,p1\n"}, "/plant/text/rows/0/item", "(line 2)"),
        ({"text": CABLES, "format": "yaml"}, "/plant/text", "is no plant"),
        ({"text": json.dumps(HALL | {"schema": "plant/2"})}, "/plant/text/schema", "plant/1"),
        ({"text": 7}, "/plant/text", "must be a text"),
        ({"text": "", "format": "xml"}, "/plant/format", "must be one of json, yaml, csv"),
        ({"text": "", "colour": 1}, "/plant/colour", "is not a field of this request"),
        ({"text": ""}, "/plant/text", "a plant is plant/1 as JSON or YAML, a CSV table"),
        (7, "/plant", "must be a JSON object"),
        (HALL | {"hosts": 7}, "/plant/hosts", "must be a list"),
    ],
)
@for_every("route", QUESTIONS)
def test_a_mistake_in_a_text_is_named_by_pointer_and_line(still, route, plant, pointer, detail):
    answer = still.post(route, json={"plant": plant, **QUESTIONS[route]})
    assert answer.status_code == 422
    [error] = answer.json()["errors"]
    assert error["pointer"] == pointer
    assert detail in error["detail"]


def test_a_text_of_cables_is_cross_wired_as_its_document_is(still):
    route = "/v1/patch-plans/cross-wiring"
    texts = [{"text": CABLES}, plant_document(read_plant(HALL)), {"text": json.dumps(HALL)}]
    answers = [still.post(route, json={"plant": plant}).json() for plant in texts]
    assert answers[1] == answers[2]
    assert answers[0]["schema"] == "cross-wiring/1"
