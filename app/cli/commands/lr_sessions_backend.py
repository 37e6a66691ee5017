"""Learning-rate sessions for the command line: in the database, or at a service.

Both backends take the same requests and return the same documents.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from topoloom.app.cli.common import audit

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from topoloom.app.client import Client
    from topoloom.app.services.lr_sessions import Tuning


class Sessions(Protocol):
    """Operations on sessions; ``fields`` holds the members of a request."""

    def create(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return a new lr-session/1, with its lease."""
        ...

    def observe(self, identity: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to an observation."""
        ...

    def extend(self, identity: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Change the length of the run; return lr-session/1."""
        ...

    def attach(self, identity: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return lr-session/1 with a new lease."""
        ...

    def read(self, identity: str) -> dict[str, Any]:
        """Return lr-session/1."""
        ...

    def history(self, identity: str, form: str, after: int) -> bytes:
        """Return the history as JSON, CSV or SVG."""
        ...

    def cancel(self, identity: str) -> dict[str, Any]:
        """End a session; return lr-session/1."""
        ...

    def delete(self, identity: str) -> None:
        """Delete a session."""
        ...

    def page(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return a page of the list."""
        ...


@contextmanager
def open_backend(url: str | None) -> Iterator[Sessions]:
    """Open the database of the settings, or the service at a URL."""
    if url is not None:
        from topoloom.app.client import Client

        yield _Remote(Client(url, attempts=3))
        return
    from topoloom.app.config import Settings
    from topoloom.app.services.lr_sessions import Tuning
    from topoloom.app.store.database import open_database
    from topoloom.app.store.lr_sessions import LrStore

    settings = Settings()
    engine = open_database(settings.database_url)
    try:
        yield _Local(Tuning(LrStore(engine), settings), engine)
    finally:
        engine.dispose()


class _Remote:
    """Sessions at a service."""

    def __init__(self, client: "Client") -> None:
        self._client = client

    def create(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        return dict(self._client.lr_session(**fields))

    def observe(self, identity: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        return dict(self._client.lr_observe(identity, **fields))

    def extend(self, identity: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        return dict(self._client.lr_extend(identity, **fields))

    def attach(self, identity: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        return dict(self._client.lr_attach(identity, **fields))

    def read(self, identity: str) -> dict[str, Any]:
        return json.loads(self._client.read("lr-sessions", identity))

    def history(self, identity: str, form: str, after: int) -> bytes:
        return self._client.lr_history(identity, form, after)

    def cancel(self, identity: str) -> dict[str, Any]:
        return dict(self._client.lr_cancel(identity))

    def delete(self, identity: str) -> None:
        self._client.lr_delete(identity)

    def page(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        return dict(self._client.lr_sessions(**fields))


class _Local:
    """Sessions in the database."""

    def __init__(self, tuning: "Tuning", engine: "Engine") -> None:
        self._tuning, self._engine = tuning, engine

    def create(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        from topoloom.app.documents.lr_session import session_of
        from topoloom.app.requests.lr_sessions import LrSessionRequest
        from topoloom.app.services.lr_sessions import create

        request = LrSessionRequest.model_validate(fields)
        return session_of(*create(self._tuning, request.name, request.options))

    def observe(self, identity: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        from topoloom.app.documents.lr_session import reply_of
        from topoloom.app.requests.lr_sessions import LrObservationRequest
        from topoloom.app.services.lr_sessions import observe

        request = LrObservationRequest.model_validate(fields)
        return reply_of(observe(self._tuning, identity, request.observation))

    def extend(self, identity: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        from topoloom.app.documents.lr_session import session_of
        from topoloom.app.requests.lr_sessions import LrExtensionRequest
        from topoloom.app.services.lr_sessions import extend

        request = LrExtensionRequest.model_validate(fields)
        return session_of(extend(self._tuning, identity, request.observation))

    def attach(self, identity: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        from topoloom.app.documents.lr_session import session_of
        from topoloom.app.requests.lr_sessions import LrLeaseRequest
        from topoloom.app.services.lr_sessions import attach

        request = LrLeaseRequest.model_validate(fields)
        return session_of(*attach(self._tuning, identity, request.lease, request.sequence))

    def read(self, identity: str) -> dict[str, Any]:
        from topoloom.app.documents.lr_session import session_of

        return session_of(self._tuning.store.get(identity))

    def history(self, identity: str, form: str, after: int) -> bytes:
        from topoloom.app.documents import lr_session as documents
        from topoloom.app.services.lr_sessions import PAGE, history

        session = self._tuning.store.get(identity)
        if form == "json":
            points = list(islice(history(self._tuning, session, after), PAGE + 1))
            return json.dumps(documents.history_of(session, points, PAGE)).encode()
        points = history(self._tuning, session)
        if form == "csv":
            return "".join(documents.csv_rows(session, points)).encode()
        from topoloom.app.plots.lr_session import svg

        return svg(session, points)

    def cancel(self, identity: str) -> dict[str, Any]:
        from topoloom.app.documents.lr_session import session_of
        from topoloom.app.services.lr_sessions import cancel

        session = cancel(self._tuning, identity)
        audit(self._engine, "lr cancel", session.id)
        return session_of(session)

    def delete(self, identity: str) -> None:
        from topoloom.app.services.lr_sessions import delete

        delete(self._tuning, identity)
        audit(self._engine, "lr delete", identity)

    def page(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        from topoloom.app.documents.lr_session import page_of
        from topoloom.app.requests.listing import PageRequest

        request = PageRequest.model_validate(fields)
        return page_of(*self._tuning.store.page(request.limit, request.cursor))
