"""What is measured of a process, by the Prometheus client library.

Labels are few: routes are the templates of the OpenAPI document, or ``other``; kinds, sources
and states are words of the program.  Nothing that comes from outside becomes a label.
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
    """Work of a process: how many wait for their turn, and how many run."""

    @property
    def waiting(self) -> int:
        """How many wait."""
        ...

    @property
    def running(self) -> int:
        """How many run."""
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
            "Time until a request was answered whole",
            ("method", "route", "status"),
            buckets=_REQUEST_BUCKETS,
            registry=registry,
        )
        self._answers = Counter(
            "topoloom_answers",
            "Documents handed out: computed just now, or read from the cache",
            ("kind", "source"),
            registry=registry,
        )
        self._work = Histogram(
            "topoloom_computation_seconds",
            "Time that computing a document of a kind took",
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
        """Note a request that was answered."""
        self._requests.labels(method, route, str(status)).observe(seconds)

    def answered(self, kind: str, source: str) -> None:
        """Note that a document of a kind was handed out, ``computed`` or from the ``cache``."""
        self._answers.labels(kind, source).inc()

    def computed(self, kind: str, seconds: float) -> None:
        """Note how long the computation of a document took."""
        self._work.labels(kind).observe(seconds)

    def watch(self, queue: Queue) -> None:
        """Show the lengths of a queue, asked for whenever somebody reads the metrics."""
        states: dict[str, Callable[[], float]] = {
            "waiting": lambda: queue.waiting,
            "running": lambda: queue.running,
        }
        for state, length in states.items():
            self._queue.labels(state).set_function(length)

    def text(self, accept: str) -> tuple[bytes, str]:
        """Return all metrics in the text format that the client prefers, and its media type."""
        encode, media_type = choose_encoder(accept)
        return encode(self.registry), media_type
