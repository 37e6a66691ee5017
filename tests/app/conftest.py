"""Fixtures: a real database, the service around it, the command line, PostgreSQL."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import NamedTuple

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import create_engine, text
from sqlalchemy.engine import make_url

from app import cli
from app.config import Settings
from app.main import create_app
from app.services.context import Context
from app.services.opening import open_context


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    # Kernels may have to be compiled first: no answer is promised only.
    url = f"sqlite:///{tmp_path / 'data' / 'topoloom.db'}"
    return Settings(database_url=url, wait_seconds=60)


@pytest.fixture
def context(settings: Settings) -> Iterator[Context]:
    with open_context(settings) as opened:
        yield opened


@pytest.fixture
def client(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    # Who computes an answer must not depend on how busy the machine is: none becomes a job.
    monkeypatch.setattr("app.accepting.SHORT_SECONDS", 60.0)
    with TestClient(create_app(settings), base_url="http://localhost") as opened:
        yield opened


@pytest.fixture(scope="module")
def still(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """Return an empty service for tests that change nothing of it: one for all of a module."""
    url = f"sqlite:///{tmp_path_factory.mktemp('still') / 'topoloom.db'}"
    app = create_app(Settings(database_url=url, wait_seconds=60))
    with TestClient(app, base_url="http://localhost") as opened:
        yield opened


class Answer(NamedTuple):
    """What one command line did."""

    code: int
    out: str
    err: str


@pytest.fixture
def topoloom(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Answer]:
    """Run a command line in this process, on the test's own database."""
    monkeypatch.setenv("TOPOLOOM_DATABASE_URL", settings.database_url)
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


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """Return the URL of an empty PostgreSQL database."""
    name = f"test_{next(_names)}"
    engine = create_engine(postgres_server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return make_url(postgres_server).set(database=name).render_as_string(hide_password=False)


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of an empty database, once of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'empty.db'}"
    return request.getfixturevalue("postgres_url")
