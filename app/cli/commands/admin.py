"""Commands for operators: config, serve, mcp."""

import os
from typing import Annotated

import typer

from topoloom.app.cli.effective_settings import overriding
from topoloom.app.cli.shared_options import AsCsv, AsJson, without_none
from topoloom.app.config import Settings

app = typer.Typer()


@app.command()
def config(as_json: AsJson = False, as_csv: AsCsv = False) -> None:
    """Show every setting, its value and its source."""
    import json

    from topoloom.app.cli.effective_settings import lines_of, settings_in_force
    from topoloom.app.cli.output.text_table import Column, Table

    rows = settings_in_force(Settings())
    if as_json:
        typer.echo(json.dumps({row["variable"]: row["value"] for row in rows}))
        return
    if as_csv:
        Table(tuple(Column(name, name) for name in rows[0]), rows).print(as_csv)
        return
    for source, heading in (("environment", "from the environment"), ("default", "defaults")):
        if lines := [line for row in rows if row["source"] == source for line in lines_of(row)]:
            typer.echo("\n".join((f"{heading}:", *lines)))


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(metavar="ADDRESS", help=overriding("host"))] = None,
    port: Annotated[int | None, typer.Option(metavar="PORT", help=overriding("port"))] = None,
    worker: Annotated[
        bool | None, typer.Option("--worker/--no-worker", help=overriding("run_worker"))
    ] = None,
) -> None:
    """Run the HTTP service."""
    settings = Settings(**without_none(host=host, port=port, run_worker=worker))
    from topoloom.app.jobs.worker_pool.fork_server import prepare

    # This process and the fork server import in parallel, each for 1 to 2 s.
    prepare()
    from topoloom.app.api.server import OpenToOthers
    from topoloom.app.api.server import serve as listen

    try:
        listen(settings)
    except OpenToOthers as error:
        raise typer.BadParameter(str(error), param_hint="--host") from None


KEY = "MCP_SERVICE_KEY"
"""The variable with the API key; no setting of the service, so without its prefix."""


@app.command()
def mcp(
    url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help=f"running service, with its API key in {KEY}; default: a service in this process",
        ),
    ] = None,
    compute: Annotated[
        bool,
        typer.Option("--compute", help="also offer the tools that compute and store answers"),
    ] = False,
) -> None:
    """Serve tools to assistants by MCP on standard input and output; read-only by default."""
    import asyncio

    from topoloom.app.extras import require_extra

    require_extra("fastmcp", "mcp")
    settings = Settings()
    if url is None:
        from topoloom.app.jobs.worker_pool.fork_server import prepare

        # This process and the fork server import in parallel, each for 1 to 2 s.
        prepare()
    from topoloom.app.mcp.stdio_server import NoService, serve

    try:
        asyncio.run(serve(url, os.environ.get(KEY), compute, settings))
    except NoService as error:
        raise typer.BadParameter(str(error), param_hint="--url") from None
