"""Webhooks: signed, at least once, to no host but those that the configuration names."""

import hashlib
import hmac
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select, update

from topoloom.app.cli.effective_settings import configured
from topoloom.app.config import Settings
from topoloom.app.jobs import document as document
from topoloom.app.jobs.errors import WebhookRefused
from topoloom.app.jobs.facade import Jobs
from topoloom.app.jobs.model import Task
from topoloom.app.jobs.webhooks.messenger import ATTEMPTS, Messenger
from topoloom.app.jobs.webhooks.post import send
from topoloom.app.jobs.webhooks.targets import WebhookRules
from topoloom.app.store.database import open_database
from topoloom.app.store.tables import WebhookRow


class Listener(ThreadingHTTPServer):
    """Notes what it is sent, and answers as the test says."""

    def __init__(self):
        self.heard, self.statuses = [], []
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self):
        return f"http://localhost:{self.server_port}/hook?a=1"

    @property
    def host(self):
        return f"localhost:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.heard.append((self.path, dict(self.headers), body))
        status = self.server.statuses.pop(0) if self.server.statuses else 204
        self.send_response(status)
        if status in (301, 302, 307):
            self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *words):
        pass


@pytest.fixture
def listener():
    with Listener() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def rules(listener):
    return WebhookRules((listener.host,), "secret", private=True)


@pytest.fixture
def engine(settings):
    opened = open_database(settings.database_url)
    yield opened
    opened.dispose()


@pytest.fixture
def jobs(engine, rules):
    return Jobs(engine, webhooks=rules)


def overdue(engine):
    with engine.begin() as connection:
        connection.execute(update(WebhookRow).values(due=0.0))


def states(engine):
    with engine.connect() as connection:
        return list(connection.execute(select(WebhookRow.state, WebhookRow.attempts)))


def test_the_end_of_a_job_is_told_signed_and_once(engine, jobs, rules, listener):
    messenger = Messenger(rules, document.body)
    job = jobs.enqueue(Task.of("design", {}), webhook=listener.url)
    assert jobs.enqueue(Task.of("design", {}), webhook=listener.url) == job
    assert not messenger.deliver(engine)
    jobs.cancel(job)
    assert messenger.deliver(engine)
    assert not messenger.deliver(engine)
    ((path, headers, body),) = listener.heard
    assert path == "/hook?a=1"
    assert json.loads(body) == document.of(jobs.state(job))
    expected = hmac.new(b"secret", body, hashlib.sha256).hexdigest()
    assert headers["Topoloom-Signature"] == f"sha256={expected}"
    assert headers["Topoloom-Job"] == job
    assert states(engine) == [("sent", 1)]


def test_a_message_is_tried_again_with_growing_pauses_until_it_is_taken(
    engine, jobs, rules, listener
):
    messenger = Messenger(rules, document.body)
    jobs.cancel(jobs.enqueue(Task.of("design", {}), webhook=listener.url))
    listener.statuses = [500, 302]
    pauses = []
    for _ in range(2):
        assert messenger.deliver(engine)
        assert not messenger.deliver(engine)
        with engine.connect() as connection:
            pauses.append(connection.execute(select(WebhookRow.due)).scalar_one() - time.time())
        overdue(engine)
    assert pauses[1] > 1.5 * pauses[0] > 0
    assert messenger.deliver(engine)
    assert states(engine) == [("sent", 3)]
    # The redirect was not followed.
    assert {path for path, _, _ in listener.heard} == {"/hook?a=1"}


def test_a_host_that_never_takes_a_message_is_given_up(engine, jobs, rules, listener):
    messenger = Messenger(rules, document.body)
    jobs.cancel(jobs.enqueue(Task.of("design", {}), webhook=listener.url))
    listener.statuses = [503] * 99
    for _ in range(ATTEMPTS):
        assert messenger.deliver(engine)
        overdue(engine)
    assert not messenger.deliver(engine)
    assert states(engine) == [("given up", ATTEMPTS)]
    assert len(listener.heard) == ATTEMPTS


def test_a_messenger_that_dies_with_a_message_leaves_it_to_another(engine, jobs, rules, listener):
    dead, other = Messenger(rules, document.body), Messenger(rules, document.body)
    jobs.cancel(jobs.enqueue(Task.of("design", {}), webhook=listener.url))
    assert dead._claim(engine) is not None
    assert not other.deliver(engine)
    overdue(engine)
    assert other.deliver(engine)
    assert states(engine) == [("sent", 2)]


@pytest.mark.parametrize("private", [False, True])
def test_a_name_that_leads_to_a_private_address_is_refused_unless_allowed(listener, private):
    rules = WebhookRules((listener.host,), "secret", private)
    if private:
        assert send(rules, listener.url, b"{}", "job") == 204
        return
    with pytest.raises(WebhookRefused, match="not public"):
        send(rules, listener.url, b"{}", "job")
    assert listener.heard == []


def test_the_secret_is_shown_to_nobody():
    rows = configured(Settings(webhook_hosts="hooks.example", webhook_secret="hunter2"))
    assert "hunter2" not in json.dumps(rows)
    assert "***" in [row["value"] for row in rows]


URLS = [
    "",
    "hooks.example",
    "ftp://hooks.example/",
    "https://user@hooks.example/",
    "https://user:word@hooks.example/",
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
        WebhookRules(("hooks.example",), "secret").target(url)


@given(st.text(max_size=60) | st.text(max_size=30).map(lambda rest: f"https://hooks.example{rest}"))
def test_whatever_is_asked_a_message_goes_to_a_host_that_is_named(url):
    rules = WebhookRules(("hooks.example",), "secret")
    try:
        target = rules.target(url)
    except WebhookRefused:
        return
    assert (target.host, target.port) in (("hooks.example", 443), ("hooks.example", 80))
    assert target.path.startswith("/") and target.path.isprintable()
