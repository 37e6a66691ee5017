"""NetBox by REST: the jumpers of passive panels as lists for DELETE, PATCH and POST of cables.

NetBox names ports by ids, so its own lists of front ports and cables are needed.  A list is one
transaction there: all of it, or nothing.  A port holds one cable at most, so cables that go are
deleted before others take their ports.  Cross-connects of optical switches are no cables.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from topoloom.synth.errors import InvalidWiring
from topoloom.synth.wiring.plans.panel_actions import Script
from topoloom.synth.wiring.plant import Kind, Pair, Plant
from topoloom.synth.wiring.plant.rest_responses import read_answer

FRONT = "dcim.frontport"
GOING = "decommissioning"


class Holder(NamedTuple):
    """The cable that holds a port: its id, and the JSON pointer of its row."""

    cable: int
    place: str


@dataclass(frozen=True, slots=True)
class Inventory:
    """The state of NetBox: ids of front ports by device and name, and cables between two of them.

    ``cables`` has the id and the status of the cable at two front ports, ``holders`` the cable at
    each front port, with any other end.
    """

    ports: dict[tuple[str, str], int]
    cables: dict[frozenset[int], tuple[int, str]]
    holders: dict[int, Holder]


@dataclass(frozen=True, slots=True)
class Changes:
    """Bodies for ``/api/dcim/cables/``, each a list; empty ones need no request.

    ``waiting`` are new jumpers whose ports still hold cables that go: NetBox takes them only when
    the plan is done.
    """

    post: tuple[dict[str, Any], ...]
    patch: tuple[dict[str, Any], ...]
    delete: tuple[dict[str, Any], ...]
    waiting: tuple[Pair, ...] = ()

    def given(self) -> dict[str, list[dict[str, Any]]]:
        """Return the lists by the methods that take them, in the order of the requests."""
        return {"DELETE": [*self.delete], "PATCH": [*self.patch], "POST": [*self.post]}


def read_inventory(front_ports: Any, cables: Any) -> Inventory:
    """Return the state of NetBox from its answers; see `changes`.

    Args:
        front_ports, cables: Answers of ``GET /api/dcim/front-ports/`` and ``GET
            /api/dcim/cables/``, whole, or the lists under their ``results``, or lists of all pages.

    Raises:
        InvalidWiring: With a JSON pointer into one of the two.
    """
    ports: dict[tuple[str, str], int] = {}
    for place, row in read_answer(front_ports, "/front_ports", InvalidWiring):
        device = row.get("device")
        name = device.get("name") if isinstance(device, dict) else None
        known = type(row.get("id")) is int and isinstance(row.get("name"), str)
        if not known or not isinstance(name, str):
            raise InvalidWiring(place, "must have id, name and device")
        if ports.setdefault((name, row["name"]), row["id"]) != row["id"]:
            raise InvalidWiring(
                place, f"is a second port {row['name']} of a device {name}; ask for one site"
            )
    found: dict[frozenset[int], tuple[int, str]] = {}
    holders: dict[int, Holder] = {}
    for place, row in read_answer(cables, "/cables", InvalidWiring):
        status = row.get("status")
        status = status.get("value") if isinstance(status, dict) else status
        if type(row.get("id")) is not int or not isinstance(status, str):
            raise InvalidWiring(place, "must have id and status")
        a, b = (_fronts(row.get(f"{side}_terminations")) for side in "ab")
        holders |= {port: Holder(row["id"], place) for port in (*a, *b) if port is not None}
        if len(a) == len(b) == 1 and None not in (*a, *b):
            found[frozenset(end for end in (*a, *b) if end is not None)] = row["id"], status
    return Inventory(ports, found, holders)


def _fronts(ends: Any) -> list[int | None]:
    """Return the front ports at one end of a cable; None for each port of another type."""
    found: list[int | None] = []
    for end in ends if isinstance(ends, list) else []:
        there = end.get("object_id") if isinstance(end, dict) else None
        front = isinstance(end, dict) and end.get("object_type") == FRONT
        found.append(there if front and type(there) is int else None)
    return found


def changes(script: Script, known: Inventory, done: bool = False) -> Changes:
    """Return the changes that record a plan in NetBox, before the moves or when they are ``done``.

    Before, removed cables become *decommissioning*, and added cables are created with status
    *planned* where both ports are free; the others are ``waiting``.  After, removed cables are
    deleted, *planned* cables become *connected*, and waiting cables are created.  Existing state
    is left unchanged, so a second run changes nothing.

    Raises:
        InvalidWiring: NetBox has no front port of a panel's port; or a port of a new jumper holds a
            cable that the plan does not remove.

    >>> from topoloom.synth.topology.topology import Topology
    >>> from topoloom.synth.wiring import plan_moves, smallest_plant, to_document
    >>> from topoloom.synth.wiring.devices import read_script
    >>> pair = Topology(["a", "b"], [("a", "b"), ("b", "a")])
    >>> script = read_script(to_document(plan_moves(pair, smallest_plant(pair))))
    >>> names = [("0A", 1), ("1A", 2), ("0B", 3), ("1B", 4)]
    >>> ports = [{"id": i, "name": n, "device": {"name": "panel-0"}} for n, i in names]
    >>> [row["label"] for row in changes(script, read_inventory(ports, [])).post]
    ['a:0--b:0', 'b:0--a:0']
    """
    moved = [move for move in script.moves if is_jumper(script.plant, move.pair)]
    final = frozenset(script.final.pairs)
    coming = _once(move.pair for move in moved if move.adds and move.pair in final)
    leaving = _once(move.pair for move in moved if not move.adds and move.pair not in final)
    going = {
        cable
        for pair in leaving
        for cable in [known.cables.get(frozenset(_ends(script, known, pair)))]
        if cable is not None
    }
    delete = [{"id": cable} for cable, _ in sorted(going)] if done else []
    patch = [
        {"id": cable, "status": GOING}
        for cable, status in sorted(going)
        if not done and status != GOING
    ]
    post, waiting = [], []
    for pair in coming:
        ends = _ends(script, known, pair)
        there = known.cables.get(frozenset(ends))
        if there is not None:
            status = _status(there[1], done)
            patch += [{"id": there[0], "status": status}] if status != there[1] else []
        elif _is_held(script, known, pair, {cable for cable, _ in going}) and not done:
            waiting.append(pair)
        else:
            post.append(_cable(script, pair, ends, "connected" if done else "planned"))
    return Changes(tuple(post), tuple(patch), tuple(delete), tuple(waiting))


def is_jumper(plant: Plant, pair: Pair) -> bool:
    """Whether a pair is a cable between two front ports, not a cross-connect of a switch."""
    return plant.panels[pair.panel].kind in (Kind.MANUAL, Kind.ROBOT)


def _status(today: str, done: bool) -> str:
    """Return the status of a new jumper that NetBox has already."""
    return "connected" if done or today == "connected" else "planned"


def _is_held(script: Script, known: Inventory, pair: Pair, going: set[int]) -> bool:
    """Whether a port of a new jumper holds a cable that goes; refuse any other cable there."""
    held = False
    for port, end in zip(script.plant.ends(pair), _ends(script, known, pair), strict=True):
        holder = known.holders.get(end)
        if holder is not None and holder.cable not in going:
            name = f"front port {script.plant.port_name(port)}"
            name += f" of {script.plant.panels[port.panel].id}"
            raise InvalidWiring(
                holder.place,
                f"cable {holder.cable} holds {name}, where the plan adds a cable and takes none "
                "away: correct NetBox, or plan from what it says",
            )
        held = held or holder is not None
    return held


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
