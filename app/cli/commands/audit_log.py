"""`topoloom keys audit-log`: who changed what, newest first."""

import json
from typing import Any

import typer

from topoloom.app.cli.commands.api_keys import app
from topoloom.app.cli.common import opened
from topoloom.app.cli.option_parameters import request_options
from topoloom.app.cli.output.text_table import Column, Table
from topoloom.app.cli.shared_options import AsCsv, AsJson
from topoloom.app.requests.options import administration, sweeps_and_jobs

_COLUMNS = (
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
    from topoloom.app.store.audit_log import page

    asked = AuditLogRequest.model_validate(fields)
    with opened() as context:
        engine = context.whole_store.keeping.engine
        document = page_of(*page(engine, asked.limit, asked.cursor, asked.wanted))
    if as_json:
        typer.echo(json.dumps(document))
        return
    Table(_COLUMNS, document["items"]).print(as_csv)
    if document["next_cursor"] is not None:
        typer.echo(f"more: --after {document['next_cursor']}", err=True)
