"""Labels, pins and deletions, by an id or its beginning."""

from collections.abc import Callable

from topoloom.app.services.context import Context
from topoloom.app.store.errors import NotStored
from topoloom.app.store.retention import Standing


def standing(context: Context, kind: str, identity: str) -> Standing:
    """Return whether a stored document is pinned, and its labels; raise `NotStored`."""
    return _found(context, kind, identity, context.whole_store.keeping.standing)


def label(context: Context, kind: str, identity: str, word: str) -> Standing:
    """Put a label on a stored document."""
    keeping = context.whole_store.keeping
    return _found(context, kind, identity, lambda kind, one: keeping.label(kind, one, word))


def unlabel(context: Context, kind: str, identity: str, word: str) -> Standing:
    """Take a label from a stored document, if it has it."""
    keeping = context.whole_store.keeping
    return _found(context, kind, identity, lambda kind, one: keeping.unlabel(kind, one, word))


def pin(context: Context, kind: str, identity: str, *, pinned: bool = True) -> Standing:
    """Pin a stored document, or unpin it: a pinned one is neither deleted nor let go."""
    keeping = context.whole_store.keeping
    return _found(context, kind, identity, lambda kind, one: keeping.pin(kind, one, pinned))


def delete(context: Context, kind: str, identity: str) -> str:
    """Delete a stored document; return its whole id.

    What names it stays: where it needs what is gone, it says so, and the same question has the
    same id again.

    Raises
    ------
    NotStored
        There is none.
    Pinned
        It is pinned.
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
