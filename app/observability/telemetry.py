"""OpenTelemetry traces and metrics, if the environment names a collector.

FastAPI instruments requests, routes, dependencies and endpoints.  This module traces database
statements through SQLAlchemy events, since the contributed package refuses SQLAlchemy 2.1, and
computations and jobs.  The exporter comes with the extra ``topoloom[otel]``; without a collector,
tracing is off and free.

A worker process has no exporter: the process that started the worker records the spans of the
worker's computations, as the pipe reports them.
"""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from fastapi.telemetry import TelemetryConfig
from opentelemetry import trace
from sqlalchemy import Engine

from topoloom.app.extras import require_extra
from topoloom.app.observability.logs import Fact
from topoloom.app.observability.statements import Statement, observe_statements

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


def trace_ids() -> dict[str, Fact]:
    """Return the ids of the current trace and span; empty without a trace.

    >>> trace_ids()
    {}
    """
    context = trace.get_current_span().get_span_context()
    if not context.is_valid:
        return {}
    return {
        "trace_id": trace.format_trace_id(context.trace_id),
        "span_id": trace.format_span_id(context.span_id),
    }


def annotate(facts: Mapping[str, Fact]) -> None:
    """Add facts to the current span as attributes with the prefix ``topoloom.``."""
    current = trace.get_current_span()
    if current.is_recording():
        current.set_attributes({f"topoloom.{name}": fact for name, fact in facts.items()})


@contextmanager
def span(name: str, **facts: Fact) -> Iterator[None]:
    """Trace this block as a span with facts."""
    with trace.get_tracer("topoloom").start_as_current_span(name):
        annotate(facts)
        yield


def past_span(name: str, seconds: float) -> None:
    """Record a span that ends now and took ``seconds``."""
    now = time.time_ns()
    tracer = trace.get_tracer("topoloom")
    tracer.start_span(name, start_time=now - int(seconds * 1e9)).end(now)


def export_spans() -> None:
    """Export the spans of a process without a FastAPI application, such as a worker."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    os.environ.setdefault("OTEL_SERVICE_NAME", "topoloom")
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)


def flush_spans() -> None:
    """Export the spans that wait for their batch, before the process ends without a teardown."""
    flush = getattr(trace.get_tracer_provider(), "force_flush", None)
    if flush is not None:
        flush()


def trace_statements(engine: Engine, provider: trace.TracerProvider | None = None) -> None:
    """Trace each database statement as a span, with its text but without its values.

    ``provider`` defaults to the global provider, looked up at each statement.
    """
    system = {"sqlite": "sqlite", "postgresql": "postgresql"}.get(engine.dialect.name, "other_sql")

    def traced(statement: Statement) -> None:
        words = statement.text.split(None, 1)
        operation = words[0].upper() if words else "CONNECT"
        now = time.time_ns()
        tracer = trace.get_tracer("topoloom.sql", tracer_provider=provider)
        begun = now - int(statement.seconds * 1e9)
        span = tracer.start_span(operation, kind=trace.SpanKind.CLIENT, start_time=begun)
        span.set_attributes(
            {
                "db.system.name": system,
                "db.operation.name": operation,
                "db.query.text": statement.text[:2000],
            }
        )
        if statement.error is not None:
            span.set_status(trace.StatusCode.ERROR)
            span.set_attribute("error.type", type(statement.error).__name__)
        span.end(now)

    observe_statements(engine, traced)
