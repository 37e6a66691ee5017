"""Progress of patch plans in the database: one row per plan, with optimistic locking.

A plan under way holds its site; a database constraint prevents a second plan on the site.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Engine, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from topoloom.app.store.tables import PatchProgressRow


@dataclass(frozen=True, slots=True)
class Progress:
    """See `app.store.tables.PatchProgressRow`; a plan without observations has version 0."""

    plan_id: str
    site: str | None = None
    version: int = 0
    seen: str = "{}"


class PatchStore:
    """Progress by the full ids of plans."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def get(self, plan_id: str) -> Progress:
        """Return the progress of a plan."""
        row = PatchProgressRow
        query = select(row.plan_id, row.site, row.version, row.seen)
        with self._engine.connect() as connection:
            found = connection.execute(query.where(row.plan_id == plan_id)).one_or_none()
        return Progress(plan_id) if found is None else Progress(*found)

    def holder(self, site: str) -> str | None:
        """Return the id of the plan that holds a site, or None."""
        row = PatchProgressRow
        with self._engine.connect() as connection:
            return connection.execute(
                select(row.plan_id).where(row.site == site)
            ).scalar_one_or_none()

    def replace(self, before: Progress, after: Progress) -> bool:
        """Store the next version; return False if ``before`` is outdated or the site is held."""
        row = PatchProgressRow
        values = {
            "site": after.site,
            "version": after.version,
            "seen": after.seen,
            "changed_at": datetime.now(UTC).replace(tzinfo=None),
        }
        try:
            with self._engine.begin() as connection:
                if before.version == 0:
                    connection.execute(insert(row).values(plan_id=after.plan_id, **values))
                    return True
                known = (row.plan_id == before.plan_id, row.version == before.version)
                return connection.execute(update(row).where(*known).values(**values)).rowcount == 1
        except IntegrityError:
            return False

    def forget(self, plan_id: str) -> None:
        """Delete the progress of a plan, and release its site."""
        with self._engine.begin() as connection:
            connection.execute(delete(PatchProgressRow).where(PatchProgressRow.plan_id == plan_id))
