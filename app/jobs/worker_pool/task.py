"""Tasks of the worker pool: the name of an operation, and its request."""

import hashlib
import json
import sys
from dataclasses import dataclass
from typing import Any, TypeVar

from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from topoloom.app.requests.base import Request
from topoloom.app.requests.field_errors import MAX_ERRORS
from topoloom.synth.naming.unique_names import RepeatedName, unique_members

B = TypeVar("B", bound=Request)


@dataclass(frozen=True, slots=True)
class Task:
    """An operation and its request; tasks of one identity are the same work.

    ``request`` is the JSON text of a request that the worker shall parse, or the request itself.
    ``owner`` is the owner of the documents that the task reads and makes; owners share no tasks,
    because a name means another document for each.
    """

    operation: str
    request: Request | bytes
    identity: str
    owner: str = ""

    @classmethod
    def of(cls, operation: str, request: Request | bytes, owner: str = "") -> "Task":
        """Return the task of a request of an owner.

        >>> Task.of("design", b"{}").identity == Task.of("cost", b"{}").identity
        False
        """
        body = request if isinstance(request, bytes) else _text(request).encode()
        head = f"{operation}\0{owner}\0".encode()
        return cls(operation, request, hashlib.sha256(head + body).hexdigest(), owner)

    def text(self) -> str:
        """Return the request as JSON; raise `RequestValidationError` for bytes that are no text.

        >>> Task.of("design", b"{}").text()
        '{}'
        """
        if not isinstance(self.request, bytes):
            return _text(self.request)
        try:
            return self.request.decode()
        except UnicodeDecodeError as error:
            raise _malformed("must be UTF-8", error.start) from None


def _text(request: Request) -> str:
    return request.model_dump_json(exclude_unset=True, exclude_none=True, by_alias=True)


def parse_request(model: type[B], body: bytes) -> B:
    """Return the request of a model that a text holds.

    Raises:
        RequestValidationError: As `parsed_json`, or the text breaks rules of the request; at most
            a hundred are named.
    """
    held = parsed_json(body)
    _require_few_unknown(model, held)
    try:
        return model.model_validate(held)
    except ValidationError as error:
        raise RequestValidationError(_named(error)) from None


def parsed_json(body: bytes) -> Any:
    """Return the value of a JSON text.

    Raises:
        RequestValidationError: The text is not JSON, or an object names a member twice.
    """
    try:
        return json.loads(body, object_pairs_hook=unique_members)
    except json.JSONDecodeError as error:
        raise _malformed(error.msg, error.pos) from None
    except RepeatedName as error:
        raise _malformed(str(error)) from None
    except UnicodeDecodeError as error:
        raise _malformed("must be UTF-8", error.start) from None
    except RecursionError:
        raise _malformed("is nested too deeply") from None
    except ValueError:
        rule = f"has a number of more than {sys.get_int_max_str_digits()} digits"
        raise _malformed(rule) from None


def _require_few_unknown(model: type[Request], held: object) -> None:
    """Raise for more unknown members than are named: pydantic takes 50 us for each."""
    if not isinstance(held, dict):
        return
    unknown = [name for name in held if name not in model.model_fields]
    if len(unknown) <= MAX_ERRORS or held.get("schema") == "topology/1":
        return
    first = [
        {"type": "extra_forbidden", "loc": ("body", name), "msg": ""}
        for name in unknown[: MAX_ERRORS - 1]
    ]
    raise RequestValidationError([*first, _many(len(unknown))])


def _many(count: int) -> dict[str, object]:
    return {"type": "too_many", "loc": ("body",), "msg": f"breaks {count} rules in all"}


def _malformed(rule: str, *place: int) -> RequestValidationError:
    entry = {"type": "json_invalid", "loc": ("body", *place), "msg": rule, "ctx": {"error": rule}}
    return RequestValidationError([entry])


def _named(error: ValidationError) -> list[dict[str, object]]:
    """Return the broken rules in the form of FastAPI; if many, the first ones and the count."""
    found: list[dict[str, object]] = [
        {**entry, "loc": ("body", *entry["loc"])}
        for entry in error.errors(include_url=False, include_input=False)
    ]
    if len(found) <= MAX_ERRORS:
        return found
    return [*found[: MAX_ERRORS - 1], _many(len(found))]
