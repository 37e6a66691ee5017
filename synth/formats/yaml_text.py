"""Values of a YAML text, with limits on its size and depth."""

from collections.abc import Iterable
from typing import Any

import yaml

from topoloom.synth.formats.topology_draft import MAX_DIGITS, wrong

MAX_CHARACTERS = 4 * 2**20
MAX_VALUES = 1_000_000
MAX_DEPTH = 20

# PyYAML raises these where a tag such as !!int does not fit its text.
_MALFORMED = (ValueError, TypeError, AttributeError, LookupError, OverflowError)


def parse_yaml(text: str) -> Any:
    """Return the values of a YAML text: only texts, numbers, lists and dictionaries.

    >>> parse_yaml("a: [1, b]")
    {'a': [1, 'b']}

    Raises
    ------
    InvalidTopology
        The text is no YAML, too large, or nested too deep.
    """
    if len(text) > MAX_CHARACTERS:
        raise wrong("", f"must have at most {MAX_CHARACTERS} characters")
    # The loader in C recurses without a limit of its own, so the depth is counted first.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        deep = _too_deep(text, loader)
        document = None if deep else yaml.load(text, loader)
    except yaml.MarkedYAMLError as error:
        at = "" if error.problem_mark is None else f"/line/{error.problem_mark.line + 1}"
        raise wrong(at, f"must be YAML: {' '.join(str(error.problem).split())}") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise wrong("", f"must be YAML: {' '.join(str(error).split())}") from None
    except _MALFORMED:
        raise wrong("", "must be YAML; a value does not fit its tag or its type") from None
    if deep:
        raise wrong(f"/line/{deep}", f"must have values nested at most {MAX_DEPTH} deep")
    _count(document, [0], 0)
    return document


def _too_deep(text: str, loader: Any) -> int:
    """Return the line of the first value that is nested too deep; 0 if there is none."""
    depth = 0
    for event in yaml.parse(text, loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            return event.start_mark.line + 1
    return 0


def _count(value: Any, total: list[int], depth: int) -> None:
    """Count the values: anchors let a short text stand for a huge one, or for one without end."""
    total[0] += 1
    if total[0] > MAX_VALUES or depth > MAX_DEPTH:
        raise wrong("", f"must have at most {MAX_VALUES} values, nested at most {MAX_DEPTH} deep")
    if isinstance(value, int) and abs(value) >= 10**MAX_DIGITS:
        raise wrong("", f"must have integers of at most {MAX_DIGITS} digits")
    parts: Iterable[Any] = value if isinstance(value, list) else ()
    if isinstance(value, dict):
        parts = (*value, *value.values())
    for part in parts:
        _count(part, total, depth + 1)
