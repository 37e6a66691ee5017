"""Counts of requests and of answers, in the Prometheus text format."""

from collections import Counter
from threading import Lock

from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["CountRequests", "Metrics"]


class Metrics:
    """Counters of one process; threads may share it.

    >>> metrics = Metrics()
    >>> metrics.count("topoloom_answers_total", kind="design", source="cache")
    >>> print(metrics.text(), end="")
    # TYPE topoloom_answers_total counter
    topoloom_answers_total{kind="design",source="cache"} 1
    """

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, tuple[tuple[str, str], ...]]] = Counter()
        self._lock = Lock()

    def count(self, name: str, **labels: str) -> None:
        """Add one to the counter of this name and these labels."""
        with self._lock:
            self._counts[name, tuple(sorted(labels.items()))] += 1

    def text(self) -> str:
        """Return all counters."""
        with self._lock:
            counts = sorted(self._counts.items())
        lines: list[str] = []
        previous = ""
        for (name, labels), value in counts:
            if name != previous:
                lines.append(f"# TYPE {name} counter")
                previous = name
            shown = ",".join(f'{label}="{text}"' for label, text in labels)
            lines.append(f"{name}{{{shown}}} {value}")
        return "".join(f"{line}\n" for line in lines)


class CountRequests:
    """ASGI middleware: counts answers by method, route and status."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and count how it was answered."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                # The route's template, not the path: labels must stay few.
                path = getattr(scope.get("route"), "path", "other")
                method = scope["method"] if path != "other" else "other"
                status = str(message["status"])
                self.metrics.count(
                    "topoloom_requests_total", method=method, route=path, status=status
                )
            await send(message)

        await self.app(scope, receive, counted)
