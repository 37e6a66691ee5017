"""`topoloom jobs worker`: run jobs until a signal, with an HTTP endpoint for probes and metrics."""

import logging
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from threading import Event, Thread

import uvicorn
from fastapi import FastAPI
from fastapi.telemetry import TelemetryConfig
from sqlalchemy import Engine

from topoloom.app.api import problems
from topoloom.app.api.job_worker import Host
from topoloom.app.api.main import add_middleware
from topoloom.app.api.routes import system
from topoloom.app.api.server import (
    SHUTDOWN_SECONDS,
    end_within,
    prepare_process,
    require_private,
    uvicorn_options,
)
from topoloom.app.auth.key_cache import KnownKeys
from topoloom.app.config import Settings
from topoloom.app.jobs.executor import perform_by
from topoloom.app.jobs.gauges import database_gauges
from topoloom.app.jobs.worker_pool.claims import Claims
from topoloom.app.jobs.worker_pool.pool import WorkerPool
from topoloom.app.observability.metrics import Metrics
from topoloom.app.observability.telemetry import (
    configuration,
    export_spans,
    flush_spans,
    is_wanted,
    trace_statements,
)
from topoloom.app.store.database import open_database, redacted_url
from topoloom.app.store.document_store import Store
from topoloom.app.store.housekeeping import Housekeeper
from topoloom.app.store.owners import OwnerRules

log = logging.getLogger(__name__)


def work(settings: Settings) -> None:
    """Run jobs until a signal ends the process.

    Raises:
        OpenToOthers: Other hosts reach the endpoint, keys are not required, and open access is not
            allowed.
        DatabaseNotReady: The database cannot be used.
        MissingExtra: OpenTelemetry is configured, but not installed.
    """
    listens = settings.worker_port is not None
    at = {"host": settings.worker_host, "port": settings.worker_port}
    endpoint = settings.model_copy(update=at)
    if listens:
        require_private(endpoint)
    prepare_process(settings)
    ended = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    engine = open_database(settings.database_url)
    if is_wanted():
        export_spans()
        trace_statements(engine)
    metrics, store, claims = Metrics(), Store(engine, OwnerRules.of(settings)), Claims(engine)
    metrics.watch_database(engine, database_gauges(engine, settings.cache_bytes))
    pool = WorkerPool(store, claims, settings, timed=metrics.computed)
    of_jobs = pool.within(settings.max_job_seconds, settings.max_job_bytes)
    host = Host(engine, settings, perform_by(of_jobs, store), metrics.job_ended)
    housekeeper = Housekeeper(engine, store.uses, settings.cache_bytes, growth=store.growth)
    with _serving(endpoint, engine, store, metrics) if listens else nullcontext():
        housekeeper.start()
        host.start()
        log.info(
            "running up to %d jobs at a time; database %s",
            settings.worker_concurrency,
            redacted_url(engine.url),
        )
        while not ended.wait(0.2):
            pass  # A wait without a limit misses a signal that another thread receives.
        end_within(SHUTDOWN_SECONDS)
        all_ended = host.stop()
    housekeeper.stop()
    if all_ended:
        claims.close()
        engine.dispose()
    flush_spans()
    log.info("stopped")
    # The interpreter would wait for work that does not end, and free all memory piece by piece.
    os._exit(0)


@contextmanager
def _serving(settings: Settings, engine: Engine, store: Store, metrics: Metrics) -> Iterator[None]:
    """Serve the probes and metrics of this process in a thread."""
    telemetry: TelemetryConfig = {**configuration(), "auto_configure": False}
    app = FastAPI(openapi_url=None, redirect_slashes=False, telemetry=telemetry)
    app.state.engine, app.state.store, app.state.metrics = engine, store, metrics
    app.state.known_keys = KnownKeys(engine)
    app.state.routes = system.router.routes
    app.router.routes.extend(app.state.routes)
    problems.install(app)
    add_middleware(app, settings)
    endpoint = uvicorn.Server(uvicorn.Config(app, **uvicorn_options(app, settings)))
    # Bound here: a port in use ends this process, not only the thread.
    sockets = [endpoint.config.bind_socket()]
    thread = Thread(target=endpoint.run, args=(sockets,), name="endpoint", daemon=True)
    thread.start()
    while thread.is_alive() and not endpoint.started:
        time.sleep(0.01)
    try:
        yield
    finally:
        endpoint.should_exit = True
        thread.join(timeout=2)
