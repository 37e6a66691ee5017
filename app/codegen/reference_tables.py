"""The tables of options, fields and scopes in docs/, made from what is offered.

A page marks where a table belongs, and of what::

    <!-- options: plot sizes -->        options of a command
    <!-- options: FILE_OR_RECIPE -->    options of every command that reads a topology
    <!-- fields: DesignRequest -->      fields of a request
    <!-- scopes -->                     the scope of every operation of the service
    <!-- foreign -->                    files that are recognised but not read
    <!-- commands -->                   the commands in their groups
    <!-- python -->                     the public names of the Python package
    <!-- metrics -->                    the metrics of the service and of workers
    <!-- settings -->                   the settings and their defaults

and where it ends: ``<!-- end -->``.  ``python -m topoloom.app.codegen.reference_tables`` writes all
tables; a test fails when a page is stale.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from topoloom.app.cli.command_groups import HELP_PANELS, click_group, whole
from topoloom.app.cli.shared_options import READS
from topoloom.app.codegen.service_openapi import service_openapi
from topoloom.app.requests import (
    box_designs,
    designs,
    evaluations,
    group_schedules,
    iterations,
    listing,
    lr_sessions,
    network_curves,
    patch_plans,
    schedules,
    sweeps,
    topology_source,
)
from topoloom.app.requests.options.option import Option, choices
from topoloom.app.requests.options.table import OPTIONS
from topoloom.synth.formats.unsupported_kinds import FOREIGN, LOOSE

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = (
    "reference/cli.md",
    "reference/rest.md",
    "reference/fabrics.md",
    "reference/python.md",
    "how-to/watch-the-service.md",
)
_REQUESTS = (
    box_designs,
    designs,
    schedules,
    patch_plans,
    topology_source,
    listing,
    evaluations,
    group_schedules,
    iterations,
    lr_sessions,
    network_curves,
    sweeps,
)
_TABLE = re.compile(
    r"(?P<mark><!-- (?P<kind>[a-z]+)(: (?P<name>[^>]+?))? -->\n).*?(?P<end><!-- end -->)", re.S
)
_HELP = "--help"
_READING = "FILE_OR_RECIPE"


def with_new_tables(page: str) -> str:
    """Return the text of a page with its tables as they ought to be."""

    def table(match: re.Match[str]) -> str:
        columns, rows = _TABLES[match["kind"]]
        found = rows(match["name"]) if match["name"] else rows()
        lines = [_line(columns).replace("|  |", "| |"), "|" + "---|" * len(columns)]
        lines += map(_line, found)
        return f"{match['mark']}\n" + "\n".join(lines) + f"\n\n{match['end']}"

    return _TABLE.sub(table, page)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def command_rows() -> Iterator[tuple[str, str]]:
    """Yield every group of commands with links to them."""
    for panel, names in HELP_PANELS.items():
        yield panel, ", ".join(f"[`{name}`](#topoloom-{name})" for name in names)


def scope_rows() -> Iterator[tuple[str, str]]:
    """Yield every operation with the scope it states, in the order of the OpenAPI document.

    >>> next(row for row in scope_rows() if row[0] == "`POST /v1/designs`")
    ('`POST /v1/designs`', '`design`')
    """
    for path, operations in service_openapi()["paths"].items():
        for method, operation in operations.items():
            needed = [entry["key"] for entry in operation.get("security", ()) if entry]
            shown = _code(needed[0][0]) if needed else "open"
            yield _code(f"{method.upper()} {path}"), shown


def metric_rows() -> Iterator[tuple[str, str, str, str]]:
    """Yield every metric of this package: name, type, labels and meaning.

    >>> next(row for row in metric_rows() if row[0] == "`topoloom_jobs`")[1:3]
    ('gauge', '`state`')
    """
    from sqlalchemy import create_engine

    from topoloom.app.jobs.gauges import database_gauges
    from topoloom.app.observability.metrics import Metrics

    metrics, engine = Metrics(), create_engine("sqlite://")
    metrics.watch_database(engine, database_gauges(engine, 0))
    for family in metrics.families:
        labels = ", ".join(map(_code, family.labels))
        yield _code(family.name), family.type, labels, _escaped(family.text)


def setting_rows() -> Iterator[tuple[str, str, str]]:
    """Yield every setting: variable, meaning, and default, unless the meaning states it.

    >>> next(row for row in setting_rows() if row[0] == "`TOPOLOOM_WAIT_SECONDS`")[2]
    '`10`'
    """
    from topoloom.app.cli.effective_settings import as_variable
    from topoloom.app.config import Settings

    for name, field in Settings.model_fields.items():
        default = None if field.default_factory else field.default
        meaning = _escaped(field.description or "")
        yield _code(Settings.variable(name)), meaning, _code(as_variable(default))


def foreign_rows() -> Iterator[tuple[str, str]]:
    """Yield kinds of files, and what can be given instead of them.

    >>> next(foreign_rows())[1]
    "give an edge list, a line 'source target capacity' for each link"
    """
    kinds: dict[str, list[str]] = {}
    for kind in (*FOREIGN, *LOOSE):
        kinds.setdefault(kind.instead, []).append(kind.what)
    for instead, files in kinds.items():
        yield _escaped("; ".join(dict.fromkeys(files))), _escaped(instead)


def python_rows() -> Iterator[tuple[str, str]]:
    """Yield every public name of the package with the first sentence of its docstring.

    >>> next(row for row in python_rows() if row[0] == "`build`")[1].split()[0]
    'Return'
    """
    import topoloom

    for name in topoloom.__all__:
        told = inspect.getdoc(getattr(topoloom, name)) or ""
        yield _code(name), _escaped(" ".join(told.split("\n\n")[0].split()).replace("``", "`"))


def option_rows(name: str) -> Iterator[tuple[str, str, str]]:
    """Yield spelling, meaning and default of every option of a command.

    Those of reading a topology, which many commands have, come in one row; the name
    FILE_OR_RECIPE means these.

    >>> next(option_rows("plot frontier"))
    ('`--nodes N`', 'number of hosts; 2 to 16384', 'must be given')
    """
    alone = name == _READING
    command = _command("topology" if alone else name)
    parameters = [one for one in command.params if one.param_type_name == "option"]
    for parameter in parameters:
        if parameter.name.startswith(READS) == alone and _HELP not in parameter.opts:
            yield _row(parameter)
    shared = [f"`{one.opts[0]}`" for one in parameters if one.name.startswith(READS)]
    if shared and not alone:
        yield (
            ", ".join(shared),
            "how the topology is read and changed, [as above](#the-command-line)",
            "",
        )


def field_rows(name: str) -> Iterator[tuple[str, str, str]]:
    """Yield name, meaning and default of every field of a request.

    >>> list(field_rows("PageRequest"))[0]
    ('`limit`', 'entries per page; 1 to 100', '`20`')
    """
    model = next(getattr(module, name) for module in _REQUESTS if hasattr(module, name))
    entries: dict[str, Option] = {option.text: option for option in OPTIONS}
    for field, info in model.model_fields.items():
        option = entries.get(info.description or "")
        if option is None:
            yield f"`{field}`", info.description or "as in [topologies](#topologies)", ""
            continue
        known = choices(option.type)
        listed = _listed(known) if known else ""
        text = "; ".join(part for part in (listed, option.text, option.limits) if part)
        default = "must be given" if info.is_required() else _code(option.shown)
        yield f"`{field}`", _escaped(text), default


def _row(parameter: Any) -> tuple[str, str, str]:
    words = (parameter.metavar or "").split(" | ")
    metavar = f" {words[0]}" if len(words) == 1 and words[0] else ""
    listed = f"{_listed(words)}; " if len(words) > 1 else ""
    default = parameter.default if parameter.default not in (None, False, "") else ""
    shown = "must be given" if parameter.required else _code(str(default))
    return f"`{parameter.opts[0]}{metavar}`", _escaped(listed + (parameter.help or "")), shown


def _command(name: str) -> Any:
    found: Any = click_group(whole())
    for word in name.split():
        found = found.commands[word]
    return found


def _listed(words: Any) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


_TABLES: dict[str, tuple[tuple[str, ...], Callable[..., Iterator[tuple[str, ...]]]]] = {
    "options": (("option", "", "default"), option_rows),
    "fields": (("field", "", "default"), field_rows),
    "scopes": (("operation", "scope"), scope_rows),
    "commands": (("group", "commands"), command_rows),
    "foreign": (("the file is", "the error says"), foreign_rows),
    "python": (("name", ""), python_rows),
    "settings": (("variable", "", "default"), setting_rows),
    "metrics": (("metric", "type", "labels", "meaning"), metric_rows),
}
"""Kind of a mark -> columns and rows of its table."""


if __name__ == "__main__":
    for name in PAGES:
        path = DOCS / name
        path.write_text(with_new_tables(path.read_text()))
