"""Errors of the client, and the problems of the service as errors."""

from __future__ import annotations

import json
from dataclasses import dataclass


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


def problem_of(status: int, content: bytes) -> Refused:
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
