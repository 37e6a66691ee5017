"""HTTP as its users expect it, on every route of the service."""

import gzip
import re
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from pydantic import ValidationError

from tests.cases import for_every
from topoloom.app.api.main import create_app
from topoloom.app.api.routes.explanations import pages
from topoloom.app.auth import api_keys
from topoloom.app.codegen.service_openapi import service_openapi
from topoloom.app.config import Settings
from topoloom.app.store.artifacts import Artefact

ROOT = Path(__file__).parents[2]
PATHS = service_openapi()["paths"]
READ = [path for path, methods in PATHS.items() if "get" in methods and "{" not in path]


@pytest.mark.slow
@for_every("path", READ)
def test_head_is_get_without_a_body(still, path):
    whole, head = still.get(path), still.head(path)
    assert (head.status_code, head.content) == (whole.status_code, b"")
    assert head.headers["Content-Type"] == whole.headers["Content-Type"]


def test_head_of_a_document_tells_its_length_and_its_tag(client):
    place = client.post("/v1/topologies", json={"recipe": "UniRing(5)"}).headers["Location"]
    whole, head = client.get(place), client.head(place)
    assert (head.status_code, head.content) == (200, b"")
    for name in ("ETag", "Content-Length"):
        assert head.headers[name] == whole.headers[name]


def test_the_reference_lists_every_type_of_problem_and_every_type_resolves(still):
    reference = (ROOT / "docs/reference/rest.md").read_text()
    listed = re.findall(r"^\| `/problems/([a-z-]+)`", reference, re.MULTILINE)
    assert sorted(set(listed)) == sorted(pages())
    for name in listed:
        page = still.get(f"/problems/{name}")
        assert (page.status_code, page.json()["type"]) == (200, f"/problems/{name}")


@for_every("path", [path for path in PATHS if "delete" not in PATHS[path]])
def test_a_refused_method_is_told_every_method_that_is_not(still, path):
    refused = still.patch(path.replace("{id}", "0" * 64).replace("{label}", "x"))
    assert refused.status_code == 405
    allowed = set(refused.headers["Allow"].split(", "))
    methods = {method.upper() for method in PATHS[path]}
    assert allowed >= methods | ({"HEAD"} if "GET" in methods else set())
    assert "PATCH" not in allowed


@for_every("path", READ)
def test_a_query_that_means_nothing_is_refused_by_name(still, path):
    refused = still.get(path, params={"limitt": "3"})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == "/limitt"
    assert "must be a query parameter of this path" in refused.json()["errors"][0]["detail"]


@pytest.mark.parametrize("times", [2, 3])
def test_a_parameter_is_sent_once_unless_it_is_a_list(still, times):
    refused = still.get("/v1/designs", params=[("limit", "3")] * times + [("sort", "nodes")])
    assert refused.status_code == 422
    assert refused.json()["errors"] == [{"pointer": "/limit", "detail": "must be sent once"}]
    workload = [("workload", "allreduce:1MB")] * times
    listed = still.get("/v1/best", params=[("nodes", "2000000"), ("degree", "2"), *workload])
    assert {error["pointer"] for error in listed.json()["errors"]} == {"/nodes"}


@pytest.mark.parametrize("path", ["/healthz", "/v1/designs"])
def test_two_host_headers_are_refused(still, path):
    refused = still.get(path, headers=[("Host", "localhost"), ("Host", "localhost")])
    assert refused.status_code == 400
    assert refused.json()["detail"] == "Host: must be sent once"


@pytest.mark.parametrize("coding", ["gzip", "br", "identity, gzip", "x"])
def test_an_encoded_body_is_refused_and_told_what_is_accepted(still, coding):
    body = gzip.compress(b'{"recipe": "UniRing(5)"}')
    headers = {"Content-Type": "application/json", "Content-Encoding": coding}
    refused = still.post("/v1/topologies", content=body, headers=headers)
    assert refused.status_code == 415
    assert refused.headers["Accept-Encoding"] == "identity"
    assert refused.json()["detail"].startswith("Content-Encoding: must be absent or identity")


def test_a_body_that_is_sent_as_it_is_may_say_so(still):
    headers = {"Content-Type": "application/json", "Content-Encoding": "Identity"}
    answer = still.post("/v1/topologies", content=b'{"recipe": "UniRing(5)"}', headers=headers)
    assert answer.status_code in (200, 201)


PAGE = "https://page.example"


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A service with keys that pages of one other origin may call, and the header of a key."""
    url = f"sqlite:///{tmp_path_factory.mktemp('shared') / 't.db'}"
    app = create_app(Settings(database_url=url, auth="keys", cors_origins=PAGE))
    with TestClient(app, base_url="http://localhost") as client:
        made = api_keys.create(client.app.state.engine, "page", ["read"])[1]
        yield client, {"Authorization": f"Bearer {made}"}


def preflight(client, origin):
    asked = {"Access-Control-Request-Method": "POST",
             "Access-Control-Request-Headers": "authorization, content-type, prefer"}  # fmt: skip
    return client.options("/v1/designs", headers={"Origin": origin, **asked})


def test_a_page_of_a_named_origin_may_call_the_service_with_its_key(shared):
    client, key = shared
    allowed = preflight(client, PAGE)
    assert allowed.status_code == 200
    assert allowed.headers["Access-Control-Allow-Origin"] == PAGE
    assert "authorization" in allowed.headers["Access-Control-Allow-Headers"].lower()
    answer = client.get("/v1/designs", headers={"Origin": PAGE, **key})
    assert answer.status_code == 200
    assert answer.headers["Access-Control-Allow-Origin"] == PAGE
    assert "Location" in answer.headers["Access-Control-Expose-Headers"]
    # The page can read why a request was refused.
    refused = client.get("/v1/designs", headers={"Origin": PAGE})
    assert refused.status_code == 401
    assert refused.headers["Access-Control-Allow-Origin"] == PAGE


def test_a_page_of_another_origin_may_not(shared, still):
    client, key = shared
    other = "https://other.example"
    assert "Access-Control-Allow-Origin" not in preflight(client, other).headers
    answer = client.get("/v1/designs", headers={"Origin": other, **key})
    assert "Access-Control-Allow-Origin" not in answer.headers
    # By default no page may.
    assert preflight(still, PAGE).status_code == 405
    assert (
        "Access-Control-Allow-Origin" not in still.get("/version", headers={"Origin": PAGE}).headers
    )


@pytest.mark.parametrize("text", ["page.example", "https://page.example/", "https://a, b", "null"])
def test_what_is_no_origin_is_refused_at_the_start(text):
    with pytest.raises(ValidationError, match="must be origins such as"):
        Settings(cors_origins=text)


DESIGN = {"nodes": 6, "degree": 2, "collective": "allgather", "bytes": "1MB"}
ON_THE_WIRE = {"Accept-Encoding": "gzip"}
PLAIN = {"Accept-Encoding": "identity"}


@pytest.fixture
def places(client):
    """Where documents of each kind are, and one about a topology."""
    ring = {"recipe": "UniRing(5)"}
    asked = [("designs", DESIGN), ("topologies", ring), ("patch-plans", {"topology": ring})]
    asked += [("schedules", {"topology": ring, "collective": "allgather"})]
    patient = {"Prefer": "wait=60"}
    answers = [client.post(f"/v1/{path}", json=body, headers=patient) for path, body in asked]
    made = [answer.headers["Location"] for answer in answers]
    made = [place.partition("?")[0] for place in made]
    return [*made, made[1] + "/cost", made[1] + "/optimum"]


@pytest.mark.slow
def test_stored_gzip_is_sent_as_it_is_to_who_takes_it(client, places, monkeypatch):
    plain = {place: client.get(place, headers=PLAIN) for place in places}
    for place, answer in plain.items():
        assert "Content-Encoding" not in answer.headers
        assert answer.headers["Vary"] == "Accept, Accept-Encoding"
        head = client.head(place, headers=PLAIN)
        assert head.headers.get("Content-Length") == answer.headers.get("Content-Length")
    packed = [place for place in places if "/patch-plans/" not in place and "/sched" not in place]

    def refuse(self):
        raise AssertionError("unpacked")

    monkeypatch.setattr(Artefact, "text", refuse)
    for place in packed:
        with client.stream("GET", place, headers=ON_THE_WIRE) as answer:
            raw = b"".join(answer.iter_raw())
        assert answer.headers["Content-Encoding"] == "gzip"
        assert int(answer.headers["Content-Length"]) == len(raw) < len(plain[place].content)
        assert gzip.decompress(raw) == plain[place].content
        assert answer.headers["ETag"] != plain[place].headers["ETag"]
        head = client.head(place, headers=ON_THE_WIRE)
        assert head.headers["Content-Length"] == answer.headers["Content-Length"]


def test_documents_by_their_whole_id_never_change_and_say_so(client, places):
    for place in places:
        whole = client.get(place).headers["Cache-Control"]
        if place.endswith(("/cost", "/optimum")):
            assert whole == "no-cache"
            continue
        assert whole == "public, max-age=31536000, immutable"
        assert client.get(place[:-8]).headers["Cache-Control"] == "no-cache"


@pytest.mark.parametrize("encoding", [ON_THE_WIRE, PLAIN])
@pytest.mark.slow
def test_what_the_client_has_is_neither_unpacked_nor_written_again(
    client, places, encoding, monkeypatch
):
    tags = {place: client.get(place, headers=encoding).headers["ETag"] for place in places}

    def refuse(*_):
        raise AssertionError("unpacked or written")

    for name in ("text", "document"):
        monkeypatch.setattr(Artefact, name, refuse)
    monkeypatch.setattr("topoloom.app.services.schedules.export", refuse)
    for place in [place for place in places if not place.endswith(("/cost", "/optimum"))]:
        answer = client.get(place, headers={**encoding, "If-None-Match": tags[place]})
        assert (answer.status_code, answer.content) == (304, b"")
        for name in ("Cache-Control", "Vary", "ETag"):
            assert name in answer.headers
