"""The command tree: all commands in help panels, or the topology commands alone.

The topology commands load alone: loading the commands for panels, jobs, keys and plots takes
longer than looking up a stored answer.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from topoloom.app.requests.renamed import OPTIONS, REMOVED_OPTIONS

ABOUT_TOPOLOGIES = frozenset({"design", "files", "frontier", "measure", "optimum", "topology"})
"""The commands of `app.cli.commands.topologies`."""

HELP_PANELS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "Design": ("design", "iteration", "frontier", "best", "files", "sweep", "plot"),
        "Fabrics": (
            *("topology", "measure", "optimum", "faults", "catalog", "atlas", "certificate"),
        ),
        "Schedules": ("schedule", "verify", "simulate", "execute", "probe", "compare"),
        "Wiring": ("patch",),
        "Learning rates": ("lr",),
        "Service": ("serve", "mcp", "jobs", "keys", "db", "config"),
        "Stored answers": ("list", "cache"),
    }
)
"""Help panel -> its top-level commands, in the order of the help."""

RENAMED: Mapping[str, str] = MappingProxyType(
    {
        "survey": "faults",
        "families": "catalog families",
        "fabrics": "catalog fabrics",
        "presets": "catalog presets",
        "discover": "atlas discover",
        "certify": "certificate write",
        "check": "certificate check",
        "opponents": "compare baselines",
        "ways": "compare algorithms",
        "heights": "compare heights",
        "gaps": "sweep gaps",
        "migrate": "db migrate",
        **{name: f"cache {name}" for name in ("label", "pin", "unpin", "delete")},
        "worker": "jobs worker",
        "warm": "cache warm",
        "patch survey": "patch faults",
        "sweep time": "sweep workload",
    }
)
"""Former command name -> current name."""


def current_spelling(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the arguments with current command and option names, and a note for each former name.

    >>> current_spelling(["pin", "designs", "0123456"])
    (['cache', 'pin', 'designs', '0123456'], ['`topoloom pin` is now `topoloom cache pin`'])
    >>> current_spelling(["opponents", "mi300x", "--opponent=nccl-ring"])[0]
    ['compare', 'baselines', 'mi300x', '--baseline=nccl-ring']
    >>> current_spelling(["patch", "ring.json", "--place=free"])
    (['patch', 'ring.json', '--host-assignment=free'], ['`--place` is now `--host-assignment`'])

    Raises:
        typer.BadParameter: An option stands under its former and its current name.
    """
    words, notes = _current_command(list(arguments))
    end = words.index("--") if "--" in words else len(words)
    given = {word.partition("=")[0] for word in words[:end]}
    for place, word in enumerate(words[:end]):
        option, equals, value = word.partition("=")
        if option in REMOVED_OPTIONS:
            notes.append(f"`{option}` has no effect")
        if (now := OPTIONS.get(option)) is None:
            continue
        if now in given:
            raise typer.BadParameter(f"must not be combined with {now}", param_hint=option)
        words[place] = f"{now}{equals}{value}"
        notes.append(f"`{option}` is now `{now}`")
    kept = [word for word in words[:end] if word not in REMOVED_OPTIONS]
    return [*kept, *words[end:]], notes


def _current_command(arguments: list[str]) -> tuple[list[str], list[str]]:
    first = arguments[0] if arguments else ""
    # In release 0.1, `atlas` was a command that wrote the atlas.
    exports = arguments == ["atlas"] or (
        first == "atlas" and arguments[1].startswith("-") and arguments[1] not in _HELP_OPTIONS
    )
    former, count = (first, 1) if first in RENAMED or exports else (" ".join(arguments[:2]), 2)
    now = "atlas export" if exports else RENAMED.get(former)
    if now is None:
        return arguments, []
    return [*now.split(), *arguments[count:]], [f"`topoloom {former}` is now `topoloom {now}`"]


_HELP_OPTIONS = ("-h", "--help")


class _InPanels(TyperGroup):
    """A group that lists its commands in the order of `HELP_PANELS`."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [name for names in HELP_PANELS.values() for name in names if name in self.commands]


def serving(arguments: Sequence[str]) -> Any:
    """Return the topology commands if the arguments name one of them, else all commands."""
    alone = bool(arguments) and arguments[0] in ABOUT_TOPOLOGIES
    return click_group(_about_topologies() if alone else whole())


@cache
def click_group(app: typer.Typer) -> Any:
    """Return the click group of an application; typer makes a new one, in 50 ms, at each call.

    The help of its commands has the layout of click: on 80 columns, typer's table cuts off names of
    options and leaves 17 characters to their text.
    """
    group = typer.main.get_command(app)
    for command in _commands_of(group):
        command.rich_markup_mode = None
    return group


def _commands_of(group: Any) -> Iterator[Any]:
    for command in group.commands.values():
        if isinstance(command, TyperGroup):
            yield from _commands_of(command)
        else:
            yield command


@cache
def whole() -> typer.Typer:
    """Return all commands."""
    single, groups = _parts()
    app = _begun()
    for panel, names in HELP_PANELS.items():
        for name in names:
            if name in groups:
                app.add_typer(groups[name], name=name, rich_help_panel=panel)
            else:
                single[name].rich_help_panel = panel
                app.registered_commands.append(single[name])
    return app


def _parts() -> tuple[dict[str, Any], dict[str, typer.Typer]]:
    """Load all command modules; return the top-level commands and the groups."""
    from topoloom.app.cli.commands import (
        admin,
        api_keys,
        atlas,
        best,
        catalog,
        certificates,
        comparisons,
        database,
        faults,
        iterations,
        jobs,
        listing,
        lr_sessions,
        plots,
        retention,
        schedules,
        sweeps,
        topologies,
    )
    from topoloom.app.cli.commands.patch import push_netbox

    modules = (topologies, iterations, best, faults, schedules, admin, listing)
    single = {
        info.name or getattr(info.callback, "__name__", ""): info
        for module in modules
        for info in module.app.registered_commands
    }
    groups = {
        "atlas": atlas.app,
        "cache": retention.app,
        "catalog": catalog.app,
        "certificate": certificates.app,
        "compare": comparisons.app,
        "db": database.app,
        "jobs": jobs.jobs_app,
        "keys": api_keys.app,
        "lr": lr_sessions.app,
        "patch": push_netbox.app,
        "plot": plots.app,
        "sweep": sweeps.app,
    }
    return single, groups


@cache
def _about_topologies() -> typer.Typer:
    from topoloom.app.cli.commands import topologies

    app = _begun()
    app.add_typer(topologies.app)
    return app


def _begun() -> typer.Typer:
    """Return an application without commands."""
    app = typer.Typer(
        name="topoloom",
        cls=_InPanels,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": list(_HELP_OPTIONS)},
    )
    app.callback()(root)
    return app


def _show_version(requested: bool) -> None:
    if requested:
        from topoloom.app.config import KERNEL_VERSION, package_version

        typer.echo(f"topoloom {package_version()}, kernels {KERNEL_VERSION}")
        raise typer.Exit


def root(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            is_eager=True,
            callback=_show_version,
            help="print the package and kernel versions",
        ),
    ] = False,
) -> None:
    """Design directly wired clusters: topologies, verified schedules, wiring plans."""
