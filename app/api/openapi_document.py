"""The OpenAPI document: what FastAPI generates, with scopes, headers, texts of tags and examples.

``python -m topoloom.app.codegen.openapi_examples`` writes the examples: requests that it sends to
a service, with their answers.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from topoloom.app.api.problem_types import PROBLEM_TYPES
from topoloom.app.api.problems import responses
from topoloom.app.auth.scopes import scope_of
from topoloom.app.documents.problem import ProblemDocument
from topoloom.app.requests.field_errors import FieldError

EXAMPLES_FILE = Path(__file__).with_name("openapi_examples.json")

SERVERS = [{"url": "/", "description": "the service that serves this document"}]

TAGS = {
    "designs": "The best topology for a collective or a workload, with its schedules.",
    "best": "The best known topologies, without a search, and the atlas of the package.",
    "frontiers": "All topologies of a size that no other topology beats in latency and bandwidth.",
    "topologies": "Topologies from recipes, names of fabrics, and files.",
    "costs": "Exact costs of collectives by breadth-first broadcast on a topology.",
    "iterations": "The time of a training iteration, and the topology of least time.",
    "optima": "The best throughput of any schedule on a topology, with the cut that proves it.",
    "schedules": "Verified schedules of collectives, in the formats of other programs.",
    "simulations": "Times of schedules, message by message.",
    "verifications": "Verdicts of the independent checker on schedules.",
    "verify": "Verdicts of the independent checker on schedules.",
    "comparisons": "Designs, schedules and algorithms side by side.",
    "patch plans": "Which port to plug where, with repairs and progress.",
    "sweeps": "Many requests at once, over sizes, workloads or faults.",
    "jobs": "Computations that take longer than the client waits.",
    "plots": "Drawings of frontiers, times, loads and trees.",
    "learning rates": "Learning rates that the service tunes while a model trains.",
    "catalogue": "Names of families, fabrics and workloads.",
    "administration": "API keys, and the log of who changed what.",
    "system": "Health, version, metrics and the state of the cache.",
}
"""Tag -> its text, in the order of the document."""

_HEADERS: dict[str, str] = {
    "X-Request-ID": "id of the request, as in the log; a request may choose the id",
    "RateLimit": "requests that the caller has left, and seconds until the quota is whole; "
    "absent from a service without a rate limit",
    "RateLimit-Policy": "quota and window of the rate limit",
    "Retry-After": "seconds before the client should repeat the request",
    "WWW-Authenticate": "the scheme of the key, and what is wrong with the key (RFC 6750)",
    "Location": "path of the stored document, or of the job",
    "Preference-Applied": "the part of `Prefer` that the service has followed (RFC 7240)",
    "ETag": "version of the representation, for `If-None-Match`",
    "Cache-Control": "how long caches may keep the answer",
    "Vary": "request headers that select the representation",
    "Link": "paths of the first and the next page, as `rel=first` and `rel=next` (RFC 8288)",
    "Content-Location": "path of the stored drawing",
    "Deprecation": "time since which the operation is deprecated (RFC 9745)",
}
"""Response header -> its text."""

_ALWAYS = ("X-Request-ID", "Location", "ETag", "Link")
"""Headers without which no answer is sent that is described with them."""

_CURRENT = {
    "description": "the client has the current version, by `If-None-Match`",
}


def install(app: FastAPI) -> None:
    """Make ``app.openapi`` return the whole document."""
    generate = app.openapi

    @cache
    def whole() -> dict[str, Any]:
        document = generate()
        _add_problems(document)
        _add_access(app, document)
        _add_headers(app, document)
        _add_examples(document, json.loads(EXAMPLES_FILE.read_text()))
        used = {tag for operation in _operations(document) for tag in operation["tags"]}
        document["tags"] = [
            {"name": name, "description": text} for name, text in TAGS.items() if name in used
        ]
        return document

    app.openapi = whole


def problem_types() -> list[str]:
    """Return the type of every problem of the service, sorted."""
    return sorted({problem.type for problem in PROBLEM_TYPES})


def _operations(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for operations in document["paths"].values():
        yield from operations.values()


def _add_problems(document: dict[str, Any]) -> None:
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    for model in (ProblemDocument, FieldError):
        described = model.model_json_schema(ref_template="#/components/schemas/{model}")
        described.pop("$defs", None)
        schemas[model.__name__] = described
    kind = schemas["ProblemDocument"]["properties"]["type"]
    schemas["ProblemType"] = {**kind, "title": "ProblemType", "enum": problem_types()}
    schemas["ProblemDocument"]["properties"]["type"] = {
        "$ref": "#/components/schemas/ProblemType",
        "description": kind["description"],
    }


def _add_access(app: FastAPI, document: dict[str, Any]) -> None:
    """Add the scope and the refusals of each operation."""
    schemes = document["components"].setdefault("securitySchemes", {})
    schemes["key"] = {
        "type": "http",
        "scheme": "bearer",
        "description": "an API key of `topoloom keys create`, where the service asks for keys",
    }
    for operation, route in _routed(app, document):
        answers = operation["responses"]
        answers.update((str(status), answer) for status, answer in responses(429).items())
        scope = scope_of(route)
        if scope is None:
            continue
        operation["security"] = [{}, {"key": [scope]}]
        for status, answer in responses(401, 403, 503).items():
            answers.setdefault(str(status), answer)


def _routed(app: FastAPI, document: dict[str, Any]) -> Iterator[tuple[dict[str, Any], APIRoute]]:
    """Yield every operation with its route."""
    routes = {getattr(route, "operation_id", None): route for route in app.state.routes}
    for operation in _operations(document):
        yield operation, routes[operation["operationId"]]


def _add_headers(app: FastAPI, document: dict[str, Any]) -> None:
    """Describe the headers of every response, and add the 304 of conditional requests."""
    document["components"]["headers"] = {
        name: {
            "description": text,
            "required": name in _ALWAYS,
            "schema": {"type": "string"},
        }
        for name, text in _HEADERS.items()
    }
    for operation, route in _routed(app, document):
        answers, conditional = operation["responses"], "if-none-match" in _headers(route.dependant)
        if conditional:
            answers["304"] = dict(_CURRENT)
        for status, answer in answers.items():
            names = _headers_of(operation, status, answer, conditional)
            found = {name: {"$ref": f"#/components/headers/{name}"} for name in names}
            # Entries of FastAPI are shared by operations: they are replaced, not changed.
            answers[status] = {**answer, "headers": {**found, **answer.get("headers", {})}}


def _headers_of(
    operation: Mapping[str, Any], status: str, answer: Mapping[str, Any], conditional: bool
) -> Iterator[str]:
    """Yield the names of the headers of an answer."""
    answers = operation["responses"]
    yield from ("X-Request-ID", "RateLimit", "RateLimit-Policy")
    if operation.get("deprecated"):
        yield "Deprecation"
    if status in ("429", "503"):
        yield "Retry-After"
    if status in ("401", "403"):
        yield "WWW-Authenticate"
    if "201" in answers and status in ("200", "201", "202"):
        yield "Location"
        if "202" in answers:
            yield "Preference-Applied"
    if conditional and status in ("200", "304"):
        yield from ("ETag", "Cache-Control", "Vary")
        if "image/svg+xml" in answer.get("content", {}):
            yield "Content-Location"
    if status == "200" and "cursor" in (one["name"] for one in operation.get("parameters", ())):
        yield "Link"


def _headers(dependant: Dependant) -> set[str]:
    """Return the request headers that a route and its dependencies read."""
    below = (_headers(one) for one in dependant.dependencies)
    return {field.alias for field in dependant.header_params}.union(*below)


def _add_examples(document: dict[str, Any], examples: Mapping[str, Any]) -> None:
    """Add a request with its answer to every operation."""
    for operation in _operations(document):
        example = examples.get(operation["operationId"])
        if example is None:
            continue
        for parameter in operation.get("parameters", ()):
            values = example["parameters"].get(parameter["in"], {})
            if parameter["name"] in values:
                parameter["example"] = values[parameter["name"]]
        if "body" in example:
            operation["requestBody"]["content"]["application/json"]["example"] = example["body"]
        if "answer" in example:
            answers, media_type = operation["responses"], example["media_type"]
            content = answers[example["status"]]["content"]
            shown = {**content[media_type], "example": example["answer"]}
            answers[example["status"]] |= {"content": {**content, media_type: shown}}
