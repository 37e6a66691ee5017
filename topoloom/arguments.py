"""Parse arguments of the API: sources of topologies, sizes, rates, kinds of links."""

from decimal import Decimal
from fractions import Fraction
from numbers import Integral
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from topoloom.synth.evaluation.cost import Links
    from topoloom.synth.recipes.recipe import Recipe
    from topoloom.synth.topology.topology import Topology

    Source: TypeAlias = "Topology | Recipe | str"

Rate: TypeAlias = int | float | str | Decimal | Fraction


def topology_of(source: "Source") -> "Topology":
    """Return the topology of a recipe, boxes or a fabric's name; return a topology as it is."""
    from topoloom.synth.topology.topology import Topology

    if isinstance(source, Topology):
        return source
    if isinstance(source, str):
        # Every recipe has parentheses; no name of a fabric has.
        if "(" not in source:
            from topoloom.synth.fabrics import fabric

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


def whole(value: int, name: str) -> int:
    """Return an integer, also one of NumPy."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ValueError(f"{name}: must be an integer, not {value!r}")
    return int(value)


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
