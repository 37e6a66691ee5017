"""Gauges of the queue, the workers, the webhooks and the cache, each from one cheap query."""

from collections.abc import Iterator
from functools import partial

from sqlalchemy import Engine, func, literal, literal_column, select, union_all

from topoloom.app.jobs import queries
from topoloom.app.jobs.heartbeats import Watch
from topoloom.app.jobs.model import State
from topoloom.app.observability.database_gauges import DatabaseGauges, Family, Sample
from topoloom.app.store.tables import TABLES, JobRow, WebhookRow, WorkerRow
from topoloom.app.store.tables.jobs import DUE

JOBS = Family("topoloom_jobs", "Unfinished jobs of the database", ("state",))
OLDEST = Family(
    "topoloom_oldest_job_seconds",
    "Age of the oldest job that may begin, and longest time since the start of a running job",
    ("state",),
)
WORKERS = Family("topoloom_workers", "Live workers of the database")
WEBHOOKS = Family(
    "topoloom_webhooks",
    "Webhook deliveries in the database: held, waiting, sending, delivered, failed",
    ("state",),
)
DOCUMENTS = Family("topoloom_cache_documents", "Stored documents", ("kind",))
BYTES = Family("topoloom_cache_bytes", "Size of the stored documents", ("kind",))
LIMIT = Family("topoloom_cache_limit_bytes", "Limit of the cache; 0 means no limit")


def database_gauges(engine: Engine, cache_bytes: int) -> DatabaseGauges:
    """Return the gauges of a database; ``cache_bytes`` is the limit of its cache."""
    families = (JOBS, OLDEST, WORKERS, WEBHOOKS, DOCUMENTS, BYTES, LIMIT)
    reads = (
        partial(_jobs, engine),
        partial(_workers, engine, Watch()),
        partial(_webhooks, engine),
        partial(_cache, engine, cache_bytes),
    )
    return DatabaseGauges(families, reads)


def _jobs(engine: Engine) -> Iterator[Sample]:
    unfinished = [state for state in State if not state.ended]
    counted = select(JobRow.state, func.count()).where(JobRow.state.in_(unfinished))
    # A job that waits for its parts is old without being late.  Grouped by owner, the query reads
    # the index of jobs that may begin, instead of all jobs by their age.
    due = select(func.min(JobRow.created_at).label("since")).where(DUE).group_by(JobRow.owner)
    oldest = {
        State.QUEUED: select(func.min(due.subquery().c.since)),
        State.RUNNING: select(func.min(JobRow.started_at)).where(JobRow.state == State.RUNNING),
    }
    with engine.connect() as connection:
        counts = dict(connection.execute(counted.group_by(JobRow.state)).all())
        since = {state: connection.scalar(query) for state, query in oldest.items()}
    for state, moment in since.items():
        age = 0.0 if moment is None else (queries.now() - moment).total_seconds()
        yield Sample(JOBS.name, counts.get(state, 0), (state,))
        yield Sample(OLDEST.name, max(0.0, age), (state,))


def _workers(engine: Engine, watch: Watch) -> Iterator[Sample]:
    gone = watch.gone(engine)
    with engine.connect() as connection:
        listed = set(connection.execute(select(WorkerRow.id)).scalars())
    yield Sample(WORKERS.name, len(listed.difference(gone)))


def _webhooks(engine: Engine) -> Iterator[Sample]:
    query = select(WebhookRow.state, func.count()).group_by(WebhookRow.state)
    with engine.connect() as connection:
        for state, count in connection.execute(query):
            yield Sample(WEBHOOKS.name, count, (state,))


def _cache(engine: Engine, limit: int) -> Iterator[Sample]:
    size = func.coalesce(func.sum(literal_column("size")), 0)
    counts = [select(literal(kind), func.count(), size).select_from(table)
              for kind, table in TABLES.items()]  # fmt: skip
    with engine.connect() as connection:
        for kind, documents, stored in connection.execute(union_all(*counts)):
            yield Sample(DOCUMENTS.name, documents, (kind,))
            yield Sample(BYTES.name, int(stored), (kind,))
    yield Sample(LIMIT.name, limit)
