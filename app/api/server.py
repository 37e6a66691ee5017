"""Start of the service: access check, logs, connections."""

import asyncio
import logging
import os
import resource
import sys
from contextlib import suppress
from functools import partial
from socket import socket
from threading import Timer
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.config import STARTUP_FAILURE

from topoloom.app.api.connection_limits import SPARE, ConnectionLimits
from topoloom.app.api.connection_timeouts import protocol_class
from topoloom.app.api.garbage import collect_often
from topoloom.app.api.main import create_app
from topoloom.app.api.time_slice import interrupt_workers
from topoloom.app.auth import api_keys
from topoloom.app.auth.buckets import Buckets
from topoloom.app.config import PREFIX, Settings, is_loopback
from topoloom.app.observability import logs
from topoloom.app.observability.metrics import Metrics
from topoloom.app.observability.telemetry import is_wanted, require_exporter, trace_ids
from topoloom.app.store.database import open_database, redacted_url

log = logging.getLogger(__name__)

OTHER_FILES = 1_024
"""Open files of the service besides its connections: databases, pipes of workers, modules."""

BACKLOG = 4_096
"""Connections that wait to be accepted; beyond them the kernel drops SYN packets, and a client
tries again after a second."""

ACCEPTS = 16
"""Connections accepted in an iteration of the event loop, about two milliseconds."""

DRAIN_SECONDS = 1.0
"""Seconds at shutdown until clients that wait for computations get 202 with a job, or 503."""

GRACE_SECONDS = 2
"""Seconds for running requests at shutdown."""

SWITCH_SECONDS = 0.0005
"""Time after which a thread that computes in Python hands over the interpreter.

With the 5 ms of Python, the event loop waits 5 ms at each event beside such a thread.
"""

SHUTDOWN_SECONDS = 4.5
"""Seconds after a signal until the process ends, whatever still runs."""


class OpenToOthers(ValueError):
    """Other hosts would reach the service without keys, and the settings do not allow this."""


def serve(settings: Settings) -> None:
    """Listen until a signal ends the service.

    Raises:
        OpenToOthers: Other hosts reach the address, keys are not required, and open access is not
            allowed.
        DatabaseNotReady: The database cannot be used.
        MissingExtra: OpenTelemetry is configured, but not installed.
    """
    require_private(settings)
    prepare_process(settings)
    sys.setswitchinterval(SWITCH_SECONDS)
    # Threads inherit the slice.  Workers do not: the command has started their fork server before.
    interrupt_workers()
    _raise_file_limit(settings.max_connections + SPARE + OTHER_FILES)
    # Open the database here once: a database that is not ready gives an error of one line.
    engine = open_database(settings.database_url)
    try:
        _warn(settings, api_keys.valid(engine))
    finally:
        engine.dispose()
    app = create_app(settings)
    log.info(
        "serving http://%s:%d for browsers and programs; database %s; auth %s; %s",
        settings.host,
        settings.port,
        redacted_url(engine.url),
        settings.auth,
        f"up to {settings.worker_concurrency} jobs" if settings.run_worker else "no jobs",
    )
    server = GracefulServer(uvicorn.Config(app, **uvicorn_options(app, settings)))
    with suppress(KeyboardInterrupt):
        server.run()
    if not server.started:
        sys.exit(STARTUP_FAILURE)


class GracefulServer(uvicorn.Server):
    """Uvicorn server whose waiting clients get an answer before the shutdown cancels them."""

    async def startup(self, sockets: list[socket] | None = None) -> None:
        """Start as uvicorn does; accept connections and collect garbage in short steps."""
        await super().startup(sockets)
        await self._accept_faster()
        collect_often()

    async def _accept_faster(self) -> None:
        """Let the event loop accept `ACCEPTS` connections in an iteration.

        libuv accepts one connection of each listening descriptor.  Beside a flood of connections,
        others would wait until the loop has had an iteration for each connection before them.
        """
        loop, config = asyncio.get_running_loop(), self.config
        protocol: Any = config.http_protocol_class

        def connection() -> asyncio.Protocol:
            return protocol(
                config=config, server_state=self.server_state, app_state=self.lifespan.state
            )

        listening = [one for server in self.servers for one in server.sockets]
        for one in listening * (ACCEPTS - 1):
            again = socket(fileno=os.dup(one.fileno()))
            server = await loop.create_server(connection, sock=again, backlog=config.backlog)
            self.servers.append(server)

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        """Hand back jobs; answer waiting clients after `DRAIN_SECONDS`; stop as uvicorn does."""
        if self._captured_signals:  # Otherwise the process continues without this server.
            end_within(SHUTDOWN_SECONDS)
        assert isinstance(self.config.app, FastAPI)
        state = self.config.app.state
        loop = asyncio.get_running_loop()
        for stop in (state.computations.stop_waiting, state.watcher.stop):
            loop.call_later(DRAIN_SECONDS, stop)
        # Now, not after the grace: other processes continue the jobs at once.
        handing_back = asyncio.create_task(asyncio.to_thread(state.host.stop))
        await super().shutdown(sockets)
        await handing_back


def end_within(seconds: float) -> None:
    """End this process after this number of seconds, for instance while the database is locked.

    Other processes then take over its jobs, as those of a lost worker.
    """

    def end() -> None:
        log.warning("the shutdown takes more than %g s; the rest is broken off", seconds)
        os._exit(0)

    timer = Timer(seconds, end)
    timer.daemon = True
    timer.start()


def require_private(settings: Settings) -> None:
    """Raise `OpenToOthers` if other hosts reach the service without keys, against the settings."""
    if not (is_loopback(settings.host) or settings.auth == "keys" or settings.allow_open):
        raise OpenToOthers(
            f"others reach {settings.host}, and requests need no key; set {PREFIX}AUTH=keys to "
            f"require API keys, or {PREFIX}ALLOW_OPEN=1 to listen there without keys"
        )


def prepare_process(settings: Settings) -> None:
    """Configure the logs of this process; raise `MissingExtra` without a required exporter."""
    traced = is_wanted()
    if traced:
        require_exporter()
    logs.configure(settings.log_format, trace=trace_ids if traced else dict)


def uvicorn_options(app: FastAPI, settings: Settings) -> dict[str, Any]:
    """Return the options of uvicorn for an application, whose metrics count the connections."""
    metrics: Metrics = app.state.metrics
    limits = ConnectionLimits(
        settings.max_connections,
        settings.max_connections_per_address,
        closed=metrics.refused,
    )
    metrics.watch_connections(lambda: limits.open, settings.max_connections)
    slow = (settings.header_seconds, settings.stall_seconds, settings.body_seconds)
    return {
        "host": settings.host,
        "port": settings.port,
        "http": protocol_class(*slow, limits, partial(_guesses, app.state.failures)),
        "backlog": BACKLOG,
        "ws": "none",
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "timeout_graceful_shutdown": GRACE_SECONDS,
    }


def _guesses(failures: Buckets | None, address: str) -> bool:
    """Return whether an address has sent too many requests without a valid key."""
    return failures is not None and failures.look(f"address:{address}").wait > 0


def _raise_file_limit(files: int) -> None:
    """Raise the limit of this process on open files to ``files``, as far as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = files if hard == resource.RLIM_INFINITY else min(files, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    if most < files:
        log.warning("%d open files are allowed, but the service may need %d", most, files)


def _warn(settings: Settings, valid: int) -> None:
    """Log settings that are allowed, but probably not intended."""
    if settings.auth == "keys" and not valid:
        log.warning("no API key is valid yet, so nobody is answered: make one by topoloom keys")
    if settings.auth == "open" and valid:
        log.warning("API keys exist, but nobody is asked for one: set %sAUTH=keys", PREFIX)
    if settings.auth == "open" and not is_loopback(settings.host):
        log.warning("anybody who reaches %s may ask anything", settings.host)
