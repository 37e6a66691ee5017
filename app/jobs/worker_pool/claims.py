"""Claims on documents that processes of one database are computing.

A claim is a row: the id of a document, its owner, and its time of expiry unless renewed.  A
process that needs a claimed document waits for it.  Claims only save work: where the database does
not answer, or an owner died, two processes may compute the same document, and both are right.
"""

import logging
import time
import uuid
from threading import Event, Lock, Thread

from sqlalchemy import Engine, delete, insert, update
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from topoloom.app.store.tables import ClaimRow

log = logging.getLogger(__name__)

LEASE = 20.0
"""Seconds after which the claim of an owner that is gone is free.

Clocks of several machines may be so far apart, less the time between two renewals."""

RENEWED_EVERY = LEASE / 4


class Claims:
    """The claims of one process; threads may share it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._owner = uuid.uuid4().hex
        self._held: set[str] = set()
        self._lock = Lock()
        self._closed = Event()
        self._renewing: Thread | None = None

    def take(self, identity: str, *, everywhere: bool) -> bool:
        """Claim a document; return false if another owner has claimed it.

        ``everywhere``: among all processes of the database, not only in this process.
        """
        with self._lock:
            if identity in self._held:
                return False
            self._held.add(identity)
        if everywhere and not self._insert(identity):
            with self._lock:
                self._held.discard(identity)
            return False
        self._renew_from_now_on()
        return True

    def release(self, identities: list[str]) -> None:
        """Release claims."""
        if not identities:
            return
        try:
            with self._engine.begin() as connection:
                mine = (ClaimRow.id.in_(identities), ClaimRow.owner == self._owner)
                connection.execute(delete(ClaimRow).where(*mine))
        except SQLAlchemyError as error:
            log.warning("claims end by themselves in %g s: %s", LEASE, type(error).__name__)
        with self._lock:
            self._held.difference_update(identities)

    def close(self) -> None:
        """Release all remaining claims."""
        self._closed.set()
        if self._renewing is not None:
            self._renewing.join()
        with self._lock:
            left = list(self._held)
        self.release(left)

    def _insert(self, identity: str) -> bool:
        now = time.time()
        values = {"owner": self._owner, "until": now + LEASE}
        try:
            try:
                with self._engine.begin() as connection:
                    connection.execute(insert(ClaimRow).values(id=identity, **values))
                return True
            except IntegrityError:
                stale = (ClaimRow.id == identity, ClaimRow.until < now)
                with self._engine.begin() as connection:
                    taken = connection.execute(update(ClaimRow).where(*stale).values(**values))
                return taken.rowcount == 1
        except SQLAlchemyError as error:
            log.warning("%s is computed unclaimed: %s", identity, type(error).__name__)
            return True

    def _renew_from_now_on(self) -> None:
        with self._lock:
            if self._renewing is None:
                self._renewing = Thread(target=self._renew, name="claims", daemon=True)
                self._renewing.start()

    def _renew(self) -> None:
        while not self._closed.wait(RENEWED_EVERY):
            with self._lock:
                held = bool(self._held)
            if not held:
                continue
            until = {"until": time.time() + LEASE}
            try:
                with self._engine.begin() as connection:
                    mine = update(ClaimRow).where(ClaimRow.owner == self._owner)
                    connection.execute(mine.values(**until))
            except SQLAlchemyError as error:
                log.warning("claims are not renewed: %s", type(error).__name__)
