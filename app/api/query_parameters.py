"""Query parameters from the table of options, validated by request models."""

import inspect
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar, get_args, get_origin

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, StrictBool, StrictInt, ValidationError
from starlette.requests import Request as HttpRequest

from topoloom.app.requests.options.option import REQUIRED, Option

R = TypeVar("R", bound=BaseModel)

_ASKED = "asked_"
"""Prefix of parameter names: names of options may be Python keywords."""
_REQUEST = "request_"
_SENT = inspect.Parameter(_REQUEST, inspect.Parameter.KEYWORD_ONLY, annotation=HttpRequest)
"""Parameter for the HTTP request, whose query tells sent values from defaults."""


def asked_by_query(request: type[R], *options: Option) -> Callable[..., Awaitable[R]]:
    """Return a dependency that reads a request model from the query parameters ``options``.

    Validation errors name the query parameter.
    """
    replaced = {option.name: option.instead_of for option in options if option.instead_of}

    async def read(**given: Any) -> R:
        sent = given.pop(_REQUEST, None)
        asked = {
            name.removeprefix(_ASKED): value for name, value in given.items() if value is not None
        }
        for name in replaced:
            for default in replaced[name] if name in asked else ():
                if default not in sent.query_params:
                    asked.pop(default, None)
        try:
            return request.model_validate(asked)
        except ValidationError as error:
            found = error.errors(include_url=False)
            entries = [entry | {"loc": ("query", *entry["loc"])} for entry in found]
            raise RequestValidationError(entries) from None

    read.__signature__ = inspect.Signature(  # pyright: ignore[reportFunctionMemberAccess]
        [*([_SENT] if replaced else []), *(_parameter(option) for option in options)]
    )
    return read


def _parameter(option: Option) -> inspect.Parameter:
    required = option.default is REQUIRED
    plain = _plain(option)
    return inspect.Parameter(
        _ASKED + option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if required else option.default,
        annotation=Annotated[plain if required else plain | None, option.query(alias=option.name)],
    )


def _plain(option: Option) -> Any:
    """Return the type of a parameter, which parses query text to numbers and booleans."""
    if option.type in (StrictInt, StrictBool):
        return int if option.type is StrictInt else bool
    if option.type is list:
        return list[str]
    if get_origin(option.type) is list:
        return list[get_args(option.type)[0]]
    return option.type
