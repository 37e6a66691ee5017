"""The atlas is a file: all its points, in three forms that say the same, and how to cite it."""

import csv
import hashlib
import io
import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topoloom.app.documents.atlas import FORMATS, AtlasDocument
from topoloom.app.requests.listing import AtlasRequest
from topoloom.app.services import atlas as service
from topoloom.synth.atlas.bundled import bundled_atlas
from topoloom.synth.atlas.entries import Atlas
from topoloom.synth.evaluation.cost import Links

PATH = "/v1/atlas"
SOME: dict[str, Any] = {"nodes_min": 60, "nodes_max": 61, "degree_max": 4}


def read(client, form="json", **query):
    answer = client.get(PATH, params=query, headers={"Accept": FORMATS[form]})
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"].startswith(FORMATS[form])
    return answer


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize("query", [{}, SOME, {"links": "bidirectional", "degree": 3}])
def test_the_tab_separated_form_is_an_atlas_whose_digest_anyone_can_compute(client, query):
    text = read(client, "tsv", **query).text
    points = "".join(line for line in text.splitlines(True) if not line.startswith("#"))
    digest = f"sha256:{hashlib.sha256(points.encode()).hexdigest()}"
    assert f"# digest {digest}\n" in text
    assert digest == read(client, **query).json()["digest"]
    assert Atlas.read(text).text() == points
    if not query:
        assert points == bundled_atlas().text()


def test_all_forms_say_the_same(client):
    document = AtlasDocument.model_validate_json(read(client, **SOME).text)
    rows = list(csv.DictReader(io.StringIO(read(client, "csv", **SOME).text)))
    entries = list(Atlas.read(read(client, "tsv", **SOME).text))
    assert len(document.points) == len(rows) == len(entries) > 0
    for point, row, entry in zip(document.points, rows, entries, strict=True):
        assert (point.recipe, point.nodes, point.degree) == (
            entry.recipe,
            entry.nodes,
            entry.degree,
        )
        assert point.bandwidth == row["bandwidth"] == str(entry.cost.bandwidth)
        assert point.transpose.bandwidth == row["transpose_bandwidth"]
        assert point.transpose.steps == int(row["transpose_steps"]) == entry.transpose.steps
        assert row["within_steps"] == ("" if entry.within is None else str(entry.within))
        assert point.algorithm == ("bfb" if entry.within is None else "slack")


@pytest.mark.slow
@settings(max_examples=20)
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "nodes_min": st.integers(0, 300),
            "nodes_max": st.integers(0, 300),
            "degree": st.integers(0, 9),
            "links": st.sampled_from([*map(str, Links)]),
        },
    ).filter(lambda query: query.get("nodes_min", 0) <= query.get("nodes_max", 300))
)
def test_exactly_the_points_that_are_asked_for_are_there(query):
    asked = AtlasRequest.model_validate(query)
    chosen = {(one.recipe, one.within, one.links) for one in bundled_atlas().part(asked.wants)}
    for one in bundled_atlas():
        wanted = (
            query.get("nodes_min", 0) <= one.nodes <= query.get("nodes_max", 10**6)
            and query.get("degree", one.degree) == one.degree
            and query.get("links", one.links) == one.links
        )
        assert wanted == ((one.recipe, one.within, one.links) in chosen)


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize("form", FORMATS)
def test_a_client_that_has_it_is_told_so(client, form):
    tag = read(client, form, **SOME).headers["ETag"]
    again = client.get(PATH, params=SOME | {"format": form}, headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")
    other = client.get(PATH, params={"format": form}, headers={"If-None-Match": tag})
    assert other.status_code == 200
    assert other.headers["ETag"] != tag


@pytest.mark.parametrize(
    ("query", "accept", "status"),
    [
        ({}, "image/png", 406),
        ({"format": "xml"}, "*/*", 422),
        ({"nodes": 8, "nodes_min": 4}, "*/*", 422),
        ({"degree": "four"}, "*/*", 422),
        ({"steps": 4}, "*/*", 422),
    ],
)
def test_what_cannot_be_answered_is_refused(client, query, accept, status):
    answer = client.get(PATH, params=query, headers={"Accept": accept})
    assert answer.status_code == status
    assert answer.headers["Content-Type"] == "application/problem+json"


def test_the_command_writes_what_a_search_goes_on_from(topoloom, tmp_path):
    path = tmp_path / "atlas.tsv"
    assert topoloom("atlas", "export", "--nodes", "16", "--out", str(path)).code == 0
    before = Atlas.load(path)
    assert {one.nodes for one in before} == {16}
    size = ("--nodes", "16", "--degree", "2", "--seconds", "0.2", "--seed", "77")
    assert topoloom("atlas", "discover", *size, "--atlas", str(path)).code == 0
    assert len(list(Atlas.load(path))) >= len(before)
    told = json.loads(topoloom("atlas", "export", "--nodes", "16", "--format", "json").out)
    assert len(told["points"]) == len(before)
    refused = topoloom("atlas", "export", "--format", "xml")
    assert refused.code == 2
    assert len(refused.err.splitlines()) == 1


def test_the_citation_names_this_version_and_the_atlas_its_own():
    lines = Path("CITATION.cff").read_text().splitlines()
    assert f"version: {version('topoloom')}" in lines
    assert version("topoloom") in service.text(AtlasRequest(), "tsv").split("\n# cite ")[1]
