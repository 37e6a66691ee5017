"""Files that the command line reads and writes, with one clear sentence when it cannot."""

import gzip
import json
import zlib
from collections.abc import Iterable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile, ZipInfo

from app.config import Settings

__all__ = [
    "UnusableFile",
    "read_bytes",
    "read_json",
    "read_text",
    "unzipped",
    "write_files",
    "write_text",
    "zipped",
]


class UnusableFile(ValueError):
    """A file cannot be read or written, is too large, or is not JSON."""

    def __init__(self, path: Path, rule: str) -> None:
        super().__init__(f"{path}: {rule}")


def read_json(path: Path, settings: Settings) -> Any:
    """Return the parsed content of a ``.json`` or ``.json.gz`` file.

    Raises
    ------
    UnusableFile
        As `read_text`, or it is not JSON.
    """
    text = read_text(path, settings)
    try:
        return json.loads(text)
    except RecursionError:
        raise UnusableFile(path, "must not nest so deep") from None
    except ValueError as error:
        raise UnusableFile(path, f"must be JSON: {error}") from None


def read_text(path: Path, settings: Settings) -> str:
    """Return the content of a text file, unpacked if it is compressed by gzip.

    Raises
    ------
    UnusableFile
        It cannot be read, passes ``max_body_bytes`` on disk or ``max_unpacked_bytes``
        after unpacking, or is not UTF-8.
    """
    try:
        return read_bytes(path, settings).decode()
    except UnicodeDecodeError:
        raise UnusableFile(path, "must be text in UTF-8") from None


def read_bytes(path: Path, settings: Settings) -> bytes:
    """Return the content of a file, unpacked if it is compressed by gzip.

    Raises
    ------
    UnusableFile
        It cannot be read, or is too large as in `read_text`.
    """
    try:
        return _read(path, settings)
    except OSError as error:
        raise UnusableFile(path, _reason(error)) from None
    except (EOFError, zlib.error):
        raise UnusableFile(path, "must be a whole gzip file") from None


def _read(path: Path, settings: Settings) -> bytes:
    if path.is_dir():
        raise UnusableFile(path, "is a directory")
    most = settings.max_body_bytes
    with path.open("rb") as file:
        # One byte more than allowed is enough to know; special files have no size.
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


def write_text(path: Path, pieces: Iterable[str]) -> None:
    """Write a text file; a name that ends in ``.gz`` is compressed.

    Raises
    ------
    UnusableFile
        It cannot be written.
    """
    try:
        with path.open("wb") as raw:
            if path.suffix == ".gz":
                # No time stamp and no name: the same text gives the same bytes.
                with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as packed:
                    packed.writelines(piece.encode() for piece in pieces)
            else:
                raw.writelines(piece.encode() for piece in pieces)
    except OSError as error:
        raise UnusableFile(path, _reason(error)) from None


def write_files(path: Path, files: Mapping[str, bytes]) -> None:
    """Write several files: into one ``.zip``, or behind a common beginning of their names.

    Parameters
    ----------
    path : Path
        ``x.zip`` gets the files ``x`` + name; ``x`` stands for the files ``x`` + name.

    Raises
    ------
    UnusableFile
        One of them cannot be written.
    """
    written = {path.with_name(path.name + name): data for name, data in files.items()}
    if path.suffix == ".zip":
        written = {path: zipped({path.stem + name: data for name, data in files.items()})}
    for place, data in written.items():
        try:
            place.write_bytes(data)
        except OSError as error:
            raise UnusableFile(place, _reason(error)) from None


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Return a zip archive of these files; the same files give the same bytes.

    >>> zipped({"a.0.et": b"x"}) == zipped({"a.0.et": b"x"})
    True
    """
    packed = BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED) as archive:
        for name, data in files.items():
            # The earliest time that the format can tell, and one system for all.
            info = ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.compress_type, info.create_system = ZIP_DEFLATED, 3
            archive.writestr(info, data)
    return packed.getvalue()


def unzipped(path: Path, data: bytes, settings: Settings) -> dict[str, bytes]:
    """Return the files of a zip archive by name.

    Raises
    ------
    UnusableFile
        It is no zip archive, or its content passes ``max_unpacked_bytes``.
    """
    try:
        with ZipFile(BytesIO(data)) as archive:
            if sum(info.file_size for info in archive.infolist()) > settings.max_unpacked_bytes:
                raise UnusableFile(
                    path, f"must have at most {settings.max_unpacked_bytes} bytes after unpacking"
                )
            return {name: archive.read(name) for name in archive.namelist()}
    except (BadZipFile, NotImplementedError, RuntimeError, zlib.error):
        raise UnusableFile(path, "must be a whole zip archive") from None


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
