"""What operators watch: gauges of the database, the endpoint of a worker, spans, every log line."""

import json
import logging
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from datetime import timedelta
from pathlib import Path
from queue import Queue
from threading import Event, Thread

import pytest
import uvicorn
from fastapi.testclient import TestClient
from opentelemetry import trace
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import text, update

from tests.app.conftest import make_postgres
from tests.app.test_workers import until, worker
from topoloom.app.api.job_worker import Host
from topoloom.app.api.main import create_app
from topoloom.app.api.server import uvicorn_options
from topoloom.app.auth import api_keys
from topoloom.app.auth.key_cache import KnownKeys
from topoloom.app.jobs import heartbeats, queries
from topoloom.app.jobs.executor import perform_by
from topoloom.app.jobs.facade import Jobs
from topoloom.app.jobs.gauges import database_gauges
from topoloom.app.jobs.model import Task
from topoloom.app.jobs.worker_pool.claims import Claims
from topoloom.app.jobs.worker_pool.pool import WorkerPool
from topoloom.app.jobs.worker_pool.store_proxy import ANSWERED, Call
from topoloom.app.jobs.worker_pool.task import Task as Work
from topoloom.app.observability import database_gauges as reading
from topoloom.app.observability import logs, request_log
from topoloom.app.observability.metrics import Metrics
from topoloom.app.store.database import open_engine
from topoloom.app.store.document_store import Store
from topoloom.app.store.tables import JobRow, WorkerRow

ROOT = Path(__file__).parent.parent.parent
HOUR = timedelta(hours=1)
DESIGN = {"nodes": 6, "degree": 2, "collective": "allgather", "bytes": "1MB"}


def samples(exposition):
    """Return the values of all series, by name and label values."""
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(exposition)
        for sample in family.samples
    }


@pytest.fixture(autouse=True)
def unhurried(monkeypatch):
    """Every scrape reads the database again, however long that takes."""
    monkeypatch.setattr(reading, "KEEP_SECONDS", 0.0)
    monkeypatch.setattr(reading, "WAIT_SECONDS", 60.0)


@pytest.fixture
def metrics(engine):
    """Return the metrics of a database of either kind."""
    metrics = Metrics()
    metrics.watch_database(engine, database_gauges(engine, 1000))
    return metrics


def scraped(metrics):
    return samples(metrics.text("")[0].decode())


def test_the_queue_is_reported_with_the_age_of_its_oldest_job(engine, metrics):
    jobs = Jobs(engine)
    waiting = jobs.enqueue(Task.of("design", {"nodes": 12, "degree": 4}))
    part = Task.of("design", {"nodes": 14, "degree": 4})
    sweep = jobs.enqueue(Task.of("sweep", {"nodes": [14]}), parts=[part])
    with engine.begin() as connection:
        for job, age in ((waiting, HOUR), (sweep, 2 * HOUR)):
            row = update(JobRow).where(JobRow.id == job)
            connection.execute(row.values(created_at=queries.now() - age))
    found = scraped(metrics)
    assert found["topoloom_jobs", "queued"] == 3
    assert found["topoloom_jobs", "running"] == 0
    # The sweep is older, but waits for its part.
    assert 3600 <= found["topoloom_oldest_job_seconds", "queued"] < 7200
    assert found["topoloom_oldest_job_seconds", "running"] == 0


def test_a_worker_counts_until_its_process_ends(engine, metrics):
    heartbeats.beat(engine, "of this process")
    assert scraped(metrics)["topoloom_workers",] == 1
    with subprocess.Popen(["sleep", "100"]) as other:
        seat = heartbeats.seat(other.pid)
        other.kill()
    if not seat.process:
        pytest.skip("the system does not tell whether a process has ended")
    with engine.begin() as connection:
        connection.execute(update(WorkerRow).values(process=seat.process))
    assert scraped(metrics)["topoloom_workers",] == 0


@pytest.mark.slow
def test_the_size_of_the_cache_is_what_the_service_says(client):
    client.post("/v1/topologies", json={"recipe": "UniRing(5)"})
    found = samples(client.get("/metrics").text)
    said = client.get("/v1/cache").json()["kinds"]["topologies"]
    assert found["topoloom_cache_documents", "topology"] == said["documents"] == 1
    assert found["topoloom_cache_bytes", "topology"] == said["bytes"] > 0


FROM_DATABASE = ("topoloom_jobs", "topoloom_oldest", "topoloom_workers", "topoloom_cache")


def is_left_out(found):
    return not any(name.startswith(FROM_DATABASE) for name, *_ in found)


def test_a_scrape_of_tables_that_are_gone_leaves_their_series_out(engine, metrics):
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE jobs RENAME TO jobs_away"))
    found = scraped(metrics)
    assert found["topoloom_database_up",] == 0
    assert is_left_out(found)
    error = "OperationalError" if engine.dialect.name == "sqlite" else "ProgrammingError"
    assert scraped(metrics)["topoloom_database_errors_total", error] >= 1
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE jobs_away RENAME TO jobs"))
    assert scraped(metrics)["topoloom_database_up",] == 1


def test_a_key_that_was_used_before_reads_the_metrics_while_the_database_is_gone(settings):
    app = create_app(settings.model_copy(update={"auth": "keys"}))
    with TestClient(app, base_url="http://localhost") as client:
        engine = app.state.engine
        used, unused = (api_keys.create(engine, name, ["read"])[1] for name in ("used", "unused"))
        app.state.known_keys = KnownKeys(engine, seconds=0)

        def scrape(key):
            return client.get("/metrics", headers={"Authorization": f"Bearer {key}"})

        assert samples(scrape(used).text)["topoloom_database_up",] == 1
        with engine.begin() as connection:
            for table in ("api_keys", "jobs"):
                connection.execute(text(f"ALTER TABLE {table} RENAME TO {table}_away"))
        assert samples(scrape(used).text)["topoloom_database_up",] == 0
        assert scrape(unused).status_code == 503
        assert scrape(used[:-1] + ("a" if used[-1] != "a" else "b")).status_code == 401


def test_a_scrape_does_not_wait_for_a_lock(ready_postgres, postgres_server, monkeypatch):
    monkeypatch.setattr(reading, "WAIT_SECONDS", 0.1)
    engine = open_engine(make_postgres(postgres_server, ready_postgres))
    metrics = Metrics()
    metrics.watch_database(engine, database_gauges(engine, 0))
    with engine.connect() as holder:
        holder.execute(text("LOCK TABLE jobs IN ACCESS EXCLUSIVE MODE"))
        found = scraped(metrics)
        assert found["topoloom_database_up",] == 0
        assert is_left_out(found)
        until(lambda: engine.pool.checkedout() == 2)
        # The reading under way goes on: a second scrape begins no other.
        assert scraped(metrics)["topoloom_database_up",] == 0
        assert scraped(metrics)["topoloom_database_connections_in_use",] == 2
    until(lambda: scraped(metrics)["topoloom_database_up",] == 1)
    engine.dispose()


def test_slow_clients_are_counted_as_refusals(settings):
    quick = settings.model_copy(update={"port": 0, "header_seconds": 0.1})
    app = create_app(quick)
    server = uvicorn.Server(uvicorn.Config(app, **uvicorn_options(app, quick)))
    thread = Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    place = server.servers[0].sockets[0].getsockname()
    with socket.create_connection(place, timeout=60) as silent:
        assert silent.recv(4096).startswith(b"HTTP/1.1 408 ")
        found = scraped(app.state.metrics)
        assert found["topoloom_refusals_total", "too-slow"] == 1
        assert found["topoloom_open_connections_limit",] == quick.max_connections
    server.should_exit = True
    thread.join(timeout=60)


@pytest.mark.slow
def test_a_worker_serves_probes_and_metrics_and_logs_lines_of_one_form(ready_url):
    with worker(ready_url, "--metrics-port", "0") as process:
        said = ""
        while "running up to" not in said:
            said += json.loads(process.stderr.readline())["message"]
        base = re.search(r"http://127\.0\.0\.1:\d+", said)[0]
        for path in ("/healthz", "/readyz", "/version"):
            with urllib.request.urlopen(base + path, timeout=60) as answer:
                assert answer.status == 200

        def found():
            with urllib.request.urlopen(f"{base}/metrics", timeout=60) as answer:
                return samples(answer.read().decode())

        until(lambda: found()["topoloom_database_up",] == 1)
        assert found()["topoloom_open_connections",] >= 1
        process.send_signal(signal.SIGTERM)
        rest = [json.loads(line) for line in process.stderr]
        assert process.wait(60) == 0
    assert [line["message"] for line in rest][-1] == "stopped"


def test_a_worker_does_not_open_its_endpoint_to_others_without_keys(topoloom):
    refused = topoloom("jobs", "worker", "--metrics-host", "0.0.0.0", "--metrics-port", "0")
    assert refused.code == 2
    assert refused.err.count("\n") == 1
    assert "--metrics-host" in refused.err and "TOPOLOOM_AUTH=keys" in refused.err


def test_warnings_and_errors_of_threads_are_lines_of_the_log():
    script = (
        "from topoloom.app.observability import logs; import threading, warnings\n"
        "logs.configure('json')\n"
        "warnings.warn('a warning')\n"
        "threading.Thread(target=lambda: 1 / 0, name='t').start()"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    warned, failed = (json.loads(line) for line in done.stderr.splitlines())
    assert (warned["level"], warned["logger"]) == ("warning", "py.warnings")
    assert "a warning" in warned["message"]
    assert (failed["level"], failed["message"]) == ("error", "the thread t ended with an error")
    assert "ZeroDivisionError" in failed["exception"]


def tell_of_logs(connection, settings, task):
    """Answer as a worker with the facts of its log lines, and its handlers."""
    handlers = [type(one.formatter).__name__ for one in logging.getLogger().handlers]
    found = {"facts": logs.facts(), "handlers": handlers}
    connection.send(Call(ANSWERED, (found, ())))


def test_log_lines_of_a_worker_process_name_the_request_in_the_form_of_the_service(settings):
    engine = open_engine(settings.database_url)
    claims = Claims(engine)
    pool = WorkerPool(Store(engine), claims, settings, work=tell_of_logs)
    with logs.about(request_id="r-1"):
        told = pool.run(Work.of("topology", b"{}"), Event()).answer
    claims.close()
    engine.dispose()
    assert told["facts"] == {"request_id": "r-1"}
    assert told["handlers"] in (["JsonLines"], ["Words"])


@pytest.fixture
def spans(monkeypatch):
    """Return a function that reads the spans of this process that have ended."""
    pytest.importorskip("opentelemetry.sdk")
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    # The global provider can be set only once in a process.
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    yield exporter.get_finished_spans
    provider.shutdown()


def test_a_computation_is_in_the_trace_of_its_request_and_the_log_names_the_trace(
    client, spans, lines
):
    made = client.post("/v1/designs", json=DESIGN)
    assert made.status_code == 201
    of = {span.name: span for span in spans()}
    request, run, document = of["POST /v1/designs"], of["run design"], of["compute design"]
    assert run.parent is not None and run.context.trace_id == request.context.trace_id
    assert document.parent.span_id == run.context.span_id
    assert run.start_time <= document.start_time < document.end_time <= run.end_time
    assert request.attributes["topoloom.document"] == made.json()["id"]
    [line] = [one for one in lines() if one["logger"] == request_log.__name__]
    assert line["trace_id"] == trace.format_trace_id(request.context.trace_id)


@pytest.fixture
def performed(settings):
    """Return a function that carries out a task as a job; it returns the job and its end."""
    engine = open_engine(settings.database_url)
    claims, store, ended = Claims(engine), Store(engine), Queue()
    perform = perform_by(WorkerPool(store, claims, settings), store)
    host = Host(engine, settings, perform, lambda *end: ended.put(end))
    host.start()

    def carry_out(task):
        return host.jobs.enqueue(task), ended.get(timeout=100)

    yield carry_out
    host.stop()
    claims.close()
    engine.dispose()


def test_a_job_has_a_span_a_log_line_and_a_time_at_its_end(performed, spans, lines):
    job, end = performed(Task.of("topology", {"recipe": "UniRing(5)"}))
    operation, state, seconds = end
    assert (operation, state) == ("topology", "done") and seconds > 0
    [line] = [one for one in lines() if "is done after" in one["message"]]
    assert line["job"] == job
    of = {span.name: span for span in spans()}
    assert of["run topology"].context.trace_id == trace_of(line)


def trace_of(line):
    return int(line["trace_id"], 16)
