"""docs/how-to/run-the-service.md: backups, upgrades, image, compose file, audits."""

import os
import re
import shutil
import sqlite3
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy.engine import make_url

from topoloom.app.auth import api_keys
from topoloom.app.config import HEAD, Settings
from topoloom.app.requests.topology_source import TopologySource
from topoloom.app.services.open_context import open_context
from topoloom.app.services.topologies import create
from topoloom.app.store.backups import back_up, restore
from topoloom.app.store.database import (
    DatabaseNotReady,
    current_revision,
    migrate,
    open_database,
    open_engine,
)

ROOT = Path(__file__).parent.parent.parent
OPERATIONS = (ROOT / "docs" / "how-to" / "run-the-service.md").read_text()


def stored(url):
    """Return the ids of all topologies of a database."""
    with open_context(Settings(database_url=url)) as context:
        return {entry.id for entry in context.whole_store.page("topology", 100, None)[0]}


def filled(url, *sizes):
    with open_context(Settings(database_url=url)) as context:
        return {create(context, TopologySource(recipe=f"UniRing({n})")).id for n in sizes}


@pytest.fixture
def urls(tmp_path):
    return f"sqlite:///{tmp_path / 'a.db'}", f"sqlite:///{tmp_path / 'b' / 'b.db'}"


def test_a_copy_holds_what_the_database_held_and_is_one_file(urls, tmp_path):
    here, there = urls
    ids = filled(here, 5, 6, 7)
    size = back_up(here, tmp_path / "copy.db")
    assert size > 0
    assert [path.name for path in tmp_path.glob("copy.db*")] == ["copy.db"]
    restore(there, tmp_path / "copy.db")
    assert stored(there) == ids
    assert [path.name for path in tmp_path.glob("copy.db*")] == ["copy.db"]


def test_a_copy_made_while_others_write_is_whole(urls, tmp_path):
    here, there = urls
    before = filled(here, 5)
    with ThreadPoolExecutor(2) as pool:
        writing = pool.submit(filled, here, *range(6, 40))
        copies = []
        while not writing.done():
            copies.append(tmp_path / f"{len(copies)}.db")
            back_up(here, copies[-1])
    for copy in copies:
        restore(there, copy, replace=True)
        assert before <= stored(there) <= writing.result() | before


def test_a_database_that_is_there_is_lost_only_when_that_is_said(urls, tmp_path):
    here, there = urls
    ids, others = filled(here, 5), filled(there, 6)
    back_up(here, tmp_path / "copy.db")
    with pytest.raises(DatabaseNotReady, match="is there already; --replace"):
        restore(there, tmp_path / "copy.db")
    assert stored(there) == others
    restore(there, tmp_path / "copy.db", replace=True)
    assert stored(there) == ids


def test_a_copy_of_an_earlier_version_is_migrated_when_it_is_opened(urls, tmp_path):
    here, there = urls
    engine = open_engine(here)
    migrate(engine, "0001")
    engine.dispose()
    back_up(here, tmp_path / "old.db")
    restore(there, tmp_path / "old.db")
    engine = open_database(there)
    assert current_revision(engine) == HEAD
    engine.dispose()


def no_database(path):
    path.write_text("this is not a database" * 100)


def another_database(path):
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE a (b)")
    connection.close()


def of_a_later_version(path):
    open_database(f"sqlite:///{path}").dispose()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()


def cut_short(path):
    filled(f"sqlite:///{path}.whole", *range(5, 60))
    back_up(f"sqlite:///{path}.whole", Path(f"{path}.copy"))
    data = Path(f"{path}.copy").read_bytes()
    path.write_bytes(data[: len(data) // 2])


def nothing(path):
    pass


@pytest.mark.parametrize(
    "made", [no_database, another_database, of_a_later_version, cut_short, nothing]
)
def test_what_is_no_copy_is_not_restored(urls, tmp_path, made):
    here, _ = urls
    ids = filled(here, 5)
    made(tmp_path / "bad.db")
    with pytest.raises(DatabaseNotReady, match=r"bad\.db: "):
        restore(here, tmp_path / "bad.db", replace=True)
    assert stored(here) == ids


@pytest.mark.parametrize("url", ["sqlite://", "postgresql://a@b/c"])
def test_what_is_no_file_is_not_copied_here(url, tmp_path):
    with pytest.raises(DatabaseNotReady, match="database_url: must be"):
        back_up(url, tmp_path / "copy.db")
    with pytest.raises(DatabaseNotReady):
        back_up(f"sqlite:///{tmp_path / 'none.db'}", tmp_path / "copy.db")
    assert list(tmp_path.iterdir()) == []


def test_a_copy_never_takes_the_place_of_a_file(urls, tmp_path):
    filled(urls[0], 5)
    (tmp_path / "copy.db").write_text("mine")
    with pytest.raises(DatabaseNotReady, match="exists; a backup replaces no file"):
        back_up(urls[0], tmp_path / "copy.db")
    assert (tmp_path / "copy.db").read_text() == "mine"


def test_postgresql_is_copied_as_documented(postgres_url, postgres_server, tmp_path):
    programs = [shutil.which(name) for name in ("pg_dump", "pg_restore")]
    if None in programs:
        pytest.skip("PostgreSQL's pg_dump is not installed")
    engine = open_engine(postgres_url)
    migrate(engine)
    ids = filled(postgres_url, 5, 6)
    key = api_keys.create(engine, "kept", ["read"])[1]
    shown = re.findall(r"^(pg_(?:dump|restore) .*)$", OPERATIONS, re.M)
    assert len(shown) == 2
    database = make_url(postgres_url).set(drivername="postgresql")
    env = os.environ | {"DATABASE": database.render_as_string(hide_password=False)}
    subprocess.run(["sh", "-c", shown[0]], cwd=tmp_path, env=env, check=True, timeout=60)
    filled(postgres_url, 7)
    engine.dispose()
    subprocess.run(["sh", "-c", shown[1]], cwd=tmp_path, env=env, check=True, timeout=60)
    assert stored(postgres_url) == ids
    [kept] = api_keys.all_keys(engine)
    assert kept.name == "kept" and api_keys.opens(key, kept)
    engine.dispose()
