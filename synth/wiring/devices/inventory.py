"""NetBox by REST: the jumpers of passive panels as lists for POST, PATCH and DELETE of cables.

NetBox names ports by ids, so its own lists of front ports and cables are needed.  A list is one
transaction there: all of it, or nothing.  Cross-connects of optical switches are no cables.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from synth.errors import InvalidWiring
from synth.wiring.devices.script import Script
from synth.wiring.plant import Kind, Pair

__all__ = ["Changes", "Inventory", "changes", "read_inventory"]

FRONT = "dcim.frontport"
GOING = "decommissioning"


@dataclass(frozen=True, slots=True)
class Inventory:
    """What NetBox has: ids of front ports by device and name, and cables between two of them.

    ``cables`` has the id and the status of the cable at two front ports.
    """

    ports: dict[tuple[str, str], int]
    cables: dict[frozenset[int], tuple[int, str]]


@dataclass(frozen=True, slots=True)
class Changes:
    """Bodies for ``/api/dcim/cables/``, each a list; empty ones need no request."""

    post: tuple[dict[str, Any], ...]
    patch: tuple[dict[str, Any], ...]
    delete: tuple[dict[str, Any], ...]

    def given(self) -> dict[str, list[dict[str, Any]]]:
        """Return the lists by the methods that take them."""
        return {"POST": [*self.post], "PATCH": [*self.patch], "DELETE": [*self.delete]}


def read_inventory(front_ports: Any, cables: Any) -> Inventory:
    """Return what NetBox's answers say; see `changes`.

    Parameters
    ----------
    front_ports, cables : list or dict
        Answers of ``GET /api/dcim/front-ports/`` and ``GET /api/dcim/cables/``, whole, or the
        lists under their ``results``.

    Raises
    ------
    InvalidWiring
        With a JSON pointer into one of the two.
    """
    ports = {}
    for number, row in enumerate(_rows(front_ports, "/front_ports")):
        device = row.get("device")
        name = device.get("name") if isinstance(device, dict) else None
        known = type(row.get("id")) is int and isinstance(row.get("name"), str)
        if not known or not isinstance(name, str):
            raise InvalidWiring(f"/front_ports/{number}", "must have id, name and device")
        ports[name, row["name"]] = row["id"]
    found = {}
    for number, row in enumerate(_rows(cables, "/cables")):
        status = row.get("status")
        status = status.get("value") if isinstance(status, dict) else status
        if type(row.get("id")) is not int or not isinstance(status, str):
            raise InvalidWiring(f"/cables/{number}", "must have id and status")
        ends = [_front(row.get(f"{side}_terminations")) for side in "ab"]
        if None not in ends:
            found[frozenset(end for end in ends if end is not None)] = row["id"], status
    return Inventory(ports, found)


def _rows(document: Any, field: str) -> list[dict[str, Any]]:
    rows = document.get("results") if isinstance(document, dict) else document
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InvalidWiring(field, "must be a list, or an answer with results")
    if isinstance(document, dict) and document.get("next"):
        raise InvalidWiring(field, "must be whole; this is one page of several (ask with limit=0)")
    return rows


def _front(ends: Any) -> int | None:
    """Return the front port that is the one end of a cable; None for any other end."""
    if not isinstance(ends, list) or len(ends) != 1 or not isinstance(ends[0], dict):
        return None
    there = ends[0].get("object_id")
    return there if ends[0].get("object_type") == FRONT and type(there) is int else None


def changes(script: Script, known: Inventory, done: bool = False) -> Changes:
    """Return what brings NetBox to a plan: before it is carried out, or when it is ``done``.

    Before, cables that will come are made with status *planned*, and those that will go become
    *decommissioning*.  After, the first become *connected* and the others are deleted.  What
    NetBox has already is left alone, so a second run changes nothing.

    Raises
    ------
    InvalidWiring
        NetBox has no front port of a panel's port.

    Examples
    --------
    >>> from synth.topology import Topology
    >>> from synth.wiring import plan_moves, sized, to_document
    >>> from synth.wiring.devices import read_script
    >>> pair = Topology(["a", "b"], [("a", "b"), ("b", "a")])
    >>> script = read_script(to_document(plan_moves(pair, sized(pair))))
    >>> names = [("0A", 1), ("1A", 2), ("0B", 3), ("1B", 4)]
    >>> ports = [{"id": i, "name": n, "device": {"name": "panel-0"}} for n, i in names]
    >>> [row["label"] for row in changes(script, read_inventory(ports, [])).post]
    ['a:0--b:0', 'b:0--a:0']
    """
    status = "connected" if done else "planned"
    post, patch, delete = [], [], []
    moved = [move for move in script.moves if _is_passive(script, move.pair)]
    for pair in _once(move.pair for move in moved if move.adds):
        if pair not in script.final.pairs:
            continue
        ends = _ends(script, known, pair)
        there = known.cables.get(frozenset(ends))
        if there is None:
            post.append(_cable(script, pair, ends, status))
        elif there[1] != status and (done or there[1] != "connected"):
            patch.append({"id": there[0], "status": status})
    for pair in _once(move.pair for move in moved if not move.adds):
        there = known.cables.get(frozenset(_ends(script, known, pair)))
        if pair in script.final.pairs or there is None:
            continue
        if done:
            delete.append({"id": there[0]})
        elif there[1] != GOING:
            patch.append({"id": there[0], "status": GOING})
    return Changes(tuple(post), tuple(patch), tuple(delete))


def _is_passive(script: Script, pair: Pair) -> bool:
    return script.plant.panels[pair.panel].kind in (Kind.MANUAL, Kind.ROBOT)


def _once(pairs: Iterable[Pair]) -> list[Pair]:
    return list(dict.fromkeys(pairs))


def _ends(script: Script, known: Inventory, pair: Pair) -> tuple[int, int]:
    device = script.plant.panels[pair.panel].id
    found = []
    for port in script.plant.ends(pair):
        name = script.plant.port_name(port)
        if (device, name) not in known.ports:
            raise InvalidWiring("/front_ports", f"there is no front port {name} of {device}")
        found.append(known.ports[device, name])
    return found[0], found[1]


def _cable(script: Script, pair: Pair, ends: tuple[int, int], status: str) -> dict[str, Any]:
    one, other = ([{"object_type": FRONT, "object_id": end}] for end in ends)
    return {
        "a_terminations": one,
        "b_terminations": other,
        "type": "smf",
        "status": status,
        "label": script.label(pair)[:100],
        "description": f"plan {script.plan_id}"[:200],
    }
