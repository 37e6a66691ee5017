import json
from fractions import Fraction

import pytest

from schedules.formats.schedule.read import from_document
from schedules.verify import step_cost, violations
from synth.build import build
from synth.measure import measure_both
from synth.recipe import parse

QUESTION = {"nodes": 12, "degree": 4, "collective": "allreduce", "bytes": "1MB"}


def design(client, **changes):
    answer = client.post("/v1/designs", json=QUESTION | changes)
    assert answer.status_code == 201, answer.text
    return answer.json()


def expected_seconds(entry, document):
    """The cost model, written once more."""
    request = document["request"]
    used = {
        "allgather": [entry],
        "reduce-scatter": [entry["transpose"]],
        "allreduce": [entry, entry["transpose"]],
    }[request["collective"]]
    transfer = Fraction(request["bytes"] * 8) / (Fraction(request["node_gbps"]) * 10**9)
    alpha = Fraction(request["alpha_us"]) / 10**6
    return sum(cost["steps"] * alpha + Fraction(cost["bandwidth"]) * transfer for cost in used)


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
@pytest.mark.parametrize("links", ["unidirectional", "bidirectional"])
def test_every_number_of_a_design_is_measured_on_its_graph(client, collective, links):
    document = design(client, collective=collective, links=links, nodes=10, degree=3)
    assert document["schema"] == "design/1"
    bound = document["bounds"]
    steps = [entry["steps"] for entry in document["frontier"]]
    assert steps == sorted(steps)
    for entry in document["frontier"]:
        topology = build(parse(entry["recipe"]))
        forth, back = measure_both(topology)
        assert (entry["steps"], entry["bandwidth"]) == (forth.steps, str(forth.bandwidth))
        assert entry["transpose"] == {"steps": back.steps, "bandwidth": str(back.bandwidth)}
        assert (entry["nodes"], entry["degree"]) == (topology.node_count, topology.degree)
        assert topology.is_bidirectional or links == "unidirectional"
        assert entry["seconds"] == pytest.approx(float(expected_seconds(entry, document)))
        assert entry["seconds"] >= bound["seconds"]
        stored = client.get(f"/v1/topologies/{entry['topology_id']}").json()
        assert stored["name"] == entry["recipe"]


def test_the_best_point_is_the_fastest_for_this_workload(client):
    for size in ("1KB", "1MB", "1GB"):
        document = design(client, nodes=64, degree=3, bytes=size)
        assert document["best"]["seconds"] == min(e["seconds"] for e in document["frontier"])
    assert len(document["frontier"]) > 1


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
def test_the_schedule_of_the_best_point_is_valid_and_costs_what_is_promised(client, collective):
    document = design(client, nodes=18, degree=2, collective=collective)
    best = document["best"]
    topology = build(parse(best["recipe"]))
    schedule = from_document(client.get(f"/v1/schedules/{best['schedule']['id']}").json(), topology)
    assert violations(schedule, topology) == []
    cost = step_cost(schedule, topology)
    assert (cost.steps, str(cost.bandwidth)) == (
        best["schedule"]["steps"],
        best["schedule"]["bandwidth"],
    )
    transfer = 10**6 * 8 / (100 * 10**9)
    assert best["seconds"] == pytest.approx(cost.steps * 1e-5 + float(cost.bandwidth) * transfer)


def test_the_published_figures_of_the_cost_model_hold(client):
    document = design(client, nodes=1024, bytes="1MiB")
    assert document["bounds"]["steps"] == 5
    assert document["bounds"]["bandwidth"] == "1023/1024"
    assert document["bounds"]["seconds"] == pytest.approx(267.6e-6, rel=1e-3)
    assert document["best"]["seconds"] <= 291.1e-6


def test_baselines_stand_beside_the_design(client):
    document = design(client)
    found = {entry["name"]: entry["seconds"] for entry in document["baselines"]}
    assert found["shifted-ring"] == pytest.approx(366.67e-6, rel=1e-4)
    assert found["double-binary-tree"] == pytest.approx(388.89e-6, rel=1e-4)
    assert document["best"]["seconds"] < min(found.values())


def test_the_same_question_is_answered_once(client, topoloom):
    first = client.post("/v1/designs", json=QUESTION)
    spelled = QUESTION | {"bytes": 10**6, "alpha_us": 10, "links": "unidirectional"}
    again = client.post("/v1/designs", json=spelled)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.text == again.text
    assert first.headers["Location"] == again.headers["Location"]
    assert client.get(first.headers["Location"]).json() == first.json()
    flags = ["--nodes", "12", "--degree", "4", "--collective", "allreduce", "--bytes", "1MB"]
    assert topoloom("design", *flags, "--json").out == first.text + "\n"


def test_another_workload_reuses_the_frontier(client):
    first, second = design(client), design(client, bytes="1GB", collective="allgather")
    assert len(client.app.state.context.store.page("frontier", 10, None)[0]) == 1
    assert [e["topology_id"] for e in first["frontier"]] == [
        e["topology_id"] for e in second["frontier"]
    ]


def test_above_the_limit_the_schedule_is_left_out_and_the_reason_said(settings):
    from fastapi.testclient import TestClient

    from app.main import create_app

    small = settings.model_copy(update={"max_scheduled_nodes": 8})
    with TestClient(create_app(small)) as client:
        best = design(client)["best"]
    assert best["schedule"] is None
    assert "at most 8 nodes" in best["schedule_left_out"]


def test_the_frontier_command_prints_the_points_of_the_design(client, topoloom):
    document = design(client)
    printed = json.loads(topoloom("frontier", "--nodes", "12", "--degree", "4", "--json").out)
    assert printed["schema"] == "frontier/1"
    assert printed["bounds"] == {k: document["bounds"][k] for k in ("steps", "bandwidth")}
    points = [{k: v for k, v in e.items() if k != "seconds"} for e in document["frontier"]]
    assert printed["frontier"] == points


def test_a_table_shows_points_baselines_and_the_bound(topoloom):
    flags = ["--nodes", "12", "--degree", "4", "--collective", "allreduce", "--bytes", "1MB"]
    shown = topoloom("design", *flags)
    assert (shown.code, shown.err) == (0, "")
    for words in ("shifted-ring (baseline)", "lower bound", "366.7 us", "verified schedule"):
        assert words in shown.out
