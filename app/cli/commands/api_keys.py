"""`topoloom keys`: create, list and revoke API keys; read the audit log."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoloom.app.cli.common import audit, command_context
from topoloom.app.cli.option_parameters import request_options
from topoloom.app.cli.output.text_table import Column, Table, print_note
from topoloom.app.cli.shared_options import AsCsv, AsJson
from topoloom.app.config import Settings
from topoloom.app.requests.options import administration, sweeps_and_jobs
from topoloom.synth.naming.suggestions import did_you_mean

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from topoloom.app.auth.api_keys import ApiKey


app = typer.Typer(
    no_args_is_help=True, help="Create, list and revoke API keys; read the audit log."
)

_COLUMNS = (
    Column("id", "id", left=True),
    Column("name", "name", left=True),
    Column("owner", "owner", left=True),
    Column("scopes", "scopes", " ".join, left=True),
    Column("state", "state", left=True),
    Column("created (UTC)", "created_at", lambda moment: _minute(moment), left=True),
    Column("expires", "expires_at", lambda moment: _minute(moment), left=True),
    Column("last used", "used_at", lambda moment: _minute(moment), left=True),
)


@contextmanager
def _engine() -> "Iterator[Engine]":
    from topoloom.app.store.database import open_database

    engine = open_database(Settings().database_url)
    try:
        yield engine
    finally:
        engine.dispose()


@app.command()
def create(
    name: Annotated[
        str, typer.Option(metavar="NAME", help="name of the key, such as its user or purpose")
    ],
    scope: Annotated[
        list[str],
        typer.Option(metavar="SCOPE", help="permission: read, design, plan or admin; repeatable"),
    ],
    owner: Annotated[
        str | None,
        typer.Option(
            metavar="TEAM", help="team that shares what the key makes; default: the key alone"
        ),
    ] = None,
    days: Annotated[
        int | None,
        typer.Option(
            metavar="DAYS",
            min=1,
            max=3650,
            help="days until the key expires; default: never",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Create a key and print it once; the database stores only its digest."""
    from topoloom.app.auth import api_keys

    with _engine() as engine:
        key, text = api_keys.create(engine, name, scope, days, owner)
        audit(engine, "keys create", f"{key.id} {name}")
    if as_json:
        typer.echo(json.dumps({"key": text, **_row(key)}))
        return
    typer.echo(text)
    scopes = ", ".join(key.scopes)
    typer.echo(f"key {key.id} of {key.name!r}, {scopes}: not shown again", err=True)


@app.command("list")
def list_(as_json: AsJson = False, as_csv: AsCsv = False) -> None:
    """List all keys, newest first, without their secret parts."""
    from topoloom.app.auth import api_keys

    with _engine() as engine:
        rows = [_row(key) for key in api_keys.all_keys(engine)]
    if as_json:
        typer.echo(json.dumps({"items": rows}))
        return
    Table(_COLUMNS, rows).print(as_csv)


@app.command()
def revoke(
    identity: Annotated[str, typer.Argument(metavar="ID", help="id of the key, as in the list")],
) -> None:
    """Revoke a key; every process refuses the key within five seconds."""
    from topoloom.app.auth import api_keys

    with _engine() as engine:
        key = api_keys.revoke(engine, identity)
        audit(engine, "keys revoke", key.id)
    typer.echo(f"key {key.id} of {key.name!r}: revoked")


def _row(key: "ApiKey") -> dict[str, Any]:
    from topoloom.app.auth.api_keys import now

    row = {"id": key.id, "name": key.name, "owner": key.owner, "scopes": list(key.scopes)}
    row["state"] = key.state(now())
    moments = {"created_at": key.created_at, "expires_at": key.expires_at, "used_at": key.used_at}
    return row | {name: _iso(moment) for name, moment in moments.items() if moment is not None}


def _iso(moment: datetime) -> str:
    return f"{moment.isoformat(timespec='seconds')}Z"


def _minute(moment: str) -> str:
    return moment[:16].replace("T", " ")


_AUDIT_COLUMNS = (
    Column("time (UTC)", "at", lambda moment: moment[:19].replace("T", " "), left=True),
    Column("owner", "owner", left=True),
    Column("key", "key", left=True),
    Column("action", "action", left=True),
    Column("target", "target", left=True),
    Column("status", "status"),
)


@app.command("audit-log")
@request_options(sweeps_and_jobs.LIMIT, sweeps_and_jobs.CURSOR, *administration.FILTERS)
def audit_log(fields: dict[str, Any], as_json: AsJson = False, as_csv: AsCsv = False) -> None:
    """List changing or refused administrative requests and commands, newest first."""
    from topoloom.app.documents.administration import page_of
    from topoloom.app.requests.administration import AuditLogRequest
    from topoloom.app.store.audit_log import actions, page

    asked = AuditLogRequest.model_validate(fields)
    with command_context() as context:
        engine = context.whole_store.keeping.engine
        document = page_of(*page(engine, asked.limit, asked.cursor, asked.wanted))
        known = actions(engine) if asked.action is not None and not document["items"] else None
    if known is not None and asked.action not in known:
        note = f"no entry has the action {asked.action!r}{did_you_mean(asked.action, known)}"
        print_note(f"{note}; the log has {', '.join(known) or 'no entries'}")
    if as_json:
        typer.echo(json.dumps(document))
        return
    Table(_AUDIT_COLUMNS, document["items"]).print(as_csv)
    if document["next_cursor"] is not None:
        typer.echo(f"more: --after {document['next_cursor']}", err=True)
