"""Designs of boxes on the command line: `topoloom design --box`."""

import json
from typing import Any

import typer

from topoloom.app.cli.common import is_file, named_graphs, opened
from topoloom.app.cli.shared_options import Reading, given
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
    with opened() as context:
        graphs = given(graphs=named_graphs(fields["box"], Reading(), context) or None)
        request = BoxDesignRequest.model_validate(fields | graphs)
        document = box_designs.create(context, request).document()
        context.note(*document["notes"])
    from topoloom.app.cli.output.box_design import box_design_table, show_box_design

    if as_json:
        typer.echo(json.dumps(document, separators=(",", ":")))
    elif as_csv:
        box_design_table(document).print(as_csv=True)
    else:
        show_box_design(document)
    return True
