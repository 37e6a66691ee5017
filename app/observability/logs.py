"""Logs: JSON lines, or text lines on a terminal.

Uses the logging module with a formatter: the server, SQLAlchemy, alembic and other libraries log to
it, so that a second system (structlog) would only wrap it.  Warnings and uncaught errors of threads
are log lines, too.  Facts about the current request or job are added to every line, in every
thread and worker process that works for the request.
"""

import json
import logging
import re
import sys
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

Fact: TypeAlias = str | int | float
"""Type of a member of a line."""

_about: ContextVar[dict[str, Fact] | None] = ContextVar("about", default=None)
_trace: Callable[[], Mapping[str, Fact]] = dict
_REQUEST_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,63}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def well_formed(text: str) -> str:
    """Return the request id of the client if it is well formed, else a new id.

    >>> well_formed("build-17.4"), len(well_formed("two words")), len(well_formed("x" * 65))
    ('build-17.4', 32, 32)
    """
    return text if _REQUEST_ID.fullmatch(text) else uuid.uuid4().hex


def begin(**facts: Fact) -> dict[str, Fact]:
    """Add facts to all log lines of this task and its threads; return the mutable facts."""
    known = dict(facts)
    _about.set(known)
    return known


@contextmanager
def about(**facts: Fact) -> Iterator[None]:
    """Add facts to all log lines in this block.

    >>> with about(job="a1"):
    ...     note(state="running")
    ...     dict(_about.get())
    {'job': 'a1', 'state': 'running'}
    """
    token = _about.set({**(_about.get() or {}), **facts})
    try:
        yield
    finally:
        _about.reset(token)


def call_about(facts: dict[str, Fact], call: Callable[..., object], *arguments: object) -> None:
    """Call a function with facts in all log lines; the target of a worker process."""
    with about(**facts):
        call(*arguments)


def note(**facts: Fact) -> None:
    """Add facts about the current request or job, if any."""
    known = _about.get()
    if known is not None:
        known.update(facts)


def request_id() -> str:
    """Return the id of the current request; empty without a request."""
    return str((_about.get() or {}).get("request_id", ""))


def facts() -> dict[str, Fact]:
    """Return the facts about the current request or job, with the ids of its trace."""
    return {**(_about.get() or {}), **_trace()}


def configure(
    form: Literal["auto", "json", "text"],
    level: int = logging.INFO,
    trace: Callable[[], Mapping[str, Fact]] = dict,
) -> None:
    """Write the logs, warnings and thread errors of this process to stderr.

    ``form`` is the setting ``log_format``.  ``trace`` returns the ids of the current trace.
    """
    global _trace
    _trace = trace
    as_text = form == "text" or (form == "auto" and sys.stderr.isatty())
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Words() if as_text else JsonLines())
    handler.addFilter(_known)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    # Its lines name the parts of alembic, at every start.
    logging.getLogger("alembic.runtime.plugins").setLevel(logging.WARNING)
    logging.captureWarnings(True)
    threading.excepthook = _log_thread_error


def _log_thread_error(error: threading.ExceptHookArgs) -> None:
    if error.exc_type is not SystemExit and error.exc_value is not None:
        name = error.thread.name if error.thread else "unknown"
        logging.getLogger("threading").error(
            "the thread %s ended with an error", name, exc_info=error.exc_value
        )


def _known(record: logging.LogRecord) -> bool:
    """Attach the current facts to a record at its creation, since the facts change later."""
    record.facts = {**facts(), **getattr(record, "facts", {})}
    return True


class JsonLines(logging.Formatter):
    """JSON lines: time, level, logger, message, facts, and the traceback if any."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as a line."""
        members: dict[str, Any] = {
            "time": _moment(record).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_facts(record),
        }
        if record.exc_info:
            members["exception"] = self.formatException(record.exc_info)
        return json.dumps(members, default=str)


class Words(logging.Formatter):
    """Text lines; control characters are escaped to prevent forged lines."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as a line, followed by the traceback."""
        facts = " ".join(f"{name}={value}" for name, value in _facts(record).items())
        line = f"{_moment(record):%H:%M:%S} {record.levelname:7} {record.getMessage()}  {facts}"
        line = _CONTROL.sub(lambda found: repr(found[0])[1:-1], line).rstrip()
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def _facts(record: logging.LogRecord) -> Mapping[str, Fact]:
    return getattr(record, "facts", {})


def _moment(record: logging.LogRecord) -> datetime:
    return datetime.fromtimestamp(record.created, UTC)
