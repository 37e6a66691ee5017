"""OpenTelemetry traces and metrics, if the environment names a collector.

FastAPI instruments requests, routes, dependencies and endpoints.  This module traces database
statements through SQLAlchemy events, since the contributed package refuses SQLAlchemy 2.1.  The
exporter comes with the extra ``topoloom[otel]``; without a collector, tracing is off and free.
"""

import os
from collections.abc import Mapping
from typing import Any

from fastapi.telemetry import TelemetryConfig
from opentelemetry import trace
from sqlalchemy import Connection, Engine, event

from topoloom.app.extras import require_extra

_ENDPOINTS = (
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
    "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT",
)
_PROBES = ("/healthz", "/readyz", "/metrics")


def is_wanted(environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether the environment names a collector and does not disable the SDK.

    >>> is_wanted({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"})
    True
    >>> is_wanted({"OTEL_SERVICE_NAME": "topoloom"})
    False
    """
    disabled = environment.get("OTEL_SDK_DISABLED", "").lower() == "true"
    return not disabled and any(environment.get(name) for name in _ENDPOINTS)


def require_exporter() -> None:
    """Raise `MissingExtra` unless the exporter is installed."""
    for package in ("opentelemetry.sdk", "opentelemetry.exporter.otlp"):
        require_extra(package, "otel")


def configuration() -> TelemetryConfig:
    """Return the FastAPI configuration: exporters of the environment, no traces of probes."""
    wanted = is_wanted()
    if wanted:
        os.environ.setdefault("OTEL_SERVICE_NAME", "topoloom")
    return {"auto_configure": wanted, "exclude": lambda scope: scope["path"] in _PROBES}


def trace_statements(engine: Engine, provider: trace.TracerProvider | None = None) -> None:
    """Trace each database statement as a span, with its text but without its values.

    ``provider`` defaults to the global provider, looked up at each statement.
    """
    system = {"sqlite": "sqlite", "postgresql": "postgresql"}.get(engine.dialect.name, "other_sql")

    def begun(connection: Connection, cursor: Any, statement: str, *_: Any) -> None:
        words = statement.split(None, 1)
        operation = words[0].upper() if words else "SQL"
        tracer = trace.get_tracer("topoloom.sql", tracer_provider=provider)
        span = tracer.start_span(operation, kind=trace.SpanKind.CLIENT)
        span.set_attributes(
            {
                "db.system.name": system,
                "db.operation.name": operation,
                "db.query.text": statement[:2000],
            }
        )
        connection.info.setdefault("spans", []).append(span)

    def ended(connection: Connection, *_: Any) -> None:
        spans = connection.info.get("spans")
        if spans:
            spans.pop().end()

    def failed(context: Any) -> None:
        spans = context.connection.info.get("spans") if context.connection is not None else None
        if spans:
            span = spans.pop()
            span.set_status(trace.StatusCode.ERROR)
            span.set_attribute("error.type", type(context.original_exception).__name__)
            span.end()

    event.listen(engine, "before_cursor_execute", begun)
    event.listen(engine, "after_cursor_execute", ended)
    event.listen(engine, "handle_error", failed)
