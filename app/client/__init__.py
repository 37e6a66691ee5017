"""A client of the service for programs: the standard library alone.

Every method asks and waits for the answer; the same question is answered once, so repeating one
is harmless: a service that is busy, or starts just now, is asked again.  What the service
refuses is raised as the problem that it answered with.

Each operation of the OpenAPI document has a method, which names it by `operation`; a test holds
the methods and their parameters against that document.
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
    """Asks a running service; questions and answers are those of ``docs/reference/rest.md``.

    Parameters
    ----------
    base_url : str
        Where it listens, ``http`` or ``https``.
    key : str or None
        An API key, where the service asks for one.
    timeout_seconds : float
        How long to wait for one answer, all attempts and pauses together.
    attempts : int
        How often a question is asked at most while the service is busy (429) or not ready
        (503).  Pauses double, from half a second on, and are as long as the service says.

    Raises
    ------
    ValueError
        The address is none, or a number is not positive.

    Examples
    --------
    >>> client = Client("http://127.0.0.1:1", timeout_seconds=1)
    >>> client.is_ready()
    False
    """
