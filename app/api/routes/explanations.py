"""/problems/{name} and /deprecations: pages behind the links of answers, as JSON or HTML."""

from collections.abc import Mapping
from html import escape
from typing import Annotated, Any

from fastapi import Path, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response
from fastapi.routing import APIRoute

from topoloom.app.api.dependencies import AcceptDep
from topoloom.app.api.deprecation import PAGE, SINCE_DAY
from topoloom.app.api.negotiation import negotiate
from topoloom.app.api.problem_types import PROBLEM_TYPES, PROBLEMS
from topoloom.app.api.problems import responses
from topoloom.app.api.strict_http import strict_router
from topoloom.app.documents.problem import Deprecations, ProblemPage
from topoloom.app.requests.renamed import (
    MEMBERS,
    OPTIONS,
    PATHS,
    REMOVED,
    REMOVED_OPTIONS,
    WORDS,
)
from topoloom.app.store.errors import NotStored

router = strict_router(tags=["system"])

_MEDIA_TYPES = {"json": "application/json", "html": "text/html"}
_MEANINGS = {
    "invalid-request": "The request breaks a rule; `errors` has the member and the rule.",
    "internal-error": "The service has a bug.",
}
"""Problem -> meaning, where the docstring of the error class has none."""

_REMEDIES = {
    400: "Correct the request as `detail` states.",
    401: "Send a valid key as `Authorization: Bearer tl_…`.",
    403: "Ask the operator for a key with the scope that `detail` names.",
    404: "Compare the path and the id with those of the answer that created the document.",
    405: "Use a method that the `Allow` header lists.",
    406: "Send an `Accept` header or `?format=` that the operation offers.",
    408: "Send the request again over a faster connection.",
    409: "Read the present state; `detail` names what is in the way.",
    412: "Read the present version, then send its ETag as `If-Match`.",
    413: "Send a smaller body.",
    415: "Send the body as `application/json`, without a content encoding.",
    422: "Change what `errors` names, and send the request again.",
    428: "Send the ETag of the present version as `If-Match`.",
    429: "Wait for the seconds in `Retry-After`, and send the request again.",
    500: "Report the problem with its `request_id`.",
    501: "Ask the operator to install the package that `detail` names.",
    507: "Delete documents, or ask the operator for a larger limit.",
    503: "Wait for the seconds in `Retry-After`, else for a minute, and send the request again.",
}
"""Status -> what the client can do."""


def pages() -> dict[str, ProblemPage]:
    """Return the page of every problem of the service by name.

    >>> pages()["invalid-topology"].meaning
    'A topology document or link list breaks a rule of topology/1.'
    """
    named = {
        problem.slug: (problem, (error.__doc__ or "").split("\n\n")[0])
        for error, problem in reversed(PROBLEMS.items())
    }
    for problem in PROBLEM_TYPES:
        named.setdefault(problem.slug, (problem, f"{problem.title}."))
    return {
        name: ProblemPage(
            type=problem.type,
            title=problem.title,
            status=problem.status,
            meaning=_MEANINGS.get(name) or " ".join(meaning.split()),
            remedy=_REMEDIES.get(problem.status, "Read `detail`."),
        )
        for name, (problem, meaning) in named.items()
    }


NameDep = Annotated[str, Path(description="last part of the type of a problem")]


@router.get(
    "/problems/{name}",
    operation_id="readProblem",
    summary="Read what a type of problem means",
    response_model=None,
    responses={
        200: {
            "model": ProblemPage,
            "description": "meaning and remedy",
            "content": {"text/html": {"schema": {"type": "string"}}},
        },
        **responses(404, 406, 422),
    },
)
async def read_problem(name: NameDep, accept: AcceptDep = None) -> Response:
    """Return the page of the problem type with this name."""
    page = pages().get(name)
    if page is None:
        raise NotStored("problem", name)
    return _shown(page.title, page.given(), accept)


@router.get(
    PAGE,
    operation_id="readDeprecations",
    summary="Read the former names, and the names that replace them",
    response_model=None,
    responses={
        200: {
            "model": Deprecations,
            "description": "former names",
            "content": {"text/html": {"schema": {"type": "string"}}},
        },
        **responses(406, 422),
    },
)
async def read_deprecations(request: Request, accept: AcceptDep = None) -> Response:
    """Return the tables of former names."""
    routes = {
        f"{method} {route.path}": route.summary or ""
        for route in request.app.state.routes
        if isinstance(route, APIRoute) and route.deprecated
        for method in route.methods or ()
    }
    page = Deprecations(
        since=SINCE_DAY,
        members=dict(MEMBERS),
        removed=dict.fromkeys((*REMOVED, *sorted(REMOVED_OPTIONS)), "has no effect"),
        values={member: dict(words) for member, words in WORDS.items()},
        paths=dict(PATHS),
        routes=routes,
        options=dict(OPTIONS),
    )
    return _shown("Former names", page.given(), accept)


def _shown(title: str, document: Mapping[str, Any], accept: str | None) -> Response:
    """Return a document as JSON, or as HTML for a browser."""
    headers = {"Vary": "Accept"}
    if negotiate(None, accept, _MEDIA_TYPES) == "json":
        return JSONResponse(dict(document), headers=headers)
    head = f"<!doctype html><html lang=en><title>{escape(title)}</title>"
    return HTMLResponse(f"{head}<h1>{escape(title)}</h1>{_html(document)}", headers=headers)


def _html(value: Any) -> str:
    if not isinstance(value, Mapping):
        return escape(str(value))
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{_html(one)}</dd>" for name, one in value.items())
    return f"<dl>{rows}</dl>"
