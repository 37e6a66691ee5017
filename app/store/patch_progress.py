"""Progress of patch plans in the database: one row per plan and owner, with optimistic locking.

A plan under way holds its site; a database constraint prevents a second plan on the site.
"""

from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Engine, case, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from topoloom.app.store.owners import EVERYONE, OPERATORS, owner_of
from topoloom.app.store.tables import PatchProgressRow


@dataclass(frozen=True, slots=True)
class Progress:
    """See `app.store.tables.PatchProgressRow`; a plan without observations has version 0."""

    plan_id: str
    site: str | None = None
    version: int = 0
    seen: str = "{}"
    owner: str = EVERYONE


class PatchStore:
    """Progress by the full ids of plans, as one owner sees it; see `app.store.owners`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.owner = EVERYONE

    def on_behalf_of(self, caller: str) -> "PatchStore":
        """Return the progress that a caller sees, an owner or an address."""
        view = copy(self)
        view.owner = owner_of(caller)
        return view

    def get(self, plan_id: str) -> Progress:
        """Return the progress of a plan: that of the owner, else shared progress.

        For an operator without either, return the progress of another owner.
        """
        row = PatchProgressRow
        query = select(row.plan_id, row.site, row.version, row.seen, row.owner)
        query = query.where(row.plan_id == plan_id)
        if self.owner not in OPERATORS:
            query = query.where(row.owner.in_((self.owner, EVERYONE)))
        nearest = case((row.owner == self.owner, 0), (row.owner == EVERYONE, 1), else_=2)
        with self._engine.connect() as connection:
            found = connection.execute(query.order_by(nearest, row.owner).limit(1)).one_or_none()
        return Progress(plan_id, owner=self.owner) if found is None else Progress(*found)

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
                    name = {"plan_id": after.plan_id, "owner": after.owner}
                    connection.execute(insert(row).values(**name, **values))
                    return True
                known = [row.plan_id == before.plan_id, row.owner == before.owner]
                known.append(row.version == before.version)
                return connection.execute(update(row).where(*known).values(**values)).rowcount == 1
        except IntegrityError:
            return False

    def forget(self, plan_id: str) -> None:
        """Delete the progress of a plan that `get` returns, and release its site."""
        row, owner = PatchProgressRow, self.get(plan_id).owner
        with self._engine.begin() as connection:
            connection.execute(delete(row).where(row.plan_id == plan_id, row.owner == owner))
