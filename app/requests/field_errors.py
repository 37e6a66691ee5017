"""Validation errors of a request: JSON pointers and rules in plain words."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from pydantic import BaseModel, ConfigDict, Field

MAX_ERRORS = 100
"""Limit of the reported fields."""


class Validated(Protocol):
    """An error of validation, of pydantic or of FastAPI."""

    def errors(self) -> Sequence[Any]:
        """Return every broken rule."""
        ...


class FieldError(BaseModel):
    """One broken rule."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    pointer: str = Field(description="JSON pointer of the offending field; empty for the body")
    detail: str = Field(description="the broken rule")


class PlacedError(ValueError):
    """A broken rule of a member inside the value that a validator checks.

    Args:
        pointer: JSON pointer from the validated value to the member.
        rule: The rule in plain words.
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
    """Return the errors of a request's validation, as pointers and rules.

    Beyond `MAX_ERRORS`, the last entry states the total number.

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
    """A broken rule; ``union`` points to the innermost enclosing value of a union type."""

    pointer: str
    detail: str
    union: str | None


# pydantic inserts such marks into the location of an error: the tried type of a union, or a key.
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
    """Return one error per pointer; the alternatives of a union become one rule."""
    groups: dict[tuple[str, str | None], dict[str, list[str]]] = {}
    for rule in broken:
        key = (rule.pointer, None) if rule.union is None else (rule.union, "union")
        groups.setdefault(key, {}).setdefault(rule.pointer, []).append(rule.detail)
    errors = []
    for (place, union), places in groups.items():
        # An error inside a value shows that the value matched a type of the union.
        inner = {p: details for p, details in places.items() if p != place} if union else {}
        errors += [
            FieldError(pointer=p, detail=_either(details))
            for p, details in (inner or places).items()
        ]
    return errors


_ONE_OF = "must be one of "


def _either(details: Sequence[str]) -> str:
    """Return alternative rules as one rule.

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
    """Return a bound in decimal notation.

    >>> _number(Decimal("0.000001")), _number("Decimal('0.000001')"), _number(0.0), _number(10**4)
    ('0.000001', '0.000001', '0', '10000')
    """
    text = f"{value:g}" if isinstance(value, float) else f"{value}"
    # pydantic gives the bound of a Decimal as its repr.
    number = Decimal(text.removeprefix("Decimal('").removesuffix("')"))
    return f"{number:f}"


def _words(context: Mapping[str, Any]) -> str:
    """Return the rule of a literal type.

    >>> _words({"expected": "'json' or 'csv'"})
    'must be one of json, csv'
    """
    words = re.findall(r"'([^']*)'", context["expected"])
    return f"must be {words[0]}" if len(words) == 1 else _ONE_OF + ", ".join(words)


def _count(bound: str, noun: str) -> Callable[[Mapping[str, Any]], str]:
    relation = "at least" if bound.startswith("min") else "at most"
    return lambda context: (
        f"must have {relation} {context[bound]} {noun}{'' if context[bound] == 1 else 's'}"
    )


_TYPES = {
    "must be a JSON object": ("dict_type", "model_type", "model_attributes_type"),
    "must be a list": ("list_type", "tuple_type"),
    "must be an integer": ("int_type", "int_parsing", "int_parsing_size", "int_from_float"),
    "must be a number": ("float_type", "float_parsing", "decimal_type", "decimal_parsing"),
    "must be a finite number": ("finite_number",),
    "must be true or false": ("bool_type", "bool_parsing"),
    "must be a text": ("string_type", "bytes_type"),
    "must be text that UTF-8 can encode": ("string_unicode",),
    "must be absent, not null": ("none_required",),
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
    """Return the rule in the form of all errors, without words of pydantic."""
    kind, context = entry["type"], entry.get("ctx", {})
    if kind in _SENTENCES:
        return _SENTENCES[kind]
    if kind in _RULES:
        return _RULES[kind](context)
    rule = str(entry["msg"]).removeprefix("Value error, ").removeprefix("Input ")
    return rule.replace("should ", "must ", 1)
