"""Opening the database, and what every service function needs with it."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from sqlalchemy import Engine

from app.artefacts import Artefact
from app.config import Settings
from app.db import open_database
from app.services.context import Context
from app.store import Store

__all__ = ["context_on", "mended", "open_context"]


def mended(context: Context, kind: str, identity: str, question: str) -> Artefact:
    """Return the answer to the question of a damaged row; see `app.services.mending`."""
    # Every service is imported for that, and rows are hardly ever damaged.
    from app.services.mending import asked_again

    return asked_again(context, kind, identity, question)


def context_on(
    engine: Engine,
    settings: Settings,
    watch: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Context:
    """Return the context of services on an open database; damaged rows are mended."""
    return Context(Store(engine), settings, watch, mend=mended)


@contextmanager
def open_context(
    settings: Settings, watch: Callable[[], AbstractContextManager[None]] = nullcontext
) -> Iterator[Context]:
    """Open the database that the settings name, migrating it if it is embedded."""
    engine = open_database(settings.database_url)
    try:
        yield context_on(engine, settings, watch)
    finally:
        engine.dispose()
