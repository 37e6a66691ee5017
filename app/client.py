"""A client of the service for programs: the standard library alone.

Every method asks and waits for the answer; the same question is answered once, so repeating one
is harmless.  What the service refuses is raised as the problem that it answered with.
"""

import http.client
import json
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

__all__ = ["Client", "FieldError", "NotFound", "Refused", "ServiceError", "Unreachable"]

DEFAULT_URL = "http://127.0.0.1:8765"
POLL_SECONDS = 0.5


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

    ``status`` is the HTTP status, ``type`` the path of the problem that ``docs/api.md``
    explains, such as ``/problems/impossible-request``; ``errors`` the fields at fault.
    """

    def __init__(
        self, status: int, kind: str, title: str, detail: str, errors: tuple[FieldError, ...]
    ) -> None:
        super().__init__(f"{title}: {detail}" if detail else title)
        self.status, self.type, self.title, self.detail = status, kind, title, detail
        self.errors = errors


class NotFound(Refused):
    """Nothing is stored under this id, or there is no such path."""


class Client:
    """Asks a running service; questions and answers are those of ``docs/api.md``.

    Parameters
    ----------
    base_url : str
        Where it listens, ``http`` or ``https``.
    timeout_seconds : float
        How long to wait for one answer.

    Raises
    ------
    ValueError
        The address is none.

    Examples
    --------
    >>> client = Client("http://127.0.0.1:1", timeout_seconds=1)
    >>> client.is_ready()
    False
    """

    def __init__(self, base_url: str = DEFAULT_URL, *, timeout_seconds: float = 600.0) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ValueError(f"base_url: must be http://HOST:PORT or https://…, not {base_url!r}")
        if not timeout_seconds > 0:
            raise ValueError("timeout_seconds: must be positive")
        self.base_url, self.timeout_seconds = base_url.rstrip("/"), timeout_seconds

    def design(self, **question: Any) -> dict[str, Any]:
        """Return the design/1 document that answers a question: POST /v1/designs."""
        return self._post("/v1/designs", question)

    def topology(self, **source: Any) -> dict[str, Any]:
        """Build or register a topology; return its topology/1 document: POST /v1/topologies."""
        return self._post("/v1/topologies", source)

    def schedule(self, **question: Any) -> dict[str, Any]:
        """Return what a verified schedule is and costs, with its id: POST /v1/schedules."""
        return self._post("/v1/schedules", question)

    def patch_plan(self, **question: Any) -> dict[str, Any]:
        """Return the patch-plan/1 document of a wiring: POST /v1/patch-plans."""
        return self._post("/v1/patch-plans", question)

    def simulate(self, schedule_id: str, **question: Any) -> dict[str, Any]:
        """Return the simulation/1 document of a stored schedule."""
        return self._post(f"/v1/schedules/{quote(schedule_id, safe='')}/simulation", question)

    def measure(self, topology_id: str) -> dict[str, Any]:
        """Return the cost/1 document of a stored topology."""
        return self._get_json(f"/v1/topologies/{quote(topology_id, safe='')}/cost")

    def optimum(self, topology_id: str, **query: Any) -> dict[str, Any]:
        """Return the optimum/1 document of a stored topology, such as of ``collective=``."""
        path = f"/v1/topologies/{quote(topology_id, safe='')}/optimum"
        return self._get_json(path, query)

    def read(self, kind: str, identity: str, form: str | None = None) -> bytes:
        """Return a stored document as it is written, in any of its formats.

        ``kind`` is ``"designs"``, ``"topologies"``, ``"schedules"`` or ``"patch-plans"``.
        """
        query = {} if form is None else {"format": form}
        return self._get(f"/v1/{quote(kind, safe='')}/{quote(identity, safe='')}", query)

    def stored(self, kind: str, **query: Any) -> dict[str, Any]:
        """Return one page of what is stored of a kind: GET /v1/designs and the like."""
        return self._get_json(f"/v1/{quote(kind, safe='')}", query)

    def sweep(self, **question: Any) -> dict[str, Any]:
        """Return the sweep/1 document that answers one question of many: POST /v1/sweeps."""
        return self._post("/v1/sweeps", question)

    def job(self, job_id: str) -> dict[str, Any]:
        """Return where a job stands, a job/1 document."""
        return self._get_json(f"/v1/jobs/{quote(job_id, safe='')}")

    def cancel_job(self, job_id: str) -> dict[str, Any]:
        """Cancel a job; return where it stands."""
        return self._post(f"/v1/jobs/{quote(job_id, safe='')}/cancel", {})

    def version(self) -> dict[str, Any]:
        """Return the versions of the service, of its kernels and of its tables."""
        return self._get_json("/version")

    def is_ready(self) -> bool:
        """Whether the service can answer already."""
        try:
            self._get("/readyz")
        except ServiceError:
            return False
        return True

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        data = json.dumps(body).encode()
        request = urllib.request.Request(self.base_url + path, data, headers)
        answer = _object(self._open(request))
        promised = answer.get("schema") == "job/1" and not path.endswith("/cancel")
        return self._kept(answer) if promised else answer

    def _kept(self, job: dict[str, Any]) -> dict[str, Any]:
        """Return the answer that a job promises, as soon as it is there."""
        end = time.monotonic() + self.timeout_seconds
        while job["state"] in ("queued", "running"):
            if time.monotonic() >= end:
                raise Unreachable(f"the job {job['id']} has not ended in time; it goes on")
            time.sleep(POLL_SECONDS)
            job = self.job(job["id"])
        if job["state"] == "done":
            return self._get_json(job["result"])
        if job["problem"] is not None:
            raise _problem(job["problem"]["status"], json.dumps(job["problem"]).encode())
        raise Refused(409, "about:blank", "Cancelled", f"the job {job['id']} was cancelled", ())

    def _get_json(self, path: str, query: dict[str, Any] | None = None) -> dict[str, Any]:
        return _object(self._get(path, query))

    def _get(self, path: str, query: dict[str, Any] | None = None) -> bytes:
        asked = f"?{urlencode(query, doseq=True)}" if query else ""
        return self._open(urllib.request.Request(self.base_url + path + asked))

    def _open(self, request: urllib.request.Request) -> bytes:
        try:
            with urllib.request.urlopen(request, timeout=self.timeout_seconds) as answer:
                return answer.read()
        except urllib.error.HTTPError as error:
            with error:
                raise _problem(error.code, error.read()) from None
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise Unreachable(f"{self.base_url} does not answer: {reason}") from None


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
        status, str(told.get("type", "about:blank")), title, str(told.get("detail", "")), errors
    )
