"""Which format a file on disk is in, and the bytes of all files that belong to it."""

import json
import re
from pathlib import Path

from app.archives import unzipped
from app.config import Settings
from app.files import UnusableFile, read_bytes

__all__ = ["exported_files"]

_TABLE = re.compile(rb"(#[^\n]*\n|\n)*[a-z]+,")
_TRACE = re.compile(r"(.*)\.(0|[1-9][0-9]*)\.et", re.DOTALL)


def exported_files(path: Path, settings: Settings) -> tuple[str, list[bytes]]:
    """Return a schedule's format and its file, or its files by rank.

    Chakra traces are named by their zip archive, by the beginning that their names have
    in common, or by one of them.

    Raises
    ------
    UnusableFile
        A file cannot be read, or a trace of some rank is missing.
    """
    match = _TRACE.fullmatch(path.name)
    common = path.with_name(match[1]) if match else path
    if match or (not path.exists() and _trace(common, 0).exists()):
        return "chakra-et", _traces(common, settings)
    data = read_bytes(path, settings)
    if data[:4] == b"PK\x03\x04":
        return "chakra-et", _by_rank(path, unzipped(path, data, settings))
    if data.lstrip()[:1] == b"<":
        return "msccl-xml", [data]
    if _TABLE.match(data):
        return "nccl-tuner-csv", [data]
    return ("mscclpp-json" if _is_plan(data) else "json"), [data]


def _traces(common: Path, settings: Settings) -> list[bytes]:
    files = []
    while (place := _trace(common, len(files))).exists():
        files.append(read_bytes(place, settings))
    if not files:
        raise UnusableFile(place, "no such file or directory")
    return files


def _trace(common: Path, rank: int) -> Path:
    return common.with_name(f"{common.name}.{rank}.et")


def _by_rank(path: Path, members: dict[str, bytes]) -> list[bytes]:
    by_rank = {}
    for name, data in members.items():
        match = _TRACE.fullmatch(name)
        if match is None or int(match[2]) in by_rank:
            raise UnusableFile(path, "must hold one file NAME.RANK.et for each rank and no other")
        by_rank[int(match[2])] = data
    if sorted(by_rank) != list(range(len(by_rank))):
        raise UnusableFile(path, "must hold the files of all ranks from 0")
    return [by_rank[rank] for rank in sorted(by_rank)]


def _is_plan(data: bytes) -> bool:
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(document, dict) and "gpus" in document and "schema" not in document
