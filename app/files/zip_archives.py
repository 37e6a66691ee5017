"""Output of several files: with a common prefix, in a folder, or in a zip archive."""

import zlib
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile, ZipInfo

from topoloom.app.config import Settings
from topoloom.app.files.local_files import UnusableFile, is_stream, write_bytes


def write_files(path: Path, files: Mapping[str, bytes]) -> None:
    """Write several files, into a ``.zip`` or with a common prefix.

    Args:
        path: ``x.zip`` contains the files ``x`` + name; ``x`` is the prefix of the files ``x`` +
            name.

    Raises:
        UnusableFile: A file is unwritable.
    """
    if path.suffix == ".zip" or is_stream(path):
        write_bytes(path, zipped({path.stem + name: data for name, data in files.items()}))
        return
    for name, data in files.items():
        write_bytes(path.with_name(path.name + name), data)


def write_folder(path: Path, files: Mapping[str, bytes]) -> None:
    """Write several files, into a ``.zip`` or into a new or empty folder.

    Args:
        path: A new or empty folder, since runtimes load all files of a folder; ``-`` writes a zip
            archive to standard output.

    Raises:
        UnusableFile: The folder is not empty, or a file is unwritable.
    """
    if path.suffix == ".zip" or is_stream(path):
        write_bytes(path, zipped(files))
        return
    try:
        path.mkdir(parents=True, exist_ok=True)
        if any(path.iterdir()):
            raise UnusableFile(path, "must be a new or empty folder, or end in .zip")
        for folder in {(path / name).parent for name in files}:
            folder.mkdir(exist_ok=True)
    except OSError as error:
        raise UnusableFile(path, (error.strerror or str(error)).lower()) from None
    for name, data in files.items():
        write_bytes(path / name, data)


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Return a reproducible zip archive of these files.

    >>> zipped({"a.0.et": b"x"}) == zipped({"a.0.et": b"x"})
    True
    """
    packed = BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED) as archive:
        for name, data in files.items():
            # Use the earliest time of the format and a fixed system.
            info = ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.compress_type, info.create_system = ZIP_DEFLATED, 3
            archive.writestr(info, data)
    return packed.getvalue()


def unzipped(path: Path, data: bytes, settings: Settings) -> dict[str, bytes]:
    """Return the files of a zip archive by name.

    Raises:
        UnusableFile: The data is no zip archive, or its content exceeds ``max_unpacked_bytes``.
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
