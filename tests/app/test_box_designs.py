"""Designs of boxes over REST and on the command line."""

import csv
import io
import json

import pytest

from tests.cases import for_every
from topoloom.app.cli import run

ASKED = {"box": "mi300x", "nodes": 4, "degree": 4, "collective": "allreduce", "bytes": "1GB"}
OPTIONS = ["--box", "mi300x", "--nodes", "4", "--degree", "4"]
RUN = ["--collective", "allreduce", "--bytes", "1GB"]


@pytest.mark.slow
def test_the_answer_says_the_best_first_and_names_a_topology_that_can_be_used(still) -> None:
    answer = still.post("/v1/box-designs", json=ASKED, headers={"Prefer": "wait=60"})
    assert answer.status_code in (200, 201), answer.text
    found = answer.json()
    assert found["schema"] == "box-design/1"
    assert found["accelerators"] == 32
    assert found["best"] in found["topologies"]
    assert found["best"]["recipe"].startswith("Boxes(mi300x, ")
    topology = still.get(f"/v1/topologies/{found['topology_id']}").json()
    assert len(topology["nodes"]) == 32
    optimum = still.post(
        "/v1/optima", json={"topology": {"recipe": found["best"]["recipe"]}}
    ).json()
    # Both passes of the allreduce reach the rate of an allgather on a two-way topology.
    assert optimum["algbw"] == pytest.approx(2 * found["best"]["algbw"])


def test_a_design_of_boxes_is_stored_and_found_again(still) -> None:
    found = still.post("/v1/box-designs", json=ASKED, headers={"Prefer": "wait=60"})
    assert still.get(found.headers["Location"]).json() == found.json()
    again = still.post("/v1/box-designs", json=ASKED)
    assert (again.status_code, again.json()) == (200, found.json())
    listed = still.get("/v1/box-designs", params={"nodes": 4}).json()["items"]
    summary = {one["id"]: one["summary"] for one in listed}[found.json()["id"]]
    assert summary["name"] == found.json()["best"]["recipe"]


PAIR = {"text": "a b 100\nb a 100\n", "format": "edgelist", "unit": "GB/s"}


def test_a_box_may_be_a_topology_of_the_client(still) -> None:
    asked = ASKED | {"box": "@pair", "graphs": {"pair": PAIR}}
    refused = still.post("/v1/box-designs", json=asked)
    assert [error["pointer"] for error in refused.json()["errors"]] == ["/cable_bandwidth"]
    found = still.post("/v1/box-designs", json=asked | {"cable_bandwidth": 10}).json()
    assert found["accelerators"] == 8
    # Four cables of 10 GB/s bring 3/4 of the data into a box, in each of two passes.
    assert found["best"]["algbw"] == pytest.approx(4 / 3 * 40 / 2, abs=1e-4)
    topology = still.get(f"/v1/topologies/{found['topology_id']}").json()
    assert topology["nodes"][0]["id"] == "0.a"
    unnamed = still.post("/v1/box-designs", json=ASKED | {"box": "@other"})
    assert [error["pointer"] for error in unnamed.json()["errors"]] == ["/box"]


def test_the_command_takes_a_file_as_a_box(database, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pair.txt").write_text("a b 100\nb a 100\n")
    options = ["--nodes", "3", "--degree", "2", "--cable-bandwidth", "10", *RUN]
    assert run(["design", "--box", "pair.txt", *options, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["best"]["recipe"].startswith("Boxes(@pair.txt, ")
    assert run(["design", "--box", "none.txt", *options]) == 2
    assert "none.txt: no such file" in capsys.readouterr().err


def test_prices_make_a_cost_of_the_cables_of_every_topology(still) -> None:
    prices = {"copper_price": 1, "optics_price": 10, "boxes_per_rack": 2}
    found = still.post("/v1/box-designs", json=ASKED | prices).json()
    for row in found["topologies"]:
        cables = row["cables"]
        assert cables["cost"] == cables["copper"] + 10 * cables["optics"]
    assert not any("rack of its own" in note for note in found["notes"])


@for_every(
    ("changes", "pointer"),
    [
        ({"box": "dgx-z100"}, "/box"),
        ({"box": "Boxes(mi300x"}, "/box"),
        ({"box": "dgx-1v"}, "/cable_bandwidth"),
        ({"nodes": 1}, "/nodes"),
        ({"degree": 65}, "/degree"),
        ({"collective": "all-to-all"}, "/collective"),
        ({"cable_bandwidth": 0}, "/cable_bandwidth"),
        ({"cable_ports": "any"}, "/cable_ports"),
        ({"boxes_per_rack": 0}, "/boxes_per_rack"),
        ({"optics_price": -1}, "/optics_price"),
        ({"preset": "gpt2-xl-ddp"}, "/preset"),
        ({"nodes": 5, "degree": 3}, "/degree"),
    ],
)
def test_a_bad_member_is_named_by_its_pointer(still, changes, pointer) -> None:
    answer = still.post("/v1/box-designs", json=ASKED | changes)
    assert answer.status_code == 422, answer.text
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]


def test_boxes_are_a_recipe_in_every_request_about_a_topology(still) -> None:
    recipe = "Boxes( mi300x , BiRing(3),cable=25)"
    made = still.post("/v1/topologies", json={"recipe": recipe}).json()
    again = still.post("/v1/topologies", json={"recipe": "Boxes(mi300x, BiRing(3), cable=25)"})
    assert again.json()["id"] == made["id"]
    assert made["name"] == "Boxes(mi300x, BiRing(3), cable=25)"
    assert [fact["option"] for fact in made["assumed"]] == ["ports"]
    inner = {"text": "a b 5\nb a 5\n", "format": "edgelist", "unit": "GB/s"}
    named = {"recipe": "Boxes(@pair, BiRing(3), cable=1)", "graphs": {"pair": inner}}
    answer = still.post("/v1/optima", json={"topology": named}).json()
    # Both accelerators of a box receive 4 of 6 shards over cables of 1 GB/s each way.
    assert answer["algbw"] == pytest.approx(3)


@for_every(
    "recipe",
    ["Boxes(mi300x, BiRing(2))", "Boxes(mi300x)", "Boxes(@a, BiRing(3))", "Boxes(x, BiRing(3))"],
)
def test_wrong_boxes_are_refused_at_the_recipe(still, recipe) -> None:
    answer = still.post("/v1/topologies", json={"recipe": recipe})
    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.json()["errors"]] == ["/recipe"]


def test_the_command_tells_the_answer_first(database, capsys) -> None:
    assert run(["design", *OPTIONS, *RUN]) == 0
    out, err = capsys.readouterr()
    first = out.split("\n\n")[0].replace("\n", " ")
    assert "between 4 boxes of mi300x with 4 cables each: allreduce of 1 GB" in first
    assert "(change: --cable-bandwidth)" in err


def test_the_command_prints_the_document_and_the_table(database, capsys) -> None:
    assert run(["design", *OPTIONS, *RUN, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert run(["design", *OPTIONS, *RUN, "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["recipe"] for row in rows] == [one["recipe"] for one in document["topologies"]]
    assert document["request"]["links"] == "bidirectional"


@for_every(
    ("options", "line"),
    [
        ([*OPTIONS, *RUN, "--max-steps", "3"], "--max-steps: must not be combined with --box"),
        ([*OPTIONS, *RUN, "--node-gbps", "3"], "--node-gbps: must not be combined with --box"),
        ([*OPTIONS, "--bytes", "1"], "--collective: must be given with --box"),
        (
            [*OPTIONS[2:], *RUN, "--cable-ports", "even"],
            "--cable-ports: must be combined with --box",
        ),
        ([*OPTIONS, *RUN, "--box", "dgx-1v"], "--cable-bandwidth: must be given"),
    ],
)
def test_options_that_do_not_fit_are_refused_in_one_line(database, capsys, options, line) -> None:
    assert run(["design", *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert line in err
