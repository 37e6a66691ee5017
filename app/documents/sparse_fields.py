"""Sparse fields: documents with only the requested members.

A path names nested members, with dots; in a list, the path applies to every entry.  Paths that the
model of the document lacks are errors.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from topoloom.schedules.errors import ScheduleError, TooLarge

MAX_PICKED = 4 * 2**20
"""Size limit for sparse fields, in bytes: selection needs the whole document in memory."""


def select_fields(value: Any, paths: Sequence[str]) -> Any:
    """Return a document with only the members of these paths, in the order of the document.

    >>> select_fields({"id": "a", "best": {"name": "x", "seconds": 1}, "n": [{"a": 1, "b": 2}]},
    ...        ["n.b", "best.name"])
    {'best': {'name': 'x'}, 'n': [{'b': 2}]}
    """
    if isinstance(value, list):
        return [select_fields(entry, paths) for entry in value]
    if not isinstance(value, dict):
        return value
    below: dict[str, list[str]] = {}
    for path in paths:
        name, _, rest = path.partition(".")
        below.setdefault(name, []).append(rest)
    return {
        name: member if "" in below[name] else select_fields(member, below[name])
        for name, member in value.items()
        if name in below
    }


def check_paths(fields: str, model: Any) -> list[str]:
    """Return the comma-separated paths of a text; raise for members that the model lacks.

    Raises:
        ScheduleError: The error states the path and the existing members.
    """
    paths = fields.split(",")
    for path in paths:
        types: list[Any] = [model]
        for name in path.split("."):
            members = _members(types)
            if members is None:
                break
            if name not in members:
                shown = ", ".join(sorted(members)) or "none"
                raise ScheduleError("/fields", f"{path}: {name} must be one of {shown}")
            types = members[name]
    return paths


def parse_whole(pieces: str | bytes | Iterable[str | bytes]) -> Any:
    """Return the JSON value of a text, or of its pieces.

    Raises:
        TooLarge: The text has more than `MAX_PICKED` bytes.
    """
    parts, size = [], 0
    for piece in [pieces] if isinstance(pieces, str | bytes) else pieces:
        part = piece.encode() if isinstance(piece, str) else piece
        size += len(part)
        if size > MAX_PICKED:
            rule = f"must be absent for documents of more than {MAX_PICKED} bytes"
            raise TooLarge("/fields", rule)
        parts.append(part)
    return json.loads(b"".join(parts))


def _members(types: list[Any]) -> dict[str, list[Any]] | None:
    """Return the members of the models among some types; None where anything may be."""
    found: dict[str, list[Any]] = {}
    for one in types:
        for model in _models(one):
            if model is None:
                return None
            for name, info in model.model_fields.items():
                found.setdefault(info.alias or name, []).append(info.annotation)
    return found


def _models(annotation: Any) -> Iterator[type[BaseModel] | None]:
    """Yield the models in an annotation; None for a type that allows any object."""
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from _models(get_args(annotation)[0])
    elif origin in (list, tuple, set, Union, UnionType):
        for part in get_args(annotation):
            yield from _models(part)
    elif origin is dict or annotation in (dict, Any):
        yield None
    elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if "root" in annotation.model_fields:
            yield from _models(annotation.model_fields["root"].annotation)
        else:
            yield annotation
