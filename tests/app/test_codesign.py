"""Workloads through the service: lists, presets, co-design, and what is refused."""

import json
from fractions import Fraction

import pytest

from topoloom.schedules.formats.schedule.read import from_document
from topoloom.schedules.verify import violations
from topoloom.schedules.workloads.presets import PRESETS
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse

HOSTS = {"nodes": 16, "degree": 4}
TASKS = [
    {"collective": "allreduce", "bytes": 1000, "count": 50},
    {"collective": "allreduce", "bytes": "100MB", "count": 2},
    {"collective": "allgather", "bytes": "1MB"},
    {"collective": "reduce-scatter", "bytes": "1MB"},
    {"collective": "all-to-all", "bytes": "4MB", "count": 3},
]


def design(client, **question):
    # The first design of all compiles its kernels: on a busy machine it is asked for again.
    answer = client.post("/v1/designs", json=HOSTS | question)
    for _ in range(4):
        if answer.status_code == 202:
            answer = client.post("/v1/designs", json=HOSTS | question)
    assert answer.status_code in (200, 201), answer.text
    return answer.json()


@pytest.mark.slow
def test_every_task_of_a_workload_is_planned_timed_and_scheduled(client):
    document = design(client, workload=TASKS)
    found = document["co_design"]
    total = sum(Fraction(task["seconds"]) * task["count"] for task in found["tasks"])
    assert found["seconds"] == pytest.approx(float(total))
    assert found["seconds"] == min(point["seconds"] for point in found["points"])
    assert [point["topology_id"] for point in found["points"]] == [
        entry["topology_id"] for entry in document["frontier"]
    ]
    assert document["best"]["seconds"] == found["seconds"]
    assert {task["count"] for task in document["workload"]["tasks"]} == {50, 2, 1, 3}
    for task in found["tasks"]:
        assert task["seconds"] >= task["floor_seconds"]
    algorithms = {(task["bytes"], task["algorithm"]) for task in found["tasks"]}
    assert {(1000, "bfb-one-shot"), (10**8, "bfb")} <= algorithms
    topology = build(parse(found["recipe"]))
    for used in found["schedules"]:
        text = client.get(f"/v1/schedules/{used['id']}").json()
        schedule = from_document(text, topology)
        assert schedule.collective == used["collective"]
        assert violations(schedule, topology) == []
    assert {used["collective"] for used in found["schedules"]} == {
        "allreduce",
        "allgather",
        "reduce-scatter",
        "all-to-all",
    }


@pytest.mark.slow
def test_switch_over_sizes_name_what_is_fastest_there(client):
    whole = design(client, collective="allreduce", bytes="1MB")
    parts = whole["co_design"]["switch_over"]
    assert [part["algorithm"] for part in parts][:2] == ["bfb-one-shot", "bfb"]
    edge = parts[1]["from_bytes"]
    for size, expected in ((edge - 1, "bfb-one-shot"), (edge, "bfb")):
        (task,) = design(client, collective="allreduce", bytes=size)["co_design"]["tasks"]
        assert task["algorithm"] == expected


@pytest.mark.one_in(8)
@pytest.mark.parametrize("size", [1, "10KB", "1MB", "1GB"])
@pytest.mark.parametrize("links", ["unidirectional", "bidirectional"])
def test_no_baseline_is_faster_than_the_co_design(client, size, links):
    hosts = {"nodes": 4, "degree": 5, "parallel_links": True, "links": links}
    for collective in ("allreduce", "allgather", "all-to-all"):
        document = design(client, collective=collective, bytes=size, **hosts)
        for baseline in document["baselines"]:
            assert document["co_design"]["seconds"] <= baseline["seconds"], baseline


def test_one_collective_is_timed_by_bfb_as_ever(client):
    document = design(client, collective="allreduce", bytes=1000)
    entry = document["frontier"][0]
    transfer = 1000 * 8 / 100e9
    steps = entry["steps"] + entry["transpose"]["steps"]
    wire = Fraction(entry["bandwidth"]) + Fraction(entry["transpose"]["bandwidth"])
    assert entry["seconds"] == pytest.approx(steps * 1e-5 + float(wire) * transfer)
    assert document["co_design"]["seconds"] < entry["seconds"]
    assert document["best"]["seconds"] == entry["seconds"]
    assert document["best"]["schedule"]["algorithm"] == "bfb"


@pytest.mark.slow
def test_all_to_all_alone_is_a_workload(client):
    document = design(client, collective="all-to-all", bytes="1MB")
    assert document["best"]["schedule"]["id"] == document["co_design"]["schedules"][0]["id"]
    assert "shifted-ring" in {entry["name"] for entry in document["baselines"]}
    assert all("all_to_all" in entry for entry in document["frontier"])


@pytest.mark.one_in(25)
@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_answered_with_what_it_expands_to(client, name):
    document = design(client, preset=name)
    assert document["workload"]["preset"] == name
    expanded = [(t["collective"], t["bytes"], t["count"]) for t in document["workload"]["tasks"]]
    assert expanded == [(str(t.collective), t.size_bytes, t.count) for t in PRESETS[name].tasks]
    for baseline in document["baselines"]:
        assert document["co_design"]["seconds"] < baseline["seconds"]


@pytest.mark.slow
def test_the_same_workload_has_the_same_answer_on_the_command_line(client, topoloom, tmp_path):
    text = client.post("/v1/designs", json=HOSTS | {"workload": TASKS}).text
    for name, document in (("list", TASKS), ("object", {"workload": TASKS})):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(document))
        answer = topoloom(
            "design", "--nodes", "16", "--degree", "4", "--workload", str(path), "--json"
        )
        assert answer.out == text + "\n"
    shown = topoloom("design", "--nodes", "16", "--degree", "4", "--workload", str(path)).out
    assert "bfb-one-shot" in shown and "all-to-all by " in shown


ONE = {"collective": "allreduce", "bytes": "1MB"}
REFUSED = {
    "nothing is run": ({}, ""),
    "a size without a collective": ({"bytes": 1}, ""),
    "a collective without a size": ({"collective": "allreduce"}, ""),
    "two ways at once": (ONE | {"preset": "resnet50-ddp"}, ""),
    "half of one way and another": ({"bytes": 1, "workload": [ONE]}, ""),
    "no tasks": ({"workload": []}, "/workload"),
    "too many tasks": ({"workload": [ONE] * 1001}, "/workload"),
    "a negative count": ({"workload": [ONE | {"count": -1}]}, "/workload/0/count"),
    "a count that is no integer": ({"workload": [ONE | {"count": 1.5}]}, "/workload/0/count"),
    "a count beyond all reason": ({"workload": [ONE | {"count": 10**7}]}, "/workload/0/count"),
    "a task without bytes": ({"workload": [{"collective": "allreduce"}]}, "/workload/0/bytes"),
    "a size of no bytes": ({"workload": [ONE | {"bytes": 0}]}, "/workload/0/bytes"),
    "no such collective": ({"workload": [ONE | {"collective": "x"}]}, "/workload/0/collective"),
    "no such field": ({"workload": [ONE | {"times": 2}]}, "/workload/0/times"),
    "no list": ({"workload": ONE}, "/workload"),
    "no such preset": ({"preset": "gpt7"}, "/preset"),
    "null": ({"preset": None, **ONE}, "/preset"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_workload_that_makes_no_sense_is_refused_by_place(client, case):
    question, pointer = REFUSED[case]
    answer = client.post("/v1/designs", json=HOSTS | question)
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["pointer"] == pointer


@pytest.mark.parametrize("text", ["[]", "{}", "7", "nonsense", '[{"collective": "allreduce"}]'])
def test_a_bad_workload_file_is_one_line_and_exit_code_2(topoloom, tmp_path, text):
    path = tmp_path / "workload.json"
    path.write_text(text)
    answer = topoloom("design", "--nodes", "12", "--degree", "4", "--workload", str(path))
    assert answer.code == 2 and answer.err.count("\n") == 1
    assert answer.err.startswith("topoloom: ") and not answer.out
