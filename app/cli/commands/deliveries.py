"""`topoloom jobs deliveries` and `topoloom jobs resend`: the webhooks of a job."""

import json
from typing import Annotated

import typer

from topoloom.app.cli.commands.jobs import JobArgument, Url, jobs_app, queried
from topoloom.app.cli.output.text_table import Column, Table
from topoloom.app.cli.shared_options import AsCsv, AsJson

_COLUMNS = (
    Column("delivery", "id", left=True),
    Column("state", "state", left=True),
    Column("attempts", "attempts", lambda attempts: str(len(attempts))),
    Column("last error", "error", left=True),
    Column(
        "next (UTC)", "next_attempt_at", lambda moment: moment[:19].replace("T", " "), left=True
    ),
    Column("webhook", "url", left=True),
)


@jobs_app.command()
def deliveries(
    job: JobArgument, url: Url = None, as_json: AsJson = False, as_csv: AsCsv = False
) -> None:
    """List the webhook deliveries of a job, with their attempts."""
    found = queried(url, lambda jobs: jobs.deliveries(job))
    if as_json:
        typer.echo(json.dumps(found))
        return
    rows = []
    for one in found["items"]:
        error = one["attempts"][-1]["error"] if one["attempts"] else None
        rows.append({k: v for k, v in (one | {"error": error}).items() if v is not None})
    Table(_COLUMNS, rows).print(as_csv)


@jobs_app.command()
def resend(
    job: JobArgument,
    delivery: Annotated[str, typer.Argument(metavar="DELIVERY", help="id of the delivery")],
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Send a webhook again, under the same id."""
    found = queried(url, lambda jobs: jobs.resend(job, delivery))
    typer.echo(json.dumps(found) if as_json else f"{found['id']}: {found['state']}")
