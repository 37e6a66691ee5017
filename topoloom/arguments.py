"""Parse arguments of the API: sources of topologies, sizes, rates, kinds of links."""

import re
from collections.abc import Collection, Mapping
from decimal import Decimal
from fractions import Fraction
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from topoloom.synth.evaluation.cost import Links
    from topoloom.synth.recipes.recipe import Recipe
    from topoloom.synth.topology.topology import Topology

    Source: TypeAlias = "Topology | Recipe | str"

Rate: TypeAlias = int | float | str | Decimal | Fraction

_FILE_NAME = re.compile(r"\S+\.[A-Za-z][A-Za-z0-9]{1,9}")
"""A text such as ``fabric.json``: no name of a fabric and no line of a file looks like this."""


def is_file_name(text: str) -> bool:
    """Return whether a text is the name of a file, rather than a name or a file's content.

    >>> is_file_name("out/fabric.json"), is_file_name("dgx-a100-2"), is_file_name("a b 1.5")
    (True, False, False)
    """
    return _FILE_NAME.fullmatch(text) is not None


def topology_of(source: "Source") -> "Topology":
    """Return the topology of a recipe, boxes or a fabric's name; return a topology as it is."""
    from topoloom.synth.topology.topology import Topology

    if isinstance(source, Topology):
        return source
    if isinstance(source, str):
        # Every recipe has parentheses; no name of a fabric has.
        if "(" not in source:
            from topoloom.synth.errors import InvalidRecipe
            from topoloom.synth.fabrics import fabric

            if is_file_name(source):
                raise InvalidRecipe("source", f"read a file by read(pathlib.Path({source!r}))")

            return fabric(source)
        from topoloom.synth.boxes.expression import is_boxes, topology_of_boxes
        from topoloom.synth.recipes.recipe import parse

        if is_boxes(source):
            return topology_of_boxes(source)
        source = parse(source)
    from topoloom.synth.recipes.build import build as built

    return built(source)


def links_of(links: str) -> "Links":
    """Return the kind of links that a text names."""
    from topoloom.synth.evaluation.cost import Links

    if links not in list(Links):
        raise ValueError(f"links: must be one of {', '.join(Links)}; not {links!r}")
    return Links(links)


def bytes_of(size: int | str) -> int:
    """Return the number of bytes of a number, or of a text such as ``"1MiB"``."""
    from topoloom.app.requests.base import parse_bytes

    try:
        return parse_bytes(size)
    except ValueError as error:
        raise ValueError(f"size: {error}; not {size!r}") from None


def whole(value: int, name: str, least: int | None = None) -> int:
    """Return an integer, also one of NumPy, of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ValueError(f"{name}: must be an integer, not {value!r}")
    if least is not None and value < least:
        raise ValueError(f"{name}: must be at least {least}, not {value}")
    return int(value)


def optional_whole(value: int | None, name: str) -> int | None:
    """Return an integer, or None.

    >>> optional_whole("4", "chunks")
    Traceback (most recent call last):
    ...
    ValueError: chunks: must be an integer, not '4'
    """
    return None if value is None else whole(value, name)


def require_type(value: object, name: str, noun: str, *types: Any) -> None:
    """Raise ``ValueError`` unless a value has one of the types.

    >>> require_type("x", "groups", "a mapping", dict)
    Traceback (most recent call last):
    ...
    ValueError: groups: must be a mapping, not 'x'
    """
    if not isinstance(value, types):
        from topoloom.synth.errors import quoted

        raise ValueError(f"{name}: must be {noun}, not {quoted(value)}")


def require_collections(shards: object, participants: object) -> None:
    """Raise ``ValueError`` if shards are no mapping, or participants no collection."""
    if shards is not None:
        require_type(shards, "shards", "a mapping of nodes to sizes", Mapping)
    if participants is not None:
        require_type(participants, "participants", "a list of nodes", Collection)


def number(value: Rate, name: str) -> Fraction:
    """Return the exact value of a number as written: 0.1 is one tenth."""
    try:
        if isinstance(value, bool):
            raise ValueError
        exact = Fraction(repr(value) if isinstance(value, float) else value)
    except (TypeError, ValueError, ZeroDivisionError):
        raise ValueError(f"{name}: must be a number, not {value!r}") from None
    if exact < 0:
        raise ValueError(f"{name}: must not be negative, not {value!r}")
    return exact
