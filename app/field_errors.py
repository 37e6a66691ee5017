"""What is wrong with a request, field by field: a JSON pointer and a plain sentence each."""

from collections.abc import Sequence
from typing import Any, Protocol

from pydantic import BaseModel

__all__ = ["FieldError", "field_errors", "pointer"]


class Validated(Protocol):
    """An error of validation, of pydantic or of FastAPI."""

    def errors(self) -> Sequence[Any]:
        """Return every broken rule."""
        ...


class FieldError(BaseModel):
    """One broken rule."""

    pointer: str
    detail: str


def pointer(field: str) -> str:
    """Return a field's name as a JSON pointer.

    >>> pointer("nodes"), pointer("/links/3"), pointer("")
    ('/nodes', '/links/3', '')
    """
    return field if not field or field.startswith("/") else f"/{field}"


def field_errors(error: "Validated") -> list[FieldError]:
    """Return what a request's validation found, as pointers and plain sentences."""
    return [_field_error(entry) for entry in error.errors()]


_SENTENCES = {
    "missing": "is missing",
    "extra_forbidden": "is not a field of this request",
    "dict_type": "must be a JSON object",
    "model_type": "must be a JSON object",
    "model_attributes_type": "must be a JSON object",
}


def _plain(message: str) -> str:
    """Say what pydantic says in the form of all our errors: what must hold."""
    message = message.removeprefix("Value error, ").removeprefix("Input ")
    return message.replace("should ", "must ", 1)


def _field_error(entry: Any) -> FieldError:
    place: Sequence[Any] = entry["loc"]
    if place and place[0] in ("body", "query", "path", "header"):
        place = place[1:]
    escaped = (str(part).replace("~", "~0").replace("/", "~1") for part in place)
    detail = _SENTENCES.get(entry["type"]) or _plain(entry["msg"])
    return FieldError(pointer="".join(f"/{part}" for part in escaped), detail=detail)
