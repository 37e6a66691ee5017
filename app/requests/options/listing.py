"""The options of asking what is known: filters and order of lists, and what a best must keep to."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field, StrictBool, StrictInt, WithJsonSchema

from topoloom.app.requests.base import Rational
from topoloom.app.requests.options.option import Option
from topoloom.synth.limits import MAX_HOSTS

__all__ = [
    "ATLAS",
    "ATLAS_FORMAT",
    "CANDIDATES",
    "FIELDS",
    "FILTERS",
    "OPTIONS",
    "SEARCH",
    "SORT",
    "AtlasFormat",
    "FamilyName",
    "FieldPaths",
    "Label",
    "LinkName",
    "Moment",
    "SortName",
]

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
"""A word that is put on a document."""
FieldPaths: TypeAlias = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*(,[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*)*$")
]


def _moment(value: Any) -> datetime:
    """Return a moment in UTC, without its zone, as the database has it.

    >>> _moment("2026-01-31").isoformat(), _moment("2026-01-31T10:00:00+02:00").isoformat()
    ('2026-01-31T00:00:00', '2026-01-31T08:00:00')
    """
    try:
        found = value if isinstance(value, datetime) else datetime.fromisoformat(value)
        return found.astimezone(UTC).replace(tzinfo=None) if found.tzinfo else found
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            "must be a date or a moment such as 2026-01-31 or 2026-01-31T10:00:00Z"
        ) from None


Moment: TypeAlias = Annotated[
    datetime, BeforeValidator(_moment), WithJsonSchema({"type": "string", "maxLength": 40})
]
_RATIONAL = "such as 1.0625 or 17/16"
_DAY = "a date or a moment, UTC unless it says otherwise, such as 2026-01-31T10:00:00Z"


def _numbers(name: str, what: str, most: int) -> tuple[Option, ...]:
    facts: dict[str, Any] = {"type": StrictInt, "most": most, "metavar": "NUMBER"}
    return (
        Option(name=name, help=f"only entries with exactly so many {what}", least=0, **facts),
        Option(
            name=f"{name}_min", help=f"only entries with at least so many {what}", least=0, **facts
        ),
        Option(
            name=f"{name}_max", help=f"only entries with at most so many {what}", least=0, **facts
        ),
    )


def _bandwidths() -> tuple[Option, ...]:
    facts: dict[str, Any] = {"type": Rational, "metavar": "FACTOR", "typed": _RATIONAL}
    what = "T_B in units of M/B"
    return (
        Option(name="bandwidth", help=f"only entries of exactly this {what}", **facts),
        Option(name="bandwidth_min", help=f"only entries of at least this {what}", **facts),
        Option(name="bandwidth_max", help=f"only entries of at most this {what}", **facts),
    )


NODES = _numbers("nodes", "nodes, including switches", 10**9)
DEGREE = _numbers("degree", "ports of a host", 10**9)
STEPS = _numbers("steps", "steps", 10**9)
BANDWIDTH = _bandwidths()
CREATED = (
    Option(
        name="created_min",
        type=Moment,
        help="only entries stored at this moment or later",
        metavar="WHEN",
        typed=_DAY,
    ),
    Option(
        name="created_max",
        type=Moment,
        help="only entries stored at this moment or earlier",
        metavar="WHEN",
        typed=_DAY,
    ),
)
LINKS = Option(name="links", type=LinkName, help="only entries with links of this kind")
FAMILY = Option(
    name="family",
    type=FamilyName,
    help="only entries whose recipe has this base family or operator",
    metavar="NAME",
)
LABEL = Option(name="label", type=Label, help="only entries with this label", metavar="LABEL")
PINNED = Option(
    name="pinned",
    type=StrictBool,
    help="only pinned entries; with false, only entries that are not pinned",
)
SORT = Option(
    name="sort",
    type=SortName,
    default="-created",
    help="order of the entries; with a minus sign, the newest or the largest first; entries "
    "without this number come last",
)
FIELDS = Option(
    name="fields",
    type=FieldPaths,
    help="members that each entry has, separated by commas; a dot leads into a member, such as "
    "id,summary.name; default: all",
    metavar="NAMES",
)
FILTERS: tuple[Option, ...] = (
    *(*NODES, *DEGREE, *STEPS, *BANDWIDTH, *CREATED),
    *(LINKS, FAMILY, LABEL, PINNED),
)
"""What entries of a list may be chosen by."""

# The atlas that comes with the package.
ATLAS_FORMAT = Option(
    name="format",
    type=AtlasFormat,
    help="tsv: what `topoloom atlas discover` continues from; json: atlas/1; csv: a table",
)
ATLAS: tuple[Option, ...] = (*NODES, *DEGREE, LINKS)
"""What points of the atlas may be chosen by."""

# The best that is known.
BEST_NODES = (
    Option(
        name="nodes", type=StrictInt, help="how many hosts", least=2, most=MAX_HOSTS, metavar="N"
    ),
    Option(
        name="nodes_min",
        type=StrictInt,
        help="instead of nodes: least number of hosts",
        least=2,
        most=MAX_HOSTS,
        metavar="N",
    ),
    Option(
        name="nodes_max",
        type=StrictInt,
        help="instead of nodes: largest number of hosts, at most 4096 more than the least",
        least=2,
        most=MAX_HOSTS,
        metavar="N",
    ),
)
MAX_BANDWIDTH = Option(
    name="max_bandwidth",
    type=Rational,
    help="only topologies of at most this T_B in units of M/B, and so on their transposes",
    metavar="FACTOR",
    typed=_RATIONAL,
)
BEST_WORKLOAD = Option(
    name="workload",
    type=list,
    help="instead: several collectives, each with its size and how often it is run, in a query "
    "as COLLECTIVE:BYTES or COLLECTIVE:BYTES:COUNT",
    least=1,
    most=1000,
    metavar="FILE",
    typed='a JSON file with a list of {"collective", "bytes", "count"}',
)
SEARCH = Option(
    name="search",
    type=StrictBool,
    default=False,
    help="search first, as a design or a frontier of these hosts does; of one number of hosts",
)
CANDIDATES = Option(
    name="limit",
    type=StrictInt,
    default=10,
    help="most topologies that are named",
    least=1,
    most=100,
)

OPTIONS: tuple[Option, ...] = (
    *FILTERS,
    ATLAS_FORMAT,
    *(SORT, FIELDS, *BEST_NODES, MAX_BANDWIDTH, BEST_WORKLOAD, SEARCH, CANDIDATES),
)
"""Every entry above."""
