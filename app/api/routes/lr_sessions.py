"""/v1/lr-sessions: learning rates tuned while training, one session for each job."""

import asyncio
from collections.abc import Callable
from itertools import islice
from typing import Annotated, TypeVar

from fastapi import Depends, Query, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from starlette.concurrency import run_in_threadpool

from topoloom.app.api.dependencies import AcceptDep, CursorDep, IdDep, JsonBody, LimitDep
from topoloom.app.api.negotiation import negotiate
from topoloom.app.api.pages import CountDep, page_answer
from topoloom.app.api.problems import responses
from topoloom.app.api.strict_http import strict_router
from topoloom.app.auth.scopes import DESIGN, READ
from topoloom.app.documents import lr_session as documents
from topoloom.app.documents.lr_session import LrHistory, LrPage, LrReply, LrSession
from topoloom.app.requests.lr_sessions import (
    LrExtensionRequest,
    LrLeaseRequest,
    LrObservationRequest,
    LrSessionRequest,
)
from topoloom.app.requests.options import lr_sessions as learning_rate
from topoloom.app.requests.options import sweeps_and_jobs
from topoloom.app.requests.options.lr_sessions import HistoryFormat
from topoloom.app.requests.renamed import SENT
from topoloom.app.services import lr_sessions
from topoloom.app.services.lr_sessions import PAGE, MustSearch, Tuning

router = strict_router("/v1/lr-sessions", tags=["learning rates"])

MAX_SEARCHES = 2
"""Concurrent fits of Gaussian processes in one process; a waiting request holds no thread."""
FORMATS = {"json": "application/json", "csv": "text/csv", "svg": "image/svg+xml"}

T = TypeVar("T")


class Searches:
    """Limiter of concurrent searches for rates, for one event loop."""

    def __init__(self, most: int = MAX_SEARCHES) -> None:
        self._places = asyncio.Semaphore(most)

    async def run(self, work: Callable[[], T]) -> T:
        """Return the result of ``work``, run in a free slot."""
        async with self._places:
            return await run_in_threadpool(work)


async def _tuning(request: Request) -> Tuning:
    return request.app.state.tuning.on_behalf_of(request.state.access.owner)


async def _searches(request: Request) -> Searches:
    return request.app.state.searches


TuningDep = Annotated[Tuning, Depends(_tuning)]
SearchesDep = Annotated[Searches, Depends(_searches)]
FormatDep = Annotated[
    HistoryFormat | None,
    Query(alias="format", description="representation; overrides the `Accept` header"),
]
AfterDep = Annotated[int, learning_rate.AFTER.query()]
_SESSION = {"model": LrSession}


@router.post(
    "",
    operation_id="createLrSession",
    summary="Create a session that tunes the learning rate of a training job",
    status_code=201,
    response_model=None,
    dependencies=[JsonBody, DESIGN],
    responses={
        201: _SESSION | {"description": "the session, with the lease of its trainer"},
        **responses(400, 413, 415, 422, 501, 503),
    },
)
def create_session(body: LrSessionRequest, tuning: TuningDep) -> Response:
    """Return a new session and its first action."""
    session, lease = lr_sessions.create(tuning, body.name, body.options)
    place = f"{router.prefix}/{session.id}"
    document = documents.session_of(session, lease)
    return JSONResponse(document, status_code=201, headers={"Location": place})


@router.get(
    "",
    operation_id="listLrSessions",
    dependencies=[READ],
    summary="List sessions, newest first",
    response_model=None,
    responses={200: {"model": LrPage, "description": "a page"}, **responses(422, 503)},
)
def list_sessions(
    request: Request,
    tuning: TuningDep,
    limit: LimitDep = sweeps_and_jobs.LIMIT.default,
    cursor: CursorDep = None,
    count: CountDep = False,
) -> JSONResponse:
    """Return one page of sessions."""
    page = documents.page_of(*tuning.store.page(limit, cursor))
    return page_answer(request, page, count, tuning.store.total)


@router.get(
    "/{id}",
    operation_id="readLrSession",
    dependencies=[READ],
    summary="Read a session: its state and its next action",
    response_model=None,
    responses={200: _SESSION | {"description": "the session"}, **responses(404, 422, 503)},
)
def read_session(id: IdDep, tuning: TuningDep) -> JSONResponse:
    """Return lr-session/1."""
    return JSONResponse(documents.session_of(tuning.store.get(id)))


@router.delete(
    "/{id}",
    operation_id="deleteLrSession",
    dependencies=[DESIGN],
    summary="Delete a session with its observations",
    status_code=204,
    response_class=Response,
    responses={204: {"description": "the session is deleted"}, **responses(404, 422, 503)},
)
def delete_session(id: IdDep, tuning: TuningDep) -> Response:
    """Delete a session."""
    lr_sessions.delete(tuning, id)
    return Response(status_code=204)


@router.post(
    "/{id}/observations",
    operation_id="observeLrSession",
    summary="Report the result of an action, and get the next action",
    response_model=None,
    dependencies=[JsonBody, DESIGN],
    responses={
        200: {"model": LrReply, "description": "the next action"},
        **responses(400, 404, 409, 413, 415, 422, 501, 503),
    },
)
async def observe(
    id: IdDep, body: LrObservationRequest, tuning: TuningDep, searches: SearchesDep
) -> JSONResponse:
    """Store losses; a repeated observation gets the same answer."""
    seen = body.observation
    try:
        reply = await run_in_threadpool(lr_sessions.observe, tuning, id, seen, searching=False)
    except MustSearch:
        reply = await searches.run(lambda: lr_sessions.observe(tuning, id, seen))
    told = documents.reply_of(reply)
    if "unsolicited" in (SENT.get() or {}):
        # A trainer of the release before would refuse the new member, in the middle of its run.
        del told["action"]["type"]
    return JSONResponse(told)


@router.post(
    "/{id}/extend",
    operation_id="extendLrSession",
    summary="Change the length of the run of a session",
    response_model=None,
    dependencies=[JsonBody, DESIGN],
    responses={
        200: _SESSION | {"description": "the session"},
        **responses(400, 404, 409, 413, 415, 422, 501, 503),
    },
)
def extend(id: IdDep, body: LrExtensionRequest, tuning: TuningDep) -> JSONResponse:
    """Store the new length as an observation; a repeated one changes nothing."""
    return JSONResponse(documents.session_of(lr_sessions.extend(tuning, id, body.observation)))


@router.post(
    "/{id}/lease",
    operation_id="attachLrSession",
    summary="Take over a session, at its present state or an earlier state",
    response_model=None,
    dependencies=[JsonBody, DESIGN],
    responses={
        200: _SESSION | {"description": "the session, with a new lease"},
        **responses(400, 404, 409, 413, 415, 422, 501, 503),
    },
)
async def attach(
    id: IdDep, body: LrLeaseRequest, tuning: TuningDep, searches: SearchesDep
) -> JSONResponse:
    """Give the session to a restarted trainer; the previous lease expires."""
    found = await searches.run(lambda: lr_sessions.attach(tuning, id, body.lease, body.sequence))
    return JSONResponse(documents.session_of(*found))


@router.post(
    "/{id}/cancel",
    operation_id="cancelLrSession",
    dependencies=[DESIGN],
    summary="Cancel a session",
    response_model=None,
    responses={200: _SESSION | {"description": "the session"}, **responses(404, 409, 422, 503)},
)
def cancel(id: IdDep, tuning: TuningDep) -> JSONResponse:
    """Cancel a session: the service refuses further observations."""
    return JSONResponse(documents.session_of(lr_sessions.cancel(tuning, id)))


@router.get(
    "/{id}/history",
    operation_id="readLrHistory",
    dependencies=[READ],
    summary="Read the history of a session",
    response_model=None,
    responses={
        200: {
            "model": LrHistory,
            "description": "the history",
            "content": {
                "text/csv": {"schema": {"type": "string"}},
                "image/svg+xml": {"schema": {"type": "string"}},
            },
        },
        **responses(404, 406, 422, 501, 503),
    },
)
def read_history(
    id: IdDep,
    tuning: TuningDep,
    form: FormatDep = None,
    after: AfterDep = learning_rate.AFTER.default,
    accept: AcceptDep = None,
) -> Response:
    """Return up to a thousand observations as JSON, all as CSV, or a plot as SVG."""
    chosen = negotiate(form, accept, FORMATS)
    session = tuning.store.get(id)
    if chosen == "json":
        points = list(islice(lr_sessions.history(tuning, session, after), PAGE + 1))
        return JSONResponse(documents.history_of(session, points, PAGE))
    everything = lr_sessions.history(tuning, session)
    if chosen == "csv":
        return StreamingResponse(
            documents.csv_rows(session, everything), media_type=FORMATS[chosen]
        )
    from topoloom.app.plots.lr_session import svg

    return Response(svg(session, everything), media_type=FORMATS[chosen])
