"""What every service function needs: where answers are kept, and how far it may go."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from app.config import Settings
from app.db import open_database
from app.services.errors import NotStored
from app.store import Artefact, Store
from schedules.errors import TooLarge

__all__ = ["Context", "open_context"]


@dataclass(frozen=True, slots=True)
class Context:
    """The store and the settings."""

    store: Store
    settings: Settings

    def read(self, kind: str, identity: str) -> Artefact:
        """Return a stored document, or raise `NotStored`."""
        found = self.store.get(kind, identity)
        if found is None:
            raise NotStored(kind, identity)
        return found

    def require_at_most(self, field: str, count: int, most: int, what: str) -> None:
        """Raise `TooLarge` if a limit of this installation is passed."""
        if count > most:
            raise TooLarge(field, f"must have at most {most} {what} here; it has {count}")


@contextmanager
def open_context(settings: Settings) -> Iterator[Context]:
    """Open the database that the settings name, migrating it if it is embedded."""
    engine = open_database(settings.database_url)
    try:
        yield Context(Store(engine), settings)
    finally:
        engine.dispose()
