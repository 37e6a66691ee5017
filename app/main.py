"""The service, put together: ``create_app(settings)``; nothing is opened at import."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from importlib.metadata import version

from fastapi import Depends, FastAPI
from fastapi_offline import FastAPIOffline
from starlette.concurrency import run_in_threadpool

from app import problems
from app.config import Settings
from app.db import open_database
from app.jobs.hosting import Host
from app.jobs.watching import Watcher
from app.limits import RefuseLargeBodies, RefuseUnknownHosts, body_limit
from app.manners import AnswerHead, refuse_unknown_query
from app.metrics import CountRequests, Metrics
from app.routes import designs, jobs, patch_plans, schedules, sweeps, system, topologies
from app.services.opening import context_on
from app.turns import Turns
from schedules.progress import at_most

__all__ = ["create_app"]

DESCRIPTION = """Topologies for hosts that are wired to each other directly, collective schedules
that match them, and the plan of which port to plug where.

Every document is addressed by what was asked: the same question has the same id and is computed
once. Numbers like `"277/256"` are exact fractions. Errors are `application/problem+json`."""


def create_app(settings: Settings | None = None) -> FastAPI:
    """Return the application; the database is opened when it starts.

    Start fails with `app.db.DatabaseNotReady` if the database cannot be used.
    """
    chosen = settings or Settings()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        engine = open_database(chosen.database_url)
        app.state.engine = engine
        watch = partial(at_most, chosen.max_seconds)
        app.state.context = context_on(engine, chosen, watch)
        app.state.turns = Turns()
        app.state.host = Host(engine, chosen)
        app.state.watcher = Watcher(engine, chosen.max_event_streams)
        app.state.host.start()
        try:
            yield
        finally:
            await run_in_threadpool(app.state.host.stop)
            engine.dispose()

    # The page /docs with scripts from the installed package, not from another host.
    app = FastAPIOffline(
        title="Topoloom",
        version=version("topoloom"),
        description=DESCRIPTION,
        lifespan=lifespan,
        redirect_slashes=False,
        dependencies=[Depends(refuse_unknown_query)],
    )
    app.state.metrics = Metrics()
    problems.install(app)
    modules = (designs, topologies, schedules, patch_plans, sweeps, jobs, system)
    routers = [module.router for module in modules]
    for router in routers:
        app.include_router(router)
    app.state.routes = [route for router in routers for route in router.routes]
    app.add_middleware(RefuseLargeBodies, most=partial(body_limit, most=chosen.max_body_bytes))
    app.add_middleware(RefuseUnknownHosts, known=chosen.hosts_allowed(chosen.host))
    app.add_middleware(AnswerHead)
    app.add_middleware(CountRequests, metrics=app.state.metrics)
    return app
