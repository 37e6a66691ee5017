"""Webhooks: signed, at least once under one id, to no host but those of the configuration."""

import json
import logging
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections import Counter
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from tests.app.jobs.work import until
from topoloom.app.cli.effective_settings import settings_in_force
from topoloom.app.config import Settings
from topoloom.app.jobs import document as document
from topoloom.app.jobs.errors import NotEnded, WebhookRefused
from topoloom.app.jobs.facade import Jobs
from topoloom.app.jobs.model import Task
from topoloom.app.jobs.webhooks import agenda, deliveries, post
from topoloom.app.jobs.webhooks.agenda import LEASE_SECONDS, Agenda
from topoloom.app.jobs.webhooks.deliveries import ATTEMPTS, DeliveryState, Unsent, pause
from topoloom.app.jobs.webhooks.messenger import MAX_SENDING_TO_HOST, Messenger
from topoloom.app.jobs.webhooks.post import NoAnswer, send
from topoloom.app.jobs.webhooks.targets import WebhookRules
from topoloom.app.store.database import migrate, open_engine
from topoloom.app.store.errors import NotStored
from topoloom.app.webhook_signatures import WebhookNotGenuine, signed_headers, verify_webhook

SECRET = "secret"


class Receiver(ThreadingHTTPServer):
    """Notes the messages, and answers with the statuses of the test, then with 204."""

    daemon_threads = True

    def handle_error(self, request, client_address):
        """Say nothing of a connection that the sender breaks off."""

    def __init__(self):
        self.messages, self.statuses = [], []
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self):
        return f"http://localhost:{self.server_port}/hook?token=hunter2"

    @property
    def host(self):
        return f"localhost:{self.server_port}"

    @property
    def ids(self):
        return [headers["webhook-id"] for _, headers, _ in self.messages]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.messages.append((self.path, dict(self.headers), body))
        self.send_response_only(100)
        self.end_headers()
        self.send_response(self.server.statuses.pop(0) if self.server.statuses else 204)
        self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *words):
        pass


@pytest.fixture
def receiver():
    with Receiver() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


class Dripping:
    """Accepts every connection, and sends one byte of a header after the other."""

    def __init__(self):
        self.accepted, self._ended = 0, threading.Event()
        self.socket = socket.create_server(("127.0.0.1", 0))
        self._address = self.socket.getsockname()
        self.host = f"localhost:{self._address[1]}"
        self.url = f"http://{self.host}/"

    def serve(self):
        with self.socket:
            while not self._ended.is_set():
                connection, _ = self.socket.accept()
                self.accepted += 1
                threading.Thread(target=self._drip, args=(connection,), daemon=True).start()

    def _drip(self, connection):
        with connection:
            connection.sendall(b"HTTP/1.1 200 OK\r\nX: ")
            while not self._ended.wait(0.02):
                try:
                    connection.sendall(b"x")
                except OSError:
                    return

    def close(self):
        if not self._ended.is_set():
            self._ended.set()
            # This connection wakes the server; another may have done so, and ended it.
            with suppress(OSError):
                socket.create_connection(self._address).close()


@pytest.fixture
def dripping():
    server = Dripping()
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    yield server
    server.close()
    thread.join()


@pytest.fixture
def rules(receiver, dripping):
    return WebhookRules((receiver.host, dripping.host), SECRET, private=True)


@pytest.fixture
def jobs(engine, rules):
    return Jobs(engine, webhooks=rules)


@contextmanager
def messengers(engine, rules, count=1):
    """Run some messengers as processes of a service would."""
    running = [Messenger(rules, document.body) for _ in range(count)]
    for one in running:
        one.start(engine)
    try:
        yield running
    finally:
        for one in running:
            one.stop()


def ended(jobs, *urls, number=0):
    """Return a job that has ended, with a webhook for each URL."""
    for url in urls:
        job = jobs.enqueue(Task.of("design", {"number": number}), webhook=url)
    jobs.cancel(job)
    return job


def states(engine, job):
    return [one.state.value for one in deliveries.of_job(engine, job)]


@pytest.fixture
def hurried(monkeypatch):
    """Make pauses between attempts so short that a test need not wait."""
    monkeypatch.setattr(deliveries, "FIRST_PAUSE_SECONDS", 0.001)


def test_the_end_of_a_job_is_sent_once_and_signed(engine, jobs, rules, receiver):
    job = jobs.enqueue(Task.of("design", {}), webhook=receiver.url)
    assert jobs.enqueue(Task.of("design", {}), webhook=receiver.url) == job
    assert states(engine, job) == ["held"]
    jobs.cancel(job)
    # No messenger ran before: this is the start after a restart.
    with messengers(engine, rules):
        until(lambda: states(engine, job) == ["delivered"])
    ((path, headers, body),) = receiver.messages
    assert path == "/hook?token=hunter2"
    assert json.loads(body) == document.of(jobs.state(job))
    (delivery,) = deliveries.of_job(engine, job)
    assert verify_webhook(headers, body, SECRET) == delivery.id
    assert headers["Topoloom-Job"] == job
    assert headers["Topoloom-Signature"].startswith("sha256=")
    assert [one.status for one in delivery.attempts] == [204]


def test_every_attempt_has_the_same_id_and_no_redirect_is_followed(
    engine, jobs, rules, receiver, hurried
):
    receiver.statuses = [500, 302]
    job = ended(jobs, receiver.url)
    with messengers(engine, rules):
        until(lambda: states(engine, job) == ["delivered"])
    (delivery,) = deliveries.of_job(engine, job)
    assert receiver.ids == [delivery.id] * 3
    assert {path for path, _, _ in receiver.messages} == {"/hook?token=hunter2"}
    assert [one.status for one in delivery.attempts] == [500, 302, 204]


def test_a_delivery_fails_after_the_last_attempt_and_can_be_sent_again(
    engine, jobs, rules, receiver, hurried, caplog
):
    receiver.statuses = [503] * ATTEMPTS
    job = ended(jobs, receiver.url)
    with caplog.at_level(logging.INFO), messengers(engine, rules) as (running,):
        until(lambda: states(engine, job) == ["failed"])
        (delivery,) = deliveries.of_job(engine, job)
        assert [one.status for one in delivery.attempts] == [503] * ATTEMPTS
        assert deliveries.resend(engine, job, delivery.id).id == delivery.id
        running.wake()
        until(lambda: states(engine, job) == ["delivered"])
    assert receiver.ids == [delivery.id] * (ATTEMPTS + 1)
    assert receiver.host in caplog.text and "hunter2" not in caplog.text


def test_only_the_delivery_of_an_ended_job_is_sent_again(engine, jobs, rules, receiver):
    job = jobs.enqueue(Task.of("design", {}), webhook=receiver.url)
    (delivery,) = deliveries.of_job(engine, job)
    with pytest.raises(NotEnded):
        deliveries.resend(engine, job, delivery.id)
    for other in ((job, "0" * 32), ("0" * 32, delivery.id)):
        with pytest.raises(NotStored):
            deliveries.resend(engine, *other)
    assert states(engine, job) == ["held"]


def test_another_process_sends_what_a_dead_process_had_claimed(
    engine, jobs, rules, receiver, monkeypatch
):
    monkeypatch.setattr(agenda, "LEASE_SECONDS", 0.1)
    job = ended(jobs, receiver.url)
    (found,) = deliveries.unsent_deliveries(engine)
    dead = deliveries.claim(engine, found)
    assert deliveries.claim(engine, found) is None
    with messengers(engine, rules):
        until(lambda: states(engine, job) == ["delivered"])
    lost, sent = deliveries.of_job(engine, job)[0].attempts
    assert (lost.status, sent.status) == (None, 204)
    # The dead process returns: its turn is over.
    deliveries.record(engine, dead, deliveries.Attempt(0.0, error="late"))
    assert states(engine, job) == ["delivered"]


def test_several_processes_share_the_deliveries_and_send_each_once(engine, jobs, rules, receiver):
    listed = [ended(jobs, receiver.url, number=number) for number in range(12)]
    with messengers(engine, rules, count=3):
        until(lambda: all(states(engine, job) == ["delivered"] for job in listed))
    assert len(receiver.messages) == len(set(receiver.ids)) == len(listed)


def test_a_receiver_that_drips_delays_no_other(
    engine, jobs, rules, receiver, dripping, monkeypatch
):
    monkeypatch.setattr(post, "TIMEOUT_SECONDS", 600.0)
    urls = [f"{dripping.url}{number}" for number in range(2 * MAX_SENDING_TO_HOST)]
    slow = ended(jobs, *urls, number=1)
    with messengers(engine, rules) as (running,):
        until(lambda: dripping.accepted == MAX_SENDING_TO_HOST)
        quick = ended(jobs, receiver.url, number=2)
        running.wake()
        until(lambda: states(engine, quick) == ["delivered"])
        assert Counter(states(engine, slow)) == {
            "sending": MAX_SENDING_TO_HOST,
            "waiting": MAX_SENDING_TO_HOST,
        }
        assert dripping.accepted == MAX_SENDING_TO_HOST
        dripping.close()
        until(lambda: "sending" not in states(engine, slow))


def test_many_messages_to_one_host_hide_no_message_to_another(
    engine, jobs, rules, receiver, dripping, monkeypatch
):
    monkeypatch.setattr(deliveries, "MAX_READ_OF_HOST", 2)
    for number in range(5):
        ended(jobs, dripping.url, number=number)
    ended(jobs, receiver.url, number=5)
    found = Counter(one.url for one in deliveries.unsent_deliveries(engine))
    assert found == {dripping.url: 2, receiver.url: 1}


def test_an_attempt_ends_though_the_receiver_sends_bytes_all_the_time(rules, dripping, monkeypatch):
    monkeypatch.setattr(post, "TIMEOUT_SECONDS", 0.5)
    with pytest.raises(NoAnswer, match=r"no answer within 0\.5 s"):
        send(rules, dripping.url, b"{}", {})


@pytest.mark.parametrize("name", ["localhost", "hooks.example"])
def test_a_certificate_must_name_the_host_of_the_url(receiver, tmp_path, monkeypatch, name):
    if (openssl := shutil.which("openssl")) is None:
        pytest.skip("openssl is not installed")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    command += ["-nodes", "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=x"]
    command += ["-addext", f"subjectAltName=DNS:{name}"]
    subprocess.run(command, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    # The handshake belongs to the thread of the connection.
    receiver.socket = context.wrap_socket(
        receiver.socket, server_side=True, do_handshake_on_connect=False
    )
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    post.tls_context.cache_clear()
    rules = WebhookRules((receiver.host,), SECRET, private=True)
    url = receiver.url.replace("http:", "https:")
    if name == "localhost":
        assert send(rules, url, b"{}", {}) == 204
    else:
        with pytest.raises(ssl.SSLCertVerificationError):
            send(rules, url, b"{}", {})
    post.tls_context.cache_clear()


HOUR = 3_600.0


@pytest.mark.parametrize("jump", [-HOUR, 0.0, HOUR])
def test_a_jump_of_the_wall_clock_neither_resends_nor_holds_back(jump):
    tried = Unsent("1", "job", "http://a/", "a:80", DeliveryState.WAITING, 3, attempts=4, due=1e9)
    claimed = tried._replace(id="2", state=DeliveryState.SENDING)
    running = Agenda()
    running.read([], now=0.0, wall=1e9)
    running.read([tried, claimed], now=0.0, wall=1e9)
    running.read([tried, claimed], now=1.0, wall=1e9 + jump)
    assert due_at(running, (pause(4), LEASE_SECONDS)) == {"1": pause(4), "2": LEASE_SECONDS}
    started = Agenda()
    started.read([tried, claimed], now=0.0, wall=1e9 + jump)
    expected = pause(4) if jump < 0 else 0.0
    assert due_at(started, (expected, LEASE_SECONDS)) == {"1": expected, "2": LEASE_SECONDS}


def due_at(one, moments):
    """Return when each delivery is due; it must not be due shortly before."""
    found = {}
    for moment in sorted(moments):
        before = {delivery.id for delivery in one.due(moment - 0.1)}
        assert before == set(found)
        found |= {one.id: moment for one in one.due(moment) if one.id not in before}
    return found


@pytest.mark.parametrize("given_", ["new", "old", "old new", "old,new"])
def test_during_a_rotation_a_receiver_may_know_either_secret(given_):
    headers = signed_headers("new, old", "d1", int(time.time()), b"{}")
    assert verify_webhook(headers, b"{}", given_) == "d1"


def without(headers, name):
    return {key: value for key, value in headers.items() if key != name}


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda headers: headers | {"webhook-id": "d2"}, "webhook-signature"),
        (lambda headers: headers | {"webhook-signature": "v1,é v2,x"}, "webhook-signature"),
        (lambda headers: signed_headers("other", "d1", int(time.time()), b"{}"), "signature"),
        (lambda headers: signed_headers(SECRET, "d1", int(time.time()) - 400, b"{}"), "300 s"),
        (lambda headers: headers | {"webhook-timestamp": "soon"}, "whole seconds"),
        (lambda headers: without(headers, "webhook-id"), "webhook-id"),
        (lambda headers: without(headers, "webhook-timestamp"), "webhook-timestamp"),
        (lambda headers: without(headers, "webhook-signature"), "webhook-signature"),
    ],
)
def test_a_message_that_is_not_genuine_is_refused_by_name(change, word):
    headers = signed_headers(SECRET, "d1", int(time.time()), b"{}")
    with pytest.raises(WebhookNotGenuine, match=word):
        verify_webhook(change(headers), b"{}", SECRET)


@pytest.mark.parametrize("private", [False, True])
def test_a_name_that_leads_to_a_private_address_is_refused_unless_allowed(receiver, private):
    rules = WebhookRules((receiver.host,), SECRET, private)
    if private:
        assert send(rules, receiver.url, b"{}", {}) == 204
        return
    with pytest.raises(WebhookRefused, match="not public"):
        send(rules, receiver.url, b"{}", {})
    assert receiver.messages == []


def test_the_secret_is_shown_to_nobody():
    rows = settings_in_force(Settings(webhook_hosts="hooks.example", webhook_secret="hunter2"))
    assert "hunter2" not in json.dumps(rows)
    assert "***" in [row["value"] for row in rows]


@pytest.mark.parametrize("secret", ["", "a b c", "whsec_?"])
def test_webhooks_need_one_secret_or_two(secret):
    with pytest.raises(ValueError, match=r"(?i)webhook_secret"):
        Settings(webhook_hosts="hooks.example", webhook_secret=secret)


def test_deliveries_of_an_earlier_version_stay_due(database_url):
    engine = open_engine(database_url)
    migrate(engine, "0009")
    with engine.begin() as connection:
        connection.execute(
            text(
                "INSERT INTO jobs (id, operation, body, identity, state, turn, revision, phase, "
                "cancel_asked, owner, priority, parts, parts_ended, created_at) VALUES "
                "('j', 'design', '{}', 'i', 'done', 0, 1, '', FALSE, '', 1, 0, 0, '2026-11-01')"
            )
        )
        for url, state in (("a", "sent"), ("b", "waiting"), ("c", "given up"), ("d", "held")):
            connection.execute(
                text(f"INSERT INTO job_webhooks VALUES ('j', 'http://{url}/', '{state}', 1, 5.0)")
            )
    migrate(engine)
    listed = deliveries.of_job(engine, "j")
    assert [one.state.value for one in listed] == ["delivered", "waiting", "failed", "held"]
    assert len({one.id for one in listed}) == 4
    (unsent,) = deliveries.unsent_deliveries(engine)
    assert unsent.host == "b:80"
    assert deliveries.claim(engine, unsent) is not None
    migrate(engine, "0009")
    with engine.connect() as connection:
        rows = connection.execute(text("SELECT url, state FROM job_webhooks ORDER BY url")).all()
    assert [row.state for row in rows] == ["sent", "waiting", "given up", "held"]
    engine.dispose()


URLS = [
    "",
    "hooks.example",
    "ftp://hooks.example/",
    "https://user@hooks.example/",
    "https://user:word@hooks.example/",
    "https://:word@hooks.example/",
    "https://hooks.example:444/",
    "https://hooks.example.evil/",
    "https://evil.hooks.example/",
    "https://hooks.example/#x",
    "https://hooks.example/a b",
    "https://hooks.example/\r\nHost: evil",
    "https://[::1/",
    "https://hooks.example:99999/",
    "https://hooks.example/" + "a" * 2000,
    "http://127.0.0.1/",
    "https:///path",
]


@pytest.mark.parametrize("url", URLS)
def test_no_other_address_is_taken(url):
    with pytest.raises(WebhookRefused):
        WebhookRules(("hooks.example",), SECRET).target(url)


@given(st.text(max_size=60) | st.text(max_size=30).map(lambda rest: f"https://hooks.example{rest}"))
def test_whatever_is_asked_a_message_goes_to_a_host_that_is_named(url):
    rules = WebhookRules(("hooks.example",), SECRET)
    try:
        target = rules.target(url)
    except WebhookRefused:
        return
    assert (target.host, target.port) in (("hooks.example", 443), ("hooks.example", 80))
    assert target.path.startswith("/") and target.path.isprintable()
