"""Traces of jobs over REST, on the command line and in Python give the same iteration."""

import asyncio
import base64
import gzip
import json

import pytest

import topoloom
from tests.schedules.job_trace_files import ALL_REDUCE, collective, compute, et
from topoloom.app.api.document_routes import TRACES_HERE
from topoloom.app.cli import run
from topoloom.schedules.formats.job_traces import trace_files

WORK = [compute(1, 500), collective(2, ALL_REDUCE, 10**6, [1], "9"), compute(3, 70, [2])]
GROUPS = {"9": [0, 1, 2, 3]}
FILES = {"job.0.et": et(WORK), "comm_group.json": json.dumps(GROUPS)}
HOSTS = {"nodes": 4, "degree": 2, "node_gbps": 100, "topology": "BiRing(4)"}
OPTIONS = ["--node-gbps", "100", "--topology", "BiRing(4)", "--degree", "2"]
SENT = {
    "name": "mine",
    "traces": {"job.0.et": base64.b64encode(et(WORK)).decode(), "comm_group.json": GROUPS},
}


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "mine"
    path.mkdir()
    (path / "job.0.et.gz").write_bytes(gzip.compress(et(WORK)))
    (path / "comm_group.json").write_text(json.dumps(GROUPS))
    (path / "readme.txt").write_text("not a trace")
    return path


def posted(client, model):
    answer = client.post("/v1/iterations", json={"model": model, **HOSTS})
    assert answer.status_code in (200, 201), answer.text
    return answer.json()


def test_all_ways_in_give_the_same_iteration(still, database, folder, capsys):
    found = topoloom.iteration({"traces": FILES}, **HOSTS).best
    # 6/4 MB in two directions of 6.25 GB/s, and four hops.
    assert found.seconds * 10**6 == 500 + 70 + 120 + 40
    answer = posted(still, SENT)
    assert answer["exact_seconds"] == str(found.seconds)
    assert answer["best"]["parallel"] == "data=4"
    assert {phase["kind"] for phase in answer["phases"]} == {"compute", "reduce"}
    assert any("1 of 4 ranks have a trace" in note for note in answer["notes"])
    capsys.readouterr()
    assert run(["iteration", str(folder), "--nodes", "4", *OPTIONS, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["exact_seconds"] == answer["exact_seconds"]
    # The request has the operations, whichever way they came: one document.
    assert printed["id"] == answer["id"]
    assert posted(still, answer["request"]["model"])["id"] == answer["id"]


def test_a_sweep_takes_traces_as_jobs(still, database, folder, capsys):
    asked = {"kind": "iteration", "jobs": [SENT], "nodes": [4], "degrees": [2]}
    asked["template"] = {"node_gbps": 100}
    answer = still.post("/v1/sweeps", json=asked, headers={"Prefer": "wait=60"})
    assert answer.status_code in (200, 201), answer.text
    (row,) = answer.json()["rows"]
    assert row["job"] == "mine"
    capsys.readouterr()
    sizes = ["--nodes", "4", "--degree", "2", "--node-gbps", "100"]
    assert run(["sweep", "iteration", str(folder), *sizes, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["seconds"] == row["seconds"]


BAD = [
    ({"job.0.et": "###"}, "job.0.et: must be base64 text or a JSON object"),
    ({"job.0.et": 5}, "job.0.et: must be base64 text or a JSON object"),
    ({"job.0.et": base64.b64encode(gzip.compress(et(WORK))).decode()}, "must not be gzipped"),
    ({"job.0.et": base64.b64encode(et(WORK)[:-3]).decode()}, "job.0.et: byte"),
    ({"job.0.et": SENT["traces"]["job.0.et"]}, "job.0.et: node 2: its group '9' must be stated"),
    ({}, "must be 1 to 16384 files"),
    ([], "must have traces as an object"),
]


@pytest.mark.parametrize(("files", "rule"), BAD, ids=[rule for _, rule in BAD])
def test_bad_traces_are_one_error_of_the_model(still, files, rule):
    answer = still.post("/v1/iterations", json={"model": {"traces": files}, **HOSTS})
    assert answer.status_code == 422, answer.text
    (error,) = answer.json()["errors"]
    assert error["pointer"] == "/model"
    assert rule in error["detail"]


@pytest.mark.parametrize("is_bad", [False, True])
@pytest.mark.parametrize("path", ["/v1/iterations", "/v1/sweeps"])
def test_large_traces_are_read_beside_the_event_loop(still, monkeypatch, path, is_bad):
    """Reading a body of 64 KiB on the loop would delay all other answers by 0.3 s."""
    read, on_the_loop = trace_files.trace_model, []

    def noted(*arguments):
        on_the_loop.append(asyncio._get_running_loop() is not None)
        return read(*arguments)

    monkeypatch.setattr(trace_files, "trace_model", noted)
    model = {"traces": {}} if is_bad else SENT
    sweep = {"kind": "iteration", "jobs": [model], "nodes": [4], "degrees": [2]}
    asked = {"model": model, **HOSTS} if path == "/v1/iterations" else sweep
    if sweep is asked:
        sweep["template"] = {"node_gbps": 100}
    for size in (0, TRACES_HERE):
        on_the_loop.clear()
        headers = {"Content-Type": "application/json", "Prefer": "wait=60"}
        answer = still.post(path, content=json.dumps(asked) + " " * size, headers=headers)
        assert answer.status_code in ((422,) if is_bad else (200, 201)), answer.text
        if is_bad:
            assert "1 to 16384 files" in answer.json()["errors"][0]["detail"]
        assert any(on_the_loop) == (size == 0)


def test_other_members_beside_traces_are_refused(still):
    answer = still.post("/v1/iterations", json={"model": {**SENT, "layers": []}, **HOSTS})
    assert "must have no 'layers' beside traces" in answer.text


def test_the_command_names_the_file_and_the_node(database, folder, tmp_path, capsys):
    def refused(path):
        assert run(["iteration", str(path), "--nodes", "4", *OPTIONS]) == 2
        err = capsys.readouterr().err
        assert err.count("\n") == 1
        return err

    alone = tmp_path / "job.0.et"
    alone.write_bytes(et(WORK))
    assert f"{alone}: node 2: its group '9' must be stated" in refused(alone)
    (folder / "job.0.et.gz").write_bytes(gzip.compress(et(WORK)[:-3]))
    assert f"{folder}: job.0.et.gz: byte" in refused(folder)
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "must have traces, files that end in .et or .json" in refused(empty)
