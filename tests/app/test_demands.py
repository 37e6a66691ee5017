"""Broadcast, reduce, unequal shards and groups, asked over REST and on the command line."""

import json
from fractions import Fraction

import pytest

from tests.flow_oracles import flow_rate
from topoloom.schedules.formats.schedule.read import from_document
from topoloom.schedules.trees.forestcoll import optimum
from topoloom.schedules.verify import tree_inverse_rate, violations
from topoloom.synth.fabrics import fabric

BOXES = fabric("dgx-a100-2")
SOURCE = {"topology": {"fabric": "dgx-a100-2"}}
GROUP = ["0.gpu0", "0.gpu1", "1.gpu0"]

QUESTIONS = [
    {"collective": "broadcast", "root": "0.gpu3"},
    {"collective": "reduce", "root": "0.gpu3", "participants": ["0.gpu3", "1.gpu3"]},
    {"collective": "allgather", "participants": GROUP},
    {"collective": "allreduce", "participants": GROUP},
    {"collective": "reduce-scatter", "shards": [{"rank": "0.gpu0", "size": 3}]},
    {
        "collective": "allreduce",
        "shards": [{"rank": "1.gpu0", "size": 2}, {"rank": "0.gpu1", "size": 1}],
        "participants": GROUP,
        "max_gap": "1/10",
    },
]


def sizes(question):
    if "shards" not in question:
        return None
    return {shard["rank"]: shard["size"] for shard in question["shards"]}


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["collective"])
@pytest.mark.one_in(3)
def test_a_schedule_reaches_the_optimum_that_is_told(client, question):
    made = client.post("/v1/schedules", json=SOURCE | question)
    assert made.status_code == 201, made.text
    summary = made.json()
    schedule = from_document(client.get(f"/v1/schedules/{summary['id']}").json(), BOXES)
    assert violations(schedule, BOXES) == []
    assert str(tree_inverse_rate(schedule, BOXES)) == summary["inverse_rate"]
    best = optimum(
        BOXES,
        root=question.get("root"),
        shards=sizes(question),
        participants=question.get("participants"),
    )
    assert (summary["ranks"], summary["data"]) == (best.compute_nodes, best.data)
    if question["collective"] == "allreduce" and "max_gap" not in question:
        most = flow_rate(BOXES, dict.fromkeys(GROUP, 1), "oi")
        assert float(best.data / Fraction(summary["inverse_rate"])) == pytest.approx(most)
    elif "max_gap" not in question:
        assert summary["inverse_rate"] == str(best.inverse_rate)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["collective"])
def test_the_optimum_of_the_same_question_is_told_by_both(client, topoloom, question):
    place = client.post("/v1/topologies", json={"fabric": "dgx-a100-2"}).headers["Location"]
    shards = [f"{rank}={size}" for rank, size in (sizes(question) or {}).items()]
    asked = question | ({"shards": shards} if shards else {})
    answer = client.get(f"{place}/optimum", params=asked)
    assert answer.status_code == 200, answer.text
    flags = [
        f"--{name.replace('_', '-')}={','.join(value) if isinstance(value, list) else value}"
        for name, value in asked.items()
    ]
    printed = json.loads(topoloom("optimum", "dgx-a100-2", *flags, "--json").out)
    assert printed == answer.json()
    parts = printed.get("parts", [printed])
    total = sum(Fraction(part["inverse_rate"]) for part in parts)
    assert printed.get("sequential", printed)["inverse_rate"] == str(total)
    assert Fraction(printed["inverse_rate"]) <= total
    for part in parts:
        cut = part["bottleneck"]
        capacity = Fraction(cut.get("exit_capacity") or cut["entry_capacity"])
        gap = 1 + Fraction(part.get("gap", 0))
        if "max_gap" not in question:
            assert Fraction(part["inverse_rate"]) == gap * cut["data_inside"] / capacity


@pytest.mark.slow
def test_an_allreduce_is_told_how_far_it_is_from_both_passes_at_once(client, topoloom):
    place = client.post("/v1/topologies", json={"recipe": "GeneralizedKautz(3, 8)"}).headers[
        "Location"
    ]
    found = client.get(f"{place}/optimum", params={"collective": "allreduce"}).json()
    bound = found["bound"]
    assert bound["exact"] is True
    in_turn = Fraction(found.get("sequential", found)["inverse_rate"])
    assert in_turn / Fraction(bound["inverse_rate"]) == 1 + Fraction(bound["gap"])
    shown = topoloom("optimum", "GeneralizedKautz(3, 8)", "--collective", "allreduce").out
    assert f"bound          {bound['inverse_rate']} with both passes at once" in shown
    large = topoloom("optimum", "RandomRegular(160, 4, 0)", "--collective", "allreduce")
    assert large.code == 0
    assert "bound          not computed: the linear program of the flows has more than" in large.out
    assert "bound" not in client.get(f"{place}/optimum").json()


def test_the_order_of_names_makes_no_other_question(client):
    first = {"collective": "allgather", "participants": GROUP}
    second = first | {"participants": GROUP[::-1]}
    made = client.post("/v1/schedules", json=SOURCE | first)
    assert client.post("/v1/schedules", json=SOURCE | second).json() == made.json()


def test_a_text_names_the_integer_node_of_its_digits(client):
    source = {"topology": {"recipe": "BiRing(4)"}, "collective": "broadcast"}
    made = client.post("/v1/schedules", json=source | {"root": 2})
    assert made.status_code == 201
    assert client.post("/v1/schedules", json=source | {"root": "2"}).json() == made.json()


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"collective": "broadcast"}, "/root"),
        ({"collective": "allgather", "root": "0.gpu0"}, "/root"),
        ({"collective": "broadcast", "root": "0.nvswitch"}, "/root"),
        ({"collective": "broadcast", "root": "nobody"}, "/root"),
        ({"collective": "broadcast", "root": 1.5}, "/root"),
        ({"collective": "broadcast", "root": "0.gpu0", "algorithm": "bfb"}, "/root"),
        ({"collective": "broadcast", "algorithm": "bfb"}, "/algorithm"),
        (
            {"collective": "reduce", "root": "0.gpu0", "shards": [{"rank": "0.gpu0", "size": 1}]},
            "/shards",
        ),
        ({"participants": ["0.gpu0"]}, "/participants"),
        ({"participants": ["0.gpu0", "0.gpu0"]}, "/participants"),
        ({"participants": ["0.gpu0", "ib"]}, "/participants"),
        ({"participants": "0.gpu0,0.gpu1"}, "/participants"),
        ({"shards": [{"rank": "0.gpu0"}]}, "/shards/0/size"),
        ({"shards": [{"rank": "0.gpu0", "size": -1}]}, "/shards/0/size"),
        ({"shards": [{"rank": "0.gpu0", "size": 10**16}]}, "/shards/0/size"),
        ({"shards": [{"rank": "0.gpu0", "size": 0}]}, "/shards"),
        ({"shards": [{"rank": "0.gpu0", "size": 1}] * 2}, "/shards"),
        ({"shards": ["0.gpu0=much"]}, "/shards/0"),
        ({"shards": []}, "/shards"),
        ({"shards": {"0.gpu0": 1}}, "/shards"),
        ({"trees_per_root": 0}, "/trees_per_root"),
    ],
)
def test_a_wrong_question_is_refused_by_name(client, change, pointer):
    answer = client.post("/v1/schedules", json=SOURCE | {"collective": "allgather"} | change)
    assert answer.status_code == 422
    assert pointer in {entry["pointer"].removesuffix("/str") for entry in answer.json()["errors"]}
    assert client.get("/v1/schedules").json()["items"] == []


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ({"collective": "gossip"}, "collective"),
        ({"collective": "broadcast"}, "root"),
        ({"root": "0.gpu0"}, "root"),
        ({"shards": "0.gpu0"}, "shards"),
        ({"shards": "=1"}, "shards"),
        ({"participants": "0.gpu0"}, "participants"),
        ({"participants": ["0.gpu0", "0.nvswitch"]}, "participants"),
        ({"trees_per_root": 1, "max_gap": "1/2"}, "max_gap"),
    ],
)
@pytest.mark.one_in(3)
def test_a_wrong_query_is_refused_by_name(client, query, word):
    place = client.post("/v1/topologies", json={"fabric": "dgx-a100-2"}).headers["Location"]
    refused = client.get(f"{place}/optimum", params=query)
    assert refused.status_code == 422
    assert word in refused.json()["errors"][0]["pointer"]


def test_a_broadcast_is_written_and_found_valid(topoloom, tmp_path):
    file = str(tmp_path / "broadcast.json")
    flags = ["--collective", "broadcast", "--root", "1.gpu7"]
    made = topoloom("schedule", "dgx-a100-2", *flags, "--out", file)
    assert (made.code, made.err) == (0, "")
    assert topoloom("verify", file, "--topology", "dgx-a100-2").out == "valid\n"
    refused = topoloom("schedule", "dgx-a100-2", *flags, "--format", "msccl-xml")
    assert (refused.code, refused.out) == (2, "")
    assert "--collective: must be one of allgather, reduce-scatter, allreduce" in refused.err


def test_lists_may_come_from_files(topoloom, tmp_path):
    shards, group = tmp_path / "shards.json", tmp_path / "group.json"
    shards.write_text(json.dumps([{"rank": 0, "size": 3}, {"rank": 2, "size": 1}]))
    group.write_text(json.dumps([0, 1, 2]))
    flags = ["--shards", str(shards), "--participants", str(group), "--json"]
    from_files = topoloom("optimum", "BiRing(4)", *flags)
    listed = ["--shards", "0=3,2=1", "--participants", "0,1,2", "--json"]
    assert topoloom("optimum", "BiRing(4)", *listed).out == from_files.out
    refused = topoloom("optimum", "BiRing(4)", "--shards", str(tmp_path / "none.json"))
    assert (refused.code, refused.err) == (
        2,
        f"topoloom: {tmp_path}/none.json: no such file or directory\n",
    )
    group.write_text("3")
    assert topoloom("optimum", "BiRing(4)", "--participants", str(group)).code == 2


@pytest.mark.parametrize(
    ("flags", "option"),
    [
        (["--collective", "broadcast"], "--root"),
        (["--collective", "broadcast", "--root", "ib"], "--root"),
        (["--participants", "0.gpu0"], "--participants"),
        (["--participants", ""], "--participants"),
        (["--shards", "0.gpu0"], "--shards"),
        (["--shards", "0.gpu0=1,,"], "--shards"),
    ],
)
@pytest.mark.parametrize("command", ["optimum", "schedule"])
def test_a_wrong_option_is_one_line(topoloom, command, flags, option):
    if command == "schedule" and "--collective" not in flags:
        flags = ["--collective", "allgather", *flags]
    done = topoloom(command, "dgx-a100-2", *flags)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"topoloom: {option}: ")
    assert done.err.count("\n") == 1


@pytest.mark.slow
def test_what_multicast_switches_save_is_told(client, topoloom, tmp_path):
    source = {"topology": {"fabric": "gb200-nvl72-sharp"}}
    made = client.post("/v1/schedules", json=source | {"collective": "allreduce"}).json()
    assert made["multicast"] == {
        "crossings": "10368",
        "crossings_unshared": "20448",
        "inverse_rate_together": "2/25",
    }
    assert made["parts"][1]["multicast"] == {"crossings": "5184", "crossings_unshared": "10224"}
    plain = {"topology": {"fabric": "dgx-h100-1"}, "collective": "allgather"}
    assert "multicast" not in client.post("/v1/schedules", json=plain).json()
    file = tmp_path / "gather.json"
    flags = ["--collective", "allgather", "--out", str(file)]
    said = topoloom("schedule", "dgx-h100-sharp-1", *flags).out
    assert ", 64 link crossings, 112 without multicast" in said
    assert topoloom("verify", str(file), "--topology", "dgx-h100-sharp-1").out == "valid\n"


def test_a_document_may_name_multicast_switches(client):
    nodes = [{"id": "a"}, {"id": "b"}, {"id": "w", "kind": "switch", "multicast": True}]
    links = [{"source": s, "target": t} for s, t in ("aw", "wa", "bw", "wb")]
    document = {"schema": "topology/1", "name": "pair", "nodes": nodes, "links": links}
    made = client.post("/v1/topologies", json=document)
    assert made.status_code == 201
    assert made.json()["nodes"][2]["multicast"] is True
    wrong = document | {"nodes": [{"id": "a", "multicast": True}, *nodes[1:]]}
    refused = client.post("/v1/topologies", json=wrong)
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == "/document/nodes/0/multicast"
