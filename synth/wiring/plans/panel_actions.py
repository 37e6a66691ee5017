"""The moves on the panels, read from a patch-plan/1 document."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from topoloom.synth.errors import InvalidWiring
from topoloom.synth.wiring.plans.document_writer import apply, revert
from topoloom.synth.wiring.plant import Pair, Plant, Port, Present, plant_digest, uniform
from topoloom.synth.wiring.plant.current_wiring import read_present
from topoloom.synth.wiring.plant.names import require_printable


@dataclass(frozen=True, slots=True)
class Step:
    """A stage: pairs that go, then pairs that come."""

    removes: tuple[Pair, ...]
    adds: tuple[Pair, ...]


class Move(NamedTuple):
    """One pair that comes or goes in a stage, counted from 1, as a device's text says it."""

    stage: int
    adds: bool
    pair: Pair


class Block(NamedTuple):
    """The moves of one stage, counted from 1, on one panel."""

    stage: int
    panel: int
    step: Step


@dataclass(frozen=True)
class Script:
    """A plan as devices need it.

    ``links`` maps a pair to its link, ``peers`` a port to the ``node:port`` cabled to the port.
    """

    plan_id: str
    plant: Plant
    steps: tuple[Step, ...]
    base: Present
    final: Present
    links: Mapping[Pair, str]
    peers: Mapping[Port, str]

    @property
    def moves(self) -> tuple[Move, ...]:
        """All moves in order: in every stage removes, then adds."""
        return tuple(
            Move(number, adds, pair)
            for number, step in enumerate(self.steps, start=1)
            for adds, pairs in ((False, step.removes), (True, step.adds))
            for pair in pairs
        )

    @cached_property
    def panels(self) -> tuple[int, ...]:
        """The panels on which something moves."""
        return tuple(sorted({move.pair.panel for move in self.moves}))

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The moves of every stage on every panel: all panels of a stage, then the next stage.

        Working from top to bottom never removes more at a time than a stage allows.
        """
        found: dict[tuple[int, int], tuple[list[Pair], list[Pair]]] = {}
        for move in self.moves:
            block = found.setdefault((move.stage, move.pair.panel), ([], []))
            block[move.adds].append(move.pair)
        return tuple(
            Block(stage, panel, Step(tuple(removes), tuple(adds)))
            for (stage, panel), (removes, adds) in sorted(found.items())
        )

    def of_panel(self, panel: int) -> tuple[tuple[int, Step], ...]:
        """Return the number and the moves of every stage that touches a panel."""
        return tuple((block.stage, block.step) for block in self.blocks if block.panel == panel)

    def label(self, pair: Pair) -> str:
        """Return the label of the cable between the two ports of a pair."""
        return "--".join(
            self.peers.get(port, self.plant.full_name(port)) for port in self.plant.ends(pair)
        )


def plant_of(document: Mapping[str, Any], plant: Plant | None = None) -> Plant:
    """Return the plant of a patch-plan/1 document.

    Raises:
        InvalidWiring: The plan is on a given plant, and it is missing or another one.
    """
    made = document.get("panels")
    if isinstance(made, dict):
        return uniform(made.get("layout", ""), made.get("hosts", 0), made.get("lanes", 0))
    said = document.get("plant")
    if not isinstance(said, dict):
        raise InvalidWiring("/plant", "must be an object with name and digest")
    if plant is None:
        raise InvalidWiring("/plant", "the plan is on a plant of its own, which must be given too")
    if plant_digest(plant) != said.get("digest"):
        raise InvalidWiring("/plant/digest", "the plan was made on another plant")
    return plant


def read_script(document: Mapping[str, Any], plant: Plant | None = None) -> Script:
    """Return the moves of a patch-plan/1 document.

    Args:
        plant: The plant that the plan was made on; not needed for the regular layouts.

    Raises:
        InvalidWiring: The document breaks a rule, its operations do not lead to ``final``, a name
            in it is not printable, or the plant is another one.

    >>> from topoloom.synth.topology.topology import Topology
    >>> from topoloom.synth.wiring import plan_moves, smallest_plant, to_document
    >>> pair = Topology(["a", "b"], [("a", "b"), ("b", "a")])
    >>> script = read_script(to_document(plan_moves(pair, smallest_plant(pair))))
    >>> [script.plant.pair_name(move.pair) for move in script.moves], script.label(Pair(0, 0, 1))
    (['0A-1B', '1A-0B'], 'a:0--b:0')
    """
    if not isinstance(document, dict) or document.get("schema") != "patch-plan/1":
        raise InvalidWiring("/schema", 'must be "patch-plan/1"')
    plant = plant_of(document, plant)
    final = read_present(document, plant)
    try:
        base = revert(document, final, plant)
        if apply(document, base, plant) != final:
            raise InvalidWiring("/final", "must be what the operations lead to")
        steps = tuple(
            Step(*(_pairs(stage["ops"], op, plant) for op in ("remove", "add")))
            for stage in document["stages"]
        )
        links = _links(document["final"], plant)
        peers = _peers(document["ports"], plant)
        plan_id = _text(document.get("plan_id", ""), "/plan_id")
    except (KeyError, TypeError, AttributeError) as error:
        raise InvalidWiring("", f"must be a whole patch-plan/1 document: {error}") from None
    return Script(plan_id, plant, steps, base, final, links, peers)


def _pairs(ops: list[dict[str, Any]], op: str, plant: Plant) -> tuple[Pair, ...]:
    rows = [{"panel": o["device"], "a": o["a"], "b": o["b"]} for o in ops if o["op"] == op]
    return read_present(rows, plant).pairs


def _links(final: Mapping[str, Any], plant: Plant) -> dict[Pair, str]:
    return {
        pair: _text(row["link"], f"/final/{_escaped(panel)}/pairs/{number}/link")
        for panel, state in final.items()
        for number, row in enumerate(state["pairs"])
        if "link" in row
        for pair in read_present([{**row, "panel": panel}], plant).pairs
    }


def _peers(rows: list[dict[str, Any]], plant: Plant) -> dict[Port, str]:
    places = {(plant.panels[port.panel].id, plant.port_name(port)): port for port in plant.at}
    found = {}
    for number, row in enumerate(rows):
        port = places.get((row["device"], row["port"]))
        if port is not None:
            ends = (
                _text(row["endpoint"][member], f"/ports/{number}/endpoint/{member}")
                for member in ("node", "port")
            )
            found[port] = ":".join(ends)
    return found


def _text(value: Any, field: str) -> str:
    """Return a name as it is written; numbers are names, too."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise InvalidWiring(field, "must be a text or an integer")
    require_printable(str(value), field, InvalidWiring)
    return str(value)


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
