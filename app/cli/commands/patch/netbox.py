"""`topoloom patch netbox`: requests to the REST interface of NetBox that record a plan."""

import json
from pathlib import Path
from typing import Annotated

import typer

from topoloom.app.cli.commands.patch.cross_wiring import app
from topoloom.app.cli.commands.patch.patch_plans import PlanFile, PlantOption, load_plan
from topoloom.app.cli.common import write
from topoloom.app.cli.output.text_table import print_note
from topoloom.app.cli.shared_options import Out


@app.command()
def netbox(
    plan: PlanFile,
    front_ports: Annotated[
        Path, typer.Option(metavar="FILE", help="reply to GET /api/dcim/front-ports/?limit=0")
    ],
    cables: Annotated[
        Path, typer.Option(metavar="FILE", help="reply to GET /api/dcim/cables/?limit=0")
    ],
    done: Annotated[
        bool, typer.Option("--done", help="record a plan whose moves are all made")
    ] = False,
    plant: PlantOption = None,
    out: Out = None,
) -> None:
    """Write the NetBox requests that record a plan: lists of cables by HTTP method.

    Send the lists in this order: DELETE, PATCH, POST.
    """
    from topoloom.app.files.local_files import read_json
    from topoloom.synth.wiring.devices.netbox_rest import changes, read_inventory

    plan_file = load_plan(plan, plant)
    replies = (read_json(path, plan_file.settings) for path in (front_ports, cables))
    lists = changes(plan_file.script, read_inventory(*replies), done)
    if lists.waiting:
        print_note(
            f"{len(lists.waiting)} new cables need --done: old cables still occupy their ports"
        )
    write(json.dumps(lists.given(), indent=1) + "\n", out, "lists for NetBox")
