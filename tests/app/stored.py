"""Get a stored answer, or compute and store the answer."""

from collections.abc import Callable

from topoloom.app.services.context import Documents
from topoloom.app.store.artifacts import Artefact, Asked, Computed, key


def get_or_compute(
    store: Documents, kind: str, asked: Asked, compute: Callable[[str], Computed]
) -> Artefact:
    """Return the stored answer, or store what ``compute`` returns for its id."""
    identity = key(kind, asked)
    found = store.begin(kind, identity)
    return found or store.keep(kind, asked, identity, compute(identity))
