"""Recompute damaged documents from the requests that their rows hold."""

from topoloom.app.config import KERNEL_VERSION
from topoloom.app.requests.from_cache_keys import request_of_key
from topoloom.app.services.context import Context
from topoloom.app.services.operations import OPERATIONS
from topoloom.app.store.artifacts import Artefact, key_of
from topoloom.app.store.errors import Damaged


def recomputed(context: Context, kind: str, identity: str, key: str) -> Artefact:
    """Return the document of a damaged row, computed from its canonical request ``key``.

    Raises:
        Damaged: ``key`` has another id, belongs to an earlier kernel version, or holds only the
            digest of a topology or a schedule that a client sent.
    """
    # The id comes first: nothing is computed or stored for another request.
    if key_of(KERNEL_VERSION, kind, key) != identity:
        raise Damaged(kind, identity)
    operation, body = request_of_key(kind, key, context.store.question)
    if body is None:
        raise Damaged(kind, identity)
    asked = OPERATIONS[operation]
    # Canonical recipes hold whole graphs, and may exceed the length that requests allow.
    is_long = "recipe" in body
    request = asked.body.model_construct(**body) if is_long else asked.body.model_validate(body)
    found = asked.answer(context, request)
    assert isinstance(found, Artefact)
    if found.id != identity:
        raise Damaged(kind, identity)
    return found
