"""`topoloom jobs`: run, list, show, await and cancel jobs; list and resend their webhooks."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer

from topoloom.app.cli.common import audit
from topoloom.app.cli.effective_settings import overriding
from topoloom.app.cli.option_parameters import request_options
from topoloom.app.cli.output.text_table import Column, Table
from topoloom.app.cli.shared_options import AsCsv, AsJson, without_none
from topoloom.app.config import Settings
from topoloom.app.requests.options import sweeps_and_jobs

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from topoloom.app.jobs.facade import Jobs


jobs_app = typer.Typer(no_args_is_help=True, help="Run, list, show, await and cancel jobs.")

Url = Annotated[
    str | None,
    typer.Option(metavar="URL", help="URL of a service; default: the database of the settings"),
]
JobArgument = Annotated[str, typer.Argument(metavar="JOB", help="id of the job")]
WAIT_SECONDS = 30.0

_COLUMNS = (
    Column("job", "id", left=True),
    Column("operation", "operation", left=True),
    Column("state", "state", left=True),
    Column("done", "progress", lambda share: f"{share:.0%}"),
    Column("created (UTC)", "created_at", lambda moment: moment[:19].replace("T", " "), left=True),
    Column("result", "result", left=True),
)


@jobs_app.command()
def worker(
    concurrency: Annotated[
        int | None, typer.Option(metavar="NUMBER", help=overriding("worker_concurrency"))
    ] = None,
    metrics_host: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help=overriding("worker_host"))
    ] = None,
    metrics_port: Annotated[
        int | None, typer.Option(metavar="PORT", help=overriding("worker_port"))
    ] = None,
) -> None:
    """Run jobs until stopped; any number of workers can share a database."""
    settings = Settings(
        **without_none(
            worker_concurrency=concurrency, worker_host=metrics_host, worker_port=metrics_port
        ),
        run_worker=True,
    )
    from topoloom.app.jobs.worker_pool.fork_server import prepare

    # This process and the fork server import in parallel, each for 1 to 2 s.
    prepare()
    from topoloom.app.api.server import OpenToOthers
    from topoloom.app.api.worker_server import work

    try:
        work(settings)
    except OpenToOthers as error:
        raise typer.BadParameter(str(error), param_hint="--metrics-host") from None


class _JobSource(Protocol):
    """Access to jobs, through a service or in the database."""

    def list(self, query: dict[str, Any]) -> dict[str, Any]: ...
    def show(self, job: str) -> dict[str, Any]: ...
    def cancel(self, job: str) -> dict[str, Any]: ...
    def deliveries(self, job: str) -> dict[str, Any]: ...
    def resend(self, job: str, delivery: str) -> dict[str, Any]: ...


class _Service:
    """Jobs of a service, over HTTP."""

    def __init__(self, url: str) -> None:
        from topoloom.app.client import Client

        self._client = Client(url, timeout_seconds=WAIT_SECONDS, attempts=3)

    def list(self, query: dict[str, Any]) -> dict[str, Any]:
        return dict(self._client.jobs(**query))

    def show(self, job: str) -> dict[str, Any]:
        return dict(self._client.job(job))

    def cancel(self, job: str) -> dict[str, Any]:
        return dict(self._client.cancel_job(job))

    def deliveries(self, job: str) -> dict[str, Any]:
        return dict(self._client.deliveries(job))

    def resend(self, job: str, delivery: str) -> dict[str, Any]:
        return dict(self._client.resend(job, delivery))


class _Database:
    """Jobs in the database of the settings."""

    def __init__(self, jobs: "Jobs", engine: "Engine") -> None:
        self._jobs, self._engine = jobs, engine

    def list(self, query: dict[str, Any]) -> dict[str, Any]:
        from topoloom.app.jobs import document as document
        from topoloom.app.jobs.model import State

        state = State(query["state"]) if "state" in query else None
        page = self._jobs.list(
            query["limit"], query.get("cursor"), state=state, operation=query.get("operation")
        )
        return document.page(*page)

    def show(self, job: str) -> dict[str, Any]:
        from topoloom.app.jobs import document as document

        return document.of(self._jobs.state(job))

    def cancel(self, job: str) -> dict[str, Any]:
        from topoloom.app.jobs import document as document

        cancelled = self._jobs.cancel(job)
        audit(self._engine, "jobs cancel", cancelled.id)
        return document.of(cancelled)

    def deliveries(self, job: str) -> dict[str, Any]:
        from topoloom.app.jobs.webhooks import document as document

        return document.delivery_list(self._jobs.deliveries(job))

    def resend(self, job: str, delivery: str) -> dict[str, Any]:
        from topoloom.app.jobs.webhooks import document as document

        return document.of(self._jobs.resend(job, delivery))


def query_result(url: str | None, query: Callable[[_JobSource], Any]) -> Any:
    """Return the result of a query to the service at a URL, or to the database."""
    if url is not None:
        try:
            return query(_Service(url))
        except ValueError as error:
            rule = str(error).removeprefix("base_url: ")
            raise typer.BadParameter(rule, param_hint="--url") from None
    from topoloom.app.api.job_worker import jobs_on
    from topoloom.app.store.database import open_database

    settings = Settings()
    engine: Engine = open_database(settings.database_url)
    try:
        return query(_Database(jobs_on(engine, settings), engine))
    finally:
        engine.dispose()


@jobs_app.command("list")
@request_options(
    sweeps_and_jobs.LIMIT,
    sweeps_and_jobs.CURSOR,
    sweeps_and_jobs.JOB_STATE,
    sweeps_and_jobs.JOB_OPERATION,
)
def list_(
    fields: dict[str, Any], url: Url = None, as_json: AsJson = False, as_csv: AsCsv = False
) -> None:
    """List jobs, newest first, without the parts of sweeps."""
    from topoloom.app.requests.listing import PageRequest

    PageRequest.model_validate(
        {name: fields[name] for name in ("limit", "cursor") if name in fields}
    )
    page = query_result(url, lambda jobs: jobs.list(fields))
    if as_json:
        typer.echo(json.dumps(page))
        return
    rows = [{name: value for name, value in job.items() if value is not None}
            for job in page["items"]]  # fmt: skip
    Table(_COLUMNS, rows).print(as_csv)
    if page["next_cursor"] is not None:
        more = f"--limit {fields['limit']} --after {page['next_cursor']}"
        typer.echo(f"more: topoloom jobs list {more}", err=True)


@jobs_app.command()
def show(job: JobArgument, url: Url = None, as_json: AsJson = False) -> None:
    """Show the state and progress of a job."""
    _print(query_result(url, lambda jobs: jobs.show(job)), as_json)


@jobs_app.command()
def cancel(job: JobArgument, url: Url = None, as_json: AsJson = False) -> None:
    """Cancel a job and its parts."""
    _print(query_result(url, lambda jobs: jobs.cancel(job)), as_json)


@jobs_app.command()
def wait(
    job: JobArgument,
    seconds: Annotated[
        float, typer.Option(min=0, help="limit of the wait, seconds; exit 1 at the limit")
    ] = 3600.0,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Wait until a job ends; exit 0 only if the job succeeded."""
    import time

    def last_state(jobs: _JobSource) -> dict[str, Any]:
        end = time.monotonic() + seconds
        while True:
            state = jobs.show(job)
            if state["state"] not in ("queued", "running") or time.monotonic() >= end:
                return state
            time.sleep(min(0.5, max(0.0, end - time.monotonic())))

    state = query_result(url, last_state)
    _print(state, as_json)
    if state["state"] != "done":
        raise typer.Exit(1)


def _print(job: dict[str, Any], as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(job))
        return
    done = "" if job["progress"] is None else f", {job['progress']:.0%}"
    message = f", {job['message']}" if job["message"] else ""
    typer.echo(f"{job['id']}: {job['operation']}, {job['state']}{done}{message}")
    if job["result"] is not None:
        typer.echo(f"result: {job['result']}")
    if job["problem"] is not None:
        typer.echo(f"problem: {job['problem']['detail']}")


_DELIVERY_COLUMNS = (
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
    found = query_result(url, lambda jobs: jobs.deliveries(job))
    if as_json:
        typer.echo(json.dumps(found))
        return
    rows = []
    for one in found["items"]:
        error = one["attempts"][-1]["error"] if one["attempts"] else None
        rows.append({k: v for k, v in (one | {"error": error}).items() if v is not None})
    Table(_DELIVERY_COLUMNS, rows).print(as_csv)


@jobs_app.command()
def resend(
    job: JobArgument,
    delivery: Annotated[str, typer.Argument(metavar="DELIVERY", help="id of the delivery")],
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Send a webhook again, under the same id."""
    found = query_result(url, lambda jobs: jobs.resend(job, delivery))
    typer.echo(json.dumps(found) if as_json else f"{found['id']}: {found['state']}")
