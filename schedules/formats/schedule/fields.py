"""Read members of untrusted schedule/1 documents: a valid value, or one clear error.

``place`` is the JSON pointer of the object that holds the member.
"""

from typing import Any

from topoloom.schedules.errors import InvalidSchedule, UnknownCollective
from topoloom.schedules.formats.schedule.program import MAX_INTEGER, MAX_PATH
from topoloom.schedules.model.schedule import Collective
from topoloom.synth.topology.topology import NodeId, Topology


def rank(holder: dict[str, Any], key: str, ranks: tuple[NodeId, ...], place: str) -> NodeId:
    """Return a member that is the id of a rank."""
    value = holder.get(key)
    if type(value) not in (int, str) or value not in ranks:
        raise InvalidSchedule(f"{place}/{key}", "must be the id of a rank")
    return value


def path(path: Any, topology: Topology, place: str) -> tuple[NodeId, ...]:
    """Return at least two nodes of the topology, in the order in which data crosses them."""
    if not isinstance(path, list) or not 2 <= len(path) <= MAX_PATH:
        raise InvalidSchedule(place, f"must be a list of 2 to {MAX_PATH} node ids")
    for at, node in enumerate(path):
        if type(node) not in (int, str) or node not in topology.position:
            raise InvalidSchedule(f"{place}/{at}", "must be the id of a node")
    return tuple(path)


def is_integer(value: Any, least: int, most: int = MAX_INTEGER) -> bool:
    """Return whether a value is an integer from ``least`` to ``most``; booleans are refused."""
    return type(value) is int and least <= value <= most


def integer(document: dict[str, Any], key: str, place: str, most: int = MAX_INTEGER) -> int:
    """Return a member that is an integer from 1 to ``most``."""
    value = document.get(key)
    if not isinstance(value, int) or not is_integer(value, 1, most):
        raise InvalidSchedule(f"{place}/{key}", f"must be an integer from 1 to {most}")
    return value


def boolean(document: dict[str, Any], key: str, place: str) -> bool:
    """Return a member that is true or false; false if it is omitted."""
    value = document.get(key, False)
    if type(value) is not bool:
        raise InvalidSchedule(f"{place}/{key}", "must be true or false")
    return value


def entries(document: dict[str, Any], key: str, most: int, place: str) -> list[Any]:
    """Return a member that is a list of at most ``most`` entries."""
    value = document.get(key)
    if not isinstance(value, list):
        raise InvalidSchedule(f"{place}/{key}", "must be a list")
    if len(value) > most:
        raise InvalidSchedule(f"{place}/{key}", f"must have at most {most} entries")
    return value


def collective(document: dict[str, Any], place: str) -> Collective:
    """Return the collective that the document names."""
    value = document.get("collective")
    try:
        return Collective.of(value if isinstance(value, str) else "")
    except UnknownCollective as error:
        raise InvalidSchedule(f"{place}/collective", error.rule) from None


def digest(document: dict[str, Any], place: str) -> str:
    """Return the topology's digest in the document, without a comparison."""
    value = document.get("topology")
    if not isinstance(value, str) or len(value) > 200:
        raise InvalidSchedule(f"{place}/topology", "must be a digest, a text such as sha256:...")
    return value
