"""Answers of the REST interfaces of NetBox and Nautobot: their rows, and the front ports."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from topoloom.synth.errors import InvalidPlant, SynthError


def read_answer(
    value: Any, field: str, raised: type[SynthError] = InvalidPlant
) -> list[tuple[str, dict[str, Any]]]:
    """Return the rows of an answer, each with its JSON pointer.

    Args:
        value: An answer with ``results``, a list of all its pages, or the rows themselves.
        field: JSON pointer of the value.
        raised: The class of the error for an invalid or incomplete answer.

    >>> read_answer({"count": 1, "results": [{"id": 7}]}, "/cables")
    [('/cables/results/0', {'id': 7})]
    """
    pages = [(field, value)]
    if isinstance(value, list) and any(_is_page(entry) for entry in value):
        pages = [(f"{field}/{number}", page) for number, page in enumerate(value)]
    found = []
    for place, page in pages:
        inside = f"{place}/results" if isinstance(page, dict) else place
        rows = page.get("results") if isinstance(page, dict) else page
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise raised(place, "must be a list, or an answer with results")
        found += [(f"{inside}/{number}", row) for number, row in enumerate(rows)]
    first = pages[0][1]
    count = first.get("count") if isinstance(first, dict) else None
    partial = len(pages) == 1 and isinstance(first, dict) and bool(first.get("next"))
    if partial or (type(count) is int and len(found) < count):
        raise raised(
            field, "must be whole; pages are missing (ask with limit=0, or list all pages)"
        )
    return found


def _is_page(value: Any) -> bool:
    return isinstance(value, dict) and "results" in value


def has_rows_with(value: Any, members: set[str]) -> bool:
    """Whether the first row of a possible answer has one of some members."""
    while isinstance(value, list) or _is_page(value):
        inside = value["results"] if isinstance(value, dict) else value
        if not isinstance(inside, list) or not inside:
            return False
        value = inside[0]
    return isinstance(value, dict) and bool(members & value.keys())


class FrontPorts(NamedTuple):
    """The front ports of panels: by device in order, and by the rear port that each leads to."""

    of_device: Mapping[str, tuple[str, ...]]
    behind: Mapping[Any, tuple[str, ...]]
    """Names of front ports by id of the rear port, in order of its positions."""


def read_front_ports(value: Any, field: str) -> FrontPorts:
    """Return the front ports in an answer of ``GET /api/dcim/front-ports/``.

    NetBox up to 4.4 and Nautobot name one rear port (``rear_port``, ``rear_port_position``),
    NetBox from 4.5 a list (``rear_ports``).

    Raises:
        InvalidPlant: A row lacks its name, device or rear port, or two devices have one name.
    """
    devices: dict[str, dict[str, None]] = {}
    ids: dict[str, Any] = {}
    behind: dict[Any, dict[tuple[int, int], str]] = {}
    for number, (place, row) in enumerate(read_answer(value, field)):
        device = row.get("device")
        owner = device.get("name") or device.get("display") if isinstance(device, dict) else None
        name = row.get("name")
        if not isinstance(owner, str) or not isinstance(name, str) or not isinstance(device, dict):
            raise InvalidPlant(place, "must have name and device (ask Nautobot with depth=1)")
        if ids.setdefault(owner, device.get("id")) != device.get("id"):
            raise InvalidPlant(place, f"two devices are called {owner!r}; ask for one site")
        devices.setdefault(owner, {})[name] = None
        for rear, position in _rear_ports(row, place):
            behind.setdefault(rear, {})[position, number] = name
    return FrontPorts(
        {name: tuple(ports) for name, ports in devices.items()},
        {rear: tuple(ports[key] for key in sorted(ports)) for rear, ports in behind.items()},
    )


def _rear_ports(row: dict[str, Any], place: str) -> Iterator[tuple[Any, int]]:
    """Yield the id of every rear port that a front port leads to, and the position on it."""
    listed = row.get("rear_ports")
    for entry in [row] if listed is None else listed if isinstance(listed, list) else [None]:
        rear = entry.get("rear_port") if isinstance(entry, dict) else None
        rear = rear.get("id") if isinstance(rear, dict) else rear
        position = entry.get("rear_port_position") if isinstance(entry, dict) else None
        position = 1 if position is None else position
        if not isinstance(rear, int | str) or type(position) is not int:
            raise InvalidPlant(place, "must have rear_port and rear_port_position, or rear_ports")
        yield rear, position
