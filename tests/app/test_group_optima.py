"""The rates of process groups over HTTP and on the command line."""

import json
from fractions import Fraction

import pytest

RING = {"recipe": "BiRing(8)"}


def ask(client, **body):
    return client.post("/v1/optima", json={"topology": RING, **body})


def test_sizes_give_three_rates_of_every_kind_and_the_coordinates_of_every_host(client):
    answer = ask(client, groups="tensor=4,data=2", collective="all-to-all")
    assert answer.status_code == 201, answer.text
    document = answer.json()
    assert document["schema"] == "group-optimum/1"
    tensor, data = document["kinds"]
    assert (tensor["kind"], tensor["groups"]) == ("tensor", [[0, 1, 2, 3], [4, 5, 6, 7]])
    rates = [tensor[name]["algbw"] for name in ("members_only", "alone", "together")]
    assert rates == ["1", "2", "1"]
    assert (data["kind"], data["size"], "members_only" in data) == ("data", 2, False)
    assert document["ranks"][5] == {"host": 5, "coordinates": [1, 1]}
    assert ask(client, groups=" tensor=4, data=2", collective="all-to-all").status_code == 200
    assert client.get(answer.headers["Location"]).json() == document


def test_lists_of_hosts_are_groups(client):
    document = ask(client, groups=[["0", 2, 4, 6], [1, 3, 5, 7]]).json()
    (hosts,) = document["kinds"]
    assert hosts["groups"] == [[0, 2, 4, 6], [1, 3, 5, 7]]
    assert Fraction(hosts["together"]["algbw"]) == Fraction(4, 3)
    assert hosts["together"]["prices"][0] | {"source": 0, "target": 1} == {
        "source": 0, "target": 1, "count": 16, "length": 1,
    }  # fmt: skip


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("body", "pointer", "rule"),
    [
        ({"groups": "tensor=3"}, "/groups", "must multiply to the 8 hosts; tensor=3 has 3 ranks"),
        ({"groups": "tensr=8"}, "/groups", "did you mean tensor"),
        ({"groups": [[0, 1], [1, 2]]}, "/groups", "1 is in two groups"),
        ({"groups": [[0, 1], [2, 9]]}, "/groups", "9 is no node of the topology"),
        ({"groups": "tensor=8", "group": "dat"}, "/group", "must be one of tensor"),
        (
            {"groups": "tensor=8", "root": 1},
            "/groups",
            "with collective and group, or traffic, only",
        ),
        ({"groups": "tensor=8", "collective": "reduce"}, "/collective", "must be one of"),
        ({"groups": [[0, 1]], "group": "tensor"}, "/group", "must be absent"),
        ({"group": "tensor"}, "/group", "must be given with groups only"),
        ({"groups": 8}, "/groups", ""),
        ({"groups": [[0]]}, "/groups", ""),
    ],
)
def test_bad_groups_are_named_with_their_rule(client, body, pointer, rule):
    answer = ask(client, **body)
    assert 400 <= answer.status_code < 500
    assert answer.headers["content-type"] == "application/problem+json"
    error = answer.json()["errors"][0]
    assert error["pointer"].startswith(pointer)
    assert rule in error["detail"]


def test_the_command_line_takes_sizes_and_files(topoloom, tmp_path):
    shown = topoloom("optimum", "BiRing(8)", "--groups", "tensor=4,data=2", "--group", "data")
    assert "each data group reaches 1 link" in shown.out
    file = tmp_path / "two.json"
    file.write_text("[[0, 1, 2, 3], [4, 5, 6, 7]]")
    shown = topoloom("optimum", "BiRing(8)", "--groups", str(file), "--json")
    assert json.loads(shown.out)["kinds"][0]["together"]["algbw"] == "4/3"


def test_the_command_line_names_the_option_of_bad_groups(topoloom):
    shown = topoloom("optimum", "BiRing(8)", "--groups", "tensor=5")
    assert shown.code == 2
    rule = "--groups: the sizes must multiply to the 8 hosts; tensor=5 has 5 ranks"
    assert rule in shown.err


def test_fault_analyses_have_no_groups(client):
    template = {"groups": "tensor=8"}
    body = {"kind": "fault-analysis", "topology": RING, "template": template}
    answer = client.post("/v1/sweeps", json=body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/template/groups"


def test_kinds_with_traffic_have_a_rate_with_all_kinds_at_once(client):
    traffic = {
        "tensor": {"collective": "allreduce", "bytes": 600},
        "data": {"collective": "allgather", "bytes": "400"},
    }
    body = {"topology": {"recipe": "BiRing(4)"}, "groups": "tensor=2,data=2", "traffic": traffic}
    answer = client.post("/v1/optima", json=body)
    assert answer.status_code == 201, answer.text
    document = answer.json()
    assert "collective" not in document
    kinds = {kind["kind"]: kind for kind in document["kinds"]}
    assert (kinds["data"]["collective"], kinds["data"]["bytes"]) == ("allgather", 400)
    assert {k: one["all_kinds"]["algbw"] for k, one in kinds.items()} == {
        "tensor": "3/4", "data": "1/2",
    }  # fmt: skip
    assert client.get(answer.headers["Location"]).json() == document


def test_the_command_line_takes_traffic(topoloom):
    traffic = "tensor=allreduce:64MiB,data=all-to-all:32MiB"
    shown = topoloom("optimum", "Torus(4, 4)", "--groups", "tensor=4,data=4", "--traffic", traffic)
    assert "with the groups of all kinds at once" in shown.out
    assert "all-to-all 32MiB" in shown.out


@pytest.mark.parametrize(
    ("traffic", "rule"),
    [
        ("tensor", "--traffic: must have the form KIND=COLLECTIVE:BYTES"),
        ("tensor=allreduce:1,tensor=allreduce:2", "--traffic: must name tensor once"),
        ("expert=allreduce:1", "--traffic: must be one of tensor, data"),
        ("tensor=allreduce:x", "--traffic"),
        ("tensor=reduce:1MiB", "--traffic"),
    ],
)
def test_the_command_line_names_bad_traffic(topoloom, traffic, rule):
    shown = topoloom("optimum", "BiRing(8)", "--groups", "tensor=4,data=2", "--traffic", traffic)
    assert (shown.code, shown.out) == (2, "")
    assert rule in shown.err and shown.err.count("\n") == 1


def test_traffic_stands_alone(topoloom):
    traffic = "tensor=allreduce:1MiB"
    shown = topoloom("optimum", "BiRing(8)", "--traffic", traffic)
    assert "--traffic: must be given with groups only" in shown.err
    options = ("--groups", "tensor=8", "--traffic", traffic, "--collective", "allreduce")
    shown = topoloom("optimum", "BiRing(8)", *options)
    assert "--collective: must be absent with traffic" in shown.err
