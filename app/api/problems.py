"""Every error as RFC 9457 problem+json; `app.api.problem_types` has the types."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException

from topoloom.app.api.problem_types import HTTP_PROBLEMS, PROBLEMS, UNKNOWN_HOST, Problem
from topoloom.app.api.strict_http import allowed_methods
from topoloom.app.auth.errors import (
    AccessError,
)
from topoloom.app.documents.problem import ProblemDocument
from topoloom.app.jobs.errors import (
    WorkFailed,
)
from topoloom.app.observability.logs import note, request_id
from topoloom.app.requests.field_errors import FieldError, field_errors, pointer
from topoloom.app.requests.renamed import as_sent
from topoloom.app.store.errors import (
    Damaged,
)

MEDIA_TYPE = "application/problem+json"

RETRY_SECONDS = 5
"""Value of ``Retry-After`` of an answer with status 503 whose error states no other."""

MAX_TEXT = 4_000
"""Longest single text of a problem, in bytes."""

MAX_DOCUMENT = 64 * 2**10
"""Largest problem document, in bytes; errors that do not fit are counted, not listed."""


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI entries of these problem responses."""
    titles = {
        401: "no valid API key, where the service asks for keys",
        403: "the key does not have the scope of this operation, or its owner may not do this",
        409: "the request conflicts with the present state",
        404: "no document has this id",
        406: "no such representation",
        412: "`If-Match` is not the present version",
        413: "the body is too large",
        428: "`If-Match` is missing",
        415: "the body must be application/json",
        422: "the request breaks a rule, named in `errors`",
        429: "too many requests; `Retry-After` has the seconds to wait",
        500: "the stored document is damaged, and cannot be computed again",
        501: "the service lacks an optional package",
        503: "the service is busy or not ready; `Retry-After` has the seconds to wait",
    }
    schema = {"$ref": "#/components/schemas/ProblemDocument"}
    return {
        status: {
            "description": titles.get(status, "problem"),
            "content": {MEDIA_TYPE: {"schema": schema}},
        }
        for status in statuses
    }


def install(app: FastAPI) -> None:
    """Answer every error of the application with a problem."""
    for kind in PROBLEMS:
        app.add_exception_handler(kind, _answer)
    app.add_exception_handler(HTTPException, _answer_http)


def body_too_large(path: str, limit: int) -> JSONResponse:
    """Return the answer to a body of more than ``limit`` bytes."""
    return _response(HTTP_PROBLEMS[413], f"body: must have at most {limit} bytes", path, [])


def body_encoded(path: str, coding: str) -> JSONResponse:
    """Return the answer to a body with a content coding, such as gzip."""
    detail = f"Content-Encoding: must be absent or identity; {coding!r} is not accepted"
    # RFC 9110, section 12.5.3: in an answer, the header names the codings of requests.
    return _response(HTTP_PROBLEMS[415], detail, path, [], {"Accept-Encoding": "identity"})


def several_hosts(path: str) -> JSONResponse:
    """Return the answer to a request with several Host headers."""
    return _response(UNKNOWN_HOST, "Host: must be sent once", path, [])


def unknown_host(path: str, host: str) -> JSONResponse:
    """Return the answer to a request whose Host header is not a name of the service."""
    detail = f"Host: must be a name of this service; {host!r} is none (TOPOLOOM_TRUSTED_HOSTS)"
    return _response(UNKNOWN_HOST, detail, path, [])


def as_problem(request: Request, error: Exception) -> JSONResponse:
    """Return the answer to a request that ended with an error of `PROBLEMS`."""
    return _answer(request, error)


def _answer(request: Request, error: Exception) -> JSONResponse:
    return answer_to(request.url.path, error)


def answer_to(path: str, error: Exception) -> JSONResponse:
    """Return the answer to a request for a path that ended in an error."""
    document = problem_document(error, path)
    headers = error.headers if isinstance(error, AccessError) else {}
    retry_after = getattr(error, "retry_after", RETRY_SECONDS if document.status == 503 else None)
    if retry_after is not None:
        headers = {"Retry-After": str(retry_after), **headers}
    return _sent(document, headers)


def problem_document(error: Exception, path: str) -> ProblemDocument:
    """Return the problem document of an error about a path."""
    problem = next(PROBLEMS[kind] for kind in type(error).__mro__ if kind in PROBLEMS)
    if isinstance(error, AccessError):
        return _document(problem, str(error), path, [])
    if isinstance(error, RequestValidationError):
        return _of_validation(problem, error, path)
    if problem.status == 500 and not isinstance(error, Damaged | WorkFailed):
        return _document(problem, "the request was right; please report this", path, [])
    if isinstance(error, DBAPIError | PoolTimeout):
        return _document(problem, "the database cannot be used just now", path, [])
    field, rule = getattr(error, "field", None), getattr(error, "rule", "")
    found = [FieldError(pointer=pointer(field), detail=rule)] if field is not None else []
    return _document(problem, str(error), path, found)


def _of_validation(problem: Problem, error: RequestValidationError, path: str) -> ProblemDocument:
    if any(entry["type"] == "json_invalid" for entry in error.errors()):
        entry = error.errors()[0]
        at = "".join(f" at character {place}" for place in entry["loc"][1:])
        detail = f"body: must be JSON: {entry['ctx']['error']}{at}"
        return _document(HTTP_PROBLEMS[400], detail, path, [])
    found = field_errors(error)
    whole = next((entry["loc"][0] for entry in error.errors() if entry["loc"]), "body")
    detail = "; ".join(f"{entry.pointer or whole}: {entry.detail}" for entry in found[:10])
    return _document(problem, detail, path, found)


def _answer_http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    fallback = Problem(error.status_code, str(error.detail), "http-error")
    problem = HTTP_PROBLEMS.get(error.status_code, fallback)
    detail = str(error.detail)
    if detail == HTTPStatus(error.status_code).phrase:
        detail = f"{request.method} {request.url.path}"
    answer = _response(problem, detail, request.url.path, [])
    answer.headers.update(error.headers or {})
    if error.status_code == 405:
        # The router reports only the first route that has this path.
        answer.headers["Allow"] = ", ".join(allowed_methods(request))
    return answer


def _response(
    problem: Problem,
    detail: str,
    path: str,
    errors: list[FieldError],
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    return _sent(_document(problem, detail, path, errors), headers)


def _document(
    problem: Problem, detail: str, path: str, errors: list[FieldError]
) -> ProblemDocument:
    return ProblemDocument(
        type=problem.type,
        title=problem.title,
        status=problem.status,
        detail=_cut(as_sent(detail)),
        instance=_cut(path),
        request_id=request_id(),
        errors=_fitting(errors),
    )


def _sent(document: ProblemDocument, headers: Mapping[str, str] | None = None) -> JSONResponse:
    note(problem=document.type.rpartition("/")[2])
    return JSONResponse(document.model_dump(), document.status, headers, MEDIA_TYPE)


def _fitting(errors: list[FieldError]) -> list[FieldError]:
    """Return the first errors that fit in `MAX_DOCUMENT`, and the number of the rest."""
    left, kept = MAX_DOCUMENT - 4 * MAX_TEXT, []
    for error in errors:
        short = FieldError(pointer=_cut(as_sent(error.pointer)), detail=_cut(error.detail))
        left -= len(short.model_dump_json().encode())
        if left < 0:
            rest = f"and {len(errors) - len(kept)} more"
            return [*kept, FieldError(pointer="", detail=rest)]
        kept.append(short)
    return kept


def _cut(text: str) -> str:
    """Return a text as valid UTF-8 of at most `MAX_TEXT` bytes."""
    data = text.encode(errors="replace")
    if len(data) <= MAX_TEXT:
        return data.decode()
    return data[: MAX_TEXT - 3].decode(errors="ignore") + "…"
