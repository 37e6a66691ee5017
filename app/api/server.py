"""Start of the service: access check, logs, connections."""

import logging
import resource

import uvicorn

from topoloom.app.api.connection_limits import SPARE, ConnectionLimits
from topoloom.app.api.connection_timeouts import patient
from topoloom.app.api.main import create_app
from topoloom.app.auth import api_keys
from topoloom.app.config import PREFIX, Settings, is_loopback
from topoloom.app.observability import logs
from topoloom.app.observability.telemetry import is_wanted, require_exporter
from topoloom.app.store.database import open_database

log = logging.getLogger(__name__)

OTHER_FILES = 1_024
"""Open files of the service besides its connections: databases, pipes of workers, modules."""

GRACE_SECONDS = 3
"""Seconds for running requests at shutdown; the whole shutdown takes 5."""


class OpenToOthers(ValueError):
    """Other hosts would reach the service without keys, and the settings do not allow this."""


def serve(settings: Settings) -> None:
    """Listen until a signal ends the service.

    Raises
    ------
    OpenToOthers
        Other hosts reach the address, keys are not required, and open access is not allowed.
    DatabaseNotReady
        The database cannot be used.
    MissingExtra
        OpenTelemetry is configured, but not installed.
    """
    if not (is_loopback(settings.host) or settings.auth == "keys" or settings.allow_open):
        raise OpenToOthers(
            f"{settings.host} is reached by others, and anybody may ask anything there; set "
            f"{PREFIX}AUTH=keys to ask for API keys, or {PREFIX}ALLOW_OPEN=1 to listen on it "
            "all the same"
        )
    if is_wanted():
        require_exporter()
    logs.configure(settings.log_format)
    _raise_file_limit(settings.max_connections + SPARE + OTHER_FILES)
    # Open the database here once: a database that is not ready gives an error of one line.
    engine = open_database(settings.database_url)
    try:
        _warn(settings, api_keys.valid(engine))
    finally:
        engine.dispose()
    uvicorn.run(
        create_app(settings),
        host=settings.host,
        port=settings.port,
        http=patient(
            settings.header_seconds,
            settings.stall_seconds,
            settings.body_seconds,
            ConnectionLimits(settings.max_connections, settings.max_connections_per_address),
        ),
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )


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
