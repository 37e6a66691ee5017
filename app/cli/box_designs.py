"""Designs of boxes on the command line: `topoloom design --box`, and their text output."""

import json
from typing import Any

import typer

from topoloom.app.cli.common import command_context, is_file, named_graphs
from topoloom.app.cli.output.formatting import seconds, size
from topoloom.app.cli.output.text_table import Column, Table, say
from topoloom.app.cli.shared_options import Reading, without_none
from topoloom.app.requests.options import boxes, cluster, patch_plans

_NAMES = {
    option.name: option.spelling
    for part in (boxes, cluster, patch_plans)
    for option in vars(part).values()
    if isinstance(option, boxes.Option)
}


def design_boxes(fields: dict[str, Any], as_json: bool, as_csv: bool) -> bool:
    """Print the design of boxes; return False if the options name no box.

    Raises:
        typer.BadParameter: An option of boxes is given without a box, or an option of other designs
            with a box.
    """
    if boxes.BOX.name not in fields:
        for option in boxes.OF_BOXES:
            if option.name in fields:
                raise typer.BadParameter("must be combined with --box", param_hint=option.spelling)
        return False
    from topoloom.app.requests.box_designs import BoxDesignRequest

    for name in fields:
        if name not in BoxDesignRequest.model_fields:
            rule = "must not be combined with --box"
            raise typer.BadParameter(rule, param_hint=_NAMES.get(name, f"--{name}"))
    for option in (cluster.COLLECTIVE, cluster.DESIGN_BYTES):
        if option.name not in fields:
            raise typer.BadParameter("must be given with --box", param_hint=option.spelling)
    from topoloom.app.services import box_designs

    if is_file(fields["box"]):
        fields["box"] = f"@{fields['box']}"
    with command_context() as context:
        graphs = without_none(graphs=named_graphs(fields["box"], Reading(), context) or None)
        request = BoxDesignRequest.model_validate(fields | graphs)
        document = box_designs.create(context, request).document()
        context.note(*document["notes"])

    if as_json:
        typer.echo(json.dumps(document, separators=(",", ":")))
    elif as_csv:
        box_design_table(document).print(as_csv=True)
    else:
        show_box_design(document)
    return True


def box_design_table(document: dict[str, Any]) -> Table:
    """Return the table of a box-design/1 document: topologies between boxes, fastest first."""
    priced = any("cost" in row["cables"] for row in document["topologies"])
    columns = (
        Column("between boxes", "between", left=True),
        Column("kind", "kind", left=True),
        Column("algbw GB/s", "algbw", "{:.2f}".format),
        Column("hops", "hops"),
        Column("at least", "least_seconds", seconds),
        Column("scheduled", "seconds", seconds),
        Column("copper", "copper", "{:g}".format, drop=2),
        Column("optics", "optics", "{:g}".format, drop=1),
        *(Column("cost", "cost", "{:g}".format),) * priced,
        Column(None, "recipe"),
        Column(None, "exact_algbw"),
    )
    rows = [row | row["cables"] for row in document["topologies"]]
    return Table(columns, rows)


def show_box_design(document: dict[str, Any]) -> None:
    """Print a box-design/1 document: the answer, the topologies, the value of more cables."""
    say(_answer(document))
    print()
    box_design_table(document).print()
    print()
    _more(document).print()
    for one in document["more_cables"]:
        if "reason" in one:
            say(f"{one['degree']} cables: {one['reason']}")
    for one in document.get("left_out", ()):
        say(f"left out  {one['between']}: {one['reason']}")


def _answer(document: dict[str, Any]) -> str:
    request, best = document["request"], document["best"]
    known = "seconds" in best
    time = seconds(best["seconds"] if known else best["least_seconds"])
    bound = document["bound_seconds"]
    return (
        f"{best['between']} between {request['nodes']} boxes of {request['box']} with "
        f"{request['degree']} cables each: {request['collective']} of {size(request['bytes'])} "
        f"over {document['accelerators']} accelerators in {'' if known else 'at least '}{time}, at "
        f"{best['algbw']:g} GB/s; at least {seconds(bound)} without switches."
    )


def _more(document: dict[str, Any]) -> Table:
    columns = (
        Column("cables each", "degree"),
        Column("algbw GB/s", "algbw", "{:.2f}".format),
        Column("gain", "gain", "{:.1%}".format),
        Column("at least", "least_seconds", seconds),
        Column("topology", "recipe", left=True),
    )
    return Table(columns, [one for one in document["more_cables"] if "recipe" in one])
