"""The service against its own OpenAPI document."""

import json
import re
from functools import cache
from tempfile import TemporaryDirectory

import jsonschema_rs
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

from topoloom.app.api import openapi_document
from topoloom.app.api.main import create_app
from topoloom.app.api.problem_types import PROBLEMS
from topoloom.app.codegen import openapi_examples
from topoloom.app.codegen.service_openapi import service_openapi
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
DOCUMENT = service_openapi()
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


def operations():
    """Yield every operation of the document."""
    for several in DOCUMENT["paths"].values():
        yield from several.values()


@cache
def examples():
    return json.loads(openapi_document.EXAMPLES_FILE.read_text())


def require_fit(value, schema):
    """Require that a value fits a schema of the document."""
    # A schema of a parameter or a body has references at most; the document resolves them.
    whole = {**schema, "components": DOCUMENT["components"]}
    jsonschema_rs.validator_for(whole).validate(value)


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


RANDOM = settings(
    max_examples=12, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


@pytest.mark.one_in(36)
@pytest.mark.parametrize(("path", "method"), OPERATIONS)
@RANDOM
@given(data=st.data())
def test_whatever_is_sent_the_answer_is_as_described(path, method, data, running):
    require_described(path, method, data)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("path", "method"), OPERATIONS)
@settings(RANDOM, max_examples=50)
@given(data=st.data())
def test_whatever_is_sent_often_the_answer_is_as_described(path, method, data, running):
    require_described(path, method, data)


def require_described(path, method, data):
    """Send a drawn request; require an answer as the document describes it."""
    case = data.draw(described()[path][method].as_strategy())
    # A design that is drawn may take longer than the ten seconds of the default.
    case.call_and_validate(checks=CHECKS, timeout=300)


def test_every_operation_has_an_id_a_summary_and_says_how_it_fails():
    seen = set()
    for path, operations in DOCUMENT["paths"].items():
        for operation in operations.values():
            seen.add(operation["operationId"])
            assert operation["summary"]
            if path.startswith("/v1"):
                assert "422" in operation["responses"]
    assert len(seen) == sum(len(operations) for operations in DOCUMENT["paths"].values())


def test_the_document_is_valid_and_its_names_are_plain():
    described().validate()
    assert DOCUMENT["servers"]
    assert all(re.fullmatch("[A-Z][A-Za-z]+", name) for name in DOCUMENT["components"]["schemas"])
    texts = {tag["name"]: tag["description"] for tag in DOCUMENT["tags"]}
    for operation in operations():
        assert re.fullmatch("[a-z]+([A-Z][a-z]+)+", operation["operationId"])
        assert all(texts[tag] for tag in operation["tags"])
        for parameter in operation.get("parameters", ()):
            assert parameter.get("description"), (operation["operationId"], parameter["name"])


@pytest.mark.slow
def test_every_operation_has_an_example_that_fits_its_schemas():
    for operation in operations():
        example = examples()[operation["operationId"]]
        for parameter in operation.get("parameters", ()):
            if "example" in parameter:
                require_fit(parameter["example"], parameter["schema"])
            else:
                assert not parameter.get("required"), (operation["operationId"], parameter)
        if "requestBody" in operation:
            media = operation["requestBody"]["content"]["application/json"]
            require_fit(media["example"], media["schema"])
        answer = operation["responses"][example["status"]]
        if "content" in answer:
            media = answer["content"][example["media_type"]]
            assert media["example"] == example["answer"]
            if example["media_type"] == "application/json":
                require_fit(media["example"], media["schema"])


@pytest.mark.slow
def test_the_examples_are_answers_of_the_service():
    def facts(found):
        # Ids of jobs and sessions are random.
        names = ("status", "media_type")
        return {name: [one.get(fact) for fact in names] for name, one in found.items()}

    assert facts(examples()) == facts(openapi_examples.record_examples()), (
        "the examples are stale: run python -m topoloom.app.codegen.openapi_examples"
    )


def test_the_headers_of_answers_are_described():
    found = {
        operation["operationId"]: {
            status: set(answer["headers"]) for status, answer in operation["responses"].items()
        }
        for operation in operations()
    }
    created = found["createDesign"]
    assert "Location" in created["200"] & created["201"] & created["202"]
    assert "Retry-After" in created["429"] & created["503"]
    assert "WWW-Authenticate" in created["401"] & created["403"]
    assert "ETag" in found["readDesign"]["200"] & found["readDesign"]["304"]
    assert "Link" in found["listDesigns"]["200"] & found["listJobs"]["200"]
    assert all("X-Request-ID" in names for answers in found.values() for names in answers.values())


def test_every_problem_has_the_schema_of_problems():
    kind = DOCUMENT["components"]["schemas"]["ProblemType"]
    assert {problem.type for problem in PROBLEMS.values()} < set(kind["enum"])
    for operations in DOCUMENT["paths"].values():
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
