"""`topoloom atlas`: the topologies that come with the package, as a file."""

from typing import Any

import typer

from app.cli.answers import write
from app.cli.asking import asks
from app.cli.options import Out
from app.options import known

__all__ = ["app"]

app = typer.Typer()


@app.command()
@asks(*known.ATLAS, known.ATLAS_FORMAT)
def atlas(asked: dict[str, Any], out: Out = None) -> None:
    """Write the topologies that come with the package, and how to cite them."""
    from app.known_requests import AtlasRequest
    from app.services import atlas as service

    form = asked.pop("format", "tsv")
    write(service.text(AtlasRequest.model_validate(asked), form), out, "atlas")
