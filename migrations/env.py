"""Where alembic starts: compares and moves the tables of ``app.store.tables``.

``app.store.database.migrate`` passes an open connection; the ``alembic`` command, used while
developing, opens the database that the settings name.
"""

from alembic import context
from sqlalchemy import Connection

from topoloom.app.config import Settings
from topoloom.app.store.database import open_engine
from topoloom.app.store.tables import Base


def run(connection: Connection) -> None:
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        render_as_batch=True,
        transactional_ddl=True,
        compare_type=True,
    )
    with context.begin_transaction():
        context.run_migrations()


if context.is_offline_mode():
    context.configure(
        url=Settings().database_url,
        target_metadata=Base.metadata,
        render_as_batch=True,
        literal_binds=True,
    )
    with context.begin_transaction():
        context.run_migrations()
elif (given := context.config.attributes.get("connection")) is not None:
    run(given)
else:
    engine = open_engine(Settings().database_url)
    with engine.connect() as opened:
        run(opened)
        opened.commit()
    engine.dispose()
