"""Latencies of links over the service and the command line: which count, and what is refused."""

import copy
import json

import pytest

from topoloom.synth.formats.simulators.files import SIMULATOR_FILES

PAIR = {
    "schema": "topology/1",
    "name": "far pair",
    "bandwidth_unit": "GB/s",
    "nodes": [{"id": "a"}, {"id": "b"}],
    "links": [
        {"source": "a", "target": "b", "capacity": 1, "latency_us": 2.5},
        {"source": "b", "target": "a", "capacity": 1, "latency_us": "3/2"},
    ],
}

PODS = """graph {
  node [kind=switch] l0 l1 s0
  node [kind=compute] h0 h1 h2 h3
  edge [capacity=1]
  h0 -- l0  h1 -- l0  h2 -- l1  h3 -- l1
  l0 -- s0  l1 -- s0
}"""

SAID = "Every link has the latency that the topology states: 1.5 to 2.5 us."


def with_latency(value):
    document = copy.deepcopy(PAIR)
    document["links"][0]["latency_us"] = value
    return document


@pytest.fixture
def files(topoloom, tmp_path):
    fabric, schedule = tmp_path / "pair.json", tmp_path / "gather.json"
    fabric.write_text(json.dumps(PAIR))
    made = topoloom("schedule", str(fabric), "--collective", "allgather", "--out", str(schedule))
    assert made.code == 0
    return str(schedule), str(fabric)


@pytest.mark.parametrize("form", sorted(SIMULATOR_FILES))
def test_a_file_for_a_simulator_has_a_note_for_each_speed_that_nothing_states(
    topoloom, tmp_path, form
):
    stated = {"--node-gbps": "100"} | ({} if form == "phantora" else {"--alpha-us": "5"})
    fabric = {"htsim": "fat-tree-4", "phantora": str(tmp_path / "pods.dot")}.get(form, "BiRing(4)")
    (tmp_path / "pods.dot").write_text(PODS)
    notes = topoloom("topology", fabric, "--format", form).err
    assert [option for option in stated if f"(change: {option})" not in notes] == []
    given = [word for pair in stated.items() for word in pair]
    answer = topoloom("topology", fabric, "--format", form, *given)
    assert answer.code == 0
    assert not [option for option in ("node-gbps", "alpha-us") if option in answer.err]


def test_a_table_for_nccl_has_a_note_for_each_speed_that_nothing_states(topoloom):
    asked = ("schedule", "UniRing(4)", "--collective", "allgather", "--format", "nccl-tuner-csv")
    notes = topoloom(*asked).err
    assert ("(change: --node-gbps)" in notes, "(change: --alpha-us)" in notes) == (True, True)
    assert topoloom(*asked, "--node-gbps", "100", "--alpha-us", "5").err == ""


def test_a_simulation_takes_the_latencies_of_the_links_and_says_so(topoloom, files):
    schedule, fabric = files
    asked = ("simulate", schedule, "--topology", fabric, "--bytes", "2000", "--json")
    own = topoloom(*asked)
    document = json.loads(own.out)
    # Each half takes 1 us on its link; the later one arrives 2.5 us after that.
    assert document["exact_seconds"] == "7/2000000"
    assert document["assumed"] == [{"text": SAID, "option": "alpha_us"}]
    assert "alpha_us" not in document["request"]
    assert f"note: {SAID} (change: --alpha-us)" in own.err
    stated = topoloom(*asked, "--alpha-us", "10")
    document = json.loads(stated.out)
    assert document["exact_seconds"] == "11/1000000"
    assert (document["request"]["alpha_us"], "assumed" in document) == (10, False)
    assert "latency" not in stated.err


def test_a_simulation_without_latencies_is_that_of_ten_microseconds(topoloom, tmp_path, files):
    schedule, _ = files
    bare = copy.deepcopy(PAIR)
    for link in bare["links"]:
        del link["latency_us"]
    path = tmp_path / "bare.json"
    path.write_text(json.dumps(bare))
    asked = ("simulate", schedule, "--topology", str(path), "--bytes", "2000", "--json")
    default, stated = topoloom(*asked), topoloom(*asked, "--alpha-us", "10")
    assert json.loads(default.out) == json.loads(stated.out)
    assert json.loads(default.out)["request"]["alpha_us"] == 10
    assert "assumed" not in json.loads(default.out)


def test_every_command_that_prints_times_uses_the_latencies(topoloom, files, tmp_path):
    _, fabric = files
    asked = (fabric, "--collective", "allgather", "--bytes", "2000")
    printed = topoloom("schedule", *asked, "--out", str(tmp_path / "again.json"))
    assert "time   3.5 us" in printed.out and "latency of each link" in printed.out
    compared = topoloom("compare", "algorithms", *asked, "--json")
    document = json.loads(compared.out)["fabric"]
    assert document["assumed"] == [{"text": SAID, "option": "alpha_us"}]
    assert min(one["seconds"] for one in document["sizes"][0]["times"]) == 3.5e-6
    listed = topoloom("compare", "baselines", *asked, "--json")
    assert json.loads(listed.out)["opponents"][0]["seconds"] == 3.5e-6
    assert json.loads(listed.out)["assumed"] == [{"text": SAID, "option": "alpha_us"}]
    heights = topoloom("heights", *asked)
    for answer in (printed, compared, listed, heights):
        assert answer.code == 0
        assert f"note: {SAID} (change: --alpha-us)" in answer.err


RATE = "Capacities count links: a host sends 100 Gbit/s over all its ports."
LATENCY = "The topology states no latencies: a hop takes 10 us."


def test_times_of_a_recipe_say_which_rate_and_latency_they_assume(topoloom, tmp_path):
    file = str(tmp_path / "ring.json")
    assert topoloom("schedule", "BiRing(3)", "--collective", "allgather", "--out", file).code == 0
    notes = f"note: {RATE} (change: --node-gbps)\nnote: {LATENCY} (change: --alpha-us)\n"
    asked = ("BiRing(3)", "--collective", "allgather", "--bytes", "1MB")
    for command in (
        ("simulate", file, "--topology", "BiRing(3)", "--bytes", "1MB"),
        ("schedule", *asked, "--out", file),
        ("compare", "algorithms", *asked),
        ("compare", "baselines", *asked),
        ("compare", "heights", *asked),
    ):
        assert topoloom(*command).err == notes, command
        assert topoloom(*command, "--node-gbps", "100", "--alpha-us", "10").err == "", command


def test_the_rate_of_a_recipe_says_what_a_host_sends(topoloom, tmp_path):
    file = str(tmp_path / "ring.json")
    made = topoloom("schedule", "BiRing(3)", "--collective", "allgather", "--out", file)
    assert made.err == f"note: {RATE} (change: --node-gbps)\n"


@pytest.mark.slow
def test_the_service_takes_the_latencies_of_the_links_and_says_so(client):
    asked = {"topology": PAIR, "collective": "allgather"}
    identity = client.post("/v1/schedules", json=asked).json()["id"]
    found = client.post(f"/v1/schedules/{identity}/simulation", json={"bytes": 2000}).json()
    assert found["exact_seconds"] == "7/2000000"
    assert found["assumed"] == [{"text": SAID, "option": "alpha_us"}]
    stated = {"bytes": 2000, "alpha_us": 10}
    found = client.post(f"/v1/schedules/{identity}/simulation", json=stated).json()
    assert found["exact_seconds"] == "11/1000000"
    assert "assumed" not in found


def test_two_graphs_that_differ_in_latencies_are_two_topologies(client):
    one = client.post("/v1/topologies", json={"document": PAIR}).json()
    other = client.post("/v1/topologies", json={"document": with_latency(3)}).json()
    assert one["id"] != other["id"]
    assert one["links"][0]["latency_us"] == "5/2"
    assert other["links"][0]["latency_us"] == 3
    assert client.get(f"/v1/topologies/{other['id']}").json() == other
    named = client.post("/v1/costs", json={"topology": {"name": "far pair"}})
    assert (named.status_code, named.json()["type"]) == (422, "/problems/ambiguous")


@pytest.mark.parametrize("value", [-1, "-1/2", 1_000_001, "1/0", "soon", True, [], "9" * 99])
def test_a_wrong_latency_is_one_error_at_its_place(client, topoloom, tmp_path, value):
    refused = client.post("/v1/topologies", json={"document": with_latency(value)})
    assert refused.status_code == 422
    place = "/document/links/0/latency_us"
    assert [error["pointer"] for error in refused.json()["errors"]] == [place]
    file = tmp_path / "wrong.json"
    file.write_text(json.dumps(with_latency(value)))
    answer = topoloom("optimum", str(file))
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"topoloom: {file}: /links/0/latency_us: must be a number of")
    assert answer.err.count("\n") == 1


def test_a_latency_that_is_no_number_is_refused_in_a_file(topoloom, tmp_path):
    file = tmp_path / "wrong.json"
    for word in ("NaN", "Infinity", "1e999"):
        file.write_text(json.dumps(PAIR).replace("2.5", word))
        answer = topoloom("optimum", str(file))
        assert (answer.code, answer.err.count("\n")) == (2, 1)
        assert "/links/0/latency_us" in answer.err


def test_files_of_simulators_have_the_latency_of_each_cable(topoloom, tmp_path):
    fabric = topoloom("topology", "dgx-a100-2", "--format", "ns3").out
    assert " 2400Gbps 0.0003ms 0\n" in fabric and " 200Gbps 0.0025ms 0\n" in fabric
    assert "latency" not in fabric
    stated = topoloom("topology", "dgx-a100-2", "--format", "ns3", "--alpha-us", "2").out
    assert " 2400Gbps 0.002ms 0\n" in stated
    assert "Every link has a latency of 2 us (alpha_us)." in stated
    links = json.loads(topoloom("topology", "dgx-a100-2", "--format", "infragraph").out)["links"]
    assert [link["physical"]["latency"]["us"] for link in links] == [2.5, 0.3]
    box = topoloom("topology", "dgx-h100-1", "--format", "astra-sim").out
    assert "latency: [300]" in box
    file = tmp_path / "pair.json"
    file.write_text(json.dumps(PAIR))
    refused = topoloom("topology", str(file), "--format", "ns3")
    assert refused.code == 2
    assert "must have one latency between a and b in ns3" in refused.err
