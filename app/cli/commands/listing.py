"""`topoloom list`: stored answers, newest first."""

import json
import shlex
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoloom.app.cli.common import command_context
from topoloom.app.cli.completion import among
from topoloom.app.cli.option_parameters import request_options
from topoloom.app.cli.output.formatting import short_id
from topoloom.app.cli.output.text_table import Column, Table
from topoloom.app.cli.shared_options import AsCsv, AsJson
from topoloom.app.requests.options import cluster, patch_plans, sweeps_and_jobs, table
from topoloom.app.requests.options import listing as known
from topoloom.app.store.artifacts import KINDS

if TYPE_CHECKING:
    from topoloom.app.store.artifacts import Listed
from topoloom.synth.naming.suggestions import one_of

app = typer.Typer()

_NAMES = {plural.replace("_", "-"): kind for kind, plural in KINDS.items()}
_COLUMNS = (
    Column("id", "id", short_id, left=True),
    Column("name", "name", left=True),
    Column("request", "asked", left=True),
    Column("labels", "marks", left=True),
    Column("time (UTC)", "created_at", lambda moment: moment[:16].replace("T", " "), left=True),
)
KIND = Annotated[
    str,
    typer.Argument(
        metavar="KIND", help=", ".join(_NAMES), autocompletion=among(_NAMES), show_default=False
    ),
]
_ORDER = [option.name for option in table.OPTIONS]
_USUAL = {
    option.name: option.default
    for option in (cluster.LINKS, cluster.NODE_GBPS, cluster.ALPHA_US, patch_plans.PANELS)
}


@app.command("list")
@request_options(
    sweeps_and_jobs.LIMIT, sweeps_and_jobs.CURSOR, known.SORT, *known.FILTERS, known.FIELDS
)
def list_(
    fields: dict[str, Any],
    kind: KIND,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """List stored answers, newest first: designs, topologies, schedules and others."""
    from topoloom.app.documents import listing
    from topoloom.app.documents.sparse_fields import check_paths, select_fields
    from topoloom.app.requests.listing import ListRequest

    request = ListRequest.model_validate(fields)
    stored_kind = kind_of(kind)
    paths = request.fields and check_paths(request.fields, listing.entry_model(stored_kind))
    with command_context() as context:
        page = context.whole_store.page(stored_kind, request.limit, request.cursor, request.wanted)
    entries, cursor = page
    if as_json:
        document = listing.of(*page)
        if paths:
            document["items"] = select_fields(document["items"], paths)
        typer.echo(json.dumps(document))
        return
    Table(_COLUMNS, [_row(entry) for entry in entries]).print(as_csv)
    if cursor is not None:
        typer.echo(f"more: {_again(kind, fields, cursor)}", err=True)


def kind_of(name: str) -> str:
    """Return the document kind of a name such as ``patch-plans``."""
    if name not in _NAMES:
        raise typer.BadParameter(one_of(name, _NAMES), param_hint="KIND")
    return _NAMES[name]


def _again(kind: str, fields: dict[str, Any], cursor: str) -> str:
    """Return the command that lists the next page."""
    words = ["topoloom", "list", kind]
    for option in (sweeps_and_jobs.LIMIT, known.SORT, *known.FILTERS):
        if option.name in fields and fields[option.name] != option.default:
            value = fields[option.name]
            words += [option.spelling] if value is True else [option.spelling, str(value)]
    return shlex.join([*words, sweeps_and_jobs.CURSOR.spelling, cursor])


def _row(entry: "Listed") -> dict[str, Any]:
    summary = entry.summary
    return {
        "id": entry.id,
        "name": summary.get("name") or summary.get("recipe", ""),
        "asked": in_words(entry.request),
        "kernel_version": entry.kernel_version,
        "created_at": f"{entry.created_at.isoformat()}Z",
        "request": entry.request,
        "summary": summary,
        "marks": ", ".join([*(["pinned"] if entry.pinned else []), *entry.labels]),
    }


def in_words(request: dict[str, Any]) -> str:
    """Return a request as one line, without default values and with short ids.

    >>> in_words({"max_steps": 2, "links": "unidirectional", "nodes": 12})
    'nodes 12, max steps 2'
    """
    names = sorted(request, key=lambda name: _ORDER.index(name) if name in _ORDER else -1)
    return ", ".join(
        name.replace("_", " ") + ("" if request[name] is True else f" {_value(request[name])}")
        for name in names
        if request[name] is not False and _USUAL.get(name) != request[name]
    )


def _value(value: Any) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    return short_id(value) if len(value) == 64 and "(" not in value else value
