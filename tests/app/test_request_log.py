"""What operators see: ids, lines of logs, metrics, traces."""

import json
import logging
import re

import pytest
from fastapi import Request
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry import trace
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from topoloom.app.api.main import create_app
from topoloom.app.config import Settings
from topoloom.app.observability import logs, request_log
from topoloom.app.observability.telemetry import trace_statements
from topoloom.app.store.database import open_engine
from topoloom.app.store.document_store import Store


def of_requests(said):
    return [line for line in said if line["logger"] == request_log.__name__]


def test_a_request_is_one_line_with_all_that_is_known_of_it(client, lines):
    made = client.post("/v1/topologies", json={"recipe": "UniRing(5)"})
    [line] = of_requests(lines())
    assert line["message"] == "POST /v1/topologies 201"
    assert (line["level"], line["route"], line["status"]) == ("info", "/v1/topologies", 201)
    assert line["owner"] == "address:testclient"
    assert line["document"] == made.json()["id"]
    assert line["request_id"] == made.headers["X-Request-ID"]
    assert line["ms"] > 0
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["time"])


def test_lines_of_services_name_the_request_that_they_work_for(client, lines, monkeypatch):
    find = Store.find

    def found(*asked):
        logging.getLogger("topoloom.app.store.document_store").warning("in a thread")
        return find(*asked)

    monkeypatch.setattr(Store, "find", found)
    question = {"nodes": 6, "degree": 2, "collective": "allgather", "bytes": "1MB"}
    client.post("/v1/designs", json=question, headers={"X-Request-ID": "mine-1"})
    said = [line for line in lines() if line["message"] == "in a thread"]
    assert said
    assert {line["request_id"] for line in said} == {"mine-1"}


@pytest.mark.parametrize("given_", ["abc", "A-1.b_c:9", "x" * 64])
def test_a_well_formed_request_id_is_kept(client, given_):
    assert client.get("/healthz", headers={"X-Request-ID": given_}).headers["X-Request-ID"] == (
        given_
    )


@pytest.mark.parametrize("given_", ["", " ", "two words", "x" * 65, "-a", 'a"b', "\xe9", "a\tb"])
def test_any_other_is_replaced(client, given_):
    headers = {"X-Request-ID": given_.encode("latin-1")}
    made = client.get("/healthz", headers=headers).headers["X-Request-ID"]
    assert re.fullmatch("[0-9a-f]{32}", made)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/no/such", 404), ("DELETE", "/version", 405), ("GET", "/v1/designs?x=1", 422)],
)
def test_problems_name_the_request_as_the_log_does(client, lines, method, path, status):
    refused = client.request(method, path)
    assert refused.status_code == status
    [line] = of_requests(lines())
    assert refused.json()["request_id"] == refused.headers["X-Request-ID"] == line["request_id"]
    assert line["status"] == status


REFUSED = [
    ("POST", "/v1/designs", "/v1/designs", {"Host": "evil.example"}),
    ("POST", "/v1/designs", "/v1/designs", {"Content-Length": "99999999999"}),
    ("GET", "/v1/designs/0123456789ab", "/v1/designs/{id}", {"Authorization": "Bearer tl_secret"}),
    ("HEAD", "/v1/jobs", "/v1/jobs", {}),
    ("DELETE", "/version", "/version", {}),
    ("GET", "/no/such", "other", {}),
]


@pytest.mark.parametrize(("method", "path", "route", "headers"), REFUSED)
def test_a_refusal_is_a_line_with_method_route_owner_and_problem(
    settings, lines, method, path, route, headers
):
    app = create_app(settings.model_copy(update={"auth": "keys"}))
    with TestClient(app, base_url="http://localhost") as client:
        refused = client.request(method, path, headers=headers, content=b"{}")
        metrics = app.state.metrics.text("")[0].decode()
    said = lines()
    [line] = of_requests(said)
    assert line["message"] == f"{method} {route} {refused.status_code}"
    assert (line["method"], line["route"]) == (method, route)
    assert line["owner"] == "address:testclient"
    assert f'topoloom_refusals_total{{reason="{line["problem"]}"}} 1.0' in metrics
    if method != "HEAD":
        assert refused.json()["type"] == f"/problems/{line['problem']}"
        assert refused.json()["request_id"] == refused.headers["X-Request-ID"]
    assert "tl_secret" not in json.dumps(said)


PARTLY = {"type": "http.request", "body": b'{"nodes":', "more_body": True}
WHOLE = {"type": "http.request", "body": json.dumps(
    {"nodes": 1024, "degree": 8, "collective": "allreduce", "bytes": "1GB"}).encode()}  # fmt: skip


@pytest.mark.parametrize("first", [PARTLY, WHOLE], ids=["in its body", "before its answer"])
def test_a_client_that_disconnects_is_no_error_and_is_counted_apart(client, lines, first):
    messages = [first]

    async def receive():
        return messages.pop() if messages else {"type": "http.disconnect"}

    async def send(message):
        pass

    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/v1/designs", "raw_path": b"/v1/designs",
             "query_string": b"", "headers": headers, "client": ("testclient", 1),
             "http_version": "1.1", "scheme": "http", "server": ("localhost", 80)}  # fmt: skip
    client.portal.call(client.app, scope, receive, send)
    said = lines()
    [line] = of_requests(said)
    assert line["message"] == "POST /v1/designs 499"
    assert {line["level"] for line in said} <= {"info", "debug"}
    counted = client.get("/metrics").text
    assert 'method="POST",route="/v1/designs",status="499"' in counted
    assert "topoloom_refusals_total{" not in counted


def test_an_unexpected_error_has_an_id_headers_and_is_counted(settings, lines):
    app = create_app(settings)

    @app.get("/broken")
    def broken(request: Request):
        raise ZeroDivisionError("a secret")

    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as client:
        answer = client.get("/broken")
        assert answer.status_code == 500
        assert "secret" not in answer.text
        assert answer.json()["request_id"] == answer.headers["X-Request-ID"]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert 'route="/broken",status="500"' in client.get("/metrics").text
    assert of_requests(lines())[0]["status"] == 500


def test_head_is_seen_as_such_with_its_route(client, lines):
    client.head("/version")
    assert of_requests(lines())[0]["message"] == "HEAD /version 200"


def test_probes_are_not_logged(client, lines):
    for path in ("/healthz", "/readyz", "/metrics"):
        assert client.get(path).status_code == 200
    assert of_requests(lines()) == []


@given(st.text())
def test_no_text_makes_a_line_of_its_own(message):
    for formatter in (logs.JsonLines(), logs.Words()):
        record = logging.LogRecord("a", 20, "", 0, "%s", (message,), None)
        record.facts = {"owner": message}
        assert len(formatter.format(record).splitlines()) == 1


def test_lines_for_people_are_short_and_keep_the_traceback():
    try:
        raise ValueError("why")
    except ValueError:
        import sys

        record = logging.LogRecord("a", 40, "", 0, "failed", (), sys.exc_info())
    record.facts = {"job": "7"}
    first, *rest = logs.Words().format(record).splitlines()
    assert re.fullmatch(r"\d\d:\d\d:\d\d ERROR   failed  job=7", first)
    assert rest[-1] == "ValueError: why"
    assert "ValueError: why" in json.loads(logs.JsonLines().format(record))["exception"]


def test_facts_of_a_job_end_with_it():
    with logs.about(job="a"):
        logs.note(state="running")
        assert logs.request_id() == ""
    logs.note(state="none")
    with logs.about(job="b"):
        record = logging.LogRecord("a", 20, "", 0, "x", (), None)
        assert logs._known(record)
        assert record.facts == {"job": "b"}


def families(client):
    answer = client.get("/metrics")
    assert answer.headers["Content-Type"].startswith("text/plain; version=")
    return {family.name: family for family in text_string_to_metric_families(answer.text)}


def test_metrics_are_what_prometheus_reads(client):
    for _ in range(2):
        client.post("/v1/topologies", json={"recipe": "BiRing(5)"})
    found = families(client)
    assert {"topoloom_request_seconds", "topoloom_answers", "topoloom_computation_seconds",
            "topoloom_computations", "process_cpu_seconds",
            "process_resident_memory_bytes"} <= found.keys()  # fmt: skip
    counts = {
        tuple(sample.labels.values()): sample.value
        for sample in found["topoloom_request_seconds"].samples
        if sample.name.endswith("_count")
    }
    assert counts == {("POST", "/v1/topologies", "201"): 1, ("POST", "/v1/topologies", "200"): 1}
    states = {s.labels["state"]: s.value for s in found["topoloom_computations"].samples}
    assert states == {"waiting": 0, "running": 0}


def test_seconds_are_counted_by_kind_of_what_was_computed(client):
    place = client.post("/v1/topologies", json={"recipe": "BiRing(5)"}).headers["Location"]
    for _ in range(3):
        client.get(f"{place}/cost")
    counted = {
        sample.labels["kind"]: sample.value
        for sample in families(client)["topoloom_computation_seconds"].samples
        if sample.name.endswith("_count")
    }
    assert counted == {"topology": 1, "cost": 1}


@pytest.mark.slow
def test_strangers_cannot_make_labels(client):
    def series():
        named = ("topoloom_request_seconds", "topoloom_refusals", "topoloom_answers")
        return sum(
            len(family.samples) for name, family in families(client).items() if name in named
        )

    client.get("/x")
    client.request("BREW", "/x")
    client.request("BREW", "/version")
    client.get("/v1/designs/000000")
    series()
    before = series()
    for number in range(50):
        client.get(f"/no/such/{number}")
        client.request(f"M{number}", f"/v1/{number}")
        client.request(f"M{number}", "/version")
        client.get(f"/v1/designs/{number:06}")
    assert series() == before


def test_requests_and_statements_are_traced_where_that_is_asked_for(settings):
    pytest.importorskip("opentelemetry.sdk")
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    app = create_app(settings)
    app._telemetry["tracer_provider"] = provider
    with TestClient(app, base_url="http://localhost") as client:
        trace_statements(app.state.engine, provider)
        client.get("/v1/designs")
        client.get("/healthz")
    spans = exporter.get_finished_spans()
    [request] = [span for span in spans if span.name == "GET /v1/designs"]
    [statement] = [
        span for span in spans if "FROM designs" in span.attributes.get("db.query.text", "")
    ]
    assert statement.name == "SELECT"
    assert statement.context.trace_id == request.context.trace_id
    assert statement.attributes["db.system.name"] == "sqlite"
    assert not any("/healthz" in span.name for span in spans)
    provider.shutdown()


def test_a_statement_that_fails_ends_its_span():
    pytest.importorskip("opentelemetry.sdk")
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    engine = open_engine("sqlite://")
    trace_statements(engine, provider)
    with engine.connect() as connection, pytest.raises(OperationalError):
        connection.execute(text("SELECT :x FROM none"), {"x": "a value"})
    [span] = exporter.get_finished_spans()
    assert span.status.status_code is trace.StatusCode.ERROR
    assert "a value" not in str(span.to_json())
    engine.dispose()


def test_the_environment_switches_tracing_on(monkeypatch):
    assert create_app(Settings(database_url="sqlite://"))._telemetry["auto_configure"] is False
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    assert create_app(Settings(database_url="sqlite://"))._telemetry["auto_configure"] is True
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    assert create_app(Settings(database_url="sqlite://"))._telemetry["auto_configure"] is False
