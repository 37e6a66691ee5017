"""Every error as RFC 9457 problem+json: one table from class to status and title.

Kernels are free of HTTP; this table alone maps their errors to HTTP.  The ``type`` of a problem
is a path; ``docs/reference/rest.md`` explains each path in a section.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, NamedTuple

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException

from topoloom.app.api.strict_http import allowed_methods
from topoloom.app.auth.errors import (
    AccessError,
    AddressUsesUpConnections,
    ConnectionsUsedUp,
    Forbidden,
    InvalidKey,
    ShuttingDown,
    TooManyRequests,
    Unauthorized,
)
from topoloom.app.documents.problem import ProblemDocument
from topoloom.app.extras import MissingExtra
from topoloom.app.jobs.errors import (
    JobEnded,
    NotEnded,
    QueueFull,
    TooManyJobs,
    TooManyListeners,
    WebhookRefused,
    WorkFailed,
)
from topoloom.app.jobs.worker_pool.errors import Busy, Cancelled, TooManyWaiting, WorkDied
from topoloom.app.observability.logs import note, request_id
from topoloom.app.requests.field_errors import FieldError, field_errors, pointer
from topoloom.app.requests.renamed import as_sent
from topoloom.app.store.database import DatabaseNotReady
from topoloom.app.store.errors import (
    Ambiguous,
    BaseTaken,
    ChangedMeanwhile,
    Damaged,
    Ended,
    Leased,
    NotAcceptable,
    NotOwner,
    NotStored,
    NoVersion,
    OutOfSequence,
    QuotaExceeded,
    StoreFull,
)
from topoloom.app.store.listing import InvalidCursor
from topoloom.app.store.retention import Pinned, TooManyLabels
from topoloom.learning_rate import errors as lr_errors
from topoloom.schedules import errors as schedule_errors
from topoloom.synth import errors as synth_errors

MEDIA_TYPE = "application/problem+json"

RETRY_SECONDS = 5
"""Value of ``Retry-After`` of an answer with status 503 whose error states no other."""

MAX_TEXT = 4_000
"""Longest single text of a problem, in bytes."""

MAX_DOCUMENT = 64 * 2**10
"""Largest problem document, in bytes; errors that do not fit are counted, not listed."""


class Problem(NamedTuple):
    """HTTP status, title and type of a class of errors."""

    status: int
    title: str
    slug: str

    @property
    def type(self) -> str:
        """The type of the problem: a path, explained in the documentation."""
        return f"/problems/{self.slug}"


PROBLEMS: dict[type[Exception], Problem] = {
    synth_errors.SynthError: Problem(422, "The request breaks a rule", "invalid-request"),
    synth_errors.InvalidTopology: Problem(422, "Not a valid topology", "invalid-topology"),
    synth_errors.InvalidRecipe: Problem(422, "Not a valid recipe", "invalid-recipe"),
    synth_errors.OutOfDomain: Problem(422, "Outside a construction's domain", "out-of-domain"),
    synth_errors.ImpossibleRequest: Problem(422, "No such graph exists", "impossible-request"),
    synth_errors.NoneKnown: Problem(422, "No such graph is known", "none-known"),
    synth_errors.BeyondSearch: Problem(422, "Beyond the limits of the search", "beyond-search"),
    synth_errors.Unreachable: Problem(422, "Some node cannot be reached", "unreachable"),
    synth_errors.NotMeasurable: Problem(422, "The cost model does not apply", "not-measurable"),
    synth_errors.BrokenFamily: Problem(500, "An installed family is broken", "broken-family"),
    synth_errors.ClaimBroken: Problem(500, "A built graph contradicts its theorem", "claim-broken"),
    synth_errors.DoesNotFit: Problem(
        422, "The topology does not fit on the panels", "does-not-fit"
    ),
    synth_errors.InvalidAtlas: Problem(422, "Not a valid atlas of bases", "invalid-atlas"),
    synth_errors.InvalidPlant: Problem(422, "Not a valid plant", "invalid-plant"),
    synth_errors.InvalidWiring: Problem(422, "Not a valid wiring", "invalid-wiring"),
    schedule_errors.ScheduleError: Problem(422, "The request breaks a rule", "invalid-request"),
    schedule_errors.InvalidSchedule: Problem(422, "Not a valid schedule", "invalid-schedule"),
    schedule_errors.UnknownCollective: Problem(422, "No such collective", "unknown-collective"),
    schedule_errors.UnknownPreset: Problem(422, "No such preset workload", "unknown-preset"),
    schedule_errors.NoSchedule: Problem(422, "No such schedule exists", "no-schedule"),
    schedule_errors.TooLarge: Problem(422, "A size limit is exceeded", "too-large"),
    schedule_errors.TookTooLong: Problem(422, "A time limit is exceeded", "took-too-long"),
    schedule_errors.NotExportable: Problem(
        422, "The format cannot express the document", "not-exportable"
    ),
    schedule_errors.InvalidProgram: Problem(422, "Not a valid program", "invalid-program"),
    schedule_errors.ExecutionFailed: Problem(500, "An execution failed", "execution-failed"),
    RequestValidationError: Problem(422, "The request breaks a rule", "invalid-request"),
    InvalidCursor: Problem(422, "Not a cursor of this list", "invalid-cursor"),
    AccessError: Problem(403, "The key may not do this", "forbidden"),
    Unauthorized: Problem(401, "A valid API key is required", "unauthorized"),
    Forbidden: Problem(403, "The key may not do this", "forbidden"),
    TooManyRequests: Problem(429, "Too many requests", "too-many-requests"),
    AddressUsesUpConnections: Problem(429, "Too many connections", "too-many-connections"),
    ConnectionsUsedUp: Problem(503, "Too many connections", "too-many-connections"),
    NotStored: Problem(404, "No document has this id", "not-stored"),
    Ambiguous: Problem(422, "Several documents match this id or name", "ambiguous"),
    Damaged: Problem(500, "The stored document is damaged", "damaged"),
    OutOfSequence: Problem(409, "Not the next observation", "out-of-sequence"),
    Leased: Problem(409, "Another trainer holds the session", "leased"),
    BaseTaken: Problem(409, "Another plan is in progress on the plant", "base-taken"),
    ChangedMeanwhile: Problem(412, "The version is out of date", "changed-meanwhile"),
    NoVersion: Problem(428, "The request must state a version", "no-version"),
    Ended: Problem(409, "The session has ended", "ended"),
    lr_errors.LearningRateError: Problem(422, "The request breaks a rule", "invalid-request"),
    lr_errors.InvalidObservation: Problem(
        422, "Not an answer to the action", "invalid-observation"
    ),
    lr_errors.MissingExtra: Problem(501, "An optional package is missing", "missing-extra"),
    MissingExtra: Problem(501, "An optional package is missing", "missing-extra"),
    NotAcceptable: Problem(406, "No such representation", "not-acceptable"),
    Pinned: Problem(409, "The document is pinned", "pinned"),
    NotOwner: Problem(403, "The key may not do this", "forbidden"),
    InvalidKey: Problem(422, "The request breaks a rule", "invalid-request"),
    QuotaExceeded: Problem(403, "The quota of the owner is used up", "quota-exceeded"),
    StoreFull: Problem(507, "The storage limit is reached", "store-full"),
    TooManyLabels: Problem(422, "The request breaks a rule", "invalid-request"),
    DatabaseNotReady: Problem(503, "The database is not ready", "database-not-ready"),
    DBAPIError: Problem(503, "The database is not ready", "database-not-ready"),
    Busy: Problem(503, "The service is busy", "busy"),
    TooManyWaiting: Problem(429, "Too many requests of one client wait", "too-many-waiting"),
    ShuttingDown: Problem(503, "The service is shutting down", "shutting-down"),
    Cancelled: Problem(503, "The computation was cancelled", "cancelled"),
    WorkDied: Problem(503, "The computation died", "computation-died"),
    PoolTimeout: Problem(503, "The database is not ready", "database-not-ready"),
    JobEnded: Problem(409, "The job has ended", "job-ended"),
    NotEnded: Problem(409, "The job has not ended", "job-not-ended"),
    TooManyJobs: Problem(429, "Too many jobs of one client", "too-many-jobs"),
    QueueFull: Problem(503, "The job queue is full", "queue-full"),
    TooManyListeners: Problem(503, "Too many event streams", "too-many-listeners"),
    WebhookRefused: Problem(422, "The webhook address is refused", "webhook-refused"),
    WorkFailed: Problem(500, "The job failed", "work-failed"),
    Exception: Problem(500, "An error inside Topoloom", "internal-error"),
}
"""Error class -> problem; a class without a row has the problem of its nearest base."""

HTTP_PROBLEMS: dict[int, Problem] = {
    400: Problem(400, "The body is not JSON", "malformed-body"),
    404: Problem(404, "No such path", "not-found"),
    405: Problem(405, "The method is not allowed here", "method-not-allowed"),
    413: Problem(413, "The body is too large", "body-too-large"),
    415: Problem(415, "The body must be plain application/json", "unsupported-media-type"),
    429: PROBLEMS[TooManyRequests],
}

UNKNOWN_HOST = Problem(400, "Unknown host", "unknown-host")
TOO_SLOW = Problem(408, "The request came too slowly", "too-slow")


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
