"""`topoloom patch cross-wire`: receive fibers to exchange once."""

from typing import Annotated

import typer

from topoloom.app.cli.commands.patch.repairs import app
from topoloom.app.cli.common import write
from topoloom.app.cli.output.text_table import print_note
from topoloom.app.cli.shared_options import Out


@app.command("cross-wire")
def cross_wire(
    plant: Annotated[
        str,
        typer.Argument(
            metavar="PLANT", help="plant file: plant/1, or a list of cables; or netbox:URL"
        ),
    ],
    out: Out = None,
) -> None:
    """List the receive fibers to exchange once so that every bidirectional topology fits.

    With --out, also write the plant after the exchange.
    """
    import json

    from topoloom.app.config import Settings
    from topoloom.app.files.local_files import is_stream
    from topoloom.app.inventory.sources import plant_of
    from topoloom.synth.wiring.plant import plant_document, read_plant
    from topoloom.synth.wiring.plant.cross_wiring import cross_wiring

    today = read_plant(plant_of(plant, Settings()))
    for assumption in today.assumed:
        print_note(assumption.text)
    change = cross_wiring(today)
    if change is None:
        typer.echo("no host has an odd number of duplex ports on each of two panels")
        raise typer.Exit(1)
    for fibre in change.fibres(today):
        host = today.hosts[fibre.host]
        typer.echo(
            f"{host.id} {host.ports[fibre.port].id}: receive fiber from "
            f"{today.full_name(fibre.before)} to {today.full_name(fibre.after)}",
            err=is_stream(out),
        )
    if out is not None:
        write(json.dumps(plant_document(change.plant), indent=1) + "\n", out, "plant")
