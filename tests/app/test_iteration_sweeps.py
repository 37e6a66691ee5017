"""Sweeps of iterations: one row per job, ports and hosts, over REST and on the command line."""

import csv
import io
import json

import pytest

from tests.app.jobs.work import until
from tests.cases import for_every
from topoloom.app.cli import run

MODEL = {
    "name": "tiny",
    "layers": [{"count": 2, "parameters": 10**7, "forward_seconds": 0.001}],
    "parallel": {"pipeline": 2},
    "width": 1000,
}
RATES = {"node_gbps": 100, "accelerators_per_host": 1}
ASKED = {
    "kind": "iteration",
    "jobs": [MODEL, "vit-22b"],
    "topologies": ["BiRing(4)", "2 x UniRing(6)"],
    "degrees": [2],
    "template": RATES,
}


def answered(client, asked):
    answer = client.post("/v1/sweeps", json=asked, headers={"Prefer": "wait=60"})
    assert answer.status_code in (200, 201), answer.text
    return answer.json()


def test_a_row_has_the_figures_of_its_own_iteration(still):
    sweep = answered(still, ASKED)
    places = [(row["job"], row["nodes"], row["degree"], row["name"]) for row in sweep["rows"]]
    assert places == [
        ("tiny", 4, 2, "BiRing(4)"),
        ("tiny", 6, 2, "2 x UniRing(6)"),
        ("vit-22b", 4, 2, "BiRing(4)"),
        ("vit-22b", 6, 2, "2 x UniRing(6)"),
    ]
    for row in sweep["rows"]:
        one = still.get(f"/v1/iterations/{row['answer_id']}").json()
        beside = {other["topology"]: other["seconds"] for other in one["baselines"]}
        assert row["seconds"] == one["seconds"]
        assert row["limit"] == one["limit"]
        assert (row["rings_seconds"], row["switch_seconds"]) == (
            beside["1 rings"],
            beside["switch"],
        )
        assert set(one["notes"]) <= set(sweep["notes"])
    # The template holds the options alone.
    assert sweep["template"]["node_gbps"] == 100
    assert not {"nodes", "degree", "preset", "model", "topology"} & set(sweep["template"])


def test_numbers_of_hosts_have_the_best_topology_of_each(still):
    asked = {**ASKED, "jobs": [MODEL], "nodes": ["4:6:2"]}
    del asked["topologies"]
    rows = answered(still, asked)["rows"]
    assert [row["nodes"] for row in rows] == [4, 6]
    for row in rows:
        alone = {"model": MODEL, "nodes": row["nodes"], "degree": 2} | RATES
        best = still.post("/v1/iterations", json=alone).json()
        assert (best["id"], best["best"]["topology"]) == (row["answer_id"], row["name"])


def test_sizes_that_do_not_fit_a_job_are_rows_with_the_rule(still):
    asked = {**ASKED, "jobs": [MODEL], "topologies": ["UniRing(3)", "BiRing(4)"]}
    refused, found = answered(still, asked)["rows"]
    assert (refused["nodes"], refused["name"]) == (3, "UniRing(3)")
    assert "must multiply to the 3 ranks" in refused["problem"]
    assert "seconds" in found


@pytest.mark.slow
def test_a_sweep_of_iterations_is_a_job_with_a_part_for_each(still):
    asked = ASKED | {"template": RATES | {"alpha_us": 3}}
    promised = still.post("/v1/sweeps", json=asked, headers={"Prefer": "respond-async"})
    assert promised.status_code == 202, promised.text
    assert promised.json()["parts"]["total"] == 4
    place = promised.headers["Location"]
    until(lambda: still.get(place).json()["state"] not in ("queued", "running"))
    job = still.get(place).json()
    assert (job["state"], job["progress"]) == ("done", 1)
    assert len(still.get(job["result"]).json()["rows"]) == 4


@pytest.mark.slow
def test_a_sweep_of_iterations_is_drawn(still):
    pytest.importorskip("matplotlib")
    sweep = answered(still, ASKED)
    drawn = still.post("/v1/plots/iterations", json={"sweep_id": sweep["id"]})
    assert drawn.status_code == 201, drawn.text
    for text in ("tiny", "vit-22b", "ideal switch", "hosts"):
        assert text in drawn.text
    sizes = answered(still, {"kind": "sizes", "nodes": [4], "degrees": [2]})
    refused = still.post("/v1/plots/iterations", json={"sweep_id": sizes["id"]})
    assert refused.status_code == 422
    assert "must be of a sweep of iterations" in refused.text


@for_every(
    ("changes", "pointer", "rule"),
    [
        ({"jobs": ["vit-22"]}, "/jobs/0", "did you mean vit-22b"),
        ({"jobs": [MODEL, "gpt2-xl-ddp"]}, "/jobs/1", "is a list of collectives"),
        ({"jobs": []}, "/jobs", "at least 1 item"),
        ({"topologies": ["BiRing(4)", "Ring(4)"]}, "/topologies/1", "did you mean"),
        ({"nodes": [4]}, "", "only one of nodes and topologies"),
        ({"topologies": ["BiRing(2000)"]}, "", ""),
        ({"topology": {"recipe": "BiRing(4)"}}, "", "must not have topology"),
        ({"template": {"nope": 1}}, "/template/nope", "not a field"),
        ({"template": {"nodes": 4, "efficiency": 2}}, "/template/efficiency", "at most 1"),
        ({"kind": "sizes"}, "", "must not have jobs if kind is 'sizes'"),
    ],
)
def test_a_wrong_member_is_named_with_its_rule(still, changes, pointer, rule):
    answer = still.post("/v1/sweeps", json=ASKED | changes)
    if pointer or rule:
        assert answer.status_code == 422, answer.text
        (error,) = answer.json()["errors"]
        assert error["pointer"] == pointer
        assert rule in error["detail"]
    else:
        # More hosts than a simulation takes: the row states the rule.
        assert all(
            "must have at most 1024 hosts" in row["problem"] for row in answer.json()["rows"]
        )


OPTIONS = ["--topology", "BiRing(4)", "--degree", "2", "--node-gbps", "100"]


def test_the_command_prints_a_table_and_a_plot(database, tmp_path, capsys):
    model, plot = tmp_path / "tiny.json", tmp_path / "times.svg"
    model.write_text(json.dumps(MODEL))
    asked = ["sweep", "iteration", str(model), "vit-22b", *OPTIONS]
    assert run([*asked, "--csv"]) == 0
    out, err = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["job"], row["nodes"], row["name"]) for row in rows] == [
        ("tiny", "4", "BiRing(4)"),
        ("vit-22b", "4", "BiRing(4)"),
    ]
    assert "note: Source of the layout: arXiv:2302.05442" in err
    pytest.importorskip("matplotlib")
    assert run([*asked, "--plot", str(plot)]) == 0
    assert "switch" in capsys.readouterr().out
    assert "seconds of an iteration" in plot.read_text()


@for_every(
    ("arguments", "line"),
    [
        (["vit-22", *OPTIONS], "vit-22: must be one of llama3-405b"),
        (["vit-22b", "--degree", "2"], "must have --nodes if kind is 'iteration'"),
        (["vit-22b", *OPTIONS, "--nodes", "4"], "must have only one of --nodes and --topology"),
        (["vit-22b", *OPTIONS, "--topology", "Ring(4)"], "--topology: "),
        (["vit-22b", *OPTIONS, "--efficiency", "2"], "--efficiency: must be at most 1"),
        (["none.json", *OPTIONS], "none.json"),
    ],
)
@pytest.mark.slow
def test_arguments_that_break_a_rule_are_refused_in_one_line(database, capsys, arguments, line):
    assert run(["sweep", "iteration", *arguments]) == 2
    err = capsys.readouterr().err
    assert line in err
    assert err.count("\n") == 1


def test_a_user_who_types_design_for_a_job_is_led_to_its_command(database, still, capsys):
    asked = ["design", "--nodes", "8", "--degree", "4", "--preset", "llama3-405b"]
    assert run(asked) == 2
    err = capsys.readouterr().err
    assert "--preset: must list collectives; llama3-405b is a whole job" in err
    assert "`topoloom iteration llama3-405b`" in err
    body = {"nodes": 8, "degree": 4, "preset": "llama3-405b"}
    answer = still.post("/v1/designs", json=body)
    assert answer.status_code == 422
    assert "POST /v1/iterations" in answer.text
    back = ["iteration", "gpt2-xl-ddp", "--nodes", "8", "--degree", "4"]
    assert run(back) == 2
    assert "`topoloom design --preset gpt2-xl-ddp`" in capsys.readouterr().err


def test_the_catalog_lists_the_jobs(still, capsys):
    listed = still.get("/v1/presets").json()
    assert [one["name"] for one in listed["iterations"]][:2] == ["llama3-405b", "deepseek-v3"]
    assert run(["catalog", "presets", "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    names = {row["name"]: row["command"] for row in rows}
    assert names["vit-22b"] == "iteration"
    assert names["gpt2-xl-ddp"] == "--preset"
