"""Format of a schedule file, and the bytes of all its files."""

import json
import re
from pathlib import Path

from topoloom.app.config import Settings
from topoloom.app.files.local_files import UnusableFile, read_bytes
from topoloom.app.files.zip_archives import unzipped
from topoloom.schedules.formats import FORMATS
from topoloom.synth.errors import SynthError
from topoloom.synth.formats import detect
from topoloom.synth.formats.unsupported import head_of, recognise
from topoloom.synth.formats.unsupported_kinds import FOREIGN

_KINDS = "schedule/1, MSCCL XML, MSCCL++ JSON, GOAL, Chakra traces or an NCCL tuner table"
_TRACE = re.compile(r"(.*)\.(0|[1-9][0-9]*)\.et", re.DOTALL)


def exported_files(path: Path, settings: Settings) -> tuple[str, list[bytes]]:
    """Return the format of a schedule and its file, or its files by rank.

    A path to Chakra traces is a zip archive, the common prefix of the file names, or one trace.

    Raises:
        UnusableFile: A file is unreadable, the trace of a rank is missing, or the file is not a
            schedule.
    """
    match = _TRACE.fullmatch(path.name)
    common = path.with_name(match[1]) if match else path
    if match or (not path.exists() and _trace(common, 0).exists()):
        return "chakra-et", _traces(common, settings)
    data = read_bytes(path, settings)
    if data[:4] == b"PK\x03\x04":
        return "chakra-et", _by_rank(path, unzipped(path, data, settings))
    return _form_of(path, data), [data]


def _form_of(path: Path, data: bytes) -> str:
    """Return the format of a text; raise for a text that is no schedule."""
    text = data.decode(errors="replace")
    if not text.strip():
        raise UnusableFile(path, f"is empty: give {_KINDS}")
    head = head_of(text)
    document: object = None
    if head.startswith(("{", "[")):
        try:
            document = json.loads(data)
        except (ValueError, RecursionError):
            return "json"
    for name, form in FORMATS.items():
        if form.recognizes is not None and form.recognizes(head, document):
            return name
    if path.suffix == ".et":
        raise UnusableFile(path, "must be named NAME.RANK.et, as Chakra traces are, from rank 0")
    refusal = _refusal(text, head, path.name)
    if refusal is None and isinstance(document, (dict, list)):
        # The reader of schedule/1 reports the missing members.
        return "json"
    raise UnusableFile(path, refusal or f"is no schedule: give {_KINDS}")


def _refusal(text: str, head: str, name: str) -> str | None:
    """Return the kind of another file with the expected input; None if unknown."""
    try:
        form = detect(text, name)
    except SynthError:
        kind = recognise(head, FOREIGN)
        return None if kind is None else f"is {kind.what}, not a schedule: give {_KINDS}"
    return f"is a topology in the format {form}, not a schedule: use --topology"


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
            raise UnusableFile(
                path, "must contain one file NAME.RANK.et for each rank and no other"
            )
        by_rank[int(match[2])] = data
    if sorted(by_rank) != list(range(len(by_rank))):
        raise UnusableFile(path, "must contain the files of all ranks from 0")
    return [by_rank[rank] for rank in sorted(by_rank)]
