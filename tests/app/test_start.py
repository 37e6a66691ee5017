"""What the service refuses before it starts, and whom it answers afterwards."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from topoloom.app.api.main import create_app
from topoloom.app.api.server import _warn
from topoloom.app.api.server import serve as listen
from topoloom.app.config import Settings, UnknownSetting
from topoloom.app.extras import MissingExtra
from topoloom.app.store.database import (
    CONNECT_SECONDS,
    DatabaseNotReady,
    current_revision,
    open_engine,
)

ROOT = Path(__file__).parent.parent.parent


def serve(*arguments, **variables):
    """Run `topoloom serve` until it ends by itself, which it must."""
    return subprocess.run(
        [sys.executable, "-m", "topoloom", "serve", "--port", "0", *arguments],
        env=os.environ | {"TOPOLOOM_DATABASE_URL": "sqlite://"} | variables,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.slow
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_it_does_not_listen_where_others_reach_it_unless_told_so(host):
    refused = serve("--host", host)
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1
    assert "TOPOLOOM_AUTH=keys" in refused.stderr
    assert "TOPOLOOM_ALLOW_OPEN=1" in refused.stderr


@pytest.mark.parametrize(
    ("settings_", "keys_made", "said"),
    [
        ({"auth": "keys", "host": "0.0.0.0"}, 0, "no API key is valid yet"),
        ({"auth": "keys", "host": "0.0.0.0"}, 1, None),
        ({"host": "0.0.0.0", "allow_open": True}, 0, "anybody who reaches 0.0.0.0 may ask"),
        ({}, 1, "nobody is asked for one: set TOPOLOOM_AUTH=keys"),
        ({}, 0, None),
    ],
)
def test_what_is_allowed_and_hardly_meant_is_said(settings_, keys_made, said, caplog):
    _warn(Settings(**settings_), keys_made)
    assert (said is None) == (caplog.text == "")
    assert said is None or said in caplog.text


def test_tracing_that_is_asked_for_and_not_installed_is_said_before_the_start(monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setattr("topoloom.app.extras.find_spec", lambda package: None)
    with pytest.raises(MissingExtra, match=r"pip install 'topoloom\[otel\]'"):
        listen(Settings(database_url="sqlite://"))


@pytest.mark.slow
def test_a_misspelt_setting_is_refused_with_the_name_that_was_meant():
    refused = serve(TOPOLOOM_MAX_SECOND="3")
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1
    assert "TOPOLOOM_MAX_SECOND " in refused.stderr
    assert "did you mean TOPOLOOM_MAX_SECONDS?" in refused.stderr


def test_a_variable_like_no_setting_is_refused_too(monkeypatch):
    monkeypatch.setenv("TOPOLOOM_XYZZY", "1")
    with pytest.raises(UnknownSetting, match="TOPOLOOM_XYZZY in the environment is no setting"):
        Settings()


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("127.0.0.1:8765", 200),
        ("[::1]:8765", 200),
        ("LOCALHOST", 200),
        ("evil.example", 400),
        ("localhost.evil.example", 400),
        ("", 400),
    ],
)
def test_on_loopback_it_answers_to_the_names_of_this_machine_only(settings, host, status):
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        answer = client.get("/healthz", headers={"Host": host})
    assert answer.status_code == status
    if status == 400:
        assert answer.json()["type"] == "/problems/unknown-host"


def test_the_names_it_answers_to_can_be_said(settings):
    named = settings.model_copy(update={"trusted_hosts": "topo.example, other.example"})
    with TestClient(create_app(named), base_url="http://topo.example") as client:
        assert client.get("/healthz").status_code == 200
        assert client.get("/healthz", headers={"Host": "localhost"}).status_code == 400


def test_a_database_that_cannot_be_reached_is_named_without_its_user():
    engine = open_engine("postgresql://somebody:secret@127.0.0.1:1/topoloom")
    with pytest.raises(DatabaseNotReady) as caught:
        current_revision(engine)
    assert "127.0.0.1:1" in str(caught.value)
    assert "secret" not in str(caught.value)
    assert "somebody@" not in str(caught.value)


@pytest.mark.slow
def test_a_postgresql_that_does_not_answer_is_given_up_in_time(postgres_url):
    engine = open_engine(postgres_url)
    with engine.connect() as connection:
        shown = connection.exec_driver_sql("SHOW statement_timeout").scalar()
    engine.dispose()
    assert shown == "1min"
    assert CONNECT_SECONDS <= 10


def test_readiness_tells_strangers_nothing_of_the_database(settings):
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        client.app.state.engine = open_engine("postgresql://somebody@127.0.0.1:1/hidden")
        answer = client.get("/readyz")
    assert answer.status_code == 503
    assert "somebody" not in answer.text
    assert "hidden" not in answer.text


HELD = """
import sys
import topoloom.app.api.server
print([name for name in ("numba", "scipy", "networkx", "matplotlib") if name in sys.modules])
"""


@pytest.mark.slow
def test_a_service_is_ready_before_anything_that_computes_is_loaded():
    # Workers compute; what reads stored answers shall not wait seconds for kernels.
    found = subprocess.run(
        [sys.executable, "-c", HELD], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert found.stdout == "[]\n", found.stderr[-2000:]
