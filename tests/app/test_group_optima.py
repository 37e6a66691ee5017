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


@pytest.mark.parametrize(
    ("body", "pointer", "rule"),
    [
        ({"groups": "tensor=3"}, "/groups", "must multiply to the 8 hosts; tensor=3 has 3 ranks"),
        ({"groups": "tensr=8"}, "/groups", "did you mean tensor"),
        ({"groups": [[0, 1], [1, 2]]}, "/groups", "1 is in two groups"),
        ({"groups": [[0, 1], [2, 9]]}, "/groups", "9 is no node of the topology"),
        ({"groups": "tensor=8", "group": "dat"}, "/group", "must be one of tensor"),
        ({"groups": "tensor=8", "root": 1}, "/groups", "with collective and group only"),
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
