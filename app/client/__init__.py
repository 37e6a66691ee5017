"""A client of the service, with the standard library alone.

Every method sends a request and waits for the answer; `Client.submit` does not wait.  Requests are
idempotent, so the client repeats them while the service is unreachable, busy or starting.  A
problem document is raised as `Refused`.

Each operation of the OpenAPI document has a method, marked by `operation`; a test compares the
methods, their parameters and their types with the document.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import ParamSpec, TypeVar

from topoloom.app.client.computations import Questions
from topoloom.app.client.errors import FieldError, NotFound, Refused, ServiceError, Unreachable
from topoloom.app.client.handle import Handle
from topoloom.app.client.lists import Lists
from topoloom.app.client.lr_sessions import Tuning
from topoloom.app.client.openapi_operations import operation
from topoloom.app.client.patch_plans import Wiring
from topoloom.app.client.service import Administration, Running
from topoloom.app.client.stored_documents import Documents

__all__ = [
    "Client",
    "FieldError",
    "Handle",
    "NotFound",
    "Refused",
    "ServiceError",
    "Unreachable",
    "operation",
]

P = ParamSpec("P")
R = TypeVar("R")


class Client(Questions, Wiring, Tuning, Documents, Lists, Administration, Running):
    """Client of a running service; ``docs/reference/rest.md`` describes requests and answers.

    Answers are dictionaries with types, which ``topoloom.app.client.types`` lists.

    Args:
        base_url (str or sequence of str): URL of the service, ``http`` or ``https``; or several,
            which the client tries in turn.
        key (str or None): API key, if the service requires one.
        timeout_seconds (float): Time limit of one answer, over all attempts, pauses, and the job of
            the answer.
        attempts (int): Limit of attempts at each URL while the service is unreachable, busy (429)
            or not ready (502, 503, 504).  Pauses double, from a quarter of a second on, to ten
            seconds; ``Retry-After`` sets a minimum.
        webhook (str or None): URL to which the service sends each job of this client when the job
            ends.  The service must allow the host; ``verify_webhook`` verifies the message.

    Raises:
        ValueError: A URL is invalid, or a number is not positive.

    >>> client = Client("http://127.0.0.1:1", timeout_seconds=1)
    >>> client.is_ready()
    False
    """

    def submit(
        self, method: Callable[P, R], *positional: P.args, **question: P.kwargs
    ) -> Handle[R]:
        """Send the request of a method of this client, and do not wait for the answer.

        Args:
            method: A method of the client, such as ``client.design``.
            *positional, **question: Arguments of the method.

        Returns:
            The handle of the job, whose ``result()`` is the answer of the method.

        Raises:
            Refused: The service refuses the request.
            TypeError: The method is not one of this client.
        """
        if getattr(method, "__self__", None) is not self:
            raise TypeError("method: must be a method of this client, such as client.design")
        submitting = copy(self)
        submitting._submits = True
        answer = getattr(submitting, method.__name__)(*positional, **question)
        return Handle(self, answer)
