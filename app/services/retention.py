"""Labels, pins and deletion of stored documents, by id or id prefix."""

from collections.abc import Callable

from topoloom.app.services.context import Context
from topoloom.app.store.errors import NotStored
from topoloom.app.store.retention import Standing


def standing(context: Context, kind: str, identity: str) -> Standing:
    """Return the pin and the labels of a stored document, or raise `NotStored`."""
    return _found(context, kind, identity, context.whole_store.keeping.standing)


def label(context: Context, kind: str, identity: str, word: str) -> Standing:
    """Add a label to a stored document."""
    keeping = context.whole_store.keeping
    return _found(context, kind, identity, lambda kind, one: keeping.label(kind, one, word))


def unlabel(context: Context, kind: str, identity: str, word: str) -> Standing:
    """Remove a label from a stored document; no error without the label."""
    keeping = context.whole_store.keeping
    return _found(context, kind, identity, lambda kind, one: keeping.unlabel(kind, one, word))


def pin(context: Context, kind: str, identity: str, *, pinned: bool = True) -> Standing:
    """Pin or unpin a stored document: a pinned document is never deleted or evicted."""
    keeping = context.whole_store.keeping
    return _found(context, kind, identity, lambda kind, one: keeping.pin(kind, one, pinned))


def share(context: Context, kind: str, identity: str, *, shared: bool = True) -> Standing:
    """Let every key read a stored document and all documents it refers to, or end the sharing."""
    keeping = context.whole_store.keeping
    return _found(context, kind, identity, lambda kind, one: keeping.share(kind, one, shared))


def delete(context: Context, kind: str, identity: str) -> str:
    """Delete a stored document; return its full id.

    Documents that refer to it stay, and report the missing document if they need it.  The same
    request has the same id again.

    Raises:
        NotStored: No document matches.
        Pinned: The document is pinned.
    """
    whole = context.completed(kind, identity)
    if not context.whole_store.delete(kind, whole):
        raise NotStored(kind, whole)
    return whole


def _found(
    context: Context, kind: str, identity: str, act: Callable[[str, str], Standing | None]
) -> Standing:
    whole = context.completed(kind, identity)
    found = act(kind, whole)
    if found is None:
        raise NotStored(kind, whole)
    return found
