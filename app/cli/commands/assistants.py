"""`topoloom mcp`: tools of assistants."""

import os
from typing import Annotated

import typer

from topoloom.app.config import Settings

app = typer.Typer()

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
