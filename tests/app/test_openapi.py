"""The service against its own OpenAPI document."""

import re
from functools import cache
from tempfile import TemporaryDirectory

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from topoloom.app.api.main import create_app
from topoloom.app.config import Settings

FOLDER = TemporaryDirectory()
app = create_app(
    Settings(
        # Jobs need a file; what takes longer is promised, and carried out by nobody.
        database_url=f"sqlite:///{FOLDER.name}/topoloom.db",
        run_worker=False,
        wait_seconds=2,
        trusted_hosts="testserver,localhost",
        max_nodes=64,
        max_links=512,
    )
)
# Labels and pins are the same code for every kind of document: those of designs stand for all.
MARKS = r"^/v1/(?!designs/)[a-z-]+/\{id\}/(labels|pin)"
DOCUMENT = app.openapi()
OPERATIONS = [
    (path, method)
    for path, operations in DOCUMENT["paths"].items()
    for method in operations
    if not re.match(MARKS, path)
]


@cache
def described():
    """Read the document once; all operations at once, as ``parametrize`` does, took 50 s."""
    schema = schemathesis.openapi.from_dict(DOCUMENT)
    schema.app = app
    return schema


@pytest.fixture(scope="module")
def running():
    from fastapi.testclient import TestClient

    with TestClient(app, base_url="http://localhost"):
        yield


CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
)


@pytest.mark.one_in(9)
@pytest.mark.parametrize(("path", "method"), OPERATIONS)
@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def test_whatever_is_sent_the_answer_is_as_described(path, method, data, running):
    case = data.draw(described()[path][method].as_strategy())
    case.call_and_validate(checks=CHECKS)


def test_every_operation_has_an_id_a_summary_and_says_how_it_fails():
    seen = set()
    for path, operations in app.openapi()["paths"].items():
        for operation in operations.values():
            seen.add(operation["operationId"])
            assert operation["summary"]
            if path.startswith("/v1"):
                assert "422" in operation["responses"]
    assert len(seen) == sum(len(operations) for operations in app.openapi()["paths"].values())


def test_every_problem_has_the_schema_of_problems():
    document = app.openapi()
    assert "ProblemDocument" in document["components"]["schemas"]
    for operations in document["paths"].values():
        for operation in operations.values():
            for status, answer in operation["responses"].items():
                if int(status) >= 400:
                    assert list(answer["content"]) == ["application/problem+json"]


def test_the_page_of_the_documentation_needs_no_other_host(client):
    page = client.get("/docs")
    assert page.status_code == 200
    sources = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert sources
    for source in sources:
        assert client.get(source).status_code == 200, source
    assert "http" not in "".join(sources)
