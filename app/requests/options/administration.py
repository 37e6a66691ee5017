"""Options of the audit log: filters."""

from topoloom.app.requests.options.listing import Moment
from topoloom.app.requests.options.option import Option

_DAY = "date or time, UTC by default, such as 2026-01-31T10:00:00Z"

OWNER = Option(name="owner", type=str, help="only entries of this owner", metavar="OWNER")
KEY = Option(name="key", type=str, help="only entries of the key with this id", metavar="ID")
ACTION = Option(
    name="action", type=str, help="only entries of this action, such as createKey", metavar="NAME"
)
SINCE = Option(
    name="since", type=Moment, help="only entries of this time or later", metavar="WHEN", typed=_DAY
)
UNTIL = Option(
    name="until", type=Moment, help="only entries before this time", metavar="WHEN", typed=_DAY
)
FILTERS = (OWNER, KEY, ACTION, SINCE, UNTIL)
