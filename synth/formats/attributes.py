"""Names of the attributes of a graph that hold its capacities, kinds and unit."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from topoloom.synth.formats.topology_draft import MAX_DIGITS, capacity, wrong
from topoloom.synth.topology.topology import Capacity

CAPACITIES = ("capacity", "bandwidth")
"""Attributes of links that hold the capacity where the user names none; the first counts."""


@dataclass(frozen=True, slots=True)
class Attributes:
    """Names of the attributes to read; None selects the usual name.

    Args:
        capacity: Attribute of links that holds the capacity.  Default: ``capacity``, or else
            ``bandwidth``, or else the capacity is 1.  Weights are never a default, because many
            graphs have costs or lengths there.
        kind: Attribute of nodes that marks switches.  Default: ``kind``.
        switch_values: The values of that attribute that mean a switch; every other means a compute
            node.  Default: ``switch``, and every other but ``compute`` is an error.
        unit: Unit of the capacities.  Default: the graph's ``bandwidth_unit``, or else ``link``
            where every capacity is 1, or else ``GB/s``.
        directed: Whether links run one way, whatever the text states.  Default: as the text states,
            or else the default of the format.

    >>> routers = Attributes(capacity="weight", kind="type", switch_values=("router",))
    >>> routers.capacity_of({"weight": "12.5"}, ""), routers.is_switch({"type": "router"}, "")
    (Fraction(25, 2), True)
    """

    capacity: str | None = None
    kind: str | None = None
    switch_values: tuple[str, ...] = ()
    unit: str | None = None
    directed: bool | None = None

    def capacity_of(self, values: Mapping[str, Any], place: str) -> Capacity:
        """Return the capacity of a link with these data."""
        if self.capacity is None:
            return number(next((values[name] for name in CAPACITIES if name in values), 1), place)
        if self.capacity not in values:
            raise wrong(
                place, f"must have the attribute {self.capacity[:50]!r}: it is the capacity"
            )
        return number(values[self.capacity], place)

    def is_switch(self, values: Mapping[str, Any], place: str) -> bool:
        """Return whether a node with these data only forwards."""
        name = self.kind or "kind"
        if name not in values:
            return False
        value = values[name]
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if self.switch_values:
            return text in self.switch_values
        if text not in ("compute", "switch"):
            raise wrong(place, f'{name[:50]} must be "compute" or "switch"; {text[:50]!r} is not')
        return text == "switch"


PLAIN = Attributes()
"""The usual names."""


def number(value: Any, place: str) -> Capacity:
    """Return the exact value of a whole number, or of the text of a number.

    Raises:
        InvalidTopology: It is neither, or has more than 30 digits.
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise wrong(place, "must be a positive number")
    if isinstance(value, int) and abs(value) >= 10**MAX_DIGITS:
        raise wrong(place, f"must have at most {MAX_DIGITS} digits")
    return capacity(str(value), place)
