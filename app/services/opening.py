"""Opening the database, and what every service function needs with it."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING

from app import embedded_store
from app.artefacts import Artefact
from app.config import Settings
from app.services.context import Context

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from app.store import Store

__all__ = ["context_on", "mended", "open_context", "open_embedded"]


def mended(context: Context, kind: str, identity: str, question: str) -> Artefact:
    """Return the answer to the question of a damaged row; see `app.services.mending`."""
    # Every service is imported for that, and rows are hardly ever damaged.
    from app.services.mending import asked_again

    return asked_again(context, kind, identity, question)


def context_on(
    engine: "Engine",
    settings: Settings,
    watch: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Context:
    """Return the context of services on an open database; damaged rows are mended."""
    from app.store import Store

    return Context(Store(engine), settings, watch, mend=mended)


@contextmanager
def open_context(
    settings: Settings, watch: Callable[[], AbstractContextManager[None]] = nullcontext
) -> Iterator[Context]:
    """Open the database that the settings name, migrating it if it is embedded."""
    from app.db import open_database

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
            from app.db import open_database
            from app.store import Store

            engine = open_database(url)
            open_too.callback(engine.dispose)
            return Store(engine)

        store = open_too.enter_context(embedded_store.opened(url, whole))
        if store is None:
            yield open_too.enter_context(open_context(settings, watch))
        else:
            yield Context(store, settings, watch, mend=mended)
