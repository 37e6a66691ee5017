"""Options of lists, of the atlas and of `best`: filters, order, limits."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field, StrictInt, WithJsonSchema

from topoloom.app.requests.base import Rational
from topoloom.app.requests.options.factories import switch, whole
from topoloom.app.requests.options.option import Option
from topoloom.synth.limits import MAX_HOSTS

SortName: TypeAlias = Literal[
    "created",
    "-created",
    "nodes",
    "-nodes",
    "degree",
    "-degree",
    "steps",
    "-steps",
    "bandwidth",
    "-bandwidth",
]
AtlasFormat: TypeAlias = Literal["json", "tsv", "csv"]
LinkName: TypeAlias = Literal["unidirectional", "bidirectional"]
FamilyName: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9]{0,63}$")]
Label: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$")]
"""A user's tag on a document."""
FieldPaths: TypeAlias = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*(,[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*)*$")
]


def _moment(value: Any) -> datetime:
    """Return a moment in UTC without a zone, as the database stores moments.

    >>> _moment("2026-01-31").isoformat(), _moment("2026-01-31T10:00:00+02:00").isoformat()
    ('2026-01-31T00:00:00', '2026-01-31T08:00:00')
    """
    try:
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(value)
        return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            "must be a date or a moment such as 2026-01-31 or 2026-01-31T10:00:00Z"
        ) from None


Moment: TypeAlias = Annotated[
    datetime, BeforeValidator(_moment), WithJsonSchema({"type": "string", "maxLength": 40})
]
_RATIONAL = "such as 1.0625 or 17/16"
_DAY = "date or time, UTC by default, such as 2026-01-31T10:00:00Z"


def _range(name: str, noun: str, **facts: Any) -> tuple[Option, ...]:
    """Return the filters for one value, for a minimum and for a maximum."""
    return (
        Option(name=name, help=f"only entries with this {noun}", **facts),
        Option(name=f"{name}_min", help=f"only entries with at least this {noun}", **facts),
        Option(name=f"{name}_max", help=f"only entries with at most this {noun}", **facts),
    )


def _counts(name: str, noun: str) -> tuple[Option, ...]:
    return _range(name, noun, type=StrictInt, least=0, most=10**9, metavar="NUMBER")


NODES = _counts("nodes", "number of nodes, including switches")
DEGREE = _counts("degree", "number of ports per host")
STEPS = _counts("steps", "number of steps")
BANDWIDTH = _range(
    "bandwidth", "T_B in units of M/B", type=Rational, metavar="FACTOR", typed=_RATIONAL
)
_STORED: dict[str, Any] = {"type": Moment, "metavar": "WHEN", "typed": _DAY}
CREATED = (
    Option(name="created_min", help="only entries stored at this time or later", **_STORED),
    Option(name="created_max", help="only entries stored at this time or earlier", **_STORED),
)
LINKS = Option(name="links", type=LinkName, help="only entries with this kind of links")
FAMILY = Option(
    name="family",
    type=FamilyName,
    help="only entries whose recipe has this base family or operator",
    metavar="NAME",
)
LABEL = Option(name="label", type=Label, help="only entries with this label", metavar="LABEL")
PINNED = switch("pinned", "only pinned entries; over HTTP, false: only others", None)
SORT = Option(
    name="sort",
    type=SortName,
    default="-created",
    help="order of the entries; with a minus sign, the newest or largest first; entries without "
    "the value come last",
)
FIELDS = Option(
    name="fields",
    type=FieldPaths,
    help="members of each entry to return, comma-separated, with dots for nested members, such "
    "as id,summary.name; default: all",
    metavar="NAMES",
)
FILTERS: tuple[Option, ...] = (
    *(*NODES, *DEGREE, *STEPS, *BANDWIDTH, *CREATED),
    *(LINKS, FAMILY, LABEL, PINNED),
)
"""Filters of a list."""

ATLAS_FORMAT = Option(
    name="format",
    type=AtlasFormat,
    help="tsv: input of `topoloom atlas discover`; json: atlas/1; csv: a table",
)
ATLAS: tuple[Option, ...] = (*NODES, *DEGREE, LINKS)
"""Filters of the atlas that comes with the package."""

_HOSTS: dict[str, Any] = {"type": StrictInt, "least": 2, "most": MAX_HOSTS, "metavar": "N"}
BEST_NODES = (
    Option(name="nodes", help="exact number of hosts", **_HOSTS),
    Option(name="nodes_min", help="smallest number of hosts of a range", **_HOSTS),
    Option(
        name="nodes_max",
        help="largest number of hosts of a range, at most 4096 more than the smallest",
        **_HOSTS,
    ),
)
"""Numbers of hosts for `best`."""
MAX_BANDWIDTH = Option(
    name="max_bandwidth",
    type=Rational,
    help="limit of T_B of a topology and of its transpose, in units of M/B",
    metavar="FACTOR",
    typed=_RATIONAL,
)
BEST_WORKLOAD = Option(
    name="workload",
    type=list,
    help="several collectives with their sizes and counts, instead of one collective; over HTTP "
    "COLLECTIVE:BYTES or COLLECTIVE:BYTES:COUNT",
    least=1,
    most=1000,
    metavar="FILE",
    typed='JSON list of {"collective", "bytes", "count"}',
)
SEARCH = switch(
    "search", "first run the search of a design or frontier; for one number of hosts only"
)
CANDIDATES = whole("limit", "limit of listed topologies", 1, 100, default=10)

OPTIONS: tuple[Option, ...] = (
    *FILTERS,
    ATLAS_FORMAT,
    *(SORT, FIELDS, *BEST_NODES, MAX_BANDWIDTH, BEST_WORKLOAD, SEARCH, CANDIDATES),
)
"""All options of this module."""
