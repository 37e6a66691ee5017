"""Typer parameters from the table of options."""

import inspect
from collections.abc import Callable, Iterable
from decimal import Decimal
from types import MappingProxyType
from typing import Annotated, Any, get_origin

import typer
from pydantic import StrictBool, StrictFloat, StrictInt

from topoloom.app.cli import completion
from topoloom.app.requests.base import Bytes
from topoloom.app.requests.options.option import REQUIRED, Option, choices
from topoloom.synth.naming.suggestions import did_you_mean

FIELD_PREFIX = "field_"
"""Prefix of the parameters that `request_options` adds."""
_CONTEXT = "context_"
"""Parameter for typer's context, used where an option replaces the defaults of others."""
_SHORT = 30
"""Longest list of choices beside the name of an option; the help text has longer ones."""
_COMPLETED: MappingProxyType[str, Callable[[str], list[str]]] = MappingProxyType(
    {"families": completion.families, "preset": completion.presets}
)


def request_options(*options: Option) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorate a command with options of the table, before its own options.

    The command receives the mapping ``fields`` from request fields to values or defaults:
    integers, flags, texts and lists of texts.  The request validates them.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = [p for p in inspect.signature(command).parameters.values() if p.name != "fields"]
        added = [parameter(option) for option in options]
        if any(option.instead_of for option in options):
            kind = inspect.Parameter.KEYWORD_ONLY
            added.append(inspect.Parameter(_CONTEXT, kind, annotation=typer.Context))

        def command_with_fields(**values: Any) -> None:
            context = values.pop(_CONTEXT, None)
            fields = pop_options(values, options)  # removes the options from `values`
            _drop_replaced_defaults(fields, options, context)
            command(**values, fields=fields)

        command_with_fields.__name__ = command.__name__
        command_with_fields.__doc__ = command.__doc__
        everything = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own]
        # typer reads the options from the signature: arguments, table options, own options.
        first = [p for p in everything if p.name in ("reading", "source", "schedule", "identity")]
        rest = [p for p in everything if p not in first]
        command_with_fields.__signature__ = inspect.Signature(  # pyright: ignore[reportFunctionMemberAccess]
            [*first, *added, *rest]
        )
        return command_with_fields

    return decorate


def pop_options(
    values: dict[str, Any], options: Iterable[Option], prefix: str = FIELD_PREFIX
) -> dict[str, Any]:
    """Remove the options from a command's values, in place; return their values by name."""
    given: dict[str, Any] = {}
    for option in options:
        value = values.pop(prefix + option.name)
        if value not in (None, []):
            _require_allowed(option, value)
            given[option.name] = value
    return given


def _require_allowed(option: Option, value: Any) -> None:
    """Raise for a word or a number outside the option's choices or limits.

    Some commands have no request that validates.  The rules are worded as in
    `app.requests.field_errors`.
    """
    known, rule = choices(option.type), ""
    if known and value not in known:
        rule = f"must be one of {', '.join(known)}{did_you_mean(value, known)}"
    elif option.type is StrictInt and option.least is not None and option.most is not None:
        if value < option.least:
            rule = f"must be at least {option.least}"
        elif value > option.most:
            rule = f"must be at most {option.most}"
    if rule:
        raise typer.BadParameter(rule, param_hint=option.spelling)


def _drop_replaced_defaults(
    fields: dict[str, Any], options: Iterable[Option], context: typer.Context | None
) -> None:
    """Remove the defaults of options that a given option replaces, in place."""
    for option in options:
        for name in option.instead_of if option.name in fields else ():
            source = context and context.get_parameter_source(FIELD_PREFIX + name)
            if source is not None and source.name == "DEFAULT":
                fields.pop(name, None)


def parameter(option: Option, prefix: str = FIELD_PREFIX) -> inspect.Parameter:
    """Return an option as a command's parameter; the help does not show its name."""
    default = inspect.Parameter.empty if option.default is REQUIRED else _default(option)
    return inspect.Parameter(
        prefix + option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=_annotated(option),
    )


def _annotated(option: Option) -> Any:
    """Return the annotated type that typer reads."""
    known = choices(option.type)
    complete = _COMPLETED.get(option.name)
    if known:
        complete = completion.among(known)
    info = typer.Option(
        option.spelling,
        help=_help(option),
        metavar=_metavar(option),
        autocompletion=complete,
    )
    return Annotated[_typed(option) if option.default is REQUIRED else _typed(option) | None, info]


def _metavar(option: Option) -> str | None:
    if option.metavar or option.type is StrictBool:
        return option.metavar or None
    if words := " | ".join(choices(option.type)):
        return words if len(words) <= _SHORT else option.name.rpartition("_")[2].upper()
    return "SIZE" if option.type is Bytes else "NUMBER" if option.least is not None else "TEXT"


def _typed(option: Option) -> Any:
    if option.type in (StrictInt, StrictBool):
        return int if option.type is StrictInt else bool
    if option.type in (float, StrictFloat):
        return float
    return list[str] if get_origin(option.type) is list else str


def _default(option: Option) -> Any:
    """Return the default; sizes and decimals as text, as a user types them."""
    as_text = isinstance(option.default, Decimal) or (option.shown and _typed(option) is str)
    return option.shown if as_text else option.default


def _help(option: Option) -> str:
    parts = [option.text]
    if option.typed:
        parts.append(option.typed)
    words = choices(option.type)
    explained = all(f"{word}: " in option.text for word in words)
    if not (explained or option.metavar or _metavar(option) == " | ".join(words)):
        parts.append(f"one of {', '.join(words)}")
    if option.limits:
        parts.append(option.limits)
    return "; ".join(parts)
