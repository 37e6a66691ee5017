"""Opening the database, and what every service function needs with it."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING

from topoloom.app.config import Settings
from topoloom.app.services.context import Context
from topoloom.app.store import embedded_writer
from topoloom.app.store.artifacts import Artefact

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from topoloom.app.store.document_store import Store

__all__ = ["context_on", "mended", "open_context", "open_embedded"]


def mended(context: Context, kind: str, identity: str, question: str) -> Artefact:
    """Return the answer to the question of a damaged row; see `app.services.recompute_damaged`."""
    # Every service is imported for that, and rows are hardly ever damaged.
    from topoloom.app.services.recompute_damaged import asked_again

    return asked_again(context, kind, identity, question)


def context_on(
    engine: "Engine",
    settings: Settings,
    watch: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Context:
    """Return the context of services on an open database; damaged rows are mended."""
    from topoloom.app.store.document_store import Store

    return Context(Store(engine), settings, watch, mend=mended)


@contextmanager
def open_context(
    settings: Settings, watch: Callable[[], AbstractContextManager[None]] = nullcontext
) -> Iterator[Context]:
    """Open the database that the settings name, migrating it if it is embedded."""
    from topoloom.app.store.database import open_database

    engine = open_database(settings.database_url)
    try:
        yield context_on(engine, settings, watch)
    finally:
        engine.dispose()


@contextmanager
def open_embedded(
    settings: Settings, watch: Callable[[], AbstractContextManager[None]] = nullcontext
) -> Iterator[Context]:
    """Open the same for who only finds and stores answers: without SQLAlchemy where that can be.

    `Context.whole_store` is not to be asked for.
    """
    url = settings.database_url
    with ExitStack() as open_too:

        def whole() -> "Store":
            from topoloom.app.store.database import open_database
            from topoloom.app.store.document_store import Store

            engine = open_database(url)
            open_too.callback(engine.dispose)
            return Store(engine)

        store = open_too.enter_context(embedded_writer.opened(url, whole))
        if store is None:
            yield open_too.enter_context(open_context(settings, watch))
        else:
            yield Context(store, settings, watch, mend=mended)
