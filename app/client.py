"""A client of the service for programs: the standard library alone.

Every method asks and waits for the answer; the same question is answered once, so repeating one
is harmless.  What the service refuses is raised as the problem that it answered with.
"""

import http.client
import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

__all__ = ["Client", "FieldError", "NotFound", "Refused", "ServiceError", "Unreachable"]

DEFAULT_URL = "http://127.0.0.1:8765"


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

    def designs(self, questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return an answer or a problem for each of up to 100 questions for designs."""
        return self._post("/v1/designs/batch", {"designs": questions})["items"]

    def best(self, **question: Any) -> dict[str, Any]:
        """Return the best/1 document: the best topologies that are known, without a search."""
        return self._get_json("/v1/best", _worded(question))

    def frontier(self, **question: Any) -> dict[str, Any]:
        """Return the frontier/1 document of some hosts: POST /v1/frontiers."""
        return self._post("/v1/frontiers", question)

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

    def simulation(self, **question: Any) -> dict[str, Any]:
        """Return the simulation/1 document of any schedule, stored: POST /v1/simulations."""
        return self._post("/v1/simulations", question)

    def verify(self, **question: Any) -> dict[str, Any]:
        """Return the verification/1 document of any schedule: POST /v1/verify."""
        return self._post("/v1/verify", question)

    def compare(self, **question: Any) -> dict[str, Any]:
        """Return the comparison/1 document of ``designs=[id, ...]`` or ``schedules=[...]``."""
        return self._post("/v1/comparisons", question)

    def cost(self, **topology: Any) -> dict[str, Any]:
        """Return the cost/1 document of any topology, named as in `topology`."""
        return self._post("/v1/costs", {"topology": topology})

    def optimum_of(self, topology: dict[str, Any], **question: Any) -> dict[str, Any]:
        """Return the optimum/1 document of any topology, named as in `topology`."""
        return self._post("/v1/optima", {"topology": topology, **question})

    def plot(self, name: str, **question: Any) -> bytes:
        """Return a drawing as SVG; ``name`` is frontier, sizes, load or tree.

        What is a word of Python's own has an underscore behind it: ``from_="1KiB"``.
        """
        return self._get(f"/v1/plots/{quote(name, safe='')}", _worded(question))

    def measure(self, topology_id: str) -> dict[str, Any]:
        """Return the cost/1 document of a stored topology."""
        return self._get_json(f"/v1/topologies/{quote(topology_id, safe='')}/cost")

    def optimum(self, topology_id: str, **query: Any) -> dict[str, Any]:
        """Return the optimum/1 document of a stored topology, such as of ``collective=``."""
        path = f"/v1/topologies/{quote(topology_id, safe='')}/optimum"
        return self._get_json(path, query)

    def read(self, kind: str, identity: str, form: str | None = None) -> bytes:
        """Return a stored document as it is written, in any of its formats.

        ``kind`` is a part of the path, such as ``"designs"``, ``"patch-plans"`` or ``"verify"``.
        """
        query = {} if form is None else {"format": form}
        return self._get(f"/v1/{quote(kind, safe='')}/{quote(identity, safe='')}", query)

    def stored(self, kind: str, **query: Any) -> dict[str, Any]:
        """Return one page of what is stored of a kind: GET /v1/designs and the like."""
        return self._get_json(f"/v1/{quote(kind, safe='')}", query)

    def lr_session(self, **question: Any) -> dict[str, Any]:
        """Begin to tune a learning rate; return lr-session/1 with the trainer's lease."""
        return self._post("/v1/lr-sessions", question)

    def lr_attach(self, session_id: str, **question: Any) -> dict[str, Any]:
        """Become a session's trainer, perhaps from an earlier observation on."""
        return self._post(_lr(session_id, "/lease"), question)

    def lr_observe(self, session_id: str, **observation: Any) -> dict[str, Any]:
        """Report losses; return the answer, which has the next action."""
        return self._post(_lr(session_id, "/observations"), observation)

    def lr_cancel(self, session_id: str) -> dict[str, Any]:
        """End a session before its run is over."""
        return self._post(_lr(session_id, "/cancel"), {})

    def lr_history(self, session_id: str, form: str = "json", after: int = 0) -> bytes:
        """Return a session's history as it is written: ``json``, ``csv`` or ``svg``."""
        return self._get(_lr(session_id, "/history"), {"format": form, "after": after})

    def lr_delete(self, session_id: str) -> None:
        """Delete a session and all that was observed."""
        self._open(urllib.request.Request(self.base_url + _lr(session_id), method="DELETE"))

    def labels(self, kind: str, identity: str) -> dict[str, Any]:
        """Return the labels of a stored document, and whether it is pinned."""
        return self._get_json(_place(kind, identity, "labels"))

    def label(self, kind: str, identity: str, label: str) -> dict[str, Any]:
        """Put a label on a stored document."""
        return self._send("PUT", _place(kind, identity, "labels", label))

    def unlabel(self, kind: str, identity: str, label: str) -> dict[str, Any]:
        """Take a label from a stored document."""
        return self._send("DELETE", _place(kind, identity, "labels", label))

    def pin(self, kind: str, identity: str) -> dict[str, Any]:
        """Keep a stored document: it is neither deleted nor let go."""
        return self._send("PUT", _place(kind, identity, "pin"))

    def unpin(self, kind: str, identity: str) -> dict[str, Any]:
        """Let a stored document go again."""
        return self._send("DELETE", _place(kind, identity, "pin"))

    def delete(self, kind: str, identity: str) -> None:
        """Delete a stored document; a pinned one is refused."""
        path = self.base_url + _place(kind, identity)
        self._open(urllib.request.Request(path, method="DELETE"))

    def families(self) -> list[dict[str, Any]]:
        """Return the families of bases and the operators that recipes are made of."""
        return self._get_json("/v1/families")["items"]

    def fabrics(self) -> list[dict[str, Any]]:
        """Return the fabrics known by name."""
        return self._get_json("/v1/fabrics")["items"]

    def presets(self) -> list[dict[str, Any]]:
        """Return the workloads known by name."""
        return self._get_json("/v1/presets")["items"]

    def cache(self) -> dict[str, Any]:
        """Return the cache/1 document: how much is stored, and how much may be."""
        return self._get_json("/v1/cache")

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
        return _object(self._open(urllib.request.Request(self.base_url + path, data, headers)))

    def _send(self, method: str, path: str) -> dict[str, Any]:
        request = urllib.request.Request(self.base_url + path, method=method)
        return _object(self._open(request))

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


def _lr(session_id: str, rest: str = "") -> str:
    return f"/v1/lr-sessions/{quote(session_id, safe='')}{rest}"


def _place(*parts: str) -> str:
    return "/".join(("/v1", *(quote(part, safe="") for part in parts)))


def _worded(question: dict[str, Any]) -> dict[str, Any]:
    """Return a query as it is sent: true and false in small letters, no underscores behind."""
    return {
        name.rstrip("_"): str(value).lower() if isinstance(value, bool) else value
        for name, value in question.items()
    }


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
