"""The revisions of the database's tables; run by ``app.store.database.migrate`` or by alembic."""
