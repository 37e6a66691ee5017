"""The Prefer header (RFC 7240): how long a client waits, or that it does not."""

import re
from dataclasses import dataclass

from topoloom.app.config import DEFAULT_WAIT_SECONDS, MAX_WAIT_SECONDS

__all__ = ["Preference", "preference"]

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_PREFERENCE = re.compile(
    rf'\s*({_TOKEN})\s*(?:=\s*({_TOKEN}|"(?:[^"\\]|\\.)*"))?\s*((?:;[^,]*)?)\s*(?:,|$)', re.ASCII
)


@dataclass(frozen=True, slots=True)
class Preference:
    """How long to wait for an answer before it is promised; ``applied`` is what was heard."""

    wait_seconds: float = DEFAULT_WAIT_SECONDS
    applied: str = ""


def preference(header: str | None, usual: int = DEFAULT_WAIT_SECONDS) -> Preference:
    """Return what a Prefer header says of waiting; without a word ``usual`` seconds are waited.

    ``wait`` is cut to a minute; without it ``respond-async`` means not to wait at all.  What
    is no preference, or another one, is passed over, as the RFC wants it; of one given
    several times the first counts.

    >>> preference("respond-async")
    Preference(wait_seconds=0, applied='respond-async')
    >>> preference("respond-async, wait=5, handling=lenient")
    Preference(wait_seconds=5, applied='respond-async, wait=5')
    >>> preference('wait="600"; x=y').applied, preference("wait=soon"), preference(None)
    ('wait=60', Preference(wait_seconds=10, applied=''), Preference(wait_seconds=10, applied=''))
    """
    given: dict[str, str] = {}
    position = 0
    text = header or ""
    while position < len(text) and (found := _PREFERENCE.match(text, position)):
        given.setdefault(found[1].lower(), (found[2] or "").strip('"'))
        position = found.end()
    applied, seconds = [], usual
    if "respond-async" in given:
        applied, seconds = ["respond-async"], 0
    if re.fullmatch("[0-9]{1,9}", given.get("wait", ""), re.ASCII):
        seconds = min(int(given["wait"]), MAX_WAIT_SECONDS)
        applied.append(f"wait={seconds}")
    return Preference(seconds, ", ".join(applied))
