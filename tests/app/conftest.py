"""Fixtures: a real database, the service around it, the command line, PostgreSQL."""

import io
import json
import logging
import os
import pwd
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, create_engine, text
from sqlalchemy.engine import make_url

from topoloom.app import cli
from topoloom.app.api.main import create_app
from topoloom.app.config import Settings
from topoloom.app.observability import logs
from topoloom.app.observability.telemetry import trace_ids
from topoloom.app.services.context import Context
from topoloom.app.services.open_context import open_context
from topoloom.app.store.database import migrate, open_engine


@pytest.fixture(scope="session", autouse=True)
def unhurried() -> Iterator[None]:
    """No answer becomes a job unasked: that would depend on how busy the machine is."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("TOPOLOOM_WAIT_SECONDS", "60")
        yield


@pytest.fixture
def settings(tmp_path: Path, ready_sqlite: Path) -> Settings:
    """Return settings that name a database of the test, with empty tables."""
    shutil.copytree(ready_sqlite, tmp_path / "data")
    return Settings(database_url=f"sqlite:///{tmp_path / 'data' / 'ready.db'}")


@pytest.fixture
def context(settings: Settings) -> Iterator[Context]:
    with open_context(settings) as opened:
        yield opened


@pytest.fixture
def client(settings: Settings) -> Iterator[TestClient]:
    with TestClient(create_app(settings), base_url="http://localhost") as opened:
        yield opened


@pytest.fixture(scope="module")
def still(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """Return an empty service for tests that change nothing of it: one for all of a module."""
    url = f"sqlite:///{tmp_path_factory.mktemp('still') / 'topoloom.db'}"
    app = create_app(Settings(database_url=url))
    with TestClient(app, base_url="http://localhost") as opened:
        yield opened


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], list[dict[str, Any]]]]:
    """Return a function that reads the lines that were logged since, as objects."""
    root, stream = logging.getLogger(), io.StringIO()
    handlers, level = root.handlers[:], root.level
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    monkeypatch.setattr(logs, "_trace", dict)
    logs.configure("json", trace=trace_ids)
    [handler] = root.handlers
    assert isinstance(handler, logging.StreamHandler)
    handler.setStream(stream)

    def read() -> list[dict[str, Any]]:
        said = [json.loads(line) for line in stream.getvalue().splitlines()]
        stream.truncate(0)
        stream.seek(0)
        return said

    yield read
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.captureWarnings(False)


class Answer(NamedTuple):
    """What one command line did."""

    code: int
    out: str
    err: str


@pytest.fixture
def database(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let command lines of this process use the test's own database."""
    monkeypatch.setenv("TOPOLOOM_DATABASE_URL", settings.database_url)


@pytest.fixture
def topoloom(
    database: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Answer]:
    """Run a command line in this process, on the test's own database."""
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: str) -> Answer:
        capsys.readouterr()
        code = cli.run(list(arguments))
        return Answer(code, *capsys.readouterr())

    return run


class Postgres:
    """A private PostgreSQL in a temporary folder, which can be stopped and started again."""

    def __init__(self, initdb: str, folder: Path, user: int | None) -> None:
        self._initdb, self._folder, self._user = initdb, folder, user
        self.url = f"postgresql+psycopg://topoloom@/postgres?host={folder}"
        self._run("initdb", "-U", "topoloom", "-A", "trust", "-E", "UTF8", "--locale=C",
                  "--no-sync")  # fmt: skip

    def _run(self, program: str, *arguments: str) -> None:
        path = Path(self._initdb).with_name(program)
        command = [str(path), "-D", str(self._folder / "data"), *arguments]
        subprocess.run(
            command, check=True, stdout=subprocess.DEVNULL, cwd=self._folder, user=self._user
        )

    def start(self) -> None:
        options = f"-c listen_addresses='' -c fsync=off -k {self._folder}"
        self._run("pg_ctl", "-w", "-l", str(self._folder / "log"), "-o", options, "start")

    def stop(self) -> None:
        self._run("pg_ctl", "-w", "-m", "immediate", "stop")


@contextmanager
def private_postgres() -> Iterator[Postgres]:
    """Start a PostgreSQL of one's own; skip where there is none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    initdb = shutil.which("initdb") or (str(found[-1]) if found else None)
    if initdb is None:
        pytest.skip("PostgreSQL is not installed: no initdb found")
    folder = Path(tempfile.mkdtemp(prefix="topoloom-pg-"))
    # PostgreSQL refuses to run as root.
    user = None if os.getuid() else pwd.getpwnam("nobody").pw_uid
    if user is not None:
        os.chown(folder, user, -1)
    try:
        server = Postgres(initdb, folder, user)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """Return the URL of the maintenance database of a PostgreSQL that all tests share."""
    with private_postgres() as server:
        yield server.url


@pytest.fixture
def own_postgres() -> Iterator[Postgres]:
    """Return a PostgreSQL that the test may stop, if it starts it again."""
    with private_postgres() as server:
        yield server


_names = count()


def make_postgres(server: str, template: str = "template1") -> str:
    """Make a database as the template is; return its URL."""
    name = f"test_{next(_names)}"
    engine = create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name} TEMPLATE {template}"))
    engine.dispose()
    return make_url(server).set(database=name).render_as_string(hide_password=False)


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """Return the URL of an empty PostgreSQL database."""
    return make_postgres(postgres_server)


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of a database without tables, once of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'empty.db'}"
    return request.getfixturevalue("postgres_url")


def migrated(url: str) -> str:
    """Make all tables; return the URL."""
    engine = open_engine(url)
    migrate(engine)
    engine.dispose()
    return url


@pytest.fixture(scope="session")
def ready_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an SQLite database that has its tables."""
    folder = tmp_path_factory.mktemp("ready")
    migrated(f"sqlite:///{folder / 'ready.db'}")
    return folder


@pytest.fixture(scope="session")
def ready_postgres(postgres_server: str) -> str:
    """Return the name of a PostgreSQL database that has its tables: migrations take seconds."""
    return make_url(migrated(make_postgres(postgres_server))).database or ""


@pytest.fixture(params=["sqlite", "postgresql"])
def ready_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of a database with empty tables, once of each kind."""
    if request.param == "sqlite":
        for file in request.getfixturevalue("ready_sqlite").iterdir():
            shutil.copy(file, tmp_path)
        return f"sqlite:///{tmp_path / 'ready.db'}"
    server = request.getfixturevalue("postgres_server")
    return make_postgres(server, request.getfixturevalue("ready_postgres"))


@pytest.fixture
def engine(ready_url: str) -> Iterator[Engine]:
    """Return a database of either kind with empty tables."""
    opened = open_engine(ready_url)
    yield opened
    opened.dispose()
