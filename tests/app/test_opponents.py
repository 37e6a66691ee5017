"""What a library would take on a fabric, on the command line."""

import json

import pytest

ASKED = ("compare", "baselines", "dgx-a100-1", "--collective", "allgather", "--bytes", "1MiB")


def test_opponents_are_listed_the_fastest_first(topoloom):
    document = json.loads(topoloom(*ASKED, "--json").out)
    times = [one["seconds"] for one in document["opponents"]]
    assert {one["name"] for one in document["opponents"]} == {"nccl-ring", "nccl-pat"}
    assert times == sorted(times)
    ring = next(one for one in document["opponents"] if one["name"] == "nccl-ring")
    assert ring["seconds"] <= 7 * (10e-6 + 2**20 / 8 / 300e9)
    assert {one["judged_by"] for one in document["opponents"]} == {"simulation"}
    shown = topoloom(*ASKED).out
    assert all(one["name"] in shown for one in document["opponents"])
    assert "judged by: simulation" in shown


def test_the_time_of_an_opponent_is_that_of_the_comparison_and_of_the_simulator(topoloom, tmp_path):
    path = tmp_path / "ring.json"
    assert topoloom(*ASKED, "--baseline", "nccl-ring", "--out", str(path)).code == 0
    listed = json.loads(topoloom(*ASKED, "--json").out)["opponents"]
    ring = next(one for one in listed if one["name"] == "nccl-ring")
    asked = ("--bytes", "1MiB", "--json")
    compared = json.loads(topoloom("compare", "algorithms", *ASKED[2:5], *asked).out)["fabric"]
    times = {one["name"]: one for one in compared["sizes"][0]["times"]}
    assert times["nccl-ring"]["seconds"] == ring["seconds"]
    assert times["nccl-ring"]["chunks"] == ring["chunks"]
    chunks = ("--chunks", str(ring["chunks"]))
    run = topoloom("simulate", str(path), "--topology", "dgx-a100-1", *chunks, *asked).out
    assert json.loads(run)["seconds"] == ring["seconds"]


def test_the_schedule_of_an_opponent_is_written_and_valid(topoloom, tmp_path):
    path = tmp_path / "ring.json"
    assert topoloom(*ASKED, "--baseline", "nccl-ring", "--out", str(path)).code == 0
    assert topoloom("verify", str(path), "--topology", "dgx-a100-1").out == "valid\n"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--baseline", "nvls", "--out", "x.json"), "--baseline: must be one of these"),
        (("--baseline", "nccl-nvls", "--out", "x.json"), "nccl-nvls needs a switch that copies"),
        (("--baseline", "nccl-ring"), "must be given together"),
        (("--node-gbps", "1", "--link-gbps", "1"), "only one of --node-gbps and --link-gbps"),
    ],
)
def test_what_cannot_be_meant_is_one_clear_error(topoloom, tmp_path, monkeypatch, more, said):
    monkeypatch.chdir(tmp_path)
    answer = topoloom(*ASKED, *more)
    assert answer.code == 2
    assert said in answer.err
    assert not list(tmp_path.glob("x.json"))
