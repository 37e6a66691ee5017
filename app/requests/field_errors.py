"""Broken rules of a request: a JSON pointer and a plain sentence each."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from pydantic import BaseModel, ConfigDict, Field

MAX_ERRORS = 100
"""At most so many offending fields are named."""


class Validated(Protocol):
    """An error of validation, of pydantic or of FastAPI."""

    def errors(self) -> Sequence[Any]:
        """Return every broken rule."""
        ...


class FieldError(BaseModel):
    """One broken rule."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    pointer: str = Field(description="JSON pointer of the offending field; empty for the body")
    detail: str = Field(description="the rule that it breaks")


class PlacedError(ValueError):
    """A broken rule of a member inside the value that a validator checks.

    Parameters
    ----------
    pointer : str
        JSON pointer from the validated value to the member.
    rule : str
        The rule in plain words.
    """

    def __init__(self, pointer: str, rule: str) -> None:
        super().__init__(f"{pointer}: {rule}")
        self.pointer = pointer
        self.rule = rule


def pointer(field: str) -> str:
    """Return a field's name as a JSON pointer.

    >>> pointer("nodes"), pointer("/links/3"), pointer("")
    ('/nodes', '/links/3', '')
    """
    return field if not field or field.startswith("/") else f"/{field}"


def field_errors(error: "Validated") -> list[FieldError]:
    """Return what a request's validation found, as pointers and plain sentences.

    At most `MAX_ERRORS`; of more, the last entry says how many there are in all.

    >>> from pydantic import TypeAdapter, ValidationError
    >>> try:
    ...     TypeAdapter(dict[str, list[int] | bool]).validate_python({"a": "x"})
    ... except ValidationError as error:
    ...     print(field_errors(error))
    [FieldError(pointer='/a', detail='must be a list or true or false')]
    """
    entries = error.errors()
    found = _merged(_broken(entry) for entry in entries[:MAX_ERRORS])
    if len(entries) > MAX_ERRORS:
        found[-1] = FieldError(pointer="", detail=f"breaks {len(entries)} rules in all")
    return found


class _Broken(NamedTuple):
    """A broken rule; ``union`` points to the innermost value that may have one of several types."""

    pointer: str
    detail: str
    union: str | None


# How pydantic marks, in the place of an error, which type of a union it tried, or a key.
_MARK = re.compile(r".*\[.*\]", re.DOTALL)
_LAST_MARK = re.compile(r".*\[.*\]|constrained-[a-z]+|str|int|float|bool|decimal", re.DOTALL)


def _broken(entry: Any) -> _Broken:
    place: Sequence[Any] = entry["loc"]
    if place and place[0] in ("body", "query", "path", "header"):
        place = place[1:]
    found, union = "", None
    for number, part in enumerate(place):
        last = number == len(place) - 1
        sent = last and entry["type"] == "extra_forbidden"
        mark = _LAST_MARK if last else _MARK
        if isinstance(part, str) and mark.fullmatch(part) and not sent:
            union = found
        else:
            found += "/" + str(part).replace("~", "~0").replace("/", "~1")
    cause = entry.get("ctx", {}).get("error")
    if isinstance(cause, PlacedError):
        return _Broken(found + pointer(cause.pointer), cause.rule, union)
    return _Broken(found, _rule(entry), union)


def _merged(broken: Iterable[_Broken]) -> list[FieldError]:
    """Return one error for every place: the types that a union takes are one rule."""
    groups: dict[tuple[str, str | None], dict[str, list[str]]] = {}
    for one in broken:
        key = (one.pointer, None) if one.union is None else (one.union, "union")
        groups.setdefault(key, {}).setdefault(one.pointer, []).append(one.detail)
    found = []
    for (place, union), places in groups.items():
        # A value of the right type that breaks an inner rule is not of another type.
        inner = {p: details for p, details in places.items() if p != place} if union else {}
        found += [
            FieldError(pointer=p, detail=_either(details))
            for p, details in (inner or places).items()
        ]
    return found


_ONE_OF = "must be one of "


def _either(details: Sequence[str]) -> str:
    """Return several rules, of which one must hold, as one.

    >>> _either(["must be a list", "must be a JSON object"])
    'must be a list or a JSON object'
    """
    rules = list(dict.fromkeys(details))
    if all(rule.startswith(_ONE_OF) for rule in rules):
        return _ONE_OF + ", ".join(rule.removeprefix(_ONE_OF) for rule in rules)
    same = all(rule.startswith("must be ") for rule in rules)
    rest = [rule.removeprefix("must be ") for rule in rules[1:]] if same else rules[1:]
    return " or ".join([rules[0], *rest])


def _number(value: Any) -> str:
    """Return a bound as people write it.

    >>> _number(Decimal("0.000001")), _number("Decimal('0.000001')"), _number(0.0), _number(10**4)
    ('0.000001', '0.000001', '0', '10000')
    """
    text = f"{value:g}" if isinstance(value, float) else f"{value}"
    # pydantic gives the bound of a Decimal as a text that Python would read.
    number = Decimal(text.removeprefix("Decimal('").removesuffix("')"))
    return f"{number:f}"


def _words(context: Mapping[str, Any]) -> str:
    """Return the words that are allowed.

    >>> _words({"expected": "'json' or 'csv'"})
    'must be one of json, csv'
    """
    words = re.findall(r"'([^']*)'", context["expected"])
    return f"must be {words[0]}" if len(words) == 1 else _ONE_OF + ", ".join(words)


def _count(bound: str, what: str) -> Callable[[Mapping[str, Any]], str]:
    many = "at least" if bound.startswith("min") else "at most"
    return lambda context: (
        f"must have {many} {context[bound]} {what}{'' if context[bound] == 1 else 's'}"
    )


_TYPES = {
    "must be a JSON object": ("dict_type", "model_type", "model_attributes_type"),
    "must be a list": ("list_type", "tuple_type"),
    "must be an integer": ("int_type", "int_parsing", "int_parsing_size", "int_from_float"),
    "must be a number": ("float_type", "float_parsing", "decimal_type", "decimal_parsing"),
    "must be a finite number": ("finite_number",),
    "must be true or false": ("bool_type", "bool_parsing"),
    "must be a text": ("string_type", "bytes_type"),
    "must be a text that UTF-8 can write": ("string_unicode",),
    "must be left out, not null": ("none_required",),
    "is missing": ("missing",),
    "is not a field of this request": ("extra_forbidden",),
}
_RULES: Mapping[str, Callable[[Mapping[str, Any]], str]] = MappingProxyType(
    {
        "literal_error": _words,
        "enum": _words,
        "greater_than": lambda context: f"must be greater than {_number(context['gt'])}",
        "greater_than_equal": lambda context: f"must be at least {_number(context['ge'])}",
        "less_than": lambda context: f"must be less than {_number(context['lt'])}",
        "less_than_equal": lambda context: f"must be at most {_number(context['le'])}",
        "string_too_short": _count("min_length", "character"),
        "string_too_long": _count("max_length", "character"),
        "string_pattern_mismatch": lambda context: f"must match {context['pattern']}",
        "too_short": _count("min_length", "item"),
        "too_long": _count("max_length", "item"),
    }
)
_SENTENCES = {kind: sentence for sentence, kinds in _TYPES.items() for kind in kinds}


def _rule(entry: Any) -> str:
    """Return what must hold, in the form of all errors; no word of pydantic's own."""
    kind, context = entry["type"], entry.get("ctx", {})
    if kind in _SENTENCES:
        return _SENTENCES[kind]
    if kind in _RULES:
        return _RULES[kind](context)
    rule = str(entry["msg"]).removeprefix("Value error, ").removeprefix("Input ")
    return rule.replace("should ", "must ", 1)
