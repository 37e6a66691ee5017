"""Files of the command line; errors are one clear sentence.

The path ``-`` is standard input for reading and standard output for writing.
"""

import csv
import gzip
import json
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

from topoloom.app.config import Settings
from topoloom.app.files.text_decoding import NotText, decode_text
from topoloom.synth.naming.unique_names import unique_members


class UnusableFile(ValueError):
    """A file is unreadable, unwritable, too large, or not JSON."""

    def __init__(self, path: Path, rule: str) -> None:
        super().__init__(f"{path}: {rule}")


def is_stream(path: Path | str | None) -> bool:
    """Return whether a path is ``-``: standard input or standard output.

    >>> is_stream(Path("-")), is_stream(Path("a-b")), is_stream(None)
    (True, False, False)
    """
    return path is not None and str(path) == "-"


def read_json(path: Path, settings: Settings) -> Any:
    """Return the parsed content of a ``.json`` or ``.json.gz`` file.

    Raises:
        UnusableFile: As `read_text`, or the content is not JSON.
    """
    return parse_json(path, read_text(path, settings))


def parse_json(path: Path, text: str) -> Any:
    """Return the parsed content of a file; raise `UnusableFile` if it is not JSON."""
    if not text.strip():
        raise UnusableFile(path, "is empty; must be JSON")
    try:
        return json.loads(text, object_pairs_hook=unique_members)
    except RecursionError:
        raise UnusableFile(path, "must not be nested so deeply") from None
    except ValueError as error:
        raise UnusableFile(path, f"must be JSON: {error}") from None


def read_text(path: Path, settings: Settings) -> str:
    """Return the content of a text file, decompressed if gzipped.

    Raises:
        UnusableFile: The file is unreadable, exceeds ``max_body_bytes`` on disk or
            ``max_unpacked_bytes`` after unpacking, or is not text in UTF-8 or UTF-16.
    """
    try:
        return decode_text(read_bytes(path, settings))
    except NotText as error:
        raise UnusableFile(path, str(error)) from None


def read_bytes(path: Path, settings: Settings) -> bytes:
    """Return the content of a file, decompressed if gzipped.

    Raises:
        UnusableFile: The file is unreadable, or too large as in `read_text`.
    """
    try:
        return _read(path, settings)
    except OSError as error:
        raise UnusableFile(path, _reason(error)) from None
    except (EOFError, zlib.error):
        raise UnusableFile(path, "must be a whole gzip file") from None


def _read(path: Path, settings: Settings) -> bytes:
    most = settings.max_body_bytes
    # Read one byte more than the limit, since special files have no size.
    if is_stream(path):
        data = _standard_input(sys.stdin.buffer, most + 1)
    elif path.is_dir():
        raise UnusableFile(path, "is a directory")
    else:
        with path.open("rb") as file:
            data = file.read(most + 1)
    if len(data) > most:
        hint = "" if data[:2] == b"\x1f\x8b" else " (.json.gz is read too)"
        raise UnusableFile(path, f"must have at most {most} bytes{hint}")
    if data[:2] != b"\x1f\x8b":
        return data
    most = settings.max_unpacked_bytes
    unpacker = zlib.decompressobj(wbits=31)
    data = unpacker.decompress(data, most)
    if unpacker.unconsumed_tail:
        raise UnusableFile(path, f"must have at most {most} bytes after unpacking")
    if not unpacker.eof:
        raise EOFError
    return data


@lru_cache(maxsize=1)
def _standard_input(stream: IO[bytes], most: int) -> bytes:
    """Return the content of a stream, cached because some commands read a file twice."""
    return stream.read(most)


@contextmanager
def _opened_to_write(path: Path) -> Iterator[IO[bytes]]:
    if is_stream(path):
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with path.open("wb") as file:
        yield file


def write_text(path: Path, pieces: Iterable[str]) -> None:
    """Write a text file; the suffix ``.gz`` compresses.

    Raises:
        UnusableFile: The file is unwritable.
    """
    try:
        with _opened_to_write(path) as raw:
            if path.suffix == ".gz":
                # Without time stamp and name, the bytes are reproducible.  Level 9 takes 10 times
                # as long for a schedule that is 7 % smaller.
                with gzip.GzipFile("", "wb", compresslevel=5, fileobj=raw, mtime=0) as packed:
                    packed.writelines(piece.encode() for piece in pieces)
            else:
                raw.writelines(piece.encode() for piece in pieces)
    except OSError as error:
        raise _unwritable(path, error) from None


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file.

    Raises:
        UnusableFile: The file is unwritable.
    """
    try:
        with _opened_to_write(path) as file:
            file.write(content)
    except OSError as error:
        raise _unwritable(path, error) from None


def _unwritable(path: Path, error: OSError) -> UnusableFile:
    no_folder = isinstance(error, FileNotFoundError)
    return UnusableFile(path, f"there is no folder {path.parent}" if no_folder else _reason(error))


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def read_plant_file(path: Path, settings: Settings) -> dict[str, Any]:
    """Return the plant of a file in any format, as a request value."""
    from topoloom.synth.errors import InvalidPlant
    from topoloom.synth.wiring.plant import plant_document, read_plant_text

    try:
        return plant_document(read_plant_text(read_text(path, settings)))
    except InvalidPlant as error:
        raise UnusableFile(path, str(error).removeprefix(": ")) from None


def read_wiring_file(path: Path, settings: Settings) -> list[Any] | dict[str, Any]:
    """Return the current wiring of a file in any format, as a request value.

    Parsed JSON is such a value; any other text becomes the member ``text``.
    """
    text = read_text(path, settings)
    try:
        document = json.loads(text, object_pairs_hook=unique_members)
    except (ValueError, RecursionError):
        return {"text": text}
    return document if isinstance(document, list | dict) else {"text": text}


def read_times(path: Path, settings: Settings) -> list[Any]:
    """Return the measured times of a JSON or CSV file, as a request value."""
    text = read_text(path, settings)
    if path.suffix != ".csv" and text.lstrip()[:1] in ("[", "{"):
        document = parse_json(path, text)
        nested = isinstance(document, dict) and "rows" in document
        rows = document["rows"] if nested else document
        if not isinstance(rows, list):
            raise UnusableFile(path, "must contain a list of rows")
        return rows
    rows = list(csv.DictReader(text.splitlines()))
    if rows and not {"bytes", "seconds"} <= set(rows[0]):
        raise UnusableFile(path, "must have the columns bytes and seconds")
    return [_times(path, number, row) for number, row in enumerate(rows, start=2)]


def _times(path: Path, line: int, row: dict[str, str]) -> dict[str, int | float]:
    whole = [name for name in ("bytes", "messages", "chunks") if row.get(name)]
    try:
        return {name: int(row[name]) for name in whole} | {"seconds": float(row["seconds"])}
    except (TypeError, ValueError):
        raise UnusableFile(path, f"must have numbers only; line {line} has other text") from None
