"""Helpers of all commands: open the database, resolve a topology, print and write answers."""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from topoloom.app.cli.output.text_table import print_note, say
from topoloom.app.cli.shared_options import without_none

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from topoloom.app.cli.shared_options import Reading
    from topoloom.app.config import Settings
    from topoloom.app.requests.topology_source import TopologySource
    from topoloom.app.services.context import Context
    from topoloom.app.store.artifacts import Artefact

_LISTS = ("shards", "participants")
"""Options with comma-separated lists or files as values."""

COMPILING = "compiling kernels, once after an installation"
"""Stage of a command whose kernels are not in Numba's cache: up to half a minute."""


@contextmanager
def command_context() -> "Iterator[Context]":
    """Open the database of the settings; print notes to stderr at the end."""
    from topoloom.app.config import Settings
    from topoloom.app.services.open_context import open_context

    with open_context(Settings(), shown_progress) as context:
        yield context
        for note in context.notes:
            print_note(note)


def audit(engine: "Engine", action: str, target: str) -> None:
    """Add an entry of a command that changed something to the audit log."""
    from topoloom.app.store.audit_log import record

    record(engine, action, target)


@contextmanager
def shown_progress() -> Iterator[None]:
    """Show a progress bar on a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from topoloom.app.cli.kernel_loading import compilations_reported
    from topoloom.synth.progress import progress_listener

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("", total=None, visible=False)

        def listener(stage: str, done: int, total: int) -> None:
            progress.update(bar, description=stage, completed=done, total=total, visible=True)

        compiles = partial(listener, COMPILING, 0, 1)
        with progress_listener(listener), compilations_reported(compiles):
            yield


def source_of(text: str, reading: "Reading", context: "Context") -> "TopologySource":
    """Return the topology source for a file, recipe, id or name, with the changes of `reading`."""
    from topoloom.app.requests.document_ids import is_id
    from topoloom.app.requests.topology_source import TopologySource
    from topoloom.app.services import topologies

    path = Path(text)
    if reading.source_format is not None or is_file(text):
        named = _from_file(path, reading, context)
    elif graphs := named_graphs(text, reading, context):
        named = {"recipe": text, "graphs": graphs}
    else:
        named = reading.options()
        if is_id(text):
            named["id"] = text
        elif "(" in text:
            named["recipe"] = text
        else:
            named |= topologies.source_of_name(context, text).model_dump(exclude_unset=True)
    return TopologySource.model_validate(named | without_none(changes=reading.changes() or None))


def _from_file(path: Path, reading: "Reading", context: "Context") -> dict[str, Any]:
    """Return the request members for a file: topology/1 as a document, other formats as text."""
    from topoloom.app.files.local_files import UnusableFile, parse_json, read_text

    text = read_text(path, context.settings)
    form = reading.source_format or _form_of(path, text)
    if form != "json":
        return {"text": text, "format": form} | reading.options()
    document = parse_json(path, text)
    if not isinstance(document, dict):
        raise UnusableFile(path, "must be a JSON object with schema topology/1")
    return {"document": document} | reading.options()


def _form_of(path: Path, text: str) -> str:
    """Return the format of a file; raise `UnusableFile` for an unsupported format."""
    from topoloom.app.files.local_files import UnusableFile
    from topoloom.synth.errors import InvalidTopology
    from topoloom.synth.formats import detect

    named_json = path.name.endswith((".json", ".json.gz"))
    if named_json and text.strip() and not text.lstrip("\ufeff \t\r\n").startswith(("{", "[")):
        return "json"
    try:
        return detect(text, path.name)
    except InvalidTopology as error:
        raise UnusableFile(path, str(error).removeprefix(": ")) from None


def named_graphs(text: str, reading: "Reading", context: "Context") -> dict[str, Any]:
    """Return the request members for each file that a recipe names after @."""
    names = dict.fromkeys(re.findall("@([A-Za-z0-9._/-]+)", text))
    return {name: _from_file(Path(name), reading, context) for name in names}


def is_file(text: str) -> bool:
    """Return whether a text names a file, existing or not."""
    if text == "-":
        return True
    if "(" not in text and "@" not in text and "." in text:
        return True
    try:
        return Path(text).exists()
    except (OSError, ValueError):
        return False


def list_entries(text: str | None, settings: "Settings") -> Any:
    """Return the entries of a comma-separated list, or the content of a JSON file."""
    from topoloom.app.files.local_files import read_json

    if text is None:
        return None
    if text == "-" or text.endswith((".json", ".json.gz")):
        return read_json(Path(text), settings)
    return text.split(",")


def with_lists(fields: Mapping[str, Any], settings: "Settings") -> dict[str, Any]:
    """Return the options with lists read from texts and files."""
    lists = {name: list_entries(fields[name], settings) for name in _LISTS if name in fields}
    return dict(fields) | lists


def with_groups(fields: Mapping[str, Any], settings: "Settings") -> dict[str, Any]:
    """Return the options with groups read from a JSON file; a text with sizes stays."""
    groups = fields.get("groups")
    if groups is None or not is_file(groups):
        return dict(fields)
    return {**fields, "groups": list_entries(groups, settings)}


def with_bases(fields: Mapping[str, Any], settings: "Settings") -> dict[str, Any]:
    """Return the options with base graphs as recipes; files are read as graphs."""
    bases = [_base(text, settings) if is_file(text) else text for text in fields.get("bases", ())]
    return dict(fields) | ({"bases": bases} if bases else {})


def _base(file: str, settings: "Settings") -> str:
    from topoloom.app.files.local_files import UnusableFile, read_text
    from topoloom.app.requests.options.topology_source import changeable
    from topoloom.synth.errors import SynthError
    from topoloom.synth.families import Base
    from topoloom.synth.formats import read

    text = read_text(Path(file), settings)
    try:
        topology = read(text, _form_of(Path(file), text))
        base = str(Base.of(topology))
    except SynthError as error:
        place = error.field.removeprefix("/").replace("line/", "line ")
        rule = f"{place}: {error.rule}" if place else error.rule
        raise UnusableFile(Path(file), rule) from None
    for assumption in topology.assumed:
        print_note(f"{file}: {changeable(assumption)}")
    return base


def with_tasks(fields: Mapping[str, Any], settings: "Settings") -> dict[str, Any]:
    """Return the options with the workload file read: a list, or an object that holds the list."""
    from topoloom.app.files.local_files import read_json

    if "workload" not in fields:
        return dict(fields)
    document = read_json(Path(fields["workload"]), settings)
    nested = isinstance(document, dict) and "workload" in document
    return {**fields, "workload": document["workload"] if nested else document}


def with_wiring(fields: Mapping[str, Any], settings: "Settings") -> dict[str, Any]:
    """Return the options with the plant and the current wiring read from files or from NetBox."""
    from topoloom.app.inventory.sources import plant_of, wiring_of

    readers = {"plant": plant_of, "current_wiring": wiring_of}
    read = {
        name: reader(fields[name], settings) for name, reader in readers.items() if name in fields
    }
    return {**fields, **read}


def with_times(fields: Mapping[str, Any], settings: "Settings") -> dict[str, Any]:
    """Return the options with the table of measured times read."""
    from topoloom.app.files.local_files import read_times

    if "measured" not in fields:
        return dict(fields)
    return {**fields, "measured": read_times(Path(fields["measured"]), settings)}


def show(artefact: "Artefact", as_json: bool, as_csv: bool = False) -> None:
    """Print an answer: the JSON document, the table as CSV, or the text output."""
    if as_json:
        typer.echo(artefact.text())
        return
    from topoloom.app.cli.output import PRINTERS, TABLES

    if as_csv:
        TABLES[artefact.kind](artefact.document()).print(as_csv=True)
    else:
        PRINTERS[artefact.kind](artefact.document())


def schedule_summary(summary: dict[str, Any]) -> str:
    """Return a one-line description of a schedule."""
    text = f"verified {summary['collective']} schedule by {summary['algorithm']}"
    if "gap" in summary:
        count = summary["trees_per_root"]
        text += f", {count} tree{'s' if count > 1 else ''} per root"
        text += f", {summary['gap']} above the optimum"
    if "multicast" in summary:
        shared, unshared = (summary["multicast"][n] for n in ("crossings", "crossings_unshared"))
        text += f", {shared} link crossings, {unshared} without multicast"
    if "bandwidth_loss" in summary:
        count = summary["chunks_per_shard"]
        text += f", {count} chunk{'s' if count > 1 else ''} per shard"
        text += f", T_B {summary['bandwidth_loss']} above the least"
    return text


def is_beside(out: Path | None) -> bool:
    """Return whether a document goes to a file, which leaves stdout free for other output."""
    from topoloom.app.files.local_files import is_stream

    return out is not None and not is_stream(out)


def write(pieces: str | Iterable[str] | Mapping[str, bytes], out: Path | None, what: str) -> None:
    """Write a document to a file, with a note, or to stdout; several files need ``out``."""
    from topoloom.app.files.local_files import is_stream

    if isinstance(pieces, Mapping):
        from topoloom.app.files.zip_archives import write_files

        if out is None:
            raise typer.BadParameter("must name a folder for several files", param_hint="--out")
        write_files(out, pieces)
        say(f"{what}: {len(pieces)} files written to {out}", error=is_stream(out))
        return
    parts = [pieces] if isinstance(pieces, str) else pieces
    if out is not None and is_beside(out):
        from topoloom.app.files.local_files import write_text

        write_text(out, parts)
        say(f"{what}: written to {out}")
        return
    part = ""
    for part in parts:
        sys.stdout.write(part)
    if not part.endswith("\n"):
        sys.stdout.write("\n")
    sys.stdout.flush()
