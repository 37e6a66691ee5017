"""FastAPI application: ``create_app(settings)``; an import opens nothing."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from fastapi import FastAPI
from fastapi_offline import FastAPIOffline
from starlette.concurrency import run_in_threadpool
from starlette.middleware.cors import CORSMiddleware

from topoloom.app.api import openapi_document, problems
from topoloom.app.api.audit import Audit
from topoloom.app.api.computation_queue import ComputationQueue
from topoloom.app.api.deprecation import ServeFormerNames
from topoloom.app.api.job_worker import Host
from topoloom.app.api.request_dispatcher import FairThreads, job_threads, lookup_threads
from topoloom.app.api.request_limits import (
    BODIES_OF_OWNER,
    RefuseLargeBodies,
    RefuseUnknownHosts,
    body_limit,
)
from topoloom.app.api.routes import (
    administration,
    atlas,
    best,
    box_designs,
    cache,
    catalog,
    deliveries,
    design_batches,
    designs,
    evaluations,
    explanations,
    group_schedules,
    iterations,
    jobs,
    lr_sessions,
    network_curves,
    oxc,
    page,
    patch_plans,
    plots,
    schedules,
    sweeps,
    system,
    topologies,
)
from topoloom.app.api.security_headers import SecurityHeaders
from topoloom.app.api.strict_http import AnswerHead
from topoloom.app.auth.buckets import Buckets
from topoloom.app.auth.floods import RefuseFloods
from topoloom.app.auth.guesses import RefuseGuesses
from topoloom.app.auth.key_cache import KnownKeys
from topoloom.app.auth.middleware import Gate
from topoloom.app.config import Settings, package_version
from topoloom.app.jobs.executor import perform_by
from topoloom.app.jobs.gauges import database_gauges
from topoloom.app.jobs.watcher import Watcher
from topoloom.app.jobs.worker_pool.claims import Claims
from topoloom.app.jobs.worker_pool.pool import WorkerPool
from topoloom.app.observability.metrics import Metrics
from topoloom.app.observability.request_log import Observe
from topoloom.app.observability.telemetry import configuration, is_wanted, trace_statements
from topoloom.app.services.context import Context
from topoloom.app.services.lr_sessions import Tuning
from topoloom.app.services.open_context import recompute_document
from topoloom.app.store.database import open_database
from topoloom.app.store.document_store import Store
from topoloom.app.store.housekeeping import Housekeeper
from topoloom.app.store.lr_sessions import LrStore
from topoloom.app.store.owners import OwnerRules
from topoloom.app.store.patch_progress import PatchStore

log = logging.getLogger(__name__)

DESCRIPTION = """Topologies for hosts that are wired to each other directly, collective schedules
that match them, and the plan of which port to plug where.

Every document is addressed by what was asked: the same question has the same id and is computed
once. Numbers like `"277/256"` are exact fractions. Errors are `application/problem+json`."""

EXPOSED_HEADERS = [
    "Deprecation",
    "ETag",
    "Link",
    "Location",
    "Preference-Applied",
    "RateLimit",
    "RateLimit-Policy",
    "Retry-After",
    "WWW-Authenticate",
    "X-Request-ID",
]
"""Headers of answers that pages of other origins may read, besides those of every answer."""


def create_app(settings: Settings | None = None) -> FastAPI:
    """Return the application, which opens the database on startup.

    Startup raises `app.store.database.DatabaseNotReady` if the database cannot be used.
    """
    chosen = settings or Settings()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        engine = open_database(chosen.database_url)
        if is_wanted():
            trace_statements(engine)
        rules = OwnerRules.of(chosen)
        store, claims = Store(engine, rules), Claims(engine)
        pool = WorkerPool(store, claims, chosen, timed=app.state.metrics.computed)
        app.state.engine = engine
        app.state.store = store
        app.state.context = Context(store, chosen, mend=recompute_document)
        app.state.known_keys = KnownKeys(engine)
        app.state.lookups, app.state.parsing = lookup_threads(engine), FairThreads(1)
        app.state.job_threads = job_threads(engine)
        app.state.computations = computations = ComputationQueue(pool, chosen)
        metrics: Metrics = app.state.metrics
        metrics.watch(computations, chosen.max_working)
        metrics.watch_database(engine, database_gauges(engine, chosen.cache_bytes))
        app.state.tuning = Tuning(LrStore(engine, rules, store.quotas), chosen)
        app.state.patches = PatchStore(engine)
        app.state.searches = lr_sessions.Searches()
        of_jobs = pool.within(chosen.max_job_seconds, chosen.max_job_bytes)
        perform = perform_by(of_jobs, store)
        app.state.host = host = Host(engine, chosen, perform, metrics.job_ended, store.quotas)
        app.state.watcher = Watcher(engine, chosen.max_event_streams)
        housekeeper = Housekeeper(
            engine,
            store.uses,
            chosen.cache_bytes,
            evicted=metrics.evicted,
            growth=store.growth,
            keep_audit_days=chosen.keep_audit_days,
        )
        housekeeper.start()
        host.start()
        try:
            yield
        finally:
            computations.close()
            await run_in_threadpool(host.stop)
            for threads in (app.state.lookups, app.state.parsing, app.state.job_threads):
                threads.close()
            housekeeper.stop()
            claims.close()
            engine.dispose()
            log.info("stopped")

    # /docs loads scripts from the installed package, not from another host.
    app = FastAPIOffline(
        title="Topoloom",
        version=package_version(),
        description=DESCRIPTION,
        lifespan=lifespan,
        servers=openapi_document.SERVERS,
        separate_input_output_schemas=False,
        redirect_slashes=False,
        telemetry=configuration(),
    )
    app.state.metrics = Metrics()
    problems.install(app)
    modules = (
        *(design_batches, best, designs, topologies, schedules, patch_plans, sweeps, jobs),
        *(plots, atlas, catalog, cache, lr_sessions, administration, system),
        *(explanations, deliveries, page, box_designs, group_schedules, iterations, oxc),
        network_curves,
    )
    routers = [*(module.router for module in modules), *evaluations.routers]
    app.state.routes = [route for router in routers for route in router.routes]
    app.router.routes.extend(app.state.routes)
    openapi_document.install(app)
    add_middleware(app, chosen)
    return app


def add_middleware(app: FastAPI, chosen: Settings) -> None:
    """Add the middleware of all routes; the last added runs first."""
    app.add_middleware(Audit)
    app.add_middleware(
        RefuseLargeBodies,
        most=partial(body_limit, most=chosen.max_body_bytes),
        most_of_owner=BODIES_OF_OWNER * chosen.max_body_bytes,
    )
    failures = app.state.failures = _failures(chosen)
    buckets = _buckets(chosen)
    app.add_middleware(Gate, refusal=problems.answer_to, buckets=buckets, failures=failures)
    app.add_middleware(ServeFormerNames)
    if chosen.origins:
        # A preflight request has no key, so it is answered before the gate.
        app.add_middleware(
            CORSMiddleware,
            allow_origins=chosen.origins,
            allow_methods=["*"],
            allow_headers=["*"],
            expose_headers=EXPOSED_HEADERS,
        )
    app.add_middleware(RefuseUnknownHosts, known=chosen.hosts_allowed(chosen.host))
    app.add_middleware(AnswerHead)
    app.add_middleware(Observe, metrics=app.state.metrics, refusal=problems.answer_to)
    app.add_middleware(SecurityHeaders, private=chosen.auth == "keys")
    cheap = {"refusal": problems.answer_to, "counted": app.state.metrics.refused}
    if buckets is not None:
        app.add_middleware(RefuseFloods, buckets=buckets, **cheap)
    if failures is not None:
        app.add_middleware(RefuseGuesses, failures=failures, **cheap)


def _buckets(chosen: Settings) -> Buckets | None:
    """Return the rate limiter; None for a service that only this machine reaches."""
    if chosen.is_private or not chosen.rate_per_second:
        return None
    return Buckets(chosen.rate_per_second, chosen.rate_burst)


def _failures(chosen: Settings) -> Buckets | None:
    """Return the limiter of requests without a valid key; None if no request needs a key."""
    if chosen.auth == "open":
        return None
    most = chosen.auth_failures_per_minute
    return Buckets(most / 60, most)
