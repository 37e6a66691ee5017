"""Prometheus metrics of a process.

Label values are bounded: routes are templates of the OpenAPI document, or ``other``; kinds, sources
and states are constants.  Input never becomes a label value.
"""

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

_REQUEST_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5, 10, 60)
_WORK_BUCKETS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000)


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
    """The metrics of one application; threads may share it.

    >>> metrics = Metrics()
    >>> metrics.answered("design", "cache")
    >>> b'topoloom_answers_total{kind="design",source="cache"} 1.0' in metrics.text("")[0]
    True
    """

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self._requests = Histogram(
            "topoloom_request_seconds",
            "Time until the end of the response",
            ("method", "route", "status"),
            buckets=_REQUEST_BUCKETS,
            registry=registry,
        )
        self._answers = Counter(
            "topoloom_answers",
            "Returned documents: computed, or read from the cache",
            ("kind", "source"),
            registry=registry,
        )
        self._work = Histogram(
            "topoloom_computation_seconds",
            "Computation time of a document, by kind",
            ("kind",),
            buckets=_WORK_BUCKETS,
            registry=registry,
        )
        self._queue = Gauge(
            "topoloom_computations", "Computations of this process", ("state",), registry=registry
        )
        ProcessCollector(registry=registry)
        PlatformCollector(registry=registry)
        GCCollector(registry=registry)

    def requested(self, method: str, route: str, status: int, seconds: float) -> None:
        """Record an answered request."""
        self._requests.labels(method, route, str(status)).observe(seconds)

    def answered(self, kind: str, source: str) -> None:
        """Record a returned document; the source is ``computed`` or ``cache``."""
        self._answers.labels(kind, source).inc()

    def computed(self, kind: str, seconds: float) -> None:
        """Record the computation time of a document."""
        self._work.labels(kind).observe(seconds)

    def watch(self, queue: Queue) -> None:
        """Report the lengths of a queue, evaluated at each read of the metrics."""
        states: dict[str, Callable[[], float]] = {
            "waiting": lambda: queue.waiting,
            "running": lambda: queue.running,
        }
        for state, length in states.items():
            self._queue.labels(state).set_function(length)

    def text(self, accept: str) -> tuple[bytes, str]:
        """Return all metrics in the preferred text format of the client, with its media type."""
        encode, media_type = choose_encoder(accept)
        return encode(self.registry), media_type
