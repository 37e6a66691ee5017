"""Every list: pages that link to each other, and the total."""

import pytest

from topoloom.app.codegen.service_openapi import service_openapi
from topoloom.app.jobs.model import Task

LISTS = [
    path
    for path, operations in service_openapi()["paths"].items()
    if "cursor" in (one["name"] for one in operations.get("get", {}).get("parameters", ()))
]


@pytest.fixture
def filled(client):
    """Return a service with three or more entries of some lists."""
    for nodes in (5, 6, 7):
        topology = {"topology": {"recipe": f"UniRing({nodes})"}}
        assert client.post("/v1/costs", json=topology).status_code == 201
        session = {"min_lr": 0.1, "max_lr": 1.0, "total_steps": 100, "name": f"run {nodes}"}
        assert client.post("/v1/lr-sessions", json=session).status_code == 201
        client.app.state.host.jobs.enqueue(Task.of("design", {"number": nodes}))
    return client


def followed(client, path):
    """Yield the answers of all pages, by their links."""
    while path is not None:
        answer = client.get(path)
        yield answer
        path = answer.links.get("next", {}).get("url")


def test_every_list_links_to_its_pages_and_counts_its_entries(filled):
    assert {"/v1/designs", "/v1/jobs", "/v1/lr-sessions"} <= set(LISTS)
    full = set()
    for path in LISTS:
        pages = list(followed(filled, f"{path}?limit=2&count=1"))
        entries = [entry["id"] for page in pages for entry in page.json()["items"]]
        assert len(entries) == len(set(entries)), path
        for page in pages:
            assert page.json()["total"] == len(entries), path
            assert page.links["first"]["url"] == f"{path}?limit=2&count=1"
        assert pages[-1].json()["next_cursor"] is None
        assert "total" not in filled.get(path).json()
        full |= {path} if len(pages) > 1 else set()
    assert {"/v1/topologies", "/v1/costs", "/v1/jobs", "/v1/lr-sessions"} <= full


def test_links_and_totals_keep_the_filters_of_a_list(filled):
    path = "/v1/topologies?nodes_min=6&limit=1&count=true"
    pages = list(followed(filled, path))
    assert [page.json()["total"] for page in pages] == [len(pages)] * len(pages)
    assert {entry["summary"]["nodes"] for page in pages for entry in page.json()["items"]} == {6, 7}
    cancelled = filled.get("/v1/jobs?state=cancelled&count=1").json()
    assert (cancelled["total"], cancelled["items"]) == (0, [])


def test_a_catalog_says_how_many_names_it_has(filled):
    for path in ("/v1/families", "/v1/fabrics", "/v1/presets"):
        found = filled.get(path).json()
        assert found["total"] == len(found["items"]) > 0
