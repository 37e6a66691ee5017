"""The revisions of the database's tables; run by ``app.db.migrate`` or by alembic."""
