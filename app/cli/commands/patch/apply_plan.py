"""`topoloom patch apply`: apply a plan to optical switches by NETCONF."""

import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from topoloom.app.cli.commands.patch.netbox import app
from topoloom.app.cli.commands.patch.patch_plans import PlanFile, PlantOption, load_plan

if TYPE_CHECKING:
    from topoloom.app.optical_switches.credentials import Address
    from topoloom.synth.wiring.devices import Script

CONFIRM_SECONDS = 60


@app.command()
def apply(
    plan: PlanFile,
    at: Annotated[
        list[str],
        typer.Option(
            metavar="PANEL=HOST[:PORT]",
            help="NETCONF server of a panel, port 830 by default; repeatable, once for each "
            "panel with moves",
        ),
    ],
    plant: PlantOption = None,
    commit: Annotated[
        bool, typer.Option("--commit", help="make the moves; default: only check them")
    ] = False,
    undo: Annotated[
        bool, typer.Option("--undo", help="undo the plan, from any stage of its progress")
    ] = False,
    confirm_seconds: Annotated[
        int,
        typer.Option(
            min=10,
            max=3600,
            metavar="NUMBER",
            help="seconds until the switches roll back an unconfirmed change",
        ),
    ] = CONFIRM_SECONDS,
) -> None:
    """Apply a plan to switches by NETCONF; without --commit, the switches only check the plan.

    The login comes from the environment: NETCONF_USERNAME, NETCONF_PASSWORD or NETCONF_KEY_FILE,
    and NETCONF_KNOWN_HOSTS.
    """
    from topoloom.app.cli.errors import one_line
    from topoloom.app.extras import require_extra
    from topoloom.app.optical_switches.apply_plan import carry_out
    from topoloom.app.optical_switches.credentials import Login, NoLogin
    from topoloom.app.optical_switches.netconf import PanelFailed, opened
    from topoloom.synth.wiring.operations.plan_progress import undone

    require_extra("ncclient", "netconf")
    script = load_plan(plan, plant).script
    if undo:
        script = undone(script)
    addresses = _addresses(script, at)
    try:
        login = Login.of(os.environ)
    except NoLogin as error:
        raise typer.BadParameter(str(error)) from None
    try:
        with ExitStack() as sessions:
            switches = {
                panel: sessions.enter_context(opened(script.plant, panel, address, login))
                for panel, address in addresses.items()
            }
            moves = carry_out(
                script, switches, commit=commit, seconds=confirm_seconds, say=typer.echo
            )
    except PanelFailed as error:
        typer.echo(one_line(f"topoloom: {error}"), err=True)  # may quote a reply of the switch
        raise typer.Exit(1) from None
    result = "made" if commit else "to make; nothing was changed, --commit makes them"
    typer.echo(f"{moves} moves {result}")


def _addresses(script: "Script", at: list[str]) -> "dict[int, Address]":
    """Return the switch address of every panel with moves."""
    from topoloom.app.optical_switches.credentials import Address

    addresses = {}
    for text in at:
        name, equals, address = text.rpartition("=")
        panel = script.plant.panel_index.get(name)
        if not equals or panel is None:
            raise typer.BadParameter(f"--at: there is no panel {name or text!r}")
        if panel in addresses:
            raise typer.BadParameter(f"--at: panel {name!r} is named twice")
        try:
            addresses[panel] = Address.of(address)
        except ValueError as error:
            raise typer.BadParameter(f"--at: {name}: {error}") from None
    for panel in script.panels:
        if panel not in addresses:
            raise typer.BadParameter(f"--at: panel {script.plant.panels[panel].id!r} is missing")
    return {panel: addresses[panel] for panel in script.panels}
