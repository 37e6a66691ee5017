"""Values of a YAML text, with limits on its size and depth."""

from collections.abc import Iterable
from typing import Any

import yaml

from topoloom.synth.errors import InvalidTopology, quoted
from topoloom.synth.formats.topology_draft import MAX_DIGITS, wrong

MAX_CHARACTERS = 4 * 2**20
MAX_VALUES = 1_000_000
MAX_DEPTH = 20

# PyYAML raises these where a tag such as !!int does not fit its text.
_MALFORMED = (ValueError, TypeError, AttributeError, LookupError, OverflowError)

# The loader in C is ten times as fast; not every installation has it.  Both limit the depth.
_MERGE = "tag:yaml.org,2002:merge"
_SAFE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_SAFE):
    """A safe loader that refuses a name which a mapping gives twice; ``<<`` may repeat names."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key for key, _ in node.value if key.tag != _MERGE]
        members = super().construct_mapping(node, deep)
        names = [self.construct_object(key) for key in keys]
        if len(set(names)) < len(names):
            at = next(at for at, name in enumerate(names) if name in names[:at])
            rule = f"names {quoted(names[at])} twice"
            raise yaml.constructor.ConstructorError(None, None, rule, keys[at].start_mark)
        return members


def parse_yaml(text: str, characters: int = MAX_CHARACTERS, values: int = MAX_VALUES) -> Any:
    """Return the values of a YAML text: only texts, numbers, lists and dictionaries.

    >>> parse_yaml("a: [1, b]")
    {'a': [1, 'b']}

    Raises:
        InvalidTopology: The text is no YAML, has more characters or values than these, is nested
            too deep, or a mapping names a member twice.
    """
    if len(text) > characters:
        raise wrong("", f"must have at most {characters} characters")
    try:
        document = yaml.load(text, _Loader)
    except RecursionError:
        raise _too_deep(text) from None
    except yaml.MarkedYAMLError as error:
        at = "" if error.problem_mark is None else f"/line/{error.problem_mark.line + 1}"
        raise wrong(at, f"must be YAML: {' '.join(str(error.problem).split())}") from None
    except yaml.YAMLError as error:
        raise wrong("", f"must be YAML: {' '.join(str(error).split())}") from None
    except _MALFORMED:
        raise wrong("", "must be YAML; a value does not fit its tag or its type") from None
    try:
        _count(document, [0], 0, values)
    except RecursionError:
        raise _too_deep(text) from None
    return document


def _too_deep(text: str) -> InvalidTopology:
    """Return the error at the first value that is nested too deep; anchors have no line."""
    depth, at = 0, ""
    for event in yaml.parse(text, _Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            at = f"/line/{event.start_mark.line + 1}"
            break
    return wrong(at, f"must have values nested at most {MAX_DEPTH} deep")


def _count(value: Any, total: list[int], depth: int, most: int) -> None:
    """Count the values: anchors let a short text stand for a huge one, or for one without end."""
    total[0] += 1
    if depth > MAX_DEPTH:
        raise RecursionError
    if total[0] > most:
        raise wrong("", f"must have at most {most} values")
    if isinstance(value, int) and abs(value) >= 10**MAX_DIGITS:
        raise wrong("", f"must have integers of at most {MAX_DIGITS} digits")
    parts: Iterable[Any] = value if isinstance(value, list) else ()
    if isinstance(value, dict):
        parts = (*value, *value.values())
    for part in parts:
        _count(part, total, depth + 1, most)
