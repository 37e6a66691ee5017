"""What is wrong with a request, field by field: a JSON pointer and a plain sentence each."""

from collections.abc import Sequence
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["MAX_ERRORS", "FieldError", "field_errors", "pointer"]

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


def pointer(field: str) -> str:
    """Return a field's name as a JSON pointer.

    >>> pointer("nodes"), pointer("/links/3"), pointer("")
    ('/nodes', '/links/3', '')
    """
    return field if not field or field.startswith("/") else f"/{field}"


def field_errors(error: "Validated") -> list[FieldError]:
    """Return what a request's validation found, as pointers and plain sentences.

    At most `MAX_ERRORS`; of more, the last entry says how many there are in all.
    """
    entries = error.errors()
    found = [_field_error(entry) for entry in entries[:MAX_ERRORS]]
    if len(entries) > MAX_ERRORS:
        found[-1] = FieldError(pointer="", detail=f"breaks {len(entries)} rules in all")
    return found


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
