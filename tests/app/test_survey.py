"""`topoloom faults`, as table and picture; over HTTP a sweep over faults and its drawing."""

import csv
import io
import json
from xml.etree import ElementTree

import pytest

LINE = {"kind": "fault-analysis", "topology": {"recipe": "BiRing(4)"}}


def test_the_table_has_the_worst_first_and_counts_all_faults(topoloom):
    answer = topoloom("faults", "dgx-a100-2", "--csv")
    rows = list(csv.DictReader(io.StringIO(answer.out)))
    assert [float(row["algbw"]) for row in rows] == sorted(float(row["algbw"]) for row in rows)
    counts = {}
    for row in rows:
        counts[row["part"]] = counts.get(row["part"], 0) + int(row["alike"])
    # 16 GPUs, each with a link to its NVSwitch and one to a plane.
    assert counts == {"link": 32, "host": 16, "switch": 4}


def test_each_row_is_the_optimum_with_that_part_lost(topoloom):
    whole = json.loads(topoloom("faults", "mi250-1", "--lost", "link", "--json").out)
    for row in whole["rows"]:
        lost = ",".join(row["link"])
        one = json.loads(topoloom("optimum", "mi250-1", "--without-link", lost, "--json").out)
        assert (one["id"], one["healthy"]["ratio"]) == (row["answer_id"], row["left"])


def test_a_part_that_all_depend_on_is_a_row_that_says_so(topoloom):
    answer = topoloom("faults", "dgx-h100-1", "--lost", "switch", "--json")
    (row,) = json.loads(answer.out)["rows"]
    assert row["node"] == "0.nvswitch" and "must reach" in row["problem"]
    assert "must reach" in topoloom("faults", "dgx-h100-1").out.splitlines()[1]


def test_a_group_goes_on_without_the_member_that_it_lost(topoloom):
    members = ("--participants", "0.gpu0,0.gpu2,1.gpu0")
    answer = topoloom("faults", "dgx-a100-2", *members, "--lost", "host", "--json")
    found = {row["node"]: row["alike"] for row in json.loads(answer.out)["rows"]}
    assert sum(found.values()) == 16
    assert found["0.gpu0"] == 2 and found["1.gpu0"] == 1


def test_the_picture_names_every_kind(topoloom, tmp_path):
    pytest.importorskip("matplotlib")
    out = tmp_path / "survey.svg"
    answer = topoloom("faults", "BiRing(4)", "--picture", str(out))
    assert answer.code == 0, answer.err
    texts = "".join(ElementTree.parse(out).getroot().itertext())
    assert "0-1 (one of 4)" in texts and "host lost" in texts
    answer = topoloom("faults", "BiRing(4)", "--picture", str(tmp_path / "survey.gif"))
    assert answer.code == 2 and ".png or .svg" in answer.err


@pytest.mark.slow
def test_a_stored_survey_is_drawn_and_no_other_sweep_is(client):
    pytest.importorskip("matplotlib")
    answer = client.post("/v1/sweeps", json=LINE, headers={"Prefer": "wait=60"})
    made = answer.json()
    assert answer.status_code == 201, made
    drawn = client.post("/v1/plots/fault-analysis", json={"sweep_id": made["id"]})
    assert (drawn.status_code, drawn.headers["content-type"]) == (201, "image/svg+xml")
    assert b"one of 4" in drawn.content
    sizes = {"kind": "sizes", "nodes": [4], "degrees": [2]}
    other = client.post("/v1/sweeps", json=sizes, headers={"Prefer": "wait=60"}).json()
    refused = client.post("/v1/plots/fault-analysis", json={"sweep_id": other["id"]})
    assert refused.status_code == 422 and "fault analysis" in refused.json()["detail"]
