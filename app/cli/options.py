"""Options that several commands have, and those of naming a topology as one value."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli import completing

__all__ = ["AsCsv", "AsJson", "Out", "Reading", "Source", "given", "reads_topology"]

AsJson = Annotated[bool, typer.Option("--json", help="print the JSON document")]
AsCsv = Annotated[bool, typer.Option("--csv", help="print the table as CSV, numbers exact")]
Out = Annotated[Path | None, typer.Option(help="file to write; .gz is compressed")]
Source = Annotated[
    str,
    typer.Argument(
        metavar="FILE_OR_RECIPE",
        help="file that describes a topology, recipe, name of a fabric, or id or name of a "
        "stored topology",
        autocompletion=completing.sources,
    ),
]


READING = (
    *("capacity_attribute", "kind_attribute", "switch_value", "unit", "link_bandwidth", "nvlink"),
    *("boxes", "network", "oversubscription", "nics", "nic_bandwidth", "pcie"),
)
"""The options of `Reading` that say how a text is read."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How a topology's file is read, and what of the topology is lost or slow."""

    source_format: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="format of the file, such as gml, graphml, node-link, edgelist, matrix, nccl-xml "
            "or nvidia-smi; left out, told from its name or text",
        ),
    ] = None
    capacity_attribute: Annotated[
        str | None, typer.Option(help="graph: attribute of links that is their capacity")
    ] = None
    kind_attribute: Annotated[
        str | None, typer.Option(help="graph: attribute of nodes that tells switches")
    ] = None
    switch_value: Annotated[
        list[str] | None,
        typer.Option(help="graph: its value for switches; may be given several times"),
    ] = None
    unit: Annotated[str | None, typer.Option(help="graph: unit of the capacities")] = None
    link_bandwidth: Annotated[
        str | None, typer.Option(help="GB/s of one link, for nvidia-smi, rocm-smi and amd-smi")
    ] = None
    nvlink: Annotated[
        str | None,
        typer.Option(
            help="nccl-xml: NVLinks in place of the file's: none, dgx-1v, switch:GBPS, "
            "mesh:GBPS or pairs:GBPS"
        ),
    ] = None
    boxes: Annotated[
        int | None, typer.Option(help="copies of the box of a dump, joined by their NICs")
    ] = None
    network: Annotated[
        str | None, typer.Option(help="what joins the boxes: one, rails, rail-only or planes:K")
    ] = None
    oversubscription: Annotated[
        str | None, typer.Option(help="bandwidth into the leaf switches by that out of them")
    ] = None
    nics: Annotated[
        str | None, typer.Option(help="NICs of a box that lead out: names with commas, or number")
    ] = None
    nic_bandwidth: Annotated[str | None, typer.Option(help="GB/s of every NIC")] = None
    pcie: Annotated[
        str | None, typer.Option(help="auto, or always: PCIe and sockets, too, carry data")
    ] = None
    without_node: Annotated[
        list[str] | None, typer.Option(help="node that is lost; may be given several times")
    ] = None
    without_link: Annotated[
        list[str] | None,
        typer.Option(help="A,B: links that are lost, both ways; may be given several times"),
    ] = None
    slow_link: Annotated[
        list[str] | None,
        typer.Option(
            help="A,B=1/2: links with such a share of their capacity left, both ways; "
            "may be given several times"
        ),
    ] = None

    def options(self) -> dict[str, Any]:
        """Return how the file is read, as requests say it; empty for nothing."""
        names = {"switch_values" if name == "switch_value" else name: name for name in READING}
        return given(**{member: getattr(self, name) for member, name in names.items()})

    def changes(self) -> dict[str, Any]:
        """Return what is lost or slow, as requests say it; empty for nothing."""
        slow = [_pair("--slow-link", *_share(text)) for text in self.slow_link or ()]
        return given(
            without_nodes=self.without_node,
            without_links=[_pair("--without-link", text) for text in self.without_link or ()],
            slow_links=slow,
        )


def given(**options: Any) -> dict[str, Any]:
    """Return the options that were given; the requests know no null."""
    return {name: value for name, value in options.items() if value not in (None, [])}


def reads_topology(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `Reading`, which it takes as the parameter ``reading``."""
    own = [p for p in inspect.signature(command).parameters.values() if p.name != "reading"]
    added = [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=field.type
        )
        for field in fields(Reading)
    ]

    def reading_command(**options: Any) -> None:
        reading = Reading(**{parameter.name: options.pop(parameter.name) for parameter in added})
        command(**options, reading=reading)

    reading_command.__name__ = command.__name__
    reading_command.__doc__ = command.__doc__
    # This is what typer makes options of.
    reading_command.__signature__ = inspect.Signature(  # pyright: ignore[reportFunctionMemberAccess]
        [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own] + added
    )
    return reading_command


def _share(text: str) -> tuple[str, str]:
    pair, mark, share = text.rpartition("=")
    if not mark:
        raise typer.BadParameter(f"must be A,B=1/2; not {text!r}", param_hint="--slow-link")
    return pair, share


def _pair(option: str, text: str, *more: str) -> list[str]:
    ends = text.split(",")
    if len(ends) != 2:
        raise typer.BadParameter(f"must name two nodes as A,B; not {text!r}", param_hint=option)
    return [*ends, *more]
