"""A cache as a file: what is taken along is what there was, or nothing."""

import gzip
import json
import logging
import os
from contextlib import contextmanager

import pytest
from sqlalchemy import text

from topoloom.app.config import Settings
from topoloom.app.files.local_files import UnusableFile
from topoloom.app.requests.designs import DesignRequest
from topoloom.app.requests.topology_source import TopologySource
from topoloom.app.services import costs, designs
from topoloom.app.services.context import Context
from topoloom.app.store.cache_transfer import export_cache, import_cache
from topoloom.app.store.database import open_database
from topoloom.app.store.document_store import Store
from topoloom.app.store.listing import Wanted

DESIGN = {"nodes": 6, "degree": 2, "collective": "allgather", "bytes": "1MB"}


@contextmanager
def opened(url):
    engine = open_database(url)
    yield Context(Store(engine), Settings(database_url=url))
    engine.dispose()


@pytest.fixture
def full(tmp_path):
    """Return a database with documents, one of them labelled and pinned."""
    with opened(f"sqlite:///{tmp_path / 'full.db'}") as context:
        yield filled(context)


def filled(context):
    found = designs.create(context, DesignRequest.model_validate(DESIGN))
    costs.measure(context, TopologySource(recipe="BiRing(5)"))
    keeping = context.whole_store.keeping
    keeping.label("design", found.id, "best")
    keeping.pin("design", found.id, True)
    return context


@pytest.fixture
def empty(ready_url):
    with opened(ready_url) as context:
        yield context


@pytest.fixture
def memory():
    with opened("sqlite://") as context:
        yield context


def listed(context):
    """Return all that lists show of all kinds."""
    return {
        kind: sorted(context.whole_store.page(kind, 100, None)[0], key=lambda entry: entry.id)
        for kind in ("design", "frontier", "topology", "cost", "schedule")
    }


@pytest.mark.parametrize("name", ["cache.jsonl", "cache.jsonl.gz"])
def test_what_is_taken_along_is_what_there_was(full, empty, tmp_path, name):
    path = tmp_path / name
    written = export_cache(full.store.keeping.engine, path)
    assert written.documents == sum(map(len, listed(full).values())) and written.damaged == 0
    found = import_cache(empty.store.keeping.engine, path)
    assert (found.stored, found.known, found.other_kernels) == (written.documents, 0, 0)
    assert listed(empty) == listed(full)
    for kind, entries in listed(full).items():
        for entry in entries:
            here, there = empty.read(kind, entry.id), full.read(kind, entry.id)
            assert (here.content, here.digest) == (there.content, there.digest)
    chosen = Wanted({"nodes": (6, 6)}, family=None, label="best", pinned=True)
    assert len(empty.store.page("design", 5, None, chosen)[0]) == 1
    assert not designs.create(empty, DesignRequest.model_validate(DESIGN)).fresh
    again = import_cache(empty.store.keeping.engine, path)
    assert (again.stored, again.known) == (0, written.documents)


def test_a_topology_that_was_taken_along_is_found_by_its_name(full, empty, tmp_path):
    export_cache(full.store.keeping.engine, tmp_path / "x")
    import_cache(empty.store.keeping.engine, tmp_path / "x")
    names = [entry.summary["name"] for entry in listed(full)["topology"]]
    assert all(empty.store.named(name, 5) for name in names)


def lines(path):
    return path.read_bytes().splitlines(keepends=True)


def swap_documents(found):
    one, other = json.loads(found[1]), json.loads(found[2])
    one["document"], other["document"] = other["document"], one["document"]
    return [found[0], json.dumps(one).encode() + b"\n", json.dumps(other).encode() + b"\n",
            *found[3:]]  # fmt: skip


def change(found, **values):
    return [found[0], json.dumps(json.loads(found[1]) | values).encode() + b"\n", *found[2:]]


DAMAGES = {
    "empty": lambda found: [],
    "no cache": lambda found: [b"[1, 2]\n"],
    "not JSON": lambda found: [b"<html>\n", *found[1:]],
    "another version": lambda found: [b'{"schema":"topoloom-cache/9"}\n', *found[1:]],
    "cut off": lambda found: found[:-1],
    "cut off in a line": lambda found: [*found[:-2], found[-2][:-20]],
    "a line less": lambda found: [found[0], *found[2:]],
    "a line twice": lambda found: [found[0], found[1], *found[1:]],
    "something behind": lambda found: [*found, b"{}\n"],
    "documents swapped": swap_documents,
    "another kind": lambda found: change(found, kind="design"),
    "no such kind": lambda found: change(found, kind="x"),
    "another question": lambda found: change(found, request='{"recipe":"BiRing(6)"}'),
    "a number for a text": lambda found: change(found, summary=3),
    "no base64": lambda found: change(found, document="é"),
    "labels of another type": lambda found: change(found, labels=[3]),
    "a moment that is none": lambda found: change(found, created_at="now"),
    "a label more": lambda found: change(found, labels=["mine"]),
}


@pytest.mark.one_in(5)
@pytest.mark.parametrize("damage", DAMAGES)
def test_of_a_file_that_is_not_as_it_was_written_nothing_is_stored(
    full, memory, tmp_path, damage, caplog
):
    path = tmp_path / "cache.jsonl"
    export_cache(full.store.keeping.engine, path)
    path.write_bytes(b"".join(DAMAGES[damage](lines(path))))
    with caplog.at_level(logging.CRITICAL), pytest.raises(UnusableFile) as caught:
        import_cache(memory.store.keeping.engine, path)
    assert str(caught.value).startswith(f"{path}: ") and "\n" not in str(caught.value)
    assert not any(listed(memory).values())


def test_a_packed_file_that_is_cut_off_is_refused(full, tmp_path):
    path = tmp_path / "cache.jsonl.gz"
    export_cache(full.store.keeping.engine, path)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(UnusableFile, match="must be a whole gzip file"):
        import_cache(full.store.keeping.engine, path)


def test_an_export_that_fails_leaves_what_was_there(full, tmp_path, monkeypatch):
    path = tmp_path / "cache.jsonl"
    path.write_text("before")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("topoloom.app.store.cache_transfer.os.fsync", fail)
    with pytest.raises(UnusableFile, match="no space left on device"):
        export_cache(full.store.keeping.engine, path)
    assert path.read_text() == "before"
    assert sorted(one.name for one in tmp_path.iterdir() if one.suffix == ".jsonl") == [path.name]
    assert not [one for one in tmp_path.iterdir() if one.name.startswith("tmp")]


@pytest.mark.slow
def test_an_export_replaces_no_device_and_no_pipe(full, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path, rule in ((pipe, "must be a regular file"), (tmp_path, "is a directory")):
        with pytest.raises(UnusableFile, match=rule):
            export_cache(full.store.keeping.engine, path)
    assert pipe.is_fifo()


def test_damaged_rows_are_not_taken_along(full, memory, tmp_path):
    engine = full.store.keeping.engine
    with engine.begin() as connection:
        connection.execute(text("UPDATE costs SET document = :none"), {"none": b""})
    found = export_cache(engine, tmp_path / "x")
    assert found.damaged == 1
    assert import_cache(memory.store.keeping.engine, tmp_path / "x").stored


def test_documents_of_other_kernels_are_told_apart(full, memory, tmp_path, monkeypatch):
    export_cache(full.store.keeping.engine, tmp_path / "x")
    monkeypatch.setattr("topoloom.app.store.cache_transfer.KERNEL_VERSION", "another")
    found = import_cache(memory.store.keeping.engine, tmp_path / "x")
    assert found.other_kernels == found.stored > 0


@pytest.mark.slow
def test_the_commands_take_a_cache_along(topoloom, tmp_path):
    assert topoloom("measure", "BiRing(5)").code == 0
    path = tmp_path / "cache.jsonl.gz"
    assert topoloom("cache", "export", str(path)).out == f"2 documents written to {path}\n"
    assert gzip.decompress(path.read_bytes()).count(b"\n") == 4
    assert topoloom("cache", "evict", "--bytes", "0").out.startswith("2 documents of ")
    assert json.loads(topoloom("cache", "info", "--json").out)["documents"] == 0
    shown = topoloom("cache", "import", str(path)).out
    assert shown == "2 documents stored, 0 already stored\n"
    assert "total" in topoloom("cache", "info").out
    assert topoloom("cache", "evict").out.startswith("0 documents of 0 bytes evicted")
    for words in (["export", str(tmp_path / "no" / "x")], ["import", str(tmp_path / "none")],
                  ["evict", "--bytes", "-1"]):  # fmt: skip
        refused = topoloom("cache", *words)
        assert (refused.code, refused.out) == (2, "") and refused.err.count("\n") == 1
