"""Probes, versions and metrics for operators."""

import logging

from fastapi import Request, Response
from fastapi.responses import PlainTextResponse

from topoloom.app.api.problems import responses
from topoloom.app.api.strict_http import strict_router
from topoloom.app.auth.scopes import READ
from topoloom.app.config import KERNEL_VERSION, package_version
from topoloom.app.documents.system import Status, VersionDocument
from topoloom.app.store.database import HEAD, DatabaseNotReady, require_head

router = strict_router(tags=["system"])

log = logging.getLogger(__name__)


@router.get("/healthz", operation_id="readHealth", summary="Check that the process is alive")
async def health() -> Status:
    """Return ok while the process answers."""
    return Status(status="ok")


@router.get(
    "/readyz",
    operation_id="readReadiness",
    summary="Check that the service can answer",
    responses=responses(503),
)
def readiness(request: Request) -> Status:
    """Answer 200 when the database is reachable, at the newest revision, and takes answers."""
    try:
        require_head(request.app.state.engine)
    except DatabaseNotReady as error:
        # The driver's message names users and addresses: log it, but do not send it.
        log.warning("not ready: %s", error)
        raise DatabaseNotReady("database_url: the database cannot be used just now") from None
    if request.app.state.store.settled() is not None:
        raise DatabaseNotReady("database_url: answers cannot be stored just now")
    return Status(status="ready")


@router.get("/version", operation_id="readVersion", summary="Read the version of the service")
async def read_version() -> VersionDocument:
    """Return the versions of the package, of its kernels and of its tables."""
    return VersionDocument(
        version=package_version(), kernel_version=KERNEL_VERSION, database_revision=HEAD
    )


@router.get(
    "/metrics",
    operation_id="readMetrics",
    summary="Read the metrics in the Prometheus text format",
    dependencies=[READ],
    response_class=PlainTextResponse,
)
def read_metrics(request: Request) -> Response:
    """Return the metrics of requests, computations, cache, jobs and process."""
    content, media_type = request.app.state.metrics.text(request.headers.get("accept", ""))
    return Response(content, headers={"Content-Type": media_type})
