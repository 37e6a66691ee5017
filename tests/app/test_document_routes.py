"""Who asks plainly is answered sooner, and exactly as one whose request FastAPI hears."""

import pytest

from topoloom.app.api.document_routes import ANY_JSON, JSON

TOPOLOGY = {"recipe": "BiRing(5)"}
ASKED = {
    "designs": {"nodes": 6, "degree": 2, "collective": "allgather", "bytes": "1MB"},
    "frontiers": {"nodes": 6, "degree": 2},
    "topologies": TOPOLOGY,
    "costs": {"topology": TOPOLOGY},
    "optima": {"topology": TOPOLOGY, "collective": "allgather"},
    "schedules": {"topology": TOPOLOGY, "collective": "allgather"},
}
HEARD = {"Content-Type": f"{JSON}; charset=utf-8", "Accept": f"{JSON};q=0.9"}
"""What FastAPI is asked to read, though it means what plain requests do."""


def shown(answer):
    """Return what a client sees of an answer; of a problem, without the id of its request."""
    headers = {name: text for name, text in answer.headers.items() if name != "x-request-id"}
    body = answer.content if answer.status_code < 400 else {**answer.json(), "request_id": ""}
    return answer.status_code, headers, body


def both(client, method, path, **said):
    """Return the answers to a request said plainly, and said so that FastAPI hears it."""
    asked = said.pop("headers", {})
    given = {"Content-Type": JSON} if method == "POST" else {}
    return (
        shown(client.request(method, path, headers=given | asked, **said)),
        shown(client.request(method, path, headers=HEARD | asked, **said)),
    )


@pytest.mark.one_in(7)
@pytest.mark.parametrize("kind", ASKED)
@pytest.mark.parametrize(
    "asked", [{}, {"Accept-Encoding": "identity"}, {"Prefer": "wait=9"}], ids=str
)
def test_a_plain_question_has_the_same_answer(client, kind, asked):
    place = client.post(f"/v1/{kind}", json=ASKED[kind]).headers["Location"]
    posted, heard = both(client, "POST", f"/v1/{kind}", json=ASKED[kind], headers=asked)
    assert posted == heard and posted[0] == 200
    whole, _, query = place.partition("?")
    for path in (place, f"{whole[: -64 + 12]}?{query}"):
        read, heard = both(client, "GET", path, headers=asked)
        assert read == heard and read[0] == 200
    tag = {"If-None-Match": read[1]["etag"]}
    again, heard = both(client, "GET", place, headers=asked | tag)
    assert again == heard and again[0] == 304
    headed, heard = both(client, "HEAD", place, headers=asked)
    assert headed == heard and headed[2] == b""


@pytest.mark.one_in(2)
@pytest.mark.parametrize("accept", ANY_JSON)
def test_accept_headers_of_programs_are_plain(client, accept):
    place = client.post("/v1/designs", json=ASKED["designs"]).headers["Location"]
    headers = {} if accept is None else {"Accept": accept}
    assert client.get(place, headers=headers).headers["content-type"] == JSON


WRONG = [
    ("GET", "/v1/designs/" + "0" * 64, {}),
    ("GET", "/v1/designs/0000000", {}),
    ("GET", "/v1/designs/XYZ", {}),
    ("GET", "/v1/costs/12", {}),
    ("GET", "/v1/topologies/" + "0" * 65, {}),
    ("POST", "/v1/designs", {"json": {"nodes": 6}}),
    ("POST", "/v1/designs", {"json": ASKED["designs"] | {"nodes": "six", "colour": 1}}),
    ("POST", "/v1/designs", {"json": []}),
    ("POST", "/v1/designs", {"content": b"{"}),
    ("POST", "/v1/designs", {"content": b"\xff"}),
    ("POST", "/v1/designs", {"content": b""}),
    ("POST", "/v1/costs", {"json": {"topology": {"id": "0" * 64}}}),
    ("POST", "/v1/costs", {"content": b"[" * 5000}),
]


@pytest.mark.parametrize(("method", "path", "said"), WRONG, ids=str)
def test_a_plain_mistake_has_the_same_problem(client, method, path, said):
    plain, heard = both(client, method, path, **said)
    assert plain == heard and plain[0] >= 400


@pytest.mark.parametrize("kind", ["designs", "topologies", "frontiers"])
def test_a_query_that_means_nothing_is_refused_however_it_is_said(client, kind):
    place = client.post(f"/v1/{kind}", json=ASKED[kind]).headers["Location"]
    plain, heard = both(client, "GET", f"{place}?colour=1")
    assert plain == heard and plain[0] == 422
