"""Read model files: JSON, workload files of AICB, or traces."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topoloom.app.files.local_files import UnusableFile, parse_json, read_bytes, read_text
from topoloom.schedules.errors import NoSchedule, TooLarge
from topoloom.schedules.formats.aicb_workload import aicb_model, is_workload
from topoloom.synth.naming.unique_names import RepeatedName, unique_members

if TYPE_CHECKING:
    from topoloom.app.config import Settings


def read_model_file(path: Path, settings: "Settings") -> Any:
    """Return the document of a model file, or of the traces in a file or a folder.

    Raises:
        UnusableFile: The file is neither JSON, a workload file nor a trace, or the folder has no
            traces.
    """
    if path.is_dir():
        return _traces(path, _folder(path, settings))
    if path.name.endswith((".et", ".et.gz")):
        return _traces(path, {path.name: read_bytes(path, settings)})
    text = read_text(path, settings)
    if not is_workload(text):
        return _json(path, text)
    try:
        return aicb_model(text)
    except NoSchedule as error:
        raise UnusableFile(path, error.rule) from None


def _folder(path: Path, settings: "Settings") -> dict[str, bytes]:
    """Return the files of a folder that may be traces, by name."""
    from topoloom.schedules.formats.job_traces.trace_files import SUFFIXES

    found = [one for one in sorted(path.iterdir()) if one.name.endswith(SUFFIXES)]
    if not found:
        raise UnusableFile(path, f"must have traces, files that end in {' or '.join(SUFFIXES)}")
    return {one.name: read_bytes(one, settings) for one in found}


def _json(path: Path, text: str) -> Any:
    """Return a model file, or the document of a trace."""
    from topoloom.schedules.formats.job_traces.trace_files import is_trace

    try:
        parsed = json.loads(text, object_pairs_hook=unique_members)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data" and text.lstrip().startswith("{"):
            # Chakra's jsonizer writes one object after another.
            return _traces(path, {path.name: text})
        return parse_json(path, text)
    except (RecursionError, RepeatedName):
        return parse_json(path, text)
    return _traces(path, {path.name: parsed}) if is_trace(parsed) else parsed


def _traces(path: Path, files: Mapping[str, Any]) -> dict[str, Any]:
    from topoloom.schedules.formats.job_traces.trace_files import trace_model

    name = path.resolve().name if path.is_dir() else path.name.split(".")[0]
    try:
        return trace_model(files, "", name[:100] or "trace")
    except (NoSchedule, TooLarge) as error:
        rule = error.rule if path.is_dir() else error.rule.removeprefix(f"{path.name[:200]}: ")
        raise UnusableFile(path, rule) from None
