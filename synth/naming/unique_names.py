"""Names that a JSON object gives twice: one of the two values would be lost without a word."""

from typing import TypeVar

from topoloom.synth.errors import quoted

V = TypeVar("V")


class RepeatedName(ValueError):
    """A JSON object gives one name twice."""


def unique_members(pairs: list[tuple[str, V]]) -> dict[str, V]:
    """Return the members of a JSON object: the ``object_pairs_hook`` for JSON that people write.

    >>> unique_members([("nodes", 8), ("degree", 4)])
    {'nodes': 8, 'degree': 4}

    Raises:
        RepeatedName: A name occurs twice.
    """
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        first = next(name for name in members if names.count(name) > 1)
        raise RepeatedName(f"an object names {quoted(first)} twice")
    return members
