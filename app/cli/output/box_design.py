"""Text output of a design of boxes: the answer, the topologies, the value of more cables."""

from typing import Any

from topoloom.app.cli.output.formatting import seconds, size
from topoloom.app.cli.output.text_table import Column, Table, wrapped


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
    print(wrapped(_answer(document)))
    print()
    box_design_table(document).print()
    print()
    _more(document).print()
    for one in document["more_cables"]:
        if "reason" in one:
            print(wrapped(f"{one['degree']} cables: {one['reason']}"))
    for one in document.get("left_out", ()):
        print(wrapped(f"left out  {one['between']}: {one['reason']}"))


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
