"""Prometheus metrics of a process.

Label values are bounded: routes are templates of the OpenAPI document, or ``other``; kinds, sources
and states are constants.  Input never becomes a label value.
"""

import platform
from collections.abc import Callable
from typing import Protocol

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
)
from prometheus_client.exposition import choose_encoder
from sqlalchemy import Engine

from topoloom.app.config import HEAD, KERNEL_VERSION, package_version
from topoloom.app.observability.database_gauges import DatabaseGauges, Family
from topoloom.app.observability.statements import Statement, observe_statements
from topoloom.app.observability.telemetry import past_span

_REQUEST_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5, 10, 60)
_WORK_BUCKETS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000)
_JOB_BUCKETS = (0.1, 1, 3, 10, 30, 100, 300, 1000, 3000, 10000)
_STATEMENT_BUCKETS = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30)

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_OPERATIONS = ("select", "insert", "update", "delete")


class Queue(Protocol):
    """Queue lengths of a process: waiting and running tasks."""

    @property
    def waiting(self) -> int:
        """Number of waiting tasks."""
        ...

    @property
    def running(self) -> int:
        """Number of running tasks."""
        ...


class Metrics:
    """The metrics of one process; threads may share it.

    >>> metrics = Metrics()
    >>> metrics.answered("design", "cache")
    >>> b'topoloom_answers_total{kind="design",source="cache"} 1.0' in metrics.text("")[0]
    True
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.families: list[Family] = []
        self._gauges: DatabaseGauges | None = None
        self._add_requests()
        self._add_work()
        self._add_database()
        build = self._gauge("topoloom_build_info", "1; labels name the running versions",
                            "version", "kernel_version", "database_revision", "python")  # fmt: skip
        build.labels(package_version(), KERNEL_VERSION, HEAD, platform.python_version()).set(1)
        for process in (ProcessCollector, PlatformCollector, GCCollector):
            process(registry=self.registry)

    def _add_requests(self) -> None:
        self._requests = self._histogram(
            "topoloom_request_seconds",
            "Time until the end of the response; status 499: the client disconnected before it",
            _REQUEST_BUCKETS,
            *("method", "route", "status"),
        )
        self._refusals = self._counter(
            "topoloom_refusals_total",
            "Responses with a problem, by the last part of its type, and closed connections",
            "reason",
        )
        self._answers = self._counter(
            "topoloom_answers_total",
            "Returned documents: computed, or read from the cache",
            *("kind", "source"),
        )
        self._connections = self._gauge("topoloom_open_connections", "Open client connections")
        self._connections_limit = self._gauge(
            "topoloom_open_connections_limit", "Largest number of open client connections"
        )

    def _add_work(self) -> None:
        self._computations = self._histogram(
            "topoloom_computation_seconds",
            "Computation time of a document, by kind",
            _WORK_BUCKETS,
            "kind",
        )
        self._queue = self._gauge(
            "topoloom_computations", "Computations of this process, running or waiting", "state"
        )
        self._slots = self._gauge(
            "topoloom_computation_slots", "Largest number of running computations"
        )
        self._jobs = self._histogram(
            "topoloom_job_seconds",
            "Run time of a job that ended in this process: done, failed or cancelled",
            _JOB_BUCKETS,
            *("operation", "state"),
        )
        self._evictions = self._counter(
            "topoloom_evicted_documents_total", "Documents that this process evicted from the cache"
        )
        self._evicted_bytes = self._counter(
            "topoloom_evicted_bytes_total", "Size of these documents"
        )

    def _add_database(self) -> None:
        statements = self._histogram(
            "topoloom_database_statement_seconds",
            "Time of a database statement, by operation",
            _STATEMENT_BUCKETS,
            "operation",
        )
        # Bound once: a lookup of labels takes as long as an observation.
        self._statements = {name.upper(): statements.labels(name) for name in _OPERATIONS}
        self._other_statements = statements.labels("other")
        self._database_errors = self._counter(
            "topoloom_database_errors_total", "Failed database statements and connections", "error"
        )
        self._in_use = self._gauge(
            "topoloom_database_connections_in_use", "Database connections in use by this process"
        )

    def _histogram(
        self, name: str, text: str, buckets: tuple[float, ...], *labels: str
    ) -> Histogram:
        self.families.append(Family(name, text, labels, "histogram"))
        return Histogram(name, text, labels, buckets=buckets, registry=self.registry)

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        self.families.append(Family(name, text, labels, "counter"))
        return Counter(name, text, labels, registry=self.registry)

    def _gauge(self, name: str, text: str, *labels: str) -> Gauge:
        self.families.append(Family(name, text, labels))
        return Gauge(name, text, labels, registry=self.registry)

    def requested(self, method: str, route: str, status: int, seconds: float) -> None:
        """Record an answered request."""
        known = method if method in _METHODS and route != "other" else "other"
        self._requests.labels(known, route, str(status)).observe(seconds)

    def refused(self, reason: str) -> None:
        """Record a response with a problem; the reason is the last part of its type."""
        self._refusals.labels(reason).inc()

    def answered(self, kind: str, source: str) -> None:
        """Record a returned document; the source is ``computed`` or ``cache``."""
        self._answers.labels(kind, source).inc()

    def computed(self, kind: str, seconds: float) -> None:
        """Record the computation time of a document that ends now, also as a span."""
        past_span(f"compute {kind}", seconds)
        self._computations.labels(kind).observe(seconds)

    def job_ended(self, operation: str, state: str, seconds: float) -> None:
        """Record the end of a job in this process, after a run of ``seconds``."""
        self._jobs.labels(operation, state).observe(seconds)

    def evicted(self, documents: int, size: int) -> None:
        """Record evicted documents, and their size in bytes."""
        self._evictions.inc(documents)
        self._evicted_bytes.inc(size)

    def watch(self, queue: Queue, slots: int) -> None:
        """Report the lengths of a queue, evaluated at each read of the metrics."""
        states: dict[str, Callable[[], float]] = {
            "waiting": lambda: queue.waiting,
            "running": lambda: queue.running,
        }
        for state, length in states.items():
            self._queue.labels(state).set_function(length)
        self._slots.set(slots)

    def watch_connections(self, count: Callable[[], int], limit: int) -> None:
        """Report the number of open client connections, evaluated at each read of the metrics."""
        self._connections.set_function(count)
        self._connections_limit.set(limit)

    def watch_database(self, engine: Engine, gauges: DatabaseGauges) -> None:
        """Record the statements of an engine, its connections in use, and gauges of its tables."""
        observe_statements(engine, self._observed)
        checked_out: Callable[[], int] = getattr(engine.pool, "checkedout", lambda: 1)
        self._in_use.set_function(checked_out)
        if self._gauges is None:
            self.families += gauges.families
        else:
            # The application starts a second time.
            self.registry.unregister(self._gauges)
        self.registry.register(gauges)
        self._gauges = gauges

    def _observed(self, statement: Statement) -> None:
        if statement.error is not None:
            self._database_errors.labels(type(statement.error).__name__).inc()
        known = self._statements.get(statement.text[:6], self._other_statements)
        known.observe(statement.seconds)

    def text(self, accept: str) -> tuple[bytes, str]:
        """Return all metrics in the preferred text format of the client, with its media type."""
        encode, media_type = choose_encoder(accept)
        return encode(self.registry), media_type
