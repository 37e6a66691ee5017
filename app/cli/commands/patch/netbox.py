"""`topoloom patch netbox`: what NetBox is told of a plan by its REST interface."""

import json
from pathlib import Path
from typing import Annotated

import typer

from topoloom.app.cli.commands.patch.cross_wiring import app
from topoloom.app.cli.commands.patch.patch_plans import PlanFile, PlantOption, made
from topoloom.app.cli.common import write
from topoloom.app.cli.shared_options import Out

__all__ = ["app"]


@app.command()
def netbox(
    plan: PlanFile,
    front_ports: Annotated[
        Path, typer.Option(metavar="FILE", help="answer of GET /api/dcim/front-ports/?limit=0")
    ],
    cables: Annotated[
        Path, typer.Option(metavar="FILE", help="answer of GET /api/dcim/cables/?limit=0")
    ],
    done: Annotated[bool, typer.Option("--done", help="the plan has been carried out")] = False,
    plant: PlantOption = None,
    out: Out = None,
) -> None:
    """Write the requests to NetBox that record a plan: lists of cables by method.

    Send them in their order: DELETE, PATCH, POST.
    """
    from topoloom.app.files.local_files import read_json
    from topoloom.synth.wiring.devices.netbox_rest import changes, read_inventory

    at_hand = made(plan, plant)
    told = (read_json(path, at_hand.settings) for path in (front_ports, cables))
    found = changes(at_hand.script, read_inventory(*told), done)
    if found.waiting:
        typer.echo(
            f"note: {len(found.waiting)} new cables wait for --done: cables that go hold their "
            "ports",
            err=True,
        )
    write(json.dumps(found.given(), indent=1) + "\n", out, "lists for NetBox")
