"""What the commands share: the database, naming a topology, printing and writing answers."""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from topoloom.app.cli.shared_options import given

if TYPE_CHECKING:
    from topoloom.app.cli.shared_options import Reading
    from topoloom.app.config import Settings
    from topoloom.app.requests.topology_source import TopologySource
    from topoloom.app.services.context import Context
    from topoloom.app.store.artifacts import Artefact

__all__ = [
    "described",
    "is_beside",
    "is_file",
    "opened",
    "require_one_form",
    "show",
    "source_of",
    "with_bases",
    "with_lists",
    "with_tasks",
    "with_times",
    "with_wiring",
    "write",
]

_LISTS = ("shards", "participants")
"""Options that are lists with commas, or files."""


@contextmanager
def opened() -> "Iterator[Context]":
    """Open the database that the settings name; print notes to stderr at the end."""
    from topoloom.app.config import Settings
    from topoloom.app.services.open_context import open_context

    with open_context(Settings(), shown_progress) as context:
        yield context
        for note in context.notes:
            typer.echo(f"note: {note}", err=True)


@contextmanager
def shown_progress() -> Iterator[None]:
    """Show on a terminal how far work is that takes longer than a moment."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from topoloom.synth.progress import listened

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("", total=None, visible=False)

        def listener(stage: str, done: int, total: int) -> None:
            progress.update(bar, description=stage, completed=done, total=total, visible=True)

        with listened(listener):
            yield


def source_of(text: str, reading: "Reading", context: "Context") -> "TopologySource":
    """Tell a file from a recipe, an id and a name; take the changes along."""
    from topoloom.app.requests.document_ids import is_id
    from topoloom.app.requests.topology_source import TopologySource
    from topoloom.app.services import topologies

    path = Path(text)
    if reading.source_format is not None or is_file(text):
        named = _from_file(path, reading, context)
    elif paths := _graphs_of(text):
        graphs = {name: _from_file(Path(name), reading, context) for name in paths}
        named = {"recipe": text, "graphs": graphs}
    else:
        named = reading.options()
        if is_id(text):
            named["id"] = text
        elif "(" in text:
            named["recipe"] = text
        else:
            named |= topologies.named(context, text).model_dump(exclude_unset=True)
    return TopologySource.model_validate(named | given(changes=reading.changes() or None))


def _from_file(path: Path, reading: "Reading", context: "Context") -> dict[str, Any]:
    """Return a file as a request has it: topology/1 as a document, the rest as text."""
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
    """Return the format that a file is in; raise `UnusableFile` where it is not read."""
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


def _graphs_of(text: str) -> list[str]:
    """Return the files that a recipe names after @, each once."""
    return list(dict.fromkeys(re.findall("@([A-Za-z0-9._/-]+)", text)))


def is_file(text: str) -> bool:
    """Whether a topology is named by a file, one that is there or one that ought to be."""
    if text == "-":
        return True
    if "(" not in text and "@" not in text and "." in text:
        return True
    try:
        return Path(text).exists()
    except (OSError, ValueError):
        return False


def listed(text: str | None, settings: "Settings") -> Any:
    """Return the entries of a list with commas, or what a JSON file holds."""
    from topoloom.app.files.local_files import read_json

    if text is None:
        return None
    if text == "-" or text.endswith((".json", ".json.gz")):
        return read_json(Path(text), settings)
    return text.split(",")


def with_lists(asked: Mapping[str, Any], settings: "Settings") -> dict[str, Any]:
    """Return what was asked with its lists read from texts and files."""
    lists = {name: listed(asked[name], settings) for name in _LISTS if name in asked}
    return dict(asked) | lists


def with_bases(asked: Mapping[str, Any], settings: "Settings") -> dict[str, Any]:
    """Return what was asked with its bases as recipes, those that are files read as graphs."""
    bases = [_base(text, settings) if is_file(text) else text for text in asked.get("bases", ())]
    return dict(asked) | ({"bases": bases} if bases else {})


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
        typer.echo(f"note: {file}: {changeable(assumption)}", err=True)
    return base


def with_tasks(asked: Mapping[str, Any], settings: "Settings") -> dict[str, Any]:
    """Return what was asked with the tasks of its workload's file: a list, or what holds it."""
    from topoloom.app.files.local_files import read_json

    if "workload" not in asked:
        return dict(asked)
    document = read_json(Path(asked["workload"]), settings)
    held = isinstance(document, dict) and "workload" in document
    return {**asked, "workload": document["workload"] if held else document}


def with_wiring(asked: Mapping[str, Any], settings: "Settings") -> dict[str, Any]:
    """Return what was asked with plant and present wiring read from the files that they name."""
    from topoloom.app.files.local_files import read_plant_file, read_present_file

    readers = {"plant": read_plant_file, "present": read_present_file}
    read = {
        name: reader(Path(asked[name]), settings)
        for name, reader in readers.items()
        if name in asked
    }
    return {**asked, **read}


def with_times(asked: Mapping[str, Any], settings: "Settings") -> dict[str, Any]:
    """Return what was asked with the times of its table of measured messages."""
    from topoloom.app.files.local_files import read_times

    if "measured" not in asked:
        return dict(asked)
    return {**asked, "measured": read_times(Path(asked["measured"]), settings)}


def require_one_form(as_json: bool, as_csv: bool) -> None:
    """Refuse two ways of printing at once."""
    if as_json and as_csv:
        raise typer.BadParameter("must be left out where --json is given", param_hint="--csv")


def show(artefact: "Artefact", as_json: bool, as_csv: bool = False) -> None:
    """Print an answer: its document, its table as CSV, or all of it for people."""
    if as_json:
        typer.echo(artefact.text())
        return
    from topoloom.app.cli.output import PRINTERS, TABLES

    if as_csv:
        TABLES[artefact.kind](artefact.document()).print(as_csv=True)
    else:
        PRINTERS[artefact.kind](artefact.document())


def described(summary: dict[str, Any]) -> str:
    """Return what a schedule is, in a few words."""
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
    """Return whether a document goes to a file, so that stdout is free for what is beside it."""
    from topoloom.app.files.local_files import is_stream

    return out is not None and not is_stream(out)


def write(pieces: str | Iterable[str] | Mapping[str, bytes], out: Path | None, what: str) -> None:
    """Write a document to a file, and say so, or to stdout; several files go to files only."""
    from topoloom.app.files.local_files import is_stream

    if isinstance(pieces, Mapping):
        from topoloom.app.files.zip_archives import write_files

        if out is None:
            raise typer.BadParameter("must name where to write these files", param_hint="--out")
        write_files(out, pieces)
        typer.echo(f"{what}: {len(pieces)} files written to {out}", err=is_stream(out))
        return
    parts = [pieces] if isinstance(pieces, str) else pieces
    if out is not None and is_beside(out):
        from topoloom.app.files.local_files import write_text

        write_text(out, parts)
        typer.echo(f"{what}: written to {out}")
        return
    part = ""
    for part in parts:
        sys.stdout.write(part)
    if not part.endswith("\n"):
        sys.stdout.write("\n")
    sys.stdout.flush()
