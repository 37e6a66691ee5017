"""Former names on the wire and on the command line, and the names that replace them.

One release accepts both.  `app.requests.base.Request` reads former members, `app.api.deprecation`
serves former paths, and `app.cli.command_groups` reads former options.
"""

import re
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

SENT: ContextVar[dict[str, str] | None] = ContextVar("former names", default=None)
"""Name -> former name that the client sent; None outside of a request to the service."""

MEMBERS: Mapping[str, str] = MappingProxyType(
    {
        "present": "current_wiring",
        "place": "host_assignment",
        "lanes": "ports_per_host",
        "spares": "use_spare_ports",
        "make_first": "make_before_break",
        "way": "repair",
        "over": "kind",
        "question": "template",
        "unasked": "unsolicited",
    }
)
"""Former member of a request -> member.  Cache keys have the former names."""

REMOVED = ("continue_winner", "hold_rate", "stop_hopeless")
"""Former members of a request for a learning-rate session, which have no effect."""

WORDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {"kind": MappingProxyType({"time": "workload", "faults": "fault-analysis"})}
)
"""Member -> former value -> value."""

PATHS: Mapping[str, str] = MappingProxyType(
    {
        "/v1/verify": "/v1/verifications",
        "/v1/patch-plans/{id}/survey": "/v1/patch-plans/{id}/fault-analysis",
        "/v1/plots/survey": "/v1/plots/fault-analysis",
    }
)
"""Former path, with all paths below it -> path."""

OPTIONS: Mapping[str, str] = MappingProxyType(
    {
        f"--{old}".replace("_", "-"): f"--{new}".replace("_", "-")
        for old, new in MEMBERS.items()
        if old not in ("over", "question")
    }
    | {"--opponent": "--baseline", "--labels": "--slack"}
)
"""Former option of the command line -> option."""

REMOVED_OPTIONS = frozenset(
    f"--{opposite}{name}".replace("_", "-") for name in REMOVED for opposite in ("", "no-")
)
"""Former flags of the command line, which have no effect."""


def current_names(value: Mapping[str, Any], former: Iterable[str]) -> dict[str, Any]:
    """Return the members of a request with current names and words; note former ones in `SENT`.

    >>> current_names({"over": "time", "nodes": [8]}, ("over",))
    {'nodes': [8], 'kind': 'workload'}

    Raises:
        PlacedError: A member has different values under its two names.
    """
    members = dict(value)
    for old in former:
        new = MEMBERS[old]
        held = [_word(new, members.pop(name)) for name in (old, new) if name in members]
        if old in value:
            note_former(new, old)
        if held[1:] and held[0] != held[1]:
            # Imported here: the command line starts faster without pydantic.
            from topoloom.app.requests.field_errors import PlacedError

            raise PlacedError(f"/{old}", f"must be absent, or equal {new}, which replaces it")
        if held:
            members[new] = held[0]
    return members


def without_removed(value: Mapping[str, Any], removed: Iterable[str]) -> dict[str, Any]:
    """Return the members of a request without those that have no effect; note these in `SENT`."""
    members = dict(value)
    for name in removed:
        if name in members:
            del members[name]
            note_former(name, name)
    return members


def _word(member: str, value: Any) -> Any:
    """Return the current value for a value of a member; note a former one."""
    words = WORDS.get(member, {})
    if not isinstance(value, str) or value not in words:
        return value
    note_former(member)
    return words[value]


def former_names(members: dict[str, Any], former: Iterable[str]) -> dict[str, Any]:
    """Return the members of a request with former names and words, in place.

    >>> former_names({"kind": "workload", "nodes": [8]}, ("over",))
    {'nodes': [8], 'over': 'time'}
    """
    for old in former:
        if (new := MEMBERS[old]) in members:
            value = members.pop(new)
            words = WORDS.get(new, {})
            members[old] = next((word for word, now in words.items() if now == value), value)
    return members


def both_names(members: Mapping[str, Any], former: Iterable[str]) -> dict[str, Any]:
    """Return the members of an answer with former and current names.

    >>> both_names({"over": "time", "nodes": [8]}, ("over",))
    {'over': 'time', 'nodes': [8], 'kind': 'workload'}
    """
    found = dict(members)
    for old in former:
        if old in members:
            new, value = MEMBERS[old], members[old]
            found[new] = WORDS[new].get(value, value) if new in WORDS else value
    return found


def note_former(name: str, former: str = "") -> None:
    """Note that the client sent a former name, or a former value of the name."""
    if (sent := SENT.get()) is not None and (former or name not in sent):
        sent[name] = former or name


def as_sent(text: str) -> str:
    """Return a text with the names that the client sent in its JSON pointers.

    >>> as_sent("/host_assignment: must be one of fixed, free")
    '/host_assignment: must be one of fixed, free'
    """
    if not (sent := SENT.get()):
        return text
    return re.sub(r"/(\w+)", lambda match: f"/{sent.get(match[1], match[1])}", text)
