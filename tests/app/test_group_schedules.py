"""Schedules of process groups that run at once, over HTTP and on the command line."""

import json
from fractions import Fraction

import pytest

RING = {"recipe": "BiRing(4)"}
TRAFFIC = {
    "tensor": {"collective": "allreduce", "bytes": 600},
    "data": {"collective": "all-to-all", "bytes": 400},
}
ASKED = {"topology": RING, "groups": "tensor=2,data=2", "traffic": TRAFFIC}


@pytest.fixture(scope="module")
def document(still):
    answer = still.post("/v1/group-schedules", json=ASKED)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_every_group_has_a_stored_schedule_at_the_joint_rate(still, document):
    assert document["schema"] == "group-schedule/1"
    rates = still.post("/v1/optima", json=ASKED).json()
    for kind, best in zip(document["kinds"], rates["kinds"], strict=True):
        assert kind["algbw"] == best["all_kinds"]["algbw"]
        assert [one["hosts"] for one in kind["groups"]] == best["groups"]
    assert document["seconds"] > 0


def test_a_stored_schedule_of_a_group_is_read_verified_and_exported(still, document):
    tensor, data = document["kinds"]
    for kind in (tensor, data):
        for group in kind["groups"]:
            identity = group["schedule_id"]
            schedule = still.get(f"/v1/schedules/{identity}").json()
            part = schedule.get("parts", [schedule])[0]
            assert part["participants"] == group["hosts"]
            found = still.post("/v1/verifications", json={"schedule_id": identity}).json()
            assert found["valid"] is True
    identity = tensor["groups"][1]["schedule_id"]
    program = still.get(f"/v1/schedules/{identity}", params={"format": "mscclpp-json"})
    assert program.status_code == 200 and program.json()["idle"] == [0, 1]
    refused = still.get(
        f"/v1/schedules/{data['groups'][0]['schedule_id']}", params={"format": "mscclpp-json"}
    )
    assert refused.status_code == 422
    assert "must be all compute nodes in an all-to-all" in refused.text


def test_post_schedules_returns_the_schedule_of_one_group(still, document):
    (_, second) = document["kinds"][1]["groups"]
    body = {**ASKED, "collective": "all-to-all", "group": "data", "number": 1}
    answer = still.post("/v1/schedules", json=body)
    assert (answer.status_code, answer.json()["id"]) == (200, second["schedule_id"])
    listed = still.get("/v1/schedules", params={"limit": 100}).json()["items"]
    (entry,) = [one for one in listed if one["id"] == second["schedule_id"]]
    assert entry["request"]["number"] == 1
    assert entry["request"]["traffic"] == TRAFFIC


def test_without_traffic_all_groups_of_one_kind_run_at_once(still):
    body = {"topology": {"recipe": "BiRing(8)"}, "groups": [[0, 1, 2, 3], [4, 5, 6, 7]]}
    found = still.post("/v1/group-schedules", json=body | {"collective": "allgather"}).json()
    (hosts,) = found["kinds"]
    assert Fraction(hosts["algbw"]) == Fraction(4, 3)
    assert "seconds" not in found and "bytes" not in hosts
    timed = body | {"collective": "allgather", "bytes": "1MiB", "node_gbps": 16, "alpha_us": 0}
    found = still.post("/v1/group-schedules", json=timed).json()
    # 1 MiB at 4/3 links of 1 GB/s each, and the start of the pipeline.
    assert 2**20 * 0.75e-9 <= found["seconds"] <= 2**20 * 1e-9


@pytest.mark.parametrize(
    ("changes", "pointer", "rule"),
    [
        ({"collective": "allreduce"}, "/collective", "must be absent with traffic"),
        ({"bytes": 5}, "/bytes", "must be absent with traffic"),
        ({"traffic": {"expert": TRAFFIC["data"]}}, "/traffic", "must be one of tensor, data"),
        ({"groups": "tensor=3"}, "/groups", "must multiply to the 4 hosts"),
        ({"groups": [[0, 1], [2, 3]]}, "/traffic", "must name hosts"),
        ({"root": 1}, "/root", "is not a field"),
    ],
)
def test_bad_requests_are_named_with_their_rule(still, changes, pointer, rule):
    answer = still.post("/v1/group-schedules", json=ASKED | changes)
    assert answer.status_code == 422
    error = answer.json()["errors"][0]
    assert error["pointer"] == pointer and rule in error["detail"]


@pytest.mark.parametrize(
    ("changes", "pointer", "rule"),
    [
        ({"number": 2, "group": "tensor"}, "/number", "must be below 2"),
        ({"group": "expert"}, "/group", "must be one of tensor, data"),
        ({"group": "data"}, "/collective", "must be all-to-all, that of data"),
        ({"algorithm": "bfb"}, "/algorithm", "must be absent with groups"),
    ],
)
def test_a_schedule_of_no_group_is_refused(still, changes, pointer, rule):
    body = {**ASKED, "collective": "allreduce"} | changes
    error = still.post("/v1/schedules", json=body).json()["errors"][0]
    assert error["pointer"] == pointer and rule in error["detail"]


def test_the_command_line_writes_one_file_for_each_group(topoloom, tmp_path):
    out = tmp_path / "groups"
    traffic = "tensor=allreduce:1MiB,data=all-to-all:1MiB"
    asked = ("BiRing(4)", "--groups", "tensor=2,data=2", "--traffic", traffic)
    shown = topoloom("schedule", *asked, "--out", str(out))
    assert shown.code == 0, shown.err
    assert "4 files written" in shown.out
    assert "4 verified schedules of groups run at once in" in shown.out
    names = ["data-0.json", "data-1.json", "tensor-0.json", "tensor-1.json"]
    assert sorted(path.name for path in out.iterdir()) == names
    assert json.loads((out / "data-1.json").read_text())["participants"] == [1, 3]
    shown = topoloom("verify", str(out / "data-1.json"), "--topology", "BiRing(4)")
    assert shown.out == "valid\n"


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        (("--collective", "allgather"), "--group: must name one kind of group: tensor, data"),
        ((), "--collective: is missing"),
        (("--collective", "allgather", "--root", "1"), "--root: must be absent with --groups"),
    ],
)
def test_the_command_line_names_bad_options(topoloom, options, rule):
    shown = topoloom("schedule", "BiRing(4)", "--groups", "tensor=2,data=2", *options)
    assert (shown.code, shown.out) == (2, "")
    assert rule in shown.err and shown.err.count("\n") == 1
