"""Options of several commands; the options of a topology source as one value."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from topoloom.app.cli import completion
from topoloom.app.cli.option_parameters import parameter, pop_options
from topoloom.app.requests.options.option import Option
from topoloom.app.requests.options.topology_source import (
    CHANGES,
    FORMAT,
    READING,
    SLOW_LINKS,
    WITHOUT_LINKS,
    WITHOUT_NODES,
)


def _one_form(context: typer.Context, parameter: typer.CallbackParam, value: bool) -> bool:
    """Refuse --csv together with --json, whichever is parsed later."""
    other = "as_csv" if parameter.name == "as_json" else "as_json"
    if value and context.params.get(other):
        raise typer.BadParameter("must not be combined with --json", param_hint="--csv")
    return value


AsJson = Annotated[bool, typer.Option("--json", help="print the JSON document", callback=_one_form)]
AsCsv = Annotated[
    bool,
    typer.Option("--csv", help="print the table as CSV with exact numbers", callback=_one_form),
]
Out = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="output file; .gz compresses, - is standard output"),
]
Source = Annotated[
    str,
    typer.Argument(
        metavar="FILE_OR_RECIPE",
        help="topology: a file (- is standard input), a recipe, the name of a fabric, or the id or "
        "name of a stored topology",
        autocompletion=completion.sources,
    ),
]


READS = "read_"
"""Prefix of the parameters that hold the options of a `Reading`."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Values of the options `READING` and `CHANGES`, by name."""

    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def source_format(self) -> str | None:
        """The format of the file; None if the user did not state a format."""
        return self.fields.get(FORMAT.name)

    def options(self) -> dict[str, Any]:
        """Return the reading options as request members; empty without options."""
        names = [option.name for option in READING if option is not FORMAT]
        return {name: self.fields[name] for name in names if name in self.fields}

    def changes(self) -> dict[str, Any]:
        """Return the lost and slow parts as request members; empty without changes."""
        lost, slow = (self.fields.get(option.name, ()) for option in (WITHOUT_LINKS, SLOW_LINKS))
        return without_none(
            without_nodes=self.fields.get(WITHOUT_NODES.name),
            without_links=[_pair(WITHOUT_LINKS, text) for text in lost],
            slow_links=[_pair(SLOW_LINKS, *_share(text)) for text in slow],
        )


def without_none(**options: Any) -> dict[str, Any]:
    """Return the options with a value: requests refuse null."""
    return {name: value for name, value in options.items() if value not in (None, [])}


def reads_topology(command: Callable[..., None]) -> Callable[..., None]:
    """Decorate a command with the options of `Reading`, passed as the parameter ``reading``."""
    own = [p for p in inspect.signature(command).parameters.values() if p.name != "reading"]
    options = (*READING, *CHANGES)
    added = [parameter(option, READS) for option in options]

    def reading_command(**values: Any) -> None:
        reading = Reading(pop_options(values, options, READS))
        command(**values, reading=reading)

    reading_command.__name__ = command.__name__
    reading_command.__doc__ = command.__doc__
    # typer reads the options from the signature.
    reading_command.__signature__ = inspect.Signature(  # pyright: ignore[reportFunctionMemberAccess]
        [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own] + added
    )
    return reading_command


def _share(text: str) -> tuple[str, str]:
    pair, mark, share = text.rpartition("=")
    if not mark:
        raise typer.BadParameter(f"must be A,B=1/2; not {text!r}", param_hint=SLOW_LINKS.spelling)
    return pair, share


def _pair(option: Option, text: str, *more: str) -> list[str]:
    ends = text.split(",")
    if len(ends) != 2:
        raise typer.BadParameter(
            f"must name two nodes as A,B; not {text!r}", param_hint=option.spelling
        )
    return [*ends, *more]
