"""Asking a service over HTTP: attempts and pauses, promised answers, refusals as errors.

The standard library alone.  `app.client` knows what there is to ask for.
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
"""Statuses that pass: too many requests, and a service that is not ready."""

LONGEST_PAUSE = 30.0
"""Seconds between two attempts at most, unless the service says otherwise."""


class ServiceError(Exception):
    """The service gave no answer; the tree of errors of this module.

    ::

        ServiceError
          Unreachable    nobody answers there, or not in time
          Refused        the service answered with a problem: the question is at fault
            NotFound     nothing is stored under this id, or there is no such path
    """


class Unreachable(ServiceError):
    """Nobody answers at this address, or not in time."""


@dataclass(frozen=True, slots=True)
class FieldError:
    """One field of a request that breaks a rule; ``pointer`` is its JSON pointer."""

    pointer: str
    detail: str


class Refused(ServiceError):
    """The service answered with a problem (RFC 9457).

    ``status`` is the HTTP status, ``type`` the path of the problem that ``docs/reference/rest.md``
    explains, such as ``/problems/impossible-request``; ``errors`` the fields at fault;
    ``request_id`` what the log of the service has of the request.
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
    """Nothing is stored under this id, or there is no such path."""


class Transport:
    """How to ask a service; see `app.client.Client` for the parameters."""

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
            raise ValueError("key: must be as `topoloom keys create` printed it")
        self.base_url, self.timeout_seconds = base_url.rstrip("/"), timeout_seconds
        self.attempts = attempts
        self._headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        # A redirect would take the key elsewhere; the service knows none.
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
        promised = answer.get("schema") == "job/1" and not path.endswith("/cancel")
        return self._kept(answer) if promised else answer

    def _kept(self, job: dict[str, Any]) -> dict[str, Any]:
        """Return the answer that a job promises, as soon as it is there."""
        end = time.monotonic() + self.timeout_seconds
        while job["state"] in ("queued", "running"):
            if time.monotonic() >= end:
                raise Unreachable(f"the job {job['id']} has not ended in time; it goes on")
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
        asked = f"?{urlencode(given, doseq=True)}" if given else ""
        return self._ask(path + asked, None, self.attempts)

    def _ask(
        self,
        path: str,
        body: bytes | None,
        attempts: int,
        method: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        """Ask until there is an answer, a refusal that does not pass, or no time is left."""
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
        """Follow no redirect: it is an error like any other status."""


class _Passing(Exception):
    """A refusal that may be none a moment later."""

    def __init__(self, refused: Refused, retry_after: str) -> None:
        super().__init__(str(refused))
        self.refused, self._retry_after = refused, retry_after

    def pause(self, attempt: int) -> float:
        """Return how many seconds to wait before the next attempt, with some chance.

        >>> _Passing(Refused(429, "", "", "", ()), "7").pause(0) >= 7
        True
        """
        # Of those who were refused together not all come again together.
        chosen = random.uniform(0.5, 1.0) * min(LONGEST_PAUSE, math.ldexp(1.0, attempt))
        told = float(self._retry_after) if self._retry_after.isdigit() else 0.0
        return chosen if told <= chosen else told + chosen / 4


def _query_value(value: Any) -> Any:
    """Return a value as it stands in a query: truth in lower case.

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
    """Return a problem+json answer as an error; also of another server's error page."""
    try:
        told = json.loads(content)
    except ValueError:
        told = None
    if not isinstance(told, dict):
        told = {}
    errors = tuple(
        FieldError(str(one.get("pointer", "")), str(one.get("detail", "")))
        for one in told.get("errors") or ()
        if isinstance(one, dict)
    )
    title = str(told.get("title") or f"HTTP status {status}")
    kind = NotFound if status == 404 else Refused
    return kind(
        status,
        str(told.get("type", "about:blank")),
        title,
        str(told.get("detail", "")),
        errors,
        str(told.get("request_id", "")),
    )
