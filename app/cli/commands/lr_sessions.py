"""`topoloom lr`: learning-rate tuning sessions, in the database or at a service."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoloom.app.cli.common import write
from topoloom.app.cli.option_parameters import request_options
from topoloom.app.cli.output.formatting import short_id
from topoloom.app.cli.output.text_table import Column, Table
from topoloom.app.cli.shared_options import AsJson, Out
from topoloom.app.requests.options import lr_sessions as table
from topoloom.app.requests.options.sweeps_and_jobs import CURSOR, LIMIT

if TYPE_CHECKING:
    from topoloom.app.cli.commands.lr_sessions_backend import Sessions

app = typer.Typer(
    help="Tune the learning rate of a training job, step by step.", no_args_is_help=True
)

Identity = Annotated[str, typer.Argument(metavar="ID", help="id of the session")]
Url = Annotated[
    str | None,
    typer.Option(
        metavar="URL", help="URL of a service, such as http://127.0.0.1:8765; default: the database"
    ),
]


@contextmanager
def _sessions(url: str | None) -> "Iterator[Sessions]":
    from topoloom.app.cli.commands.lr_sessions_backend import open_backend

    if url is not None:
        _require_address(url)
    with open_backend(url) as sessions:
        yield sessions


def _require_address(url: str) -> None:
    from topoloom.app.client import Client

    try:
        Client(url)
    except ValueError as error:
        rule = str(error).partition(": ")[2]
        raise typer.BadParameter(rule, param_hint="--url") from None


@app.command()
@request_options(*table.TUNING, table.NAME)
def create(fields: dict[str, Any], url: Url = None, as_json: AsJson = False) -> None:
    """Create a session; print its id, its lease and the first action."""
    with _sessions(url) as sessions:
        _print(sessions.create(fields), as_json, _session)


@app.command()
@request_options(table.LEASE, table.SEQUENCE, table.LOSSES, table.UNSOLICITED)
def observe(
    identity: Identity, fields: dict[str, Any], url: Url = None, as_json: AsJson = False
) -> None:
    """Report the result of the action; print the next action."""
    if "losses" in fields:
        fields["losses"] = _losses(fields["losses"])
    with _sessions(url) as sessions:
        _print(sessions.observe(identity, fields), as_json, _action)


@app.command()
@request_options(table.LEASE, table.SEQUENCE, table.LENGTH)
def extend(
    identity: Identity, fields: dict[str, Any], url: Url = None, as_json: AsJson = False
) -> None:
    """Change the length of the run, or begin its decay now; print the session."""
    with _sessions(url) as sessions:
        _print(sessions.extend(identity, fields), as_json, _session)


@app.command()
@request_options(table.OWN_LEASE, table.TO_SEQUENCE)
def attach(
    identity: Identity, fields: dict[str, Any], url: Url = None, as_json: AsJson = False
) -> None:
    """Take over a session as its trainer; print the new lease and the current action."""
    with _sessions(url) as sessions:
        _print(sessions.attach(identity, fields), as_json, _session)


@app.command("next")
def next_(identity: Identity, url: Url = None, as_json: AsJson = False) -> None:
    """Print the current action."""
    with _sessions(url) as sessions:
        document = sessions.read(identity)
    _print(document["action"] if as_json else document, as_json, _action)


@app.command()
def show(identity: Identity, url: Url = None, as_json: AsJson = False) -> None:
    """Show a session: progress, tried rates, chosen rates."""
    with _sessions(url) as sessions:
        _print(sessions.read(identity), as_json, _session)


@app.command()
@request_options(table.HISTORY_FORMAT, table.AFTER)
def history(identity: Identity, fields: dict[str, Any], url: Url = None, out: Out = None) -> None:
    """Write the observations: JSON, CSV with one line per step, or a plot."""
    with _sessions(url) as sessions:
        content = sessions.history(identity, fields["format"], fields["after"])
    write(content.decode(), out, "history")


@app.command()
def cancel(identity: Identity, url: Url = None, as_json: AsJson = False) -> None:
    """End a session; it accepts no more observations."""
    with _sessions(url) as sessions:
        _print(sessions.cancel(identity), as_json, _action)


@app.command("list")
@request_options(LIMIT, CURSOR)
def list_(fields: dict[str, Any], url: Url = None, as_json: AsJson = False) -> None:
    """List sessions, newest first."""
    with _sessions(url) as sessions:
        page = sessions.page(fields)
    if as_json:
        typer.echo(json.dumps(page))
        return
    columns = (
        Column("id", "id", short_id, left=True),
        Column("name", "name", left=True),
        Column("state", "state", left=True),
        Column("step", "step"),
        Column("run", "spent"),
        Column("peak", "peak", lambda peak: f"{peak:.4g}"),
    )
    Table(columns, page["items"]).print()
    if page["next_cursor"] is not None:
        typer.echo(f"more: topoloom lr list --after {page['next_cursor']}", err=True)


@app.command()
def delete(identity: Identity, url: Url = None) -> None:
    """Delete a session and its observations."""
    with _sessions(url) as sessions:
        sessions.delete(identity)
    typer.echo(f"deleted: {identity}")


def _losses(text: str) -> list[float | str]:
    """Return the entries of a comma-separated list; an entry that is not a number stays text."""
    losses: list[float | str] = []
    for word in text.split(",") if text.strip() else ():
        try:
            losses.append(float(word))
        except ValueError:
            losses.append(word.strip())
    return losses


def _print(
    document: dict[str, Any], as_json: bool, printed: Callable[[dict[str, Any]], None]
) -> None:
    if as_json:
        typer.echo(json.dumps(document))
    else:
        printed(document)


def _action(document: dict[str, Any]) -> None:
    """Print the next action in one line."""
    action = document["action"]
    words = [action["type"]]
    if "lr" in action:
        scales = "".join(f", times {scale:.4g}" for scale in action.get("scales", ()))
        words.append(f"{action['lr']:.6g}{scales}, {action['steps']} steps")
    words += [action[name] for name in ("slot", "reason") if name in action]
    if document["state"] == "cancelled":
        words = ["nothing: cancelled"]
    typer.echo(f"sequence {document['sequence']}, next: {' '.join(words)}")


def _session(document: dict[str, Any]) -> None:
    """Print a session and the table of its stages."""
    typer.echo(f"session {document['id']}")
    if "lease" in document:
        typer.echo(f"lease {document['lease']}")
    total = document["options"]["total_steps"]
    progress = f"{document['step']} of {total} steps kept, {document['spent']} run"
    typer.echo(f"{document['state']}: {progress}")
    _action(document)
    rows = [
        {"stage": number, "from": stage["start"]}
        | row
        | {f"scale {place}": scale for place, scale in enumerate(row.get("scales", ()))}
        for number, stage in enumerate(document["stages"])
        for row in _rows(stage)
    ]
    columns = (
        Column("stage", "stage"),
        Column("from step", "from"),
        Column("rate", "rate", lambda rate: f"{rate:.4g}"),
        *_scales(document["options"]["group_ratios"]),
        Column("ran", "steps"),
        Column("how", "status", left=True),
        Column("forecast", "forecast", lambda loss: f"{loss:.4f}"),
        Column("deviation", "deviation", lambda loss: f"{loss:.4f}"),
        Column("", "chosen", left=True),
    )
    if rows:
        Table(columns, rows).print()


def _rows(stage: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the attempts of a stage, and a row for a chosen rate that none of them had."""
    chosen = {name: stage[name] for name in ("rate", "scales") if name in stage}
    rows = [
        attempt | {"chosen": "chosen" if chosen and chosen.items() <= attempt.items() else ""}
        for attempt in stage["attempts"]
    ]
    if chosen and not any(row["chosen"] for row in rows):
        rows.append(chosen | {"chosen": "chosen"})
    return rows


def _scales(groups: list[str]) -> list[Column]:
    """Return a column for the scale of each group."""
    return [
        Column(group, f"scale {place}", lambda scale: f"{scale:.4g}")
        for place, group in enumerate(groups)
    ]
