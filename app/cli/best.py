"""`topoloom best`: the best topology that is known, without a search."""

import json
from typing import Any

import typer

from app.cli.answers import opened, require_one_form, with_tasks
from app.cli.asking import asks
from app.cli.options import AsCsv, AsJson
from app.options import cluster, known

__all__ = ["app"]

app = typer.Typer()


@app.command()
@asks(
    *known.BEST_NODES,
    cluster.DEGREE,
    cluster.COLLECTIVE,
    cluster.DESIGN_BYTES,
    known.BEST_WORKLOAD,
    cluster.PRESET,
    cluster.LINKS,
    cluster.MAX_STEPS,
    known.MAX_BANDWIDTH,
    cluster.NODE_GBPS,
    cluster.PORT_GBPS,
    cluster.ALPHA_US,
    known.SEARCH,
    known.CANDIDATES,
)
def best(asked: dict[str, Any], as_json: AsJson = False, as_csv: AsCsv = False) -> None:
    """Find the best topology that is known, without a search."""
    from app.config import Settings
    from app.documents import best as document
    from app.known_requests import BestRequest
    from app.printing.best import best_table
    from app.services import best as service

    require_one_form(as_json, as_csv)
    request = BestRequest.model_validate(with_tasks(asked, Settings()))
    with opened() as context:
        found = document.of(service.find(context, request))
    if as_json:
        typer.echo(json.dumps(found, separators=(",", ":")))
    else:
        best_table(found).print(as_csv)
    if not found["candidates"]:
        typer.echo("nothing is known of such hosts; --search looks for more", err=True)
        raise typer.Exit(1)
