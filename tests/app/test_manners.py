"""HTTP as its users expect it, on every route of the service."""

import pytest

from app.config import Settings
from app.main import create_app

PATHS = create_app(Settings(database_url="sqlite://")).openapi()["paths"]
READ = [path for path, methods in PATHS.items() if "get" in methods and "{" not in path]


@pytest.mark.parametrize("path", READ)
def test_head_is_get_without_a_body(client, path):
    whole, head = client.get(path), client.head(path)
    assert (head.status_code, head.content) == (whole.status_code, b"")
    assert head.headers["Content-Type"] == whole.headers["Content-Type"]


def test_head_of_a_document_tells_its_length_and_its_tag(client):
    place = client.post("/v1/topologies", json={"recipe": "UniRing(5)"}).headers["Location"]
    whole, head = client.get(place), client.head(place)
    assert (head.status_code, head.content) == (200, b"")
    for name in ("ETag", "Content-Length"):
        assert head.headers[name] == whole.headers[name]


@pytest.mark.parametrize("path", PATHS)
def test_a_refused_method_is_told_every_method_that_is_not(client, path):
    refused = client.delete(path.replace("{id}", "0" * 64))
    assert refused.status_code == 405
    allowed = set(refused.headers["Allow"].split(", "))
    methods = {method.upper() for method in PATHS[path]}
    assert allowed >= methods | ({"HEAD"} if "GET" in methods else set())
    assert "DELETE" not in allowed


@pytest.mark.parametrize("path", READ)
def test_a_query_that_means_nothing_is_refused_by_name(client, path):
    refused = client.get(path, params={"limitt": "3"})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == "/limitt"
    assert "must be a query parameter of this path" in refused.json()["errors"][0]["detail"]
