"""HTTP transport of the client: retries, several addresses, jobs, problems as errors.

Uses the standard library alone.
"""

from __future__ import annotations

import http.client
import json
import math
import random
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode

from topoloom.app.client.arguments import (
    body_of,
    checked_attempts,
    checked_key,
    checked_seconds,
    checked_urls,
    checked_webhook,
)
from topoloom.app.client.errors import NotFound, Refused, ServiceError, Unreachable, problem_of

WEBHOOK = "Topoloom-Webhook"
DEFAULT_URL = "http://127.0.0.1:8765"
POLL_SECONDS = 0.5
UNFINISHED = ("queued", "running")

SHORTEST_SECONDS = 0.001
LONGEST_TIMEOUT = 1e6
"""Limits of the time limit of a socket in seconds."""

LOOK_SECONDS = 2.0
"""Time that a look at a job has, though the deadline of a wait has come."""

LONGEST_WAIT = 10
"""Seconds that the service may take for an answer before it answers with a job."""

SILENT_SECONDS = 60.0
"""Seconds without a byte after which a stream of events is opened again."""

RETRIED = (429, 502, 503, 504)
"""Transient statuses: too many requests, a service that is not ready, a proxy without a service."""

LONGEST_PAUSE = 10.0
"""Limit of the pause between two attempts in seconds, unless ``Retry-After`` is longer."""


class Transport:
    """HTTP access to a service; see `app.client.Client` for the parameters."""

    def __init__(
        self,
        base_url: str | Sequence[str] = DEFAULT_URL,
        *,
        key: str | None = None,
        timeout_seconds: float = 600.0,
        attempts: int = 8,
        webhook: str | None = None,
    ) -> None:
        self.base_urls, self._turn = checked_urls(base_url), 0
        self.timeout_seconds = checked_seconds(timeout_seconds)
        self.attempts = checked_attempts(attempts)
        self._headers = {} if key is None else {"Authorization": f"Bearer {checked_key(key)}"}
        self._webhook = {} if webhook is None else {WEBHOOK: checked_webhook(webhook)}
        self._submits = False
        # A redirect could send the key to another server; the service never redirects.
        self._opener = urllib.request.build_opener(_NoRedirects)

    @property
    def base_url(self) -> str:
        """The address that the client uses now: the last one that answered."""
        return self.base_urls[self._turn]

    def _succeeds(self, path: str) -> bool:
        try:
            self._ask(path, attempts=1)
        except ServiceError:
            return False
        return True

    def _post(
        self, path: str, body: Mapping[str, Any], more: Mapping[str, str] | None = None
    ) -> Any:
        """Return the answer to a POST; wait for the job if the service answers with a job.

        The answer is a JSON object, or the bytes of a drawing.
        """
        deadline = time.monotonic() + self.timeout_seconds
        headers = {**self._webhook, **(more or {}), "Prefer": self._preferred_wait()}
        content = self._ask(path, body_of(body), headers=headers, deadline=deadline)
        answer = content if content.startswith(b"<?xml") else _object(content)
        if self._submits or not is_job(answer) or path.endswith("/cancel"):
            return answer
        return self._result_of(self._ended(answer, deadline), deadline)

    def _preferred_wait(self) -> str:
        """Return the header that asks for a job well before the time of the client is over."""
        wait = 0 if self._submits else int(min(LONGEST_WAIT, self.timeout_seconds / 2))
        return f"wait={wait}" if wait else "respond-async"

    def _ended(self, job: Any, deadline: float) -> Any:
        """Return a job when it has ended."""
        while job["state"] in UNFINISHED:
            left = deadline - time.monotonic()
            if left <= 0:
                raise Unreachable(f"the job {job['id']} did not end in time; it continues")
            time.sleep(min(POLL_SECONDS, left))
            job = self._current(job, deadline)
        return job

    def _current(self, job: Any, deadline: float | None) -> Any:
        """Return a job as it stands."""
        if deadline is not None:
            deadline = max(deadline, time.monotonic() + LOOK_SECONDS)
        return self._get_json(f"/v1/jobs/{job['id']}", deadline=deadline)

    def _result_of(self, job: Any, deadline: float) -> Any:
        """Return the answer of a job that has ended."""
        if job["state"] == "done":
            read = self._get if job["operation"].startswith("plot-") else self._get_json
            return read(job["result_url"], deadline=deadline)
        if job["problem"] is not None:
            raise problem_of(job["problem"]["status"], json.dumps(job["problem"]).encode())
        raise Refused(409, "about:blank", "Cancelled", f"the job {job['id']} was cancelled", ())

    def _send(self, method: str, path: str) -> Any:
        return _object(self._ask(path, method=method))

    def _delete(self, path: str) -> None:
        self._ask(path, method="DELETE")

    def _get_json(
        self, path: str, query: Mapping[str, Any] | None = None, deadline: float | None = None
    ) -> Any:
        return _object(self._get(path, query, deadline))

    def _get(
        self, path: str, query: Mapping[str, Any] | None = None, deadline: float | None = None
    ) -> bytes:
        given = {name: _query_value(value) for name, value in (query or {}).items()}
        suffix = f"?{urlencode(given, doseq=True)}" if given else ""
        return self._ask(path + suffix, deadline=deadline)

    def _entries(self, path: str, query: Mapping[str, Any]) -> Iterator[Any]:
        """Yield the entries of all pages of a list."""
        cursor = {}
        while cursor is not None:
            page = self._get_json(path, {**query, **cursor})
            yield from page["items"]
            cursor = {"cursor": page["next_cursor"]} if page["next_cursor"] else None

    def _events(self, path: str) -> Iterator[Any]:
        """Yield the jobs of a stream of events; a lost stream continues after its last event."""
        headers = {"Accept": "text/event-stream"}
        while True:
            # The time limit is that of each connection: a job may take longer than an answer.
            with self._ask(path, headers=headers, opened=self._connect) as stream:
                try:
                    for name, value in _fields(stream):
                        if name == "id":
                            headers["Last-Event-ID"] = value
                        elif name == "data":
                            job = json.loads(value)
                            yield job
                            if job["state"] not in UNFINISHED:
                                return
                except (OSError, http.client.HTTPException):
                    self._use_next()
            time.sleep(POLL_SECONDS)

    def _ask(
        self,
        path: str,
        body: bytes | None = None,
        *,
        method: str | None = None,
        headers: Mapping[str, str] | None = None,
        deadline: float | None = None,
        attempts: int | None = None,
        opened: Callable[[urllib.request.Request, float], Any] | None = None,
    ) -> Any:
        """Send a request until it succeeds, fails permanently, or the time is over.

        Every attempt asks the next address; a pause follows when all addresses have failed.
        ``opened`` sends a request and returns what is made of its answer; default: the bytes.
        """
        deadline = deadline or time.monotonic() + self.timeout_seconds
        sent = self._headers | {"X-Request-ID": uuid.uuid4().hex} | dict(headers or {})
        if body is not None:
            sent |= {"Content-Type": "application/json", "Accept": "application/json"}
        addresses, lost = len(self.base_urls), False
        for attempt in range(1, addresses * (attempts or self.attempts) + 1):
            request = urllib.request.Request(self.base_url + path, body, sent, method=method)
            try:
                return (opened or self._open)(request, self._left(deadline))
            except NotFound:
                # The attempt whose answer was lost has deleted it.
                if method == "DELETE" and lost:
                    return b""
                raise
            except _Transient as failure:
                self._use_next()
                lost = lost or isinstance(failure.error, Unreachable)
                round_, rest = divmod(attempt, addresses)
                pause = 0.0 if rest else failure.pause(round_ - 1)
                last = attempt == addresses * (attempts or self.attempts)
                if last or time.monotonic() + pause > deadline:
                    raise failure.error from None
            time.sleep(pause)
        raise AssertionError("attempts are positive")

    def _left(self, deadline: float) -> float:
        """Return the seconds until a deadline, as a socket takes them."""
        return min(max(deadline - time.monotonic(), SHORTEST_SECONDS), LONGEST_TIMEOUT)

    def _use_next(self) -> None:
        self._turn = (self._turn + 1) % len(self.base_urls)

    def _open(self, request: urllib.request.Request, seconds: float) -> bytes:
        with self._failures(), self._opener.open(request, timeout=seconds) as answer:
            return answer.read()

    def _connect(self, request: urllib.request.Request, seconds: float) -> Any:
        with self._failures():
            return self._opener.open(request, timeout=min(seconds, SILENT_SECONDS))

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Raise the errors of a request as those of this module, or as transient."""
        try:
            yield
        except urllib.error.HTTPError as error:
            with error:
                refused = problem_of(error.code, error.read())
            if error.code in RETRIED:
                raise _Transient(refused, error.headers.get("Retry-After", "")) from None
            raise refused from None
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            unreachable = Unreachable(f"{self.base_url} does not answer: {reason}")
            raise _Transient(unreachable) from None


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> None:
        """Refuse to redirect: the status is an error like any other."""


class _Transient(Exception):
    """A failure that another attempt may not meet."""

    def __init__(self, error: ServiceError, retry_after: str = "") -> None:
        super().__init__(str(error))
        self.error, self._retry_after = error, retry_after

    def pause(self, attempt: int) -> float:
        """Return the seconds before the next attempt, with random jitter.

        >>> _Transient(Refused(429, "", "", "", ()), "7").pause(0) >= 7
        True
        """
        # Jitter spreads the retries of clients that were refused together.
        backoff = random.uniform(0.5, 1.0) * min(LONGEST_PAUSE, math.ldexp(0.5, attempt))
        least = float(self._retry_after) if self._retry_after.isdigit() else 0.0
        return backoff if least <= backoff else least + backoff / 4


def is_job(answer: Any) -> bool:
    """Return whether an answer is a job/1 document."""
    return isinstance(answer, dict) and answer.get("schema") == "job/1"


def _fields(stream: Iterable[bytes]) -> Iterator[tuple[str, str]]:
    r"""Yield name and value of the fields of server-sent events.

    >>> list(_fields([b": nothing new\n", b"\n", b"id: 7\n", b"data: {}\n"]))
    [('', 'nothing new'), ('id', '7'), ('data', '{}')]
    """
    for line in stream:
        name, separator, value = line.decode().rstrip("\r\n").partition(":")
        if separator:
            yield name, value.removeprefix(" ")


def _query_value(value: Any) -> Any:
    """Return a query value: booleans in lower case.

    >>> _query_value(True), _query_value(3)
    ('true', 3)
    """
    return str(value).lower() if isinstance(value, bool) else value


def _object(content: bytes) -> Any:
    try:
        document = json.loads(content)
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise ServiceError("the answer must be a JSON object: is this a Topoloom service?")
    return document
