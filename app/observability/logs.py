"""Logs: one JSON object a line for machines, one line of words for people on a terminal.

The standard library's logging with a formatter: the server, SQLAlchemy and whatever else runs
here write to it already, so that a second system (structlog) would only be led back into it.
What is known of the request or job at hand goes with every line that is written meanwhile, in
any thread that works for it.
"""

import json
import logging
import re
import sys
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

Fact: TypeAlias = str | int | float
"""What may be said in a member of a line."""

_about: ContextVar[dict[str, Fact] | None] = ContextVar("about", default=None)
_REQUEST_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,63}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def well_formed(text: str) -> str:
    """Return a request's id as it was given if it may be logged, else a new one.

    >>> well_formed("build-17.4"), len(well_formed("two words")), len(well_formed("x" * 65))
    ('build-17.4', 32, 32)
    """
    return text if _REQUEST_ID.fullmatch(text) else uuid.uuid4().hex


def begin(**facts: Fact) -> dict[str, Fact]:
    """Let every line of this task, and of the threads that work for it, say these facts."""
    known = dict(facts)
    _about.set(known)
    return known


@contextmanager
def about(**facts: Fact) -> Iterator[None]:
    """Let every line in this block say these facts beside those known before.

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


def note(**facts: Fact) -> None:
    """Add to what is known of the request or job at hand; nothing where there is none."""
    known = _about.get()
    if known is not None:
        known.update(facts)


def request_id() -> str:
    """Return the id of the request at hand; empty where there is none."""
    return str((_about.get() or {}).get("request_id", ""))


def configure(form: Literal["auto", "json", "text"], level: int = logging.INFO) -> None:
    """Write the logs of this process to stderr, in a form of the setting ``log_format``."""
    as_text = form == "text" or (form == "auto" and sys.stderr.isatty())
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Words() if as_text else JsonLines())
    handler.addFilter(_known)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)


def _known(record: logging.LogRecord) -> bool:
    """Put the facts on a record while it is made: a moment later others may be known."""
    record.facts = {**(_about.get() or {}), **getattr(record, "facts", {})}
    return True


class JsonLines(logging.Formatter):
    """One object a line: time, level, logger, message, the facts, and the traceback if any."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as a line."""
        said: dict[str, Any] = {
            "time": _moment(record).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_facts(record),
        }
        if record.exc_info:
            said["exception"] = self.formatException(record.exc_info)
        return json.dumps(said, default=str)


class Words(logging.Formatter):
    """A line for people; control characters are shown, so that nobody writes lines of their own."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as a line, and its traceback below."""
        facts = " ".join(f"{name}={value}" for name, value in _facts(record).items())
        line = f"{_moment(record):%H:%M:%S} {record.levelname:7} {record.getMessage()}  {facts}"
        line = _CONTROL.sub(lambda found: repr(found[0])[1:-1], line).rstrip()
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def _facts(record: logging.LogRecord) -> Mapping[str, Fact]:
    return getattr(record, "facts", {})


def _moment(record: logging.LogRecord) -> datetime:
    return datetime.fromtimestamp(record.created, UTC)
