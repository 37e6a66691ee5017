"""/v1/keys and /v1/audit-log: API keys, and who changed what."""

from functools import partial
from typing import Annotated

from fastapi import Depends, Path, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy import Engine

from topoloom.app.api.audit import is_audited
from topoloom.app.api.dependencies import JsonBody
from topoloom.app.api.pages import CountDep, page_answer
from topoloom.app.api.problems import responses
from topoloom.app.api.query_parameters import asked_by_query
from topoloom.app.api.strict_http import strict_router
from topoloom.app.auth import api_keys
from topoloom.app.auth.errors import NoKeys
from topoloom.app.auth.scopes import ADMIN
from topoloom.app.documents import administration as documents
from topoloom.app.documents.administration import ApiKeyDocument, ApiKeyList, AuditPage
from topoloom.app.requests.administration import ApiKeyRequest, AuditLogRequest
from topoloom.app.requests.options import administration, sweeps_and_jobs
from topoloom.app.store import audit_log
from topoloom.app.store.errors import NotStored
from topoloom.synth.naming.suggestions import did_you_mean

router = strict_router("/v1", tags=["administration"])


async def _engine(request: Request) -> Engine:
    return request.app.state.engine


async def _keys(request: Request) -> Engine:
    """Return the engine; raise `NoKeys` where callers need no key: anybody could make one."""
    if request.app.state.context.settings.auth != "keys":
        raise NoKeys
    return request.app.state.engine


EngineDep = Annotated[Engine, Depends(_engine)]
KeysDep = Annotated[Engine, Depends(_keys)]
KeyIdDep = Annotated[str, Path(description="id of a key", pattern="^[0-9a-f]{8}$")]
_PAGED = (sweeps_and_jobs.LIMIT, sweeps_and_jobs.CURSOR, *administration.FILTERS)
AuditDep = Annotated[AuditLogRequest, Depends(asked_by_query(AuditLogRequest, *_PAGED))]
_KEY = {"model": ApiKeyDocument}


@router.post(
    "/keys",
    operation_id="createKey",
    summary="Create an API key",
    status_code=201,
    response_model=None,
    dependencies=[JsonBody, ADMIN],
    responses={
        201: _KEY | {"description": "the key, with its text, which is not shown again"},
        **responses(400, 403, 413, 415, 422, 503),
    },
)
def create_key(body: ApiKeyRequest, engine: KeysDep) -> Response:
    """Create a key; the database stores only its digest."""
    key, text = api_keys.create(engine, body.name, body.scopes, body.days, body.owner)
    headers = {"Location": f"/v1/keys/{key.id}"}
    return JSONResponse(documents.key_of(key, text), status_code=201, headers=headers)


@router.get(
    "/keys",
    operation_id="listKeys",
    summary="List API keys, newest first",
    response_model=None,
    dependencies=[ADMIN],
    responses={200: {"model": ApiKeyList, "description": "all keys"}, **responses(403, 422, 503)},
)
def list_keys(engine: KeysDep) -> JSONResponse:
    """Return every key without its secret, including revoked and expired keys."""
    return JSONResponse({"items": [documents.key_of(key) for key in api_keys.all_keys(engine)]})


@router.get(
    "/keys/{id}",
    operation_id="readKey",
    summary="Read an API key",
    response_model=None,
    dependencies=[ADMIN],
    responses={200: _KEY | {"description": "the key"}, **responses(403, 404, 422, 503)},
)
def read_key(id: KeyIdDep, engine: KeysDep) -> JSONResponse:
    """Return a key without its secret."""
    return JSONResponse(documents.key_of(_existing(engine, id)))


@router.delete(
    "/keys/{id}",
    operation_id="revokeKey",
    summary="Revoke an API key",
    response_model=None,
    dependencies=[ADMIN],
    responses={200: _KEY | {"description": "the revoked key"}, **responses(403, 404, 422, 503)},
)
def revoke_key(id: KeyIdDep, engine: KeysDep) -> JSONResponse:
    """Revoke a key; every process refuses the key within five seconds."""
    return JSONResponse(documents.key_of(api_keys.revoke(engine, _existing(engine, id).id)))


@router.get(
    "/audit-log",
    operation_id="readAuditLog",
    summary="Read the audit log, newest first",
    response_model=None,
    dependencies=[ADMIN],
    responses={200: {"model": AuditPage, "description": "a page"}, **responses(422, 503)},
)
def read_audit_log(
    request: Request, asked: AuditDep, engine: EngineDep, count: CountDep = False
) -> JSONResponse:
    """Return one page of changing or refused administrative requests and commands."""
    if asked.action is not None:
        _require_action(request, engine, asked.action)
    found = audit_log.page(engine, asked.limit, asked.cursor, asked.wanted)
    total = partial(audit_log.total, engine, asked.wanted)
    return page_answer(request, documents.page_of(*found), count, total)


def _require_action(request: Request, engine: Engine, action: str) -> None:
    """Raise for an action that no request and no command has, and no entry of the log."""
    known = {*audit_log.COMMANDS}
    for route in request.app.state.routes:
        if any(is_audited(route, method) for method in route.methods):
            known.add(route.operation_id)
    if action not in known and action not in audit_log.actions(engine):
        rule = (
            "must be an operation of the API, such as createKey, or a command, such as keys "
            f"create; not {action!r}{did_you_mean(action, known)}"
        )
        entry = {"type": "query_parameter", "loc": ("query", "action"), "msg": rule, "input": None}
        raise RequestValidationError([entry])


def _existing(engine: Engine, identity: str) -> api_keys.ApiKey:
    key = api_keys.read(engine, identity)
    if key is None:
        raise NotStored("key", identity)
    return key
