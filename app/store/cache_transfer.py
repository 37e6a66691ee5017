"""Export of a cache to a file, written atomically, and import, checked before it stores anything.

The file has one JSON object in each line (compressed if its name ends in ``.gz``).  The first
line states the schema.  Each further line holds a stored document with its seal, request, labels
and pin.  The last line holds the number of documents and the SHA-256 of all lines before.
Memory holds a few documents at a time.
"""

import base64
import binascii
import gzip
import hashlib
import json
import os
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from sqlalchemy import Engine, insert, select
from sqlalchemy.exc import IntegrityError

from topoloom.app.config import KERNEL_VERSION
from topoloom.app.files.local_files import UnusableFile
from topoloom.app.store.index_metadata import Facts, facts_of
from topoloom.app.store.indexing import note, note_owners, run_on
from topoloom.app.store.owners import EVERYONE
from topoloom.app.store.retention import MAX_LABELS, Keeping
from topoloom.app.store.row_mapping import StoredRow, columns_of, verified_document
from topoloom.app.store.tables import TABLES, LabelRow

SCHEMA = "topoloom-cache/1"
MAX_LINE = 2**30
"""Most bytes of a line, and thus of a document in base64."""

BATCH_ROWS, BATCH_BYTES = 100, 16 * 2**20
"""Most documents, and most bytes, of one batch."""

_ORDER = ("topology", *(kind for kind in TABLES if kind != "topology"))
"""Topologies first: documents about a topology inherit its facts."""


@dataclass(frozen=True, slots=True)
class Exported:
    """Numbers of documents: written, and omitted because they are damaged."""

    documents: int
    damaged: int


@dataclass(frozen=True, slots=True)
class Imported:
    """Numbers of documents: stored now, stored before, and of other kernel versions.

    Documents of other kernel versions are reachable only by id: the same request now has another
    id.
    """

    stored: int
    known: int
    other_kernels: int


@dataclass(frozen=True, slots=True)
class _Line:
    kind: str
    row: StoredRow
    created_at: datetime
    pinned: bool
    labels: tuple[str, ...]


def export_cache(engine: Engine, path: Path) -> Exported:
    """Write every sound document to a file; replace the file after the last write.

    Raises:
        UnusableFile: The file is not writable; an earlier file stays unchanged.
    """
    if path.exists() and not path.is_file():
        # The replacement would put a file in the place of a device or a pipe.
        raise UnusableFile(path, "is a directory" if path.is_dir() else "must be a regular file")
    temporary: Path | None = None
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as raw:
            temporary = Path(raw.name)
            if path.suffix == ".gz":
                # Documents are compressed already: a higher level gains nothing.
                with gzip.GzipFile("", "wb", compresslevel=1, fileobj=raw, mtime=0) as packed:
                    found = _write(engine, packed)
            else:
                found = _write(engine, raw)
            raw.flush()
            os.fsync(raw.fileno())
        temporary.replace(path)
        temporary = None
    except OSError as error:
        raise UnusableFile(path, (error.strerror or str(error)).lower()) from None
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
    return found


def import_cache(engine: Engine, path: Path) -> Imported:
    """Store every new document of a file, with its labels and pin; new documents are shared.

    The first pass checks the file; the second pass stores it in batches, one transaction each.
    A document that is already stored stays unchanged, and gains the labels and the pin of the
    file.

    Raises:
        UnusableFile: The file is not an exported cache, has another version, is truncated, or holds
            a changed document.  Nothing of the file is stored.
    """
    for _ in _lines(path):
        continue
    stored = known = other = 0
    batch: list[_Line] = []
    size = 0
    for line in _lines(path):
        batch.append(line)
        size += len(line.row.document)
        other += line.row.kernel_version != KERNEL_VERSION
        if len(batch) == BATCH_ROWS or size >= BATCH_BYTES:
            new = _store(engine, batch)
            stored, known = stored + new, known + len(batch) - new
            batch, size = [], 0
    new = _store(engine, batch)
    return Imported(stored + new, known + len(batch) - new, other)


def _write(engine: Engine, file: Any) -> Exported:
    hashed, documents, damaged = hashlib.sha256(), 0, 0

    def put(value: dict[str, Any]) -> None:
        line = json.dumps(value, separators=(",", ":")).encode() + b"\n"
        hashed.update(line)
        file.write(line)

    put({"schema": SCHEMA, "kernel_version": KERNEL_VERSION})
    for kind in _ORDER:
        for line in _stored(engine, kind):
            if verified_document(kind, line.row) is None:
                damaged += 1
                continue
            documents += 1
            put(_object(line))
    digest = hashed.hexdigest()
    put({"documents": documents, "sha256": digest})
    return Exported(documents, damaged)


def _stored(engine: Engine, kind: str) -> Iterator[_Line]:
    """Yield the documents of a kind by id, in small batches; concurrent writes are allowed."""
    table, last = TABLES[kind], ""
    names = (*StoredRow._fields, "created_at", "pinned")
    while True:
        with engine.connect() as connection:
            ahead = select(table.id, table.size).where(table.id > last).order_by(table.id)
            ids, total = [], 0
            for identity, size in connection.execute(ahead.limit(BATCH_ROWS)):
                ids.append(identity)
                total += size
                if total >= BATCH_BYTES:
                    break
            if not ids:
                return
            labels: dict[str, list[str]] = {identity: [] for identity in ids}
            mine = select(LabelRow.document_id, LabelRow.label).where(LabelRow.kind == kind)
            mine = mine.where(LabelRow.document_id.in_(ids)).distinct().order_by(LabelRow.label)
            for identity, label in connection.execute(mine):
                labels[identity].append(label)
            columns = [getattr(table, name) for name in names]
            query = select(*columns).where(table.id.in_(ids)).order_by(table.id)
            rows = connection.execute(query).all()
        for row in rows:
            *values, created_at, pinned = row
            found = StoredRow(*values)
            yield _Line(kind, found, created_at, pinned, tuple(labels[found.id]))
        last = ids[-1]


def _object(line: _Line) -> dict[str, Any]:
    packed = base64.b64encode(line.row.document).decode()
    return {
        "kind": line.kind,
        **line.row._asdict(),
        "document": packed,
        "created_at": line.created_at.isoformat(),
        "pinned": line.pinned,
        "labels": list(line.labels),
    }


def _lines(path: Path) -> Iterator[_Line]:
    """Yield the checked documents of a file; raise unless the file is complete and sound."""
    try:
        with path.open("rb") as raw:
            packed = raw.peek(2)[:2] == b"\x1f\x8b"
            file: IO[bytes] = gzip.GzipFile(fileobj=raw) if packed else raw  # pyright: ignore[reportAssignmentType]
            yield from _checked(path, file)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise UnusableFile(path, "must be a whole gzip file") from None
    except OSError as error:
        raise UnusableFile(path, (error.strerror or str(error)).lower()) from None


def _checked(path: Path, file: IO[bytes]) -> Iterator[_Line]:
    hashed, number, count = hashlib.sha256(), 0, 0
    while text := file.readline(MAX_LINE + 1):
        number += 1
        if len(text) > MAX_LINE:
            raise UnusableFile(path, f"line {number} must have at most {MAX_LINE} bytes")
        try:
            value = json.loads(text)
            if number == 1:
                _require_schema(path, value)
            elif "sha256" in value:
                if value != {"documents": count, "sha256": hashed.hexdigest()} or file.read(1):
                    raise UnusableFile(path, "must be as it was written; it was changed since")
                return
            else:
                yield _line(value)
                count += 1
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            if isinstance(error, UnusableFile):
                raise
            if number == 1:
                _require_schema(path, None)
            rule = "must be a stored document, whole and as it was stored"
            raise UnusableFile(path, f"line {number} {rule}") from None
        hashed.update(text)
    raise UnusableFile(path, "must be whole; it is cut off, or no exported cache")


def _require_schema(path: Path, value: Any) -> None:
    schema = value.get("schema") if isinstance(value, dict) else None
    if schema != SCHEMA:
        shown = f", not {schema!r:.60}" if isinstance(schema, str) else ""
        raise UnusableFile(path, f"must be an exported cache, {SCHEMA}{shown}")


def _line(value: Any) -> _Line:
    """Return the document of a line; raise ``ValueError`` unless its seal holds."""
    try:
        content = base64.b64decode(value["document"], validate=True)
    except binascii.Error:
        raise ValueError from None
    texts = {name: value[name] for name in StoredRow._fields if name != "document"}
    labels, pinned = value["labels"], value["pinned"]
    if not all(isinstance(one, str) for one in (*texts.values(), *labels)):
        raise ValueError
    if value["kind"] not in TABLES or not isinstance(pinned, bool) or len(labels) > MAX_LABELS:
        raise ValueError
    row = StoredRow(document=content, **texts)
    if verified_document(value["kind"], row) is None:
        raise ValueError
    moment = datetime.fromisoformat(value["created_at"]).replace(tzinfo=None)
    return _Line(value["kind"], row, moment, pinned, tuple(labels))


def _store(engine: Engine, batch: list[_Line]) -> int:
    """Store the new documents of a batch in one transaction; return their number."""
    if not batch:
        return 0
    try:
        new = _insert(engine, batch)
    except IntegrityError:
        # Another process stored one of the documents meanwhile: insert them one by one.
        new = 0
        for line in batch:
            try:
                new += _insert(engine, [line])
            except IntegrityError:
                continue
    keeping = Keeping(engine)
    for line in batch:
        if line.pinned:
            keeping.pin(line.kind, line.row.id, True)
        for label in line.labels:
            keeping.label(line.kind, line.row.id, label)
    return new


def _insert(engine: Engine, batch: list[_Line]) -> int:
    new = 0
    with engine.begin() as connection:
        for kind in dict.fromkeys(line.kind for line in batch):
            table = TABLES[kind]
            mine = [line for line in batch if line.kind == kind]
            there = select(table.id).where(table.id.in_([line.row.id for line in mine]))
            known = set(connection.execute(there).scalars())
            for line in mine:
                if line.row.id not in known:
                    facts = _facts(line)
                    connection.execute(insert(table).values(**_values(line, facts)))
                    run = run_on(connection)
                    note(run, kind, line.row.id, facts)
                    size = len(line.row.document) + len(line.row.request) + len(line.row.summary)
                    note_owners(run, kind, line.row.id, {EVERYONE}, size)
                    known.add(line.row.id)
                    new += 1
    return new


def _values(line: _Line, facts: Facts) -> dict[str, Any]:
    row = line.row
    values = columns_of(line.kind, facts, row.document, row.request, row.summary)
    now = datetime.now(UTC).replace(tzinfo=None)
    values |= row._asdict() | {"created_at": line.created_at, "used_at": now}
    if line.kind == "topology":
        values["name"] = str(json.loads(row.summary).get("name", ""))[:80]
    return values


def _facts(line: _Line) -> Facts:
    row = line.row
    return facts_of(
        line.kind, row.kernel_version, row.request, row.summary, row.media_type, row.document
    )
