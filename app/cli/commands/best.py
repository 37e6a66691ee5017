"""`topoloom best`: the best known topology, without a search."""

import json
from typing import Any

import typer

from topoloom.app.cli.common import command_context, with_tasks
from topoloom.app.cli.option_parameters import request_options
from topoloom.app.cli.shared_options import AsCsv, AsJson
from topoloom.app.requests.options import cluster, listing

app = typer.Typer()


@app.command()
@request_options(
    *listing.BEST_NODES,
    cluster.DEGREE,
    cluster.COLLECTIVE,
    cluster.DESIGN_BYTES,
    listing.BEST_WORKLOAD,
    cluster.PRESET,
    cluster.LINKS,
    cluster.MAX_STEPS,
    listing.MAX_BANDWIDTH,
    cluster.NODE_GBPS,
    cluster.PORT_GBPS,
    cluster.ALPHA_US,
    listing.SEARCH,
    listing.CANDIDATES,
)
def best(fields: dict[str, Any], as_json: AsJson = False, as_csv: AsCsv = False) -> None:
    """Find the best known topology, without a search."""
    from topoloom.app.cli.output.best import best_table
    from topoloom.app.cli.output.formatting import speed
    from topoloom.app.config import Settings
    from topoloom.app.documents import best as document
    from topoloom.app.requests.listing import BestRequest
    from topoloom.app.services import best as service

    request = BestRequest.model_validate(with_tasks(fields, Settings()))
    with command_context() as context:
        answer = document.of(service.find(context, request))
    if as_json:
        typer.echo(json.dumps(answer, separators=(",", ":")))
    else:
        best_table(answer).print(as_csv)
        if request.timed and answer["candidates"] and not as_csv:
            typer.echo(f"times for {speed(answer['request'])}")
    if not answer["candidates"]:
        typer.echo("no known topology matches; --search runs a search", err=True)
        raise typer.Exit(1)
