"""Commands that tell what is known: the best topology, and answers side by side."""

import json
from typing import Annotated, Any

import typer

from app.cli.answers import opened, require_one_form, source_of, with_tasks
from app.cli.asking import asks
from app.cli.options import AsCsv, AsJson, Reading, Source, reads_topology
from app.options import cluster, collectives, known, replaying

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


@app.command()
@asks(
    replaying.COMPARED_BYTES,
    replaying.COMPARED_ALPHA_US,
    replaying.SIMULATED_NODE_GBPS,
    cluster.MESSAGE_US,
    cluster.CHUNK_US,
)
def compare(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="designs or schedules")],
    ids: Annotated[
        list[str],
        typer.Argument(metavar="ID...", help="2 to 20 ids, or the first 6 or more of each"),
    ],
    asked: dict[str, Any],
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Put stored designs, or schedules, side by side."""
    from app.checking_requests import ComparisonRequest
    from app.printing.best import comparison_table
    from app.services import comparisons

    require_one_form(as_json, as_csv)
    if kind not in ("designs", "schedules"):
        raise typer.BadParameter("must be designs or schedules", param_hint="KIND")
    request = ComparisonRequest.model_validate({kind: ids, **asked})
    with opened() as context:
        answer = comparisons.create(context, request)
    if as_json:
        typer.echo(answer.text())
    else:
        comparison_table(answer.document()).print(as_csv)


SHOWN_SIZES = (1 << 10, 1 << 16, 1 << 20, 1 << 24, 1 << 30)
"""Sizes whose times people are shown; a document has more."""


@app.command()
@reads_topology
@asks(
    collectives.COMPARED_COLLECTIVE,
    collectives.ROOT,
    replaying.COMPARED_BYTES,
    replaying.COMPARED_ALPHA_US,
    replaying.SIMULATED_NODE_GBPS,
    cluster.MESSAGE_US,
    cluster.CHUNK_US,
)
def ways(
    reading: Reading,
    source: Source,
    asked: dict[str, Any],
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Compare all ways to run a collective on a fabric, and say which is fastest for which size."""
    from app.checking_requests import ComparisonRequest
    from app.printing.best import ways_notes, ways_table
    from app.services import comparisons

    require_one_form(as_json, as_csv)
    with opened() as context:
        wanted = {**asked, "topology": source_of(source, reading, context)}
        request = ComparisonRequest.model_validate(wanted)
        with context.watch():
            answer = comparisons.create(context, request)
    if as_json:
        typer.echo(answer.text())
        return
    document = answer.document()
    if not as_csv and request.bytes is None:
        sizes = document["fabric"]["sizes"]
        document["fabric"]["sizes"] = [one for one in sizes if one["bytes"] in SHOWN_SIZES]
    ways_table(document).print(as_csv)
    if not as_csv:
        typer.echo()
        for line in ways_notes(document):
            typer.echo(line)
