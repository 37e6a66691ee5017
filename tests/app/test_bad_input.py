"""Bad input: one clear error that names the field and the rule, and nothing stored."""

import gzip
import json
import time

import pytest

from topoloom.app.api.request_limits import body_limit
from topoloom.app.store.tables import TABLES

NODES = [{"id": 0}, {"id": 1}, {"id": 2}]
RING = [{"source": 0, "target": 1}, {"source": 1, "target": 2}, {"source": 2, "target": 0}]


def document(nodes=NODES, links=RING, schema="topology/1"):
    return {"schema": schema, "nodes": nodes, "links": links}


def with_link(**changes):
    return document(links=[*RING[:2], RING[2] | changes])


TOPOLOGIES = {
    "no nodes": (document(nodes=[]), "/nodes"),
    "one node": (document(nodes=[{"id": 0}], links=[]), "/nodes"),
    "nodes missing": ({"schema": "topology/1"}, "/nodes"),
    "another schema": (document(schema="topology/9"), "/schema"),
    "no links": (document(links=[]), "/links"),
    "disconnected": (document(links=RING[:2]), "/links"),
    "unreachable": (document(nodes=[*NODES, {"id": 3}]), "/links"),
    "repeated id": (document(nodes=[*NODES, {"id": 0}]), "/nodes/3/id"),
    "unknown end": (with_link(target=9), "/links/2"),
    "loop": (with_link(target=2), "/links/2"),
    "zero capacity": (with_link(capacity=0), "/links/2/capacity"),
    "negative capacity": (with_link(capacity=-1), "/links/2/capacity"),
    "capacity a float": (with_link(capacity=0.5), "/links/2/capacity"),
    "capacity over zero": (with_link(capacity="1/0"), "/links/2/capacity"),
    "control character": (document(nodes=[*NODES[:2], {"id": "a\u0000"}]), "/nodes/2/id"),
}

DESIGNS = {
    "zero nodes": ({"nodes": 0}, "nodes"),
    "negative nodes": ({"nodes": -4}, "nodes"),
    "zero degree": ({"degree": 0}, "degree"),
    "degree as large as nodes": ({"degree": 12}, "degree"),
    "degree larger than nodes": ({"degree": 13}, "degree"),
    "odd number of two-way ports": ({"nodes": 7, "degree": 3, "links": "bidirectional"}, "degree"),
    "unknown links": ({"links": "wireless"}, "links"),
    "unknown collective": ({"collective": "gossip"}, "collective"),
    "zero bytes": ({"bytes": 0}, "bytes"),
    "negative bytes": ({"bytes": -1}, "bytes"),
    "bytes of an unknown unit": ({"bytes": "1 parsec"}, "bytes"),
    "zero bandwidth": ({"node_gbps": 0}, "node_gbps"),
    "negative latency": ({"alpha_us": -1}, "alpha_us"),
    "too many nodes": ({"nodes": 900_000}, "nodes"),
}
QUESTION = {"nodes": 12, "degree": 4, "collective": "allreduce", "bytes": "1MB"}
FLAGS = {
    "nodes": "--nodes",
    "degree": "--degree",
    "links": "--links",
    "collective": "--collective",
    "bytes": "--bytes",
    "node_gbps": "--node-gbps",
    "alpha_us": "--alpha-us",
}


def require_refused(answer, pointer, client):
    """Check a problem document and that nothing was stored."""
    problem = answer.json()
    assert 400 <= answer.status_code < 500
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert problem["status"] == answer.status_code
    assert any(entry["pointer"].startswith(pointer) for entry in problem["errors"]), problem
    assert all(entry["detail"] for entry in problem["errors"])
    for kind in TABLES:
        assert client.app.state.context.whole_store.page(kind, 1, None)[0] == []


def require_one_line(answer, *words):
    """Check a refusal of the command line."""
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.count("\n") == 1
    assert "Traceback" not in answer.err
    for word in words:
        assert word in answer.err


@pytest.mark.one_in(2)
@pytest.mark.parametrize("bad", TOPOLOGIES.values(), ids=list(TOPOLOGIES))
def test_a_bad_topology_is_refused_over_http(client, bad):
    given, pointer = bad
    answer = client.post("/v1/topologies", json={"document": given})
    require_refused(answer, "/document" + pointer, client)
    answer = client.post(
        "/v1/schedules", json={"topology": {"document": given}, "collective": "allgather"}
    )
    require_refused(answer, "/topology/document" + pointer, client)


@pytest.mark.one_in(6)
@pytest.mark.parametrize("command", ["measure", "optimum", "patch"])
@pytest.mark.parametrize("bad", TOPOLOGIES.values(), ids=list(TOPOLOGIES))
def test_a_bad_topology_is_refused_by_the_command_line(topoloom, tmp_path, command, bad):
    given, pointer = bad
    file = tmp_path / "bad.json"
    file.write_text(json.dumps(given))
    require_one_line(topoloom(command, str(file)), pointer)


@pytest.mark.parametrize("bad", DESIGNS.values(), ids=list(DESIGNS))
def test_a_bad_question_is_refused_over_http(client, bad):
    changes, field = bad
    answer = client.post("/v1/designs", json=QUESTION | changes)
    require_refused(answer, f"/{field}", client)


@pytest.mark.parametrize("bad", DESIGNS.values(), ids=list(DESIGNS))
def test_a_bad_question_is_refused_by_the_command_line(topoloom, bad):
    changes, field = bad
    question = QUESTION | changes
    flags = [part for name, value in question.items() for part in (FLAGS[name], str(value))]
    require_one_line(topoloom("design", *flags), f"topoloom: {FLAGS[field]}: ")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"{", "must be JSON"),
        (b"[1, 2", "must be JSON"),
        (b'{"links": [], "links": []}', "must be JSON: an object names 'links' twice"),
        (b"\xff\xfe\x00", "UTF-8"),
        (b"[" * 200_000, "nest"),
        (b'{"schema": 1' + b"0" * 5000 + b"}", "must be JSON"),
        (b"\x1f\x8b not gzip", "gzip"),
        (gzip.compress(b"{}" * 100, mtime=0)[:-9], "gzip"),
        (b"\x89PNG\r\n\x1a\n", "the file is a PNG image"),
        (b"[]", "is a JSON list"),
        (b'"text"', "must be a JSON object"),
    ],
)
def test_a_file_that_is_not_json_is_one_line(topoloom, tmp_path, content, words):
    file = tmp_path / "bad.json"
    file.write_bytes(content)
    require_one_line(topoloom("measure", str(file)), words)


def test_files_that_cannot_be_read_are_one_line(topoloom, tmp_path):
    require_one_line(topoloom("measure", str(tmp_path)), "is a directory")
    require_one_line(topoloom("measure", str(tmp_path / "none.json")), "no such file")
    require_one_line(topoloom("optimum", "none.json.gz"), "no such file")
    require_one_line(topoloom("verify", str(tmp_path), "--topology", "BiRing(3)"), "directory")
    require_one_line(topoloom("measure", "x" * 5000), "must")
    require_one_line(topoloom("topology", "BiRing(3)", "--out", "/proc/none/x"), "no folder")


@pytest.mark.parametrize(
    "arguments",
    [
        ["topology", "Unknown(3)"],
        ["topology", "BiRing(3"],
        ["topology", "BiRing(x)"],
        ["topology", "LineGraph(60, BiRing(5))"],
        ["topology", "no-such-fabric"],
        ["topology", "BiRing(5)", "--format", "png"],
        ["topology", "f" * 64],
        ["topology"],
        ["nonsense"],
        ["design"],
        ["design", "--nodes", "many"],
        ["schedule", "BiRing(5)", "--collective", "gossip"],
        ["schedule", "BiRing(5)", "--collective", "allgather", "--algorithm", "magic"],
        ["schedule", "BiRing(5)", "--collective", "allgather", "--format", "chakra-et"],
        ["schedule", "BiRing(5)", "--collective", "allgather", "--format", "et", "--bytes", "1MB"],
        ["schedule", "BiRing(5)", "--collective", "allgather", "--bytes", "much"],
        ["schedule", "BiRing(5)", "--collective", "allgather", "--alpha-us", "0"],
        ["list"],
        ["list", "wishes"],
        ["list", "designs", "--limit", "0"],
        ["list", "designs", "--after", "nowhere"],
        ["list", "designs", "--json", "--csv"],
        ["config", "--json", "--csv"],
        ["serve", "--port", "65536"],
        ["serve", "--port", "many"],
        ["measure", "BiRing(5)", "--json", "--csv"],
        ["plot", "sizes", "--nodes", "8", "--degree", "2", "--out", "a.svg"],
        [
            "schedule",
            "BiRing(5)",
            "--collective",
            "allgather",
            "--format",
            "chakra-et",
            "--bytes",
            "1MB",
        ],
        ["schedule", "BiRing(5)", "--collective", "allgather", "--format", "dot"],
        [
            "schedule",
            "BiRing(5)",
            "--collective",
            "allgather",
            "--format",
            "mscclpp-json",
            "--ranks-per-node",
            "0",
        ],
        ["schedule", "BiRing(5)", "--collective", "allgather", "--dialect", "msccl"],
        [
            "schedule",
            "BiRing(5)",
            "--collective",
            "allgather",
            "--trees-per-root",
            "2",
            "--algorithm",
            "bfb",
        ],
        ["schedule", "dgx-a100-2", "--collective", "allgather", "--algorithm", "bfb"],
        ["patch", "dgx-a100-2"],
        ["patch", "BiRing(5)", "--panels", "many"],
        ["patch", "BiRing(5)", "--ports-per-host", "1"],
        ["patch", "BiRing(5)", "--format", "png"],
        ["db", "migrate", "--revision", "9999"],
    ],
    ids=" ".join,
)
def test_a_wrong_command_line_is_one_line(topoloom, arguments):
    require_one_line(topoloom(*arguments), "topoloom: ")


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["measure", "GeneralisedKautz(2, 5)"], "GeneralizedKautz"),
        (["measure", "LineGrap(2, Diamond())"], "LineGraph"),
        (["measure", "dgx-a10-2"], "dgx-a100-N"),
        (["design", "--nodes", "8", "--degree", "2", "--preset", "gpt2xl"], "gpt2-xl-ddp"),
        (["frontier", "--nodes", "8", "--degree", "2", "--family", "kautz"], "Kautz"),
        (["sweep", "sizes", "--nodes", "8:9", "--degree", "2", "--family", "kautz"], "Kautz"),
        (["sweep", "gaps", "--nodes", "8:9", "--degree", "2", "--family", "kautz"], "Kautz"),
        (["topology", "Diamond()", "--format", "grapml"], "graphml"),
        (["schedule", "Diamond()", "--collective", "alreduce"], "allreduce"),
        (["list", "design"], "designs"),
        (["measure", "Diamond()", "--jsn"], "--json"),
    ],
    ids=" ".join,
)
def test_a_near_miss_suggests_the_name_that_was_meant(topoloom, words, meant):
    require_one_line(topoloom(*words), f"; did you mean {meant}?\n")


def test_a_command_that_is_nearly_one_is_suggested(topoloom):
    require_one_line(topoloom("desing"), "did you mean 'design'?")
    require_one_line(topoloom("topology", "Zzzz(3)"), "; `topoloom catalog families` lists all\n")


@pytest.mark.parametrize("option", ["--shards", "--participants"])
def test_a_file_that_holds_no_list_is_named_with_its_option(topoloom, tmp_path, option):
    file = tmp_path / "sizes.json"
    file.write_text('{"wrong": 1}')
    command = ("schedule", "dgx-a100-2", "--collective", "allgather", option, str(file))
    answer = topoloom(*command, "--algorithm", "forestcoll")
    assert (answer.code, answer.err) == (2, f"topoloom: {option} {file}: must be a list\n")


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ((), "must have --collective with --bytes, --workload, or --preset"),
        (("--collective", "allreduce"), "must have --bytes: the size of the data"),
        (("--bytes", "1MB"), "must have --collective: what moves the data"),
        (
            ("--collective", "allreduce", "--bytes", "1MB", "--preset", "gpt2-xl-ddp"),
            "must have exactly one of --collective with --bytes, --workload, and --preset",
        ),
    ],
)
def test_half_a_workload_says_what_is_missing(topoloom, given, rule):
    require_one_line(topoloom("design", "--nodes", "12", "--degree", "4", *given), rule)


def test_an_unknown_family_of_a_list_is_refused_with_the_nearest_name(client, topoloom):
    rule = "no family is called 'Kauz'; did you mean Kautz?"
    require_one_line(topoloom("list", "designs", "--family", "Kauz"), f"--family: {rule}")
    refused = client.get("/v1/designs?family=Kauz")
    assert (refused.status_code, refused.json()["errors"][0]["detail"][: len(rule)]) == (422, rule)
    assert client.get("/v1/designs?family=LineGraph").status_code == 200
    assert client.get("/v1/box-designs?family=Boxes").status_code == 200


def test_an_empty_argument_is_refused_and_is_no_folder(topoloom):
    for words in (["--out", ""], ["--out="]):
        command = ["schedule", "BiRing(4)", "--collective", "allgather", *words]
        require_one_line(topoloom(*command), "--out: must not be empty")
    require_one_line(topoloom("optimum", ""), "the argument after 'optimum' must not be empty")
    # A value may end with the sign.
    require_one_line(topoloom("list", "designs", "--family=a="), "--family: must ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("verify a.json BiRing(3)", "--topology: is missing; write --topology 'BiRing(3)'"),
        ("plot load a.json x --out o.svg", "--topology: is missing; write --topology x"),
        ("execute a.json x", "unexpected argument: x; write --topology x"),
        ("frontier 12 4", "--nodes: is missing; write --nodes 12"),
        ("frontier --nodes 12 --degree 4 a b", "unexpected argument: a b"),
        ("sweep network", "INSTANCES: is missing"),
        ("sweep workload", "must have --nodes if kind is 'workload'"),
        ("iteration llama --nodes 8 --degree 2", "llama: must be one of llama3-405b, "),
    ],
)
def test_a_misplaced_or_missing_argument_is_named_with_its_option(topoloom, words, said):
    refused = topoloom(*words.split(" "))
    assert (refused.code, refused.out, refused.err.count("\n")) == (2, "", 1)
    assert refused.err.startswith(f"topoloom: {said}")


def test_an_unknown_command_of_a_group_leads_to_the_list(topoloom):
    require_one_line(topoloom("lr", "zzz"), "no such command 'zzz'; topoloom lr --help lists")
    require_one_line(topoloom("jobs", "show", "zzz"), "topoloom: no job is stored under zzz\n")


def test_two_files_cannot_both_be_standard_input(topoloom):
    words = ("only one file can be -, standard input",)
    require_one_line(topoloom("verify", "-", "--topology", "-"), *words)
    require_one_line(topoloom("compare", "schedules", "-", "-"), *words)
    written = ("--repair", "left-out", "--out", "-", "--plant-out", "-")
    require_one_line(
        topoloom("patch", "repair", "nowhere.json", "--dead-host", "0", *written), "nowhere"
    )


@pytest.mark.slow
def test_a_hundred_megabytes_are_refused_before_they_are_parsed(client, topoloom, tmp_path):
    content = b"[" + b"1," * 50_000_000 + b"1]"
    start = time.process_time()
    answer = client.post(
        "/v1/topologies", content=content, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 413
    assert answer.json()["type"] == "/problems/body-too-large"
    pieces = (content[at : at + 10**6] for at in range(0, len(content), 10**6))
    unsized = client.post(
        "/v1/topologies", content=pieces, headers={"Content-Type": "application/json"}
    )
    assert (unsized.status_code, unsized.json()["title"]) == (413, answer.json()["title"])
    file = tmp_path / "large.json"
    file.write_bytes(content)
    for command in ("measure", "optimum"):
        require_one_line(topoloom(command, str(file)), "must have at most 33554432 bytes")
    # Parsing it alone takes longer than all of this.
    assert time.process_time() - start < 8


def test_a_small_file_that_unpacks_to_a_large_one_is_refused(topoloom, tmp_path, monkeypatch):
    monkeypatch.setenv("TOPOLOOM_MAX_UNPACKED_BYTES", "1000000")
    file = tmp_path / "bomb.json.gz"
    file.write_bytes(gzip.compress(b" " * 10_000_000))
    require_one_line(topoloom("measure", str(file)), "after unpacking")


@pytest.mark.parametrize(
    ("path", "body", "content_type", "status", "slug"),
    [
        ("/v1/designs", b"{", "application/json", 400, "malformed-body"),
        ("/v1/designs", b"", "application/json", 422, "invalid-request"),
        ("/v1/designs", b"[]", "application/json", 422, "invalid-request"),
        ("/v1/designs", b"[" * 100_000, "application/json", 400, "malformed-body"),
        ("/v1/designs", b"\xff", "application/json", 400, "malformed-body"),
        ("/v1/designs", b'{"nodes": 8, "nodes": 9}', "application/json", 400, "malformed-body"),
        ("/v1/designs", b"{}", "text/plain", 415, "unsupported-media-type"),
        ("/v1/designs", b"{}", None, 415, "unsupported-media-type"),
        ("/v1/none", b"{}", "application/json", 404, "not-found"),
        ("/healthz", b"{}", "application/json", 405, "method-not-allowed"),
    ],
)
def test_every_malformed_request_is_a_problem(client, path, body, content_type, status, slug):
    headers = {"Content-Type": content_type} if content_type else {}
    answer = client.post(path, content=body, headers=headers)
    assert (answer.status_code, answer.json()["type"]) == (status, f"/problems/{slug}")
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json()["instance"] == path
    assert status not in (404, 405) or answer.json()["detail"] == f"POST {path}"


@pytest.mark.parametrize("kind", ["designs", "topologies", "schedules", "patch-plans"])
def test_an_unknown_id_is_404_and_a_malformed_one_422(client, kind):
    assert client.get(f"/v1/{kind}/{'0' * 64}").json()["type"] == "/problems/not-stored"
    malformed = client.get(f"/v1/{kind}/x%00y")
    assert (malformed.status_code, malformed.json()["errors"][0]["pointer"]) == (422, "/id")
    assert client.get(f"/v1/{kind}?cursor=x").json()["type"] == "/problems/invalid-cursor"
    assert client.get(f"/v1/{kind}?limit=0").json()["errors"][0]["pointer"] == "/limit"


def test_an_error_inside_is_a_problem_that_tells_nothing_of_the_inside(settings):
    from fastapi.testclient import TestClient

    from topoloom.app.api.main import create_app

    app = create_app(settings)

    @app.get("/broken")
    def broken():
        raise RuntimeError("a secret of the inside")

    with TestClient(app, raise_server_exceptions=False, base_url="http://localhost") as client:
        answer = client.get("/broken")
    assert (answer.status_code, answer.json()["type"]) == (500, "/problems/internal-error")
    assert "secret" not in answer.text


def test_a_problem_names_a_hundred_fields_at_most_and_stays_small(client):
    many = {f"unknown{'x' * 50}{index}": 1 for index in range(3_000)}
    answer = client.post("/v1/designs", json=QUESTION | many)
    assert answer.status_code == 422
    assert len(answer.content) <= 64 * 2**10
    errors = answer.json()["errors"]
    assert len(errors) <= 100
    assert errors[-1]["detail"] == "breaks 3000 rules in all"


def test_a_problem_stays_small_whatever_the_names_of_its_fields(client):
    many = {f"{index}" + "\u00e9" * 20_000: 1 for index in range(6)}
    answer = client.post("/v1/designs", json=QUESTION | many)
    assert answer.status_code == 422
    assert len(answer.content) <= 64 * 2**10
    assert answer.json()["errors"][0]["pointer"].startswith("/0é")


def test_a_field_that_is_no_text_is_named_all_the_same(client):
    broken = json.dumps(QUESTION)[:-1] + ', "\\ud800": 1}'
    answer = client.post(
        "/v1/designs", content=broken, headers={"Content-Type": "application/json"}
    )
    assert 400 <= answer.status_code < 500
    assert answer.json()["status"] == answer.status_code


def test_every_request_that_takes_a_topology_a_plant_a_file_or_a_trace_may_be_large(client):
    document = client.get("/openapi.json").json()
    carry = {"topology", "document", "graphs", "traces", "model", "instances", "plant"}
    for path, methods in document["paths"].items():
        for content in methods.get("post", {}).get("requestBody", {}).get("content", {}).values():
            name = content["schema"].get("$ref", "").rpartition("/")[2]
            schema = document["components"]["schemas"].get(name, content["schema"])
            if carry & schema.get("properties", {}).keys():
                assert body_limit(path, 2**25) == 2**25, path


def test_questions_without_a_topology_are_a_quarter_of_a_mebibyte_at_most(client):
    answer = client.post("/v1/frontiers", json={"nodes": 8, "degree": 2, "more": "x" * 2**18})
    assert answer.status_code == 413
    assert str(2**18) in answer.json()["detail"]
    assert client.post("/v1/topologies", json={"text": "x" * 2**18}).status_code == 422
