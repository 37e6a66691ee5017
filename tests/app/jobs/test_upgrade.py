"""Jobs of a database whose version had a separate queue."""

from pathlib import Path

import pytest
from sqlalchemy import MetaData, Table, insert, inspect, text

from tests.app.jobs.work import task
from tests.patience import ended_job
from topoloom.app.jobs import queries
from topoloom.app.jobs.facade import Jobs
from topoloom.app.jobs.model import State
from topoloom.app.store.database import migrate, open_engine

OF_ALL = {"turn": 0, "revision": 1, "phase": "", "cancel_asked": False, "owner": "ann",
          "priority": 100, "parts": 0, "parts_ended": 0}  # fmt: skip


def row(name, number, state, **more):
    one = task(number)
    of_task = {"operation": one.operation, "body": one.body, "identity": one.identity}
    return OF_ALL | of_task | {"id": name * 32, "flight": one.identity, "state": state.value,
                               "created_at": queries.now(), "worker": None} | more  # fmt: skip


@pytest.fixture
def old(database_url):
    """Return a database of the version before."""
    engine = open_engine(database_url)
    migrate(engine, "0009")
    yield engine
    engine.dispose()


def test_queued_and_running_jobs_go_on_after_the_upgrade(old, started_on, work):
    old_queue_exists = _old_queue(old)
    assert old_queue_exists()
    rows = [
        row("a", 1, State.QUEUED),
        row("b", 2, State.RUNNING, worker="dead", turn=1),
        row("c", 3, State.RUNNING, parts=1),
        row("d", 4, State.QUEUED, parent="c" * 32),
    ]
    with old.begin() as connection:
        tables = {name: Table(name, MetaData(), autoload_with=connection)
                  for name in ("jobs", "job_parts")}  # fmt: skip
        for one in rows:
            connection.execute(insert(tables["jobs"]).values(**one))
        connection.execute(insert(tables["job_parts"]).values(job_id="c" * 32, part_id="d" * 32))
    migrate(old)
    assert not old_queue_exists()
    work.release.set()
    started_on(old)
    jobs = Jobs(old)
    assert [ended_job(jobs, one["id"]).state for one in rows] == [State.DONE] * 4
    begun = [one.body for one in work.begun]
    assert begun.index(task(4).body) < begun.index(task(3).body)


def _old_queue(engine):
    """Make what the old queue left; return whether any of it is there."""
    if engine.dialect.name == "postgresql":
        with engine.begin() as connection:
            connection.execute(text("CREATE SCHEMA topoloom_jobs"))
            connection.execute(text("CREATE TABLE topoloom_jobs.workflow_status (id text)"))
        return lambda: "topoloom_jobs" in inspect(engine).get_schema_names()
    files = [Path(f"{engine.url.database}-jobs{suffix}") for suffix in ("", "-wal", "-shm")]
    for file in files:
        file.touch()
    return lambda: any(file.exists() for file in files)
