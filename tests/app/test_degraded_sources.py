"""Fabrics with parts lost or slow, through both doors: names, optima, costs, schedules."""

import json
from fractions import Fraction

import pytest

from topoloom.schedules.trees.forestcoll import optimum
from topoloom.synth.fabrics import fabric
from topoloom.synth.recipes.topology_document import topology_from_document
from topoloom.synth.topology.degrade import degraded

FLAGS = ["--without-node", "0.gpu3", "--slow-link", "plane0,1.gpu0=1/2"]
CHANGES = {"without_nodes": ["0.gpu3"], "slow_links": [["1.gpu0", "plane0", "0.5"]]}
LEFT = degraded(
    fabric("dgx-a100-2"),
    without_nodes=["0.gpu3"],
    slow_links=[("1.gpu0", "plane0", Fraction(1, 2))],
)


@pytest.mark.slow
def test_a_fabric_with_lost_parts_is_stored_under_a_name_that_says_so(client, topoloom) -> None:
    healthy = client.post("/v1/topologies", json={"fabric": "dgx-a100-2"}).json()
    asked = {"fabric": "dgx-a100-2", "changes": CHANGES}
    made = client.post("/v1/topologies", json=asked)
    assert made.status_code == 201
    assert topology_from_document(made.json()) == LEFT
    assert made.json()["name"] == LEFT.name
    again = client.post("/v1/topologies", json={"id": healthy["id"], "changes": CHANGES})
    assert (again.status_code, again.json()) == (200, made.json())
    assert json.loads(topoloom("topology", "dgx-a100-2", *FLAGS).out) == made.json()


def test_the_optimum_of_what_is_left_stands_beside_the_healthy_one(client, topoloom) -> None:
    asked = {"fabric": "dgx-a100-2", "changes": CHANGES}
    place = client.post("/v1/topologies", json=asked).headers["Location"]
    found = client.get(f"{place}/optimum").json()
    assert Fraction(found["nodes"]) / Fraction(found["inverse_rate"]) == optimum(LEFT).algbw
    healthy = found["healthy"]
    assert (healthy["name"], healthy["algbw"], healthy["nodes"]) == ("dgx-a100-2", 346.6667, 16)
    whole = optimum(fabric("dgx-a100-2")).algbw
    assert Fraction(healthy["ratio"]) == optimum(LEFT).algbw / whole
    assert json.loads(topoloom("optimum", "dgx-a100-2", *FLAGS, "--json").out) == found
    shown = topoloom("optimum", "dgx-a100-2", *FLAGS).out
    assert "346.6667" in shown and healthy["ratio"] in shown
    alone = client.post("/v1/topologies", json={"document": LEFT.to_document()})
    assert "healthy" not in client.get(f"{alone.headers['Location']}/optimum").json()


def test_the_cost_of_what_is_left_stands_beside_the_healthy_one(topoloom) -> None:
    found = json.loads(topoloom("measure", "BiRing(6)", "--without-link", "0,1", "--json").out)
    assert (found["steps"], found["healthy"]["steps"]) == (5, 3)
    shown = topoloom("measure", "BiRing(6)", "--without-link", "0,1").out
    assert "healthy allgather" in shown


def test_only_what_is_left_has_a_cost_where_a_switch_was_lost(topoloom, tmp_path) -> None:
    file = tmp_path / "with-switch.json"
    document = fabric("dgx-1v").with_latencies({}).to_document()
    document["nodes"].append({"id": "spine", "kind": "switch"})
    document["links"].append({"source": "0.gpu0", "target": "spine"})
    document["links"].append({"source": "spine", "target": "0.gpu0"})
    file.write_text(json.dumps(document))
    answer = topoloom("measure", str(file), "--without-node", "spine", "--json")
    assert answer.code == 0
    assert "healthy" not in json.loads(answer.out)


@pytest.mark.parametrize("collective", ["allgather", "allreduce"])
@pytest.mark.slow
def test_a_schedule_of_what_is_left_is_valid_on_it_and_not_on_the_healthy(
    client, topoloom, tmp_path, collective
) -> None:
    file = tmp_path / "schedule.json"
    made = topoloom("schedule", "dgx-a100-2", "--collective", collective, *FLAGS, f"--out={file}")
    assert (made.code, made.err) == (0, "")
    assert topoloom("verify", str(file), "--topology", "dgx-a100-2", *FLAGS).out == "valid\n"
    assert topoloom("verify", str(file), "--topology", "dgx-a100-2").code == 1
    asked = {"topology": {"fabric": "dgx-a100-2", "changes": CHANGES}, "collective": collective}
    assert client.post("/v1/schedules", json=asked).json()["topology_digest"] == LEFT.digest


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--without-node", "0.gpu9"], "--without-node: must be the id of a node"),
        (["--without-link", "0.gpu0,0.gpu1"], "must be joined by a link"),
        (["--without-link", "0.gpu0"], "--without-link: must name two nodes as A,B"),
        (["--slow-link", "0.gpu0,plane0"], "--slow-link: must be A,B=1/2"),
        (["--slow-link", "0.gpu0,plane0=2"], "share between 0 and 1"),
        (
            ["--slow-link", "0.gpu0,plane0=-1"],
            "--slow-link: must be a nonnegative integer or a text",
        ),
        (["--without-node", "0.nvswitch", "--without-node", "plane0"], "must reach"),
        (["--link-bandwidth", "25"], "with text only"),
        (["--from", "matrix"], "no such file"),
    ],
)
def test_a_change_that_cannot_be_is_one_line(topoloom, flags, words) -> None:
    answer = topoloom("optimum", "dgx-a100-2", *flags)
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert words in answer.err


@pytest.mark.parametrize("collective", ["reduce-scatter", "allreduce", "broadcast"])
def test_the_share_that_is_left_is_that_of_the_collective_asked_for(topoloom, collective) -> None:
    flags = ["--collective", collective, "--json"]
    flags += ["--root", "0.gpu0"] if collective == "broadcast" else []
    whole = json.loads(topoloom("optimum", "dgx-a100-2", *flags).out)
    left = json.loads(topoloom("optimum", "dgx-a100-2", *flags, "--without-node", "plane0").out)
    assert left["healthy"]["inverse_rate"] == whole["inverse_rate"]
    # The same compute nodes, so the rates tell the share.
    ratio = Fraction(whole["inverse_rate"]) / Fraction(left["inverse_rate"])
    assert 0 < ratio < 1 and Fraction(left["healthy"]["ratio"]) == ratio


def test_a_schedule_is_simulated_on_what_is_left(topoloom, tmp_path) -> None:
    file = tmp_path / "schedule.json"
    flags = ["--without-link", "0,1"]
    topoloom("schedule", "BiRing(6)", "--collective", "allgather", *flags, f"--out={file}")
    asked = ["--topology", "BiRing(6)", "--bytes", "1MiB", "--alpha-us", "10", "--node-gbps", "100"]
    answer = topoloom("simulate", str(file), *asked, *flags)
    assert (answer.code, answer.err) == (0, "")
    refused = topoloom("execute", str(file), *flags)
    assert refused.code == 2 and "--topology" in refused.err
