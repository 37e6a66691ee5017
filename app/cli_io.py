"""What the commands share: the database, naming a topology, printing and writing answers."""

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from app.schemas import TopologySource
    from app.services.context import Context
    from app.store import Artefact

__all__ = ["described", "listed", "opened", "show", "source_of", "tasks_of", "write"]


@contextmanager
def opened() -> "Iterator[Context]":
    """Open the database that the settings name."""
    from app.config import Settings
    from app.services.context import open_context

    with open_context(Settings()) as context:
        yield context


def source_of(text: str, context: "Context") -> "TopologySource":
    """Tell a file from a recipe, a fabric's name and an id."""
    from app.files import UnusableFile, read_json
    from app.schemas import TopologySource

    path = Path(text)
    if _exists(path) or ("(" not in text and text.endswith((".json", ".json.gz"))):
        document = read_json(path, context.settings)
        if not isinstance(document, dict):
            raise UnusableFile(path, "must be a JSON object with schema topology/1")
        return TopologySource.model_validate({"document": document})
    if re.fullmatch("[0-9a-f]{64}", text):
        return TopologySource(id=text)
    return TopologySource.model_validate({"recipe" if "(" in text else "fabric": text})


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def listed(text: str | None, context: "Context") -> Any:
    """Return the entries of a list with commas, or what a JSON file holds."""
    from app.files import read_json

    if text is None:
        return None
    if text.endswith((".json", ".json.gz")):
        return read_json(Path(text), context.settings)
    return text.split(",")


def tasks_of(path: Path | None, context: "Context") -> Any:
    """Return the tasks of a workload's file: a list, or an object that holds it."""
    from app.files import read_json

    if path is None:
        return None
    document = read_json(path, context.settings)
    return (
        document["workload"] if isinstance(document, dict) and "workload" in document else document
    )


def show(artefact: "Artefact", as_json: bool) -> None:
    """Print an answer: its document, or a table for people."""
    if as_json:
        typer.echo(artefact.text())
        return
    from app.printing import PRINTERS

    PRINTERS[artefact.kind](artefact.document())


def described(summary: dict[str, Any]) -> str:
    """Return what a schedule is, in a few words."""
    text = f"verified {summary['collective']} schedule by {summary['algorithm']}"
    if "gap" in summary:
        count = summary["trees_per_root"]
        text += f", {count} tree{'s' if count > 1 else ''} per root"
        text += f", {summary['gap']} above the optimum"
    if "bandwidth_loss" in summary:
        count = summary["chunks_per_shard"]
        text += f", {count} chunk{'s' if count > 1 else ''} per shard"
        text += f", T_B {summary['bandwidth_loss']} above the least"
    return text


def write(pieces: str | Iterable[str], out: Path | None, what: str) -> None:
    """Write a document to a file, and say so, or to stdout."""
    parts = [pieces] if isinstance(pieces, str) else pieces
    if out is not None:
        from app.files import write_text

        write_text(out, parts)
        typer.echo(f"{what}: written to {out}")
        return
    part = ""
    for part in parts:
        sys.stdout.write(part)
    if not part.endswith("\n"):
        sys.stdout.write("\n")
    sys.stdout.flush()
