"""Open the database and the context of service functions."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING

from topoloom.app.config import Settings
from topoloom.app.services.context import Context
from topoloom.app.store.artifacts import Artefact
from topoloom.app.store.embedded_store import opened_store

if TYPE_CHECKING:
    from topoloom.app.store.document_store import Store


def recompute_document(context: Context, kind: str, identity: str, key: str) -> Artefact:
    """Return the recomputed document of a damaged row."""
    # This import loads every service, and damaged rows are rare.
    from topoloom.app.services.recompute_damaged import recomputed

    return recomputed(context, kind, identity, key)


@contextmanager
def open_context(
    settings: Settings, watch: Callable[[], AbstractContextManager[None]] = nullcontext
) -> Iterator[Context]:
    """Yield a context on the database of the settings; migrate an embedded database.

    SQLAlchemy is loaded only if the database or an operation needs more than a plain SQLite file.
    """
    with ExitStack() as closing:

        def load() -> "Store":
            from topoloom.app.store.database import open_database
            from topoloom.app.store.document_store import Store

            engine = open_database(settings.database_url)
            closing.callback(engine.dispose)
            return Store(engine)

        plain = opened_store(settings.database_url, load)
        if plain is not None:
            closing.callback(plain.close)
        yield Context(plain or load(), settings, watch, mend=recompute_document)
