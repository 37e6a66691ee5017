"""Expand an infrastructure of InfraGraph: every component of every instance, and every edge.

Endpoints name instances and components with slices of Python, ``host[0:2]``.  A component may be
a device of its own, whose components follow a dot: ``cx5[0].port[1]``.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

from topoloom.synth.formats.topology_draft import capacity, list_at, object_at, wrong
from topoloom.synth.recipes.topology_document import MAX_LINKS, MAX_NODES

COMPUTE, SWITCH, DEVICE = "xpu", "switch", "device"
GBIT = {"gigabits_per_second": 1, "gigabytes_per_second": 8}
"""Gbit/s of one unit of a bandwidth; a GT/s has no fixed rate."""
MICROSECONDS = {"us": Fraction(1), "ms": Fraction(1000), "ns": Fraction(1, 1000)}
"""Microseconds of one unit of a latency."""
MAX_NESTED = 5
MAX_WORK = 2_000_000
_PART = re.compile(r"[^\[\].]{1,200}")
_ELEMENT = re.compile(r"([^\[\].]{1,200})(?:\[([0-9:-]{0,50})\])?")


class Physical(NamedTuple):
    """Gbit/s and microseconds of a link; None where it states none."""

    gbps: Fraction | None
    latency_us: Fraction | None


@dataclass(frozen=True, slots=True)
class Graph:
    """All components by their full names, and the edges between them."""

    kinds: dict[str, str] = field(default_factory=dict)
    edges: dict[tuple[str, str], Physical] = field(default_factory=dict)
    unread: set[str] = field(default_factory=set)
    """Names of links with a rate in GT/s."""


class Expansion:
    """One infrastructure, whose devices are looked up by name."""

    def __init__(self, document: Mapping[Any, Any]) -> None:
        self.graph = Graph()
        self._devices = _named(document.get("devices"), "/devices")
        self._instances = _parts(document.get("instances"), "/instances")
        self._left = MAX_WORK
        self._links = self._physical(document.get("links"), "/links")
        for name, (row, place) in self._instances.items():
            device, count = _text(row, "device", place), _count(row, place)
            for at in range(count):
                self._add_device(f"{name}.{at}", device, place, 0)
        rows = list_at(document.get("edges", []), "/edges")
        for at, row in enumerate(rows):
            place = f"/edges/{at}"
            ends = [self._instance_end(object_at(row, place).get(end), f"{place}/{end}")
                    for end in ("ep1", "ep2")]  # fmt: skip
            self._connect(ends[0], ends[1], row, place, self._links)

    def _add_device(self, prefix: str, name: str, place: str, depth: int) -> None:
        """Add the components and edges of one copy of a device."""
        self._spend(1, place)
        row, device = self._device(name, place)
        if depth > MAX_NESTED:
            raise wrong(device, f"must be nested at most {MAX_NESTED} deep")
        for component, (data, here) in _named(
            row.get("components"), f"{device}/components"
        ).items():
            kind = _text(data, "choice", here)
            for at in range(_count(data, here)):
                self._spend(1, here)
                own = f"{prefix}.{component}.{at}"
                if kind == DEVICE:
                    self._add_device(own, component, here, depth + 1)
                    continue
                if len(self.graph.kinds) >= MAX_NODES:
                    raise wrong(here, f"must have at most {MAX_NODES} components in all")
                self.graph.kinds[own] = kind
        links = self._physical(row.get("links", []), f"{device}/links")
        for at, edge in enumerate(list_at(row.get("edges", []), f"{device}/edges")):
            here = f"{device}/edges/{at}"
            ends = []
            for end in ("ep1", "ep2"):
                data = object_at(object_at(edge, here).get(end), f"{here}/{end}")
                path = _text(data, "component", f"{here}/{end}")
                if data.get("device") is not None:
                    path = f"{_text(data, 'device', f'{here}/{end}')}.{path}"
                ends.append([f"{prefix}.{own}" for own in self._components(name, path, here)])
            self._connect(ends[0], ends[1], edge, here, links)

    def _instance_end(self, value: Any, place: str) -> list[str]:
        """Return the components that an endpoint of the infrastructure names."""
        row = object_at(value, place)
        name, indices = _element(_text(row, "instance", place), place)
        if name not in self._instances:
            raise wrong(f"{place}/instance", f"must be an instance; {name[:50]!r} is not")
        data, where = self._instances[name]
        copies = _indices(indices, _count(data, where), place)
        path = _text(row, "component", place)
        own = list(self._components(_text(data, "device", where), path, place))
        return [f"{name}.{at}.{component}" for at, component in product(copies, own)]

    def _components(self, device: str, path: str, place: str) -> Iterator[str]:
        """Yield the names of the components of a device on a path with slices."""
        head, _, rest = path.partition(".")
        name, indices = _element(head, place)
        components = _parts(self._device(device, place)[0].get("components"), place)
        if name not in components:
            raise wrong(place, f"must name components of {device[:50]}; {name[:50]!r} is none")
        data, where = components[name]
        for at in _indices(indices, _count(data, where), place):
            self._spend(1, place)
            inner = self._components(name, rest, place) if rest else iter([""])
            yield from (f"{name}.{at}" + (f".{own}" if own else "") for own in inner)

    def _connect(
        self, ones: list[str], others: list[str], edge: Any, place: str, links: Mapping[str, Any]
    ) -> None:
        """Add the edges between two lists of components by the scheme of an edge."""
        scheme = edge.get("scheme")
        if scheme not in ("one2one", "many2many"):
            raise wrong(f"{place}/scheme", "must be one2one or many2many")
        link = edge.get("link")
        if not isinstance(link, str) or link not in links:
            raise wrong(f"{place}/link", "must be the name of a link beside it")
        self._spend(len(ones) * len(others) if scheme == "many2many" else len(ones), place)
        pairs = zip(ones, others, strict=False) if scheme == "one2one" else product(ones, others)
        for one, other in pairs:
            for end in (one, other):
                if end not in self.graph.kinds:
                    raise wrong(place, f"must join components; {end[-80:]!r} is a device")
            if one != other:
                self.graph.edges[min(one, other), max(one, other)] = links[link]
        if len(self.graph.edges) > MAX_LINKS:
            raise wrong(place, f"must make at most {MAX_LINKS} edges in all")

    def _spend(self, steps: int, place: str) -> None:
        """Count the steps of the expansion: slices let a short text stand for a huge graph."""
        self._left -= steps
        if self._left < 0:
            raise wrong(place, f"must name at most {MAX_WORK} components and edges in all")

    def _device(self, name: str, place: str) -> tuple[Mapping[Any, Any], str]:
        if name not in self._devices:
            raise wrong(place, f"must name a device; {name[:50]!r} is not")
        return self._devices[name]

    def _physical(self, value: Any, place: str) -> dict[str, Physical]:
        """Return the rate and the latency of the links by name."""
        found: dict[str, Physical] = {}
        for name, (row, where) in _named(value or [], place).items():
            here = f"{where}/physical"
            physical = object_at(row.get("physical") or {}, here)
            bandwidth = object_at(physical.get("bandwidth") or {}, f"{here}/bandwidth")
            gbps = _quantity(bandwidth, GBIT, f"{here}/bandwidth", positive=True)
            if gbps is None and bandwidth.get("gigatransfers_per_second") is not None:
                self.graph.unread.add(name)
            latency = object_at(physical.get("latency") or {}, f"{here}/latency")
            found[name] = Physical(gbps, _quantity(latency, MICROSECONDS, f"{here}/latency"))
        return found


def _quantity(
    row: Mapping[Any, Any],
    units: Mapping[str, Fraction | int],
    place: str,
    *,
    positive: bool = False,
) -> Fraction | None:
    """Return a quantity in the unit of factor 1, or None where no unit has a value."""
    given = [unit for unit in units if row.get(unit) is not None]
    if not given:
        return None
    unit = row["choice"] if row.get("choice") in given else given[0]
    value = row[unit]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong(f"{place}/{unit}", "must be a number")
    found = capacity(str(value), f"{place}/{unit}") * units[unit]
    if positive and found <= 0:
        raise wrong(f"{place}/{unit}", "must be positive")
    return found


def _element(text: str, place: str) -> tuple[str, str]:
    """Return the name and the slice of one element of a path.

    >>> _element("host[0:2]", "")
    ('host', '0:2')
    """
    found = _ELEMENT.fullmatch(text)
    if found is None:
        raise wrong(place, f"must be a name and a slice, such as host[0:2]; not {text[:50]!r}")
    return found[1], found[2] or ""


def _indices(text: str, count: int, place: str) -> Sequence[int]:
    """Return the indices of a slice among ``count``; an empty slice means all.

    >>> _indices("1:", 3, ""), _indices("-1", 3, ""), _indices("", 2, "")
    (range(1, 3), (2,), range(0, 2))
    """
    parts = text.split(":")
    try:
        numbers = [int(part) if part else None for part in parts]
        if len(parts) == 1 and numbers[0] is not None:
            return (range(count)[numbers[0]],)
        return range(count)[slice(*numbers)] if len(parts) > 1 else range(count)
    except (ValueError, IndexError, TypeError):
        raise wrong(place, f"must have indices below {count}; not [{text}]") from None


def _named(value: Any, place: str) -> dict[str, tuple[Mapping[Any, Any], str]]:
    """Return the rows of a list by name, each with its place."""
    made: dict[str, tuple[Mapping[Any, Any], str]] = {}
    for at, entry in enumerate(list_at(value, place)):
        here = f"{place}/{at}"
        name = _text(object_at(entry, here), "name", here)
        if name in made:
            raise wrong(f"{here}/name", f"must be unique; {name[:50]!r} is not")
        made[name] = entry, here
    return made


def _parts(value: Any, place: str) -> dict[str, tuple[Mapping[Any, Any], str]]:
    """Return rows by name whose names endpoints can hold: no dots, no brackets."""
    made = _named(value, place)
    for name, (_, here) in made.items():
        if _PART.fullmatch(name) is None:
            raise wrong(f"{here}/name", f"must hold no . [ or ]; not {name[:50]!r}")
    return made


def _text(row: Mapping[Any, Any], key: str, place: str) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not value:
        raise wrong(f"{place}/{key}", "must be a text")
    return value


def _count(row: Mapping[Any, Any], place: str) -> int:
    value = row.get("count")
    if type(value) is not int or not 0 < value <= MAX_NODES:
        raise wrong(f"{place}/count", f"must be a whole number from 1 to {MAX_NODES}")
    return value
