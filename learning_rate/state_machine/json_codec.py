"""Dataclasses as strict JSON and back, every float bit for bit.

NaN and infinities, which JSON lacks, are the strings "nan", "inf" and "-inf"; all other
floats are Python's shortest texts, which read back as the same bits.
"""

import math
import types
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

from topoloom.learning_rate.errors import InvalidState


def encode(value: Any) -> Any:
    """Return what `json.dumps` takes with ``allow_nan=False``.

    >>> encode((1, math.nan, None, "a"))
    [1, 'nan', None, 'a']
    """
    # The most frequent type first: states are written after every report.
    kind = type(value)
    if kind is float:
        return value if math.isfinite(value) else str(value)
    if kind in (int, str, bool, type(None)):
        return value
    if kind in (list, tuple):
        return [encode(item) for item in value]
    if is_dataclass(value):
        return {name: encode(getattr(value, name)) for name in _names(kind)}
    return value


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def decode(kind: Any, value: Any, at: str = "") -> Any:
    """Return a value of a type from its document; `InvalidState` names the place that is wrong.

    >>> decode(tuple[float, ...], [1, "nan"])
    (1.0, nan)
    >>> decode(int | None, "x", "/step")
    Traceback (most recent call last):
    ...
    topoloom.learning_rate.errors.InvalidState: /step: must be int or null
    """
    if is_dataclass(kind):
        return _decode_fields(kind, value, at)
    if get_origin(kind) in (Union, types.UnionType):
        inner = next(part for part in get_args(kind) if part is not type(None))
        if value is None:
            return None
        try:
            return decode(inner, value, at)
        except InvalidState as error:
            if error.field != at or is_dataclass(inner):
                raise
            raise InvalidState(at, f"{error.rule} or null") from None
    if get_origin(kind) is tuple:
        if not isinstance(value, list):
            raise InvalidState(at, "must be a list")
        inner = get_args(kind)[0]
        return tuple(decode(inner, item, f"{at}/{place}") for place, item in enumerate(value))
    return _decode_plain(kind, value, at)


def _decode_fields(kind: Any, value: Any, at: str) -> Any:
    hints = _hints(kind)
    if not isinstance(value, dict):
        raise InvalidState(at, "must be an object")
    for name in sorted(set(hints) ^ set(value)):
        rule = "is missing" if name in hints else "is not known"
        raise InvalidState(f"{at}/{name}", rule)
    return kind(**{name: decode(hint, value[name], f"{at}/{name}") for name, hint in hints.items()})


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _decode_plain(kind: type, value: Any, at: str) -> Any:
    if kind is float:
        if isinstance(value, str) and value in ("nan", "inf", "-inf"):
            return float(value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
    elif type(value) is kind:
        return value
    raise InvalidState(at, f"must be {kind.__name__}")
