"""`topoloom atlas`: export the packaged topologies, search for better topologies."""

from pathlib import Path
from typing import Annotated, Any

import typer

from topoloom.app.cli.common import write
from topoloom.app.cli.option_parameters import request_options
from topoloom.app.cli.shared_options import Out
from topoloom.app.requests.options import cluster, listing

app = typer.Typer(
    no_args_is_help=True, help="Export the packaged topologies; search for better topologies."
)


@app.command()
@request_options(*listing.ATLAS, listing.ATLAS_FORMAT)
def export(fields: dict[str, Any], out: Out = None) -> None:
    """Write the packaged topologies and their citation."""
    from topoloom.app.requests.listing import AtlasRequest
    from topoloom.app.services import atlas as service

    form = fields.pop("format", "tsv")
    write(service.text(AtlasRequest.model_validate(fields), form), out, "atlas")


@app.command()
@request_options(cluster.LINKS)
def discover(
    fields: dict[str, Any],
    nodes: Annotated[
        str, typer.Option(metavar="NUMBERS", help="numbers of hosts, such as 64 or 16:32,48")
    ],
    degree: Annotated[
        str, typer.Option(metavar="NUMBERS", help="ports of each host, such as 4 or 2:8")
    ],
    seconds: Annotated[float, typer.Option(metavar="NUMBER", help="time of the search, seconds")],
    seed: Annotated[int, typer.Option(metavar="NUMBER", help="seed of the random numbers")] = 0,
    atlas: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="result file; an existing file is the start of the search, and updated",
        ),
    ] = None,
    slack: Annotated[
        bool, typer.Option("--slack", help="search for graphs with better slack schedules")
    ] = False,
) -> None:
    """Search for better topologies: lifts by annealing, or graphs for slack schedules."""
    from topoloom.app.cli.commands.atlas_discovery import search

    links = fields["links"]
    search(nodes, degree, links, seconds=seconds, seed=seed, path=atlas, by_slack=slack)
