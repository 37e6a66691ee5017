"""Process groups in a request, and the collectives of their kinds that run at once."""

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, StrictInt, StrictStr

from topoloom.app.requests.base import Bytes, Request
from topoloom.app.requests.field_errors import PlacedError
from topoloom.app.requests.options.collectives import CollectiveName

if TYPE_CHECKING:
    from topoloom.schedules.model.schedule import Collective

NodeName = Annotated[StrictInt | StrictStr, Field(description="id of a compute node")]
GroupSizes = Annotated[
    StrictStr,
    AfterValidator(lambda text: "".join(text.split())),
    Field(max_length=200, description="sizes of dimensions, such as tensor=8,data=4"),
]
HostLists = Annotated[
    list[Annotated[list[NodeName], Field(min_length=2, max_length=10**5)]],
    Field(min_length=1, max_length=10**5, description="lists of hosts, one for each group"),
]


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


def traffic_by_kind(traffic: Traffic) -> "dict[str, tuple[Collective, int]]":
    """Return the collective and the bytes of every kind."""
    from topoloom.schedules.model.schedule import Collective

    return {kind: (Collective.of(one.collective), one.bytes) for kind, one in traffic.items()}


def canonical(traffic: Traffic) -> dict[str, Any]:
    """Return traffic as JSON, the part of a key."""
    return {kind: one.model_dump(mode="json") for kind, one in traffic.items()}


def require_with_groups(request: Any, *names: str) -> None:
    """Raise `PlacedError` for a member that is given without groups."""
    for name in names:
        if getattr(request, name) is not None and request.groups is None:
            raise PlacedError(f"/{name}", "must be given with groups only")


def require_absent(request: Any, beside: str, *names: str) -> None:
    """Raise `PlacedError` for a member that excludes ``beside``."""
    for name in names:
        if name in request.model_fields_set:
            raise PlacedError(f"/{name}", f"must be absent with {beside}")
