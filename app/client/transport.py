"""HTTP transport of the client: retries, jobs, problems as errors.

Uses the standard library alone.
"""

import http.client
import json
import math
import random
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

DEFAULT_URL = "http://127.0.0.1:8765"
POLL_SECONDS = 0.5

RETRIED = (429, 503)
"""Transient statuses: too many requests, and a service that is not ready."""

LONGEST_PAUSE = 30.0
"""Limit of the pause between two attempts in seconds, unless ``Retry-After`` is longer."""


class ServiceError(Exception):
    """Base of the errors of this module.

    ::

        ServiceError
          Unreachable    no answer at the address, or not in time
          Refused        the service answered with a problem
            NotFound     unknown id or path
    """


class Unreachable(ServiceError):
    """The service did not answer, or not in time."""


@dataclass(frozen=True, slots=True)
class FieldError:
    """An invalid field of a request; ``pointer`` is its JSON pointer."""

    pointer: str
    detail: str


class Refused(ServiceError):
    """The service answered with a problem (RFC 9457).

    ``status`` is the HTTP status; ``type`` is the problem type, such as
    ``/problems/impossible-request``, explained in ``docs/reference/rest.md``; ``errors`` are the
    invalid fields; ``request_id`` identifies the request in the log of the service.
    """

    def __init__(
        self,
        status: int,
        kind: str,
        title: str,
        detail: str,
        errors: tuple[FieldError, ...],
        request_id: str = "",
    ) -> None:
        super().__init__(f"{title}: {detail}" if detail else title)
        self.status, self.type, self.title, self.detail = status, kind, title, detail
        self.errors, self.request_id = errors, request_id


class NotFound(Refused):
    """The service knows no such id or path."""


class Transport:
    """HTTP access to a service; see `app.client.Client` for the parameters."""

    def __init__(
        self,
        base_url: str = DEFAULT_URL,
        *,
        key: str | None = None,
        timeout_seconds: float = 600.0,
        attempts: int = 5,
    ) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ValueError(f"base_url: must be http://HOST:PORT or https://…, not {base_url!r}")
        if not timeout_seconds > 0:
            raise ValueError("timeout_seconds: must be positive")
        if attempts < 1:
            raise ValueError("attempts: must be positive")
        if key is not None and not (key.isascii() and key.isprintable() and key):
            raise ValueError("key: must be a key from `topoloom keys create`")
        self.base_url, self.timeout_seconds = base_url.rstrip("/"), timeout_seconds
        self.attempts = attempts
        self._headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        # A redirect could send the key to another server; the service never redirects.
        self._opener = urllib.request.build_opener(_NoRedirects)

    def _succeeds(self, path: str) -> bool:
        try:
            self._ask(path, None, attempts=1)
        except ServiceError:
            return False
        return True

    def _post(
        self, path: str, body: Mapping[str, Any], more: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        sent = json.dumps(body).encode()
        answer = _object(self._ask(path, sent, self.attempts, headers=more))
        is_job = answer.get("schema") == "job/1" and not path.endswith("/cancel")
        return self._result_of(answer) if is_job else answer

    def _result_of(self, job: dict[str, Any]) -> dict[str, Any]:
        """Wait for a job and return its result."""
        end = time.monotonic() + self.timeout_seconds
        while job["state"] in ("queued", "running"):
            if time.monotonic() >= end:
                raise Unreachable(f"the job {job['id']} did not end in time; it continues")
            time.sleep(POLL_SECONDS)
            job = self._get_json(f"/v1/jobs/{job['id']}")
        if job["state"] == "done":
            return self._get_json(job["result"])
        if job["problem"] is not None:
            raise _problem(job["problem"]["status"], json.dumps(job["problem"]).encode())
        raise Refused(409, "about:blank", "Cancelled", f"the job {job['id']} was cancelled", ())

    def _send(self, method: str, path: str) -> dict[str, Any]:
        return _object(self._ask(path, None, self.attempts, method))

    def _get_json(self, path: str, query: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return _object(self._get(path, query))

    def _get(self, path: str, query: Mapping[str, Any] | None = None) -> bytes:
        given = {name: _query_value(value) for name, value in (query or {}).items()}
        suffix = f"?{urlencode(given, doseq=True)}" if given else ""
        return self._ask(path + suffix, None, self.attempts)

    def _ask(
        self,
        path: str,
        body: bytes | None,
        attempts: int,
        method: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        """Send a request until it succeeds, fails permanently, or the time is over."""
        deadline = time.monotonic() + self.timeout_seconds
        sent = self._headers | {"X-Request-ID": uuid.uuid4().hex} | dict(headers or {})
        if body is not None:
            sent |= {"Content-Type": "application/json", "Accept": "application/json"}
        request = urllib.request.Request(self.base_url + path, body, sent, method=method)
        for attempt in range(attempts):
            try:
                return self._open(request, max(deadline - time.monotonic(), 0.001))
            except _Passing as passing:
                pause = passing.pause(attempt)
                if attempt == attempts - 1 or time.monotonic() + pause > deadline:
                    raise passing.refused from None
            time.sleep(pause)
        raise AssertionError("attempts are positive")

    def _open(self, request: urllib.request.Request, seconds: float) -> bytes:
        try:
            with self._opener.open(request, timeout=seconds) as answer:
                return answer.read()
        except urllib.error.HTTPError as error:
            with error:
                refused = _problem(error.code, error.read())
            if error.code in RETRIED:
                raise _Passing(refused, error.headers.get("Retry-After", "")) from None
            raise refused from None
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise Unreachable(f"{self.base_url} does not answer: {reason}") from None


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> None:
        """Refuse to redirect: the status is an error like any other."""


class _Passing(Exception):
    """A transient refusal."""

    def __init__(self, refused: Refused, retry_after: str) -> None:
        super().__init__(str(refused))
        self.refused, self._retry_after = refused, retry_after

    def pause(self, attempt: int) -> float:
        """Return the seconds before the next attempt, with random jitter.

        >>> _Passing(Refused(429, "", "", "", ()), "7").pause(0) >= 7
        True
        """
        # Jitter spreads the retries of clients that were refused together.
        backoff = random.uniform(0.5, 1.0) * min(LONGEST_PAUSE, math.ldexp(1.0, attempt))
        least = float(self._retry_after) if self._retry_after.isdigit() else 0.0
        return backoff if least <= backoff else least + backoff / 4


def _query_value(value: Any) -> Any:
    """Return a query value: booleans in lower case.

    >>> _query_value(True), _query_value(3)
    ('true', 3)
    """
    return str(value).lower() if isinstance(value, bool) else value


def _object(content: bytes) -> dict[str, Any]:
    try:
        document = json.loads(content)
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise ServiceError("the answer must be a JSON object: is this a Topoloom service?")
    return document


def _problem(status: int, content: bytes) -> Refused:
    """Return an error for a problem+json answer, or for the error page of another server."""
    try:
        problem = json.loads(content)
    except ValueError:
        problem = None
    if not isinstance(problem, dict):
        problem = {}
    errors = tuple(
        FieldError(str(error.get("pointer", "")), str(error.get("detail", "")))
        for error in problem.get("errors") or ()
        if isinstance(error, dict)
    )
    title = str(problem.get("title") or f"HTTP status {status}")
    kind = NotFound if status == 404 else Refused
    return kind(
        status,
        str(problem.get("type", "about:blank")),
        title,
        str(problem.get("detail", "")),
        errors,
        str(problem.get("request_id", "")),
    )
