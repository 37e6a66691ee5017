"""The collectives of kinds of process groups that run at once, in a request."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StrictStr

from topoloom.app.requests.base import Bytes, Request
from topoloom.app.requests.field_errors import PlacedError
from topoloom.app.requests.options.collectives import CollectiveName


class GroupTrafficRequest(Request):
    """The collective of every group of a kind, and its size."""

    collective: CollectiveName = Field(description="collective of every group of the kind")
    bytes: Bytes = Field(description="bytes of every group, in the convention of nccl-tests")


def _parsed(value: Any) -> Any:
    """Parse a text such as ``tensor=allreduce:64MiB,expert=all-to-all:1GiB``.

    >>> _parsed("tensor=allreduce:64MiB")
    {'tensor': {'collective': 'allreduce', 'bytes': '64MiB'}}
    """
    if not isinstance(value, str):
        return value
    found: dict[str, dict[str, str]] = {}
    for part in value.split(","):
        kind, given, rest = part.strip().partition("=")
        collective, sized, size = rest.partition(":")
        if not (given and sized):
            form = "KIND=COLLECTIVE:BYTES, such as tensor=allreduce:64MiB"
            raise ValueError(f"must have the form {form}; got {part!r}")
        if kind.strip() in found:
            raise ValueError(f"must name {kind.strip()} once")
        found[kind.strip()] = {"collective": collective.strip(), "bytes": size.strip()}
    return found


Traffic = Annotated[
    dict[Annotated[StrictStr, Field(max_length=100)], GroupTrafficRequest],
    BeforeValidator(_parsed),
    Field(min_length=1, max_length=32),
]
"""The traffic of every kind of group, as an object or as a text."""


def require_traffic_alone(request: Any) -> None:
    """Raise `PlacedError` unless groups come with group or traffic, and traffic is alone."""
    for name in ("group", "traffic"):
        if getattr(request, name) is not None and request.groups is None:
            raise PlacedError(f"/{name}", "must be given with groups only")
    if request.traffic is not None:
        for name in ("group", "collective"):
            if name in request.model_fields_set:
                raise PlacedError(f"/{name}", "must be absent with traffic")
