"""`topoloom patch push-netbox`: a plan as a branch of NetBox."""

from typing import Annotated

import typer

from topoloom.app.cli.commands.patch.apply_plan import app
from topoloom.app.cli.commands.patch.patch_plans import PlanFile, PlantOption, load_plan


@app.command("push-netbox")
def push_netbox(
    plan: PlanFile,
    to: Annotated[
        str,
        typer.Option(
            metavar="netbox:URL[?site=SLUG]",
            help="NetBox with the plugin netbox-branching; default: the URL in NETBOX_URL",
            show_default=False,
        ),
    ] = "netbox:",
    plant: PlantOption = None,
    branch: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="name of the branch; default: from the id of the plan"),
    ] = None,
    wait_seconds: Annotated[
        int,
        typer.Option(
            min=1,
            max=3600,
            metavar="NUMBER",
            help="limit of the wait until NetBox has copied its tables, seconds",
        ),
    ] = 300,
) -> None:
    """Push a plan to NetBox as a branch with the deleted and created cables, for people to merge.

    The token comes from the environment: NETBOX_TOKEN.  A repeated push adds what is missing.
    """
    from topoloom.app.inventory.netbox_address import is_netbox
    from topoloom.app.inventory.sources import netbox

    if not is_netbox(to):
        raise typer.BadParameter("must begin with netbox:", param_hint="--to")
    script = load_plan(plan, plant).script
    with netbox(to) as found:
        from topoloom.app.inventory.push_plan import branch_name, push_plan

        name = branch_name(script) if branch is None else branch
        pushed = push_plan(script, found, name, wait_seconds, typer.echo)
    if pushed is None:
        typer.echo("NetBox holds the end of the plan already: no branch is needed")
        return
    typer.echo(
        f"{pushed.deleted} cables deleted, {pushed.changed} changed, {pushed.created} created; "
        f"review and merge: {pushed.page}"
    )
