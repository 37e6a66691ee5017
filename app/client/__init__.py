"""A client of the service, with the standard library alone.

Every method sends a request and waits for the answer.  Requests are idempotent, so the client
repeats them while the service is busy or starting.  A problem document is raised as `Refused`.

Each operation of the OpenAPI document has a method, marked by `operation`; a test compares the
methods and their parameters with the document.
"""

from topoloom.app.client.computations import Questions
from topoloom.app.client.lr_sessions import Tuning
from topoloom.app.client.openapi_operations import operation
from topoloom.app.client.patch_plans import Wiring
from topoloom.app.client.service import Running
from topoloom.app.client.stored_documents import Documents
from topoloom.app.client.transport import FieldError, NotFound, Refused, ServiceError, Unreachable

__all__ = [
    "Client",
    "FieldError",
    "NotFound",
    "Refused",
    "ServiceError",
    "Unreachable",
    "operation",
]


class Client(Questions, Wiring, Tuning, Documents, Running):
    """Client of a running service; ``docs/reference/rest.md`` describes requests and answers.

    Parameters
    ----------
    base_url : str
        URL of the service, ``http`` or ``https``.
    key : str or None
        API key, if the service requires one.
    timeout_seconds : float
        Time limit of one answer, over all attempts and pauses.
    attempts : int
        Limit of attempts while the service is busy (429) or not ready (503).  Pauses double,
        from half a second on; ``Retry-After`` sets a minimum.

    Raises
    ------
    ValueError
        The URL is invalid, or a number is not positive.

    Examples
    --------
    >>> client = Client("http://127.0.0.1:1", timeout_seconds=1)
    >>> client.is_ready()
    False
    """
