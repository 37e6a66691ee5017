"""Suggestions for a name that was probably mistyped: "did you mean GeneralizedKautz?"."""

from collections.abc import Iterable
from difflib import get_close_matches

MAX_TYPED = 100
"""Longest name in characters that is compared; the comparison takes quadratic time."""


def did_you_mean(typed: object, known: Iterable[str]) -> str:
    """Return the end of a sentence that suggests the nearest known name; empty if none is near.

    Upper and lower case do not matter.

    >>> did_you_mean("GeneralisedKautz", ["Kautz", "GeneralizedKautz"])
    '; did you mean GeneralizedKautz?'
    >>> did_you_mean("Moebius", ["Kautz", "GeneralizedKautz"])
    ''
    """
    if not isinstance(typed, str) or len(typed) > MAX_TYPED:
        return ""
    names = {name.casefold(): name for name in known}
    near = get_close_matches(typed.casefold(), names, n=1)
    return f"; did you mean {names[near[0]]}?" if near else ""


def one_of(typed: object, known: Iterable[str], where: str = "") -> str:
    """Return the rule that an unknown name breaks.

    >>> one_of("grapml", ["json", "graphml"])
    "must be one of json, graphml; not 'grapml'; did you mean graphml?"
    """
    names = list(known)
    return f"must be one of {', '.join(names)}{where}; not {typed!r}{did_you_mean(typed, names)}"
