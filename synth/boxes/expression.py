"""Boxes as text: ``Boxes(dgx-h100, Circulant(16, 1, 2, 3, 4), cable=50, ports=even)``.

The grammar::

    boxes  = "Boxes(" part "," part { "," option } ")"
    part   = FABRIC | recipe | "@" NAME | boxes
    option = "cable=" RATE | "ports=" RULE | "latency=" RATE

The first part is one box, the second the topology between boxes.  ``dgx-h100`` means
``dgx-h100-1``.  RATE is the rate of a cable in the unit of the box, such as 50, 12.5 or 25/2; its
default is the rate of the box's NIC in the catalogue of fabrics.  RULE is a value of `Ports`.  The
latency of a hop between boxes is in microseconds; its default is that of the catalogue.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from topoloom.synth.boxes.box_fabric import Ports, box_fabric
from topoloom.synth.errors import InvalidRecipe, SynthError
from topoloom.synth.fabrics import FABRICS, fabric
from topoloom.synth.fabrics.latencies import published_hops
from topoloom.synth.naming.suggestions import one_of
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import MAX_TEXT, parse
from topoloom.synth.topology.assumptions import Assumption
from topoloom.synth.topology.topology import Capacity, Topology

HEAD = "Boxes("
MAX_DEPTH = 4
_OPTIONS = ("cable", "ports", "latency")
_RATE = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9}|/[1-9][0-9]{0,8})?")


@dataclass(frozen=True, slots=True)
class Boxes:
    """The parts of a text: a box, the topology between boxes, a cable's rate, the rule of ports.

    ``cable`` and ``latency``, in microseconds, are None for those of the catalogue.
    """

    box: str
    between: str
    cable: Fraction | None = None
    ports: Ports = Ports.EVEN
    latency: Fraction | None = None

    def __str__(self) -> str:
        """Return the canonical text; defaults are omitted."""
        options = [] if self.cable is None else [f"cable={self.cable}"]
        options += [] if self.ports is Ports.EVEN else [f"ports={self.ports}"]
        options += [] if self.latency is None else [f"latency={self.latency}"]
        return f"{HEAD}{', '.join([self.box, self.between, *options])})"


def is_boxes(text: str) -> bool:
    """Return whether a text describes boxes rather than a recipe.

    >>> is_boxes("Boxes(mi300x, BiRing(4))"), is_boxes("BiRing(4)")
    (True, False)
    """
    return text.lstrip().startswith(HEAD)


def parse_boxes(text: str, depth: int = 0) -> Boxes:
    """Return the parts of a text; recipes in the parts are in canonical form.

    Raises:
        InvalidRecipe: The text does not match the grammar.

    >>> str(parse_boxes("Boxes( dgx-h100,Circulant(16,1,2), cable = 12.5 )"))
    'Boxes(dgx-h100, Circulant(16, 1, 2), cable=25/2)'
    >>> parse_boxes("Boxes(dgx-h100)")
    Traceback (most recent call last):
    ...
    topoloom.synth.errors.InvalidRecipe: recipe: Boxes must have a box and a topology between boxes
    """
    if len(text) > MAX_TEXT:
        raise InvalidRecipe("recipe", f"must have at most {MAX_TEXT} characters, not {len(text)}")
    if depth > MAX_DEPTH:
        raise InvalidRecipe("recipe", f"Boxes must nest at most {MAX_DEPTH} deep")
    inside = text.strip()
    if not inside.endswith(")"):
        raise InvalidRecipe("recipe", "Boxes must end with ')'")
    parts = [part.strip() for part in _split(inside[len(HEAD) : -1])]
    if len(parts) < 2 or not all(parts[:2]):
        raise InvalidRecipe("recipe", "Boxes must have a box and a topology between boxes")
    box, between = (_canonical(part, depth) for part in parts[:2])
    options = _options(parts[2:])
    cable, latency = (
        _positive(name, options[name]) if name in options else None for name in ("cable", "latency")
    )
    return Boxes(box, between, cable, _rule(options.get("ports", Ports.EVEN)), latency)


def topology_of_boxes(text: str, graphs: Mapping[str, Topology] | None = None) -> Topology:
    """Return the topology of a text; its compute nodes reach each other.

    Args:
        text: Boxes, as in the grammar of this module.
        graphs: Topologies of names after ``@``.

    Raises:
        InvalidRecipe: The text does not match the grammar, or names nothing known.
        OutOfDomain: A construction is not defined for its parameters, or the result is too large.
        Unreachable: Some accelerator cannot reach another.

    >>> topology_of_boxes("Boxes(mi300x, Circulant(16, 1, 2, 3, 4))")
    <Topology Boxes(mi300x, Circulant(16, 1, 2, 3, 4)): 128 compute, 1024 links>
    >>> [fact.text for fact in topology_of_boxes("Boxes(mi300x, BiRing(4))").assumed][0]
    'Each cable carries 50 GB/s each way: a NIC of mi300x.'
    """
    topology = _composed(parse_boxes(text), graphs)
    topology.require_connected()
    return topology


def _composed(boxes: Boxes, graphs: Mapping[str, Topology] | None) -> Topology:
    box, between = (part_topology(part, graphs) for part in (boxes.box, boxes.between))
    cable, assumed = _cable(boxes, box, between)
    latency = _latency(boxes, box, between)
    found = box_fabric(
        box, between, cable=cable, ports=boxes.ports, latency=latency, name=str(boxes)
    )
    return found.with_assumed([*assumed, *found.assumed])


def _cable(boxes: Boxes, box: Topology, between: Topology) -> tuple[Capacity, list[Assumption]]:
    """Return the factor of capacities between boxes, and the assumption about it."""
    if between.bandwidth_unit != "link":
        if boxes.cable is not None:
            raise InvalidRecipe("recipe", f"cable must be absent: {boxes.between} states its rates")
        if between.bandwidth_unit != box.bandwidth_unit:
            units = f"{box.bandwidth_unit} and {between.bandwidth_unit}"
            raise InvalidRecipe("recipe", f"both parts of Boxes must have one unit, not {units}")
        return 1, []
    if boxes.cable is not None:
        return boxes.cable, []
    if box.bandwidth_unit == "link":
        return 1, []
    nic = nic_rate(boxes.box)
    if nic is None:
        rule = f"Boxes must state cable=RATE: the catalogue states no NIC of {boxes.box}"
        raise InvalidRecipe("recipe", rule)
    text = f"Each cable carries {nic} {box.bandwidth_unit} each way: a NIC of {boxes.box}."
    return nic, [Assumption(text, "cable")]


def _latency(boxes: Boxes, box: Topology, between: Topology) -> Fraction | None:
    """Return the latency of a hop between boxes in seconds; None if it is unknown."""
    if boxes.latency is None:
        hops = published_hops(boxes.box)
        return None if hops is None else hops.between / 10**6
    if between.latencies:
        rule = f"latency must be absent: {boxes.between} states its latencies"
        raise InvalidRecipe("recipe", rule)
    if not box.latencies:
        rule = f"latency must be absent: the links of {boxes.box} state no latencies"
        raise InvalidRecipe("recipe", rule)
    return boxes.latency / 10**6


def nic_rate(box: str) -> Capacity | None:
    """Return the rate of a NIC of a box in the catalogue, in its unit; None without a NIC.

    The rate is that of the fastest link out of a box where the fabric has two boxes.

    >>> nic_rate("dgx-h100"), nic_rate("ndv2"), nic_rate("dgx-1v")
    (50, Fraction(25, 2), None)
    """
    family = box.removesuffix("-1")
    if f"{family}-N" not in FABRICS:
        return None
    two = fabric(f"{family}-2")
    rates = [
        link.capacity
        for link in two.links
        if str(link.source).startswith("0.") and not str(link.target).startswith("0.")
    ]
    return max(rates, default=None)


def part_topology(part: str, graphs: Mapping[str, Topology] | None = None) -> Topology:
    """Return the topology of a part: a fabric, a recipe, a named graph, or boxes.

    >>> part_topology("dgx-h100"), part_topology("BiRing(4)").node_count
    (<Topology dgx-h100-1: 8 compute, 1 switch, 16 links>, 4)
    """
    graphs = graphs or {}
    if part.startswith("@"):
        if part[1:] not in graphs:
            known = ", ".join(sorted(f"@{name}" for name in graphs)) or "no graphs"
            raise InvalidRecipe("recipe", f"no graph is called {part}; given: {known}")
        return graphs[part[1:]]
    if is_boxes(part):
        return _composed(parse_boxes(part), graphs)
    if "(" in part:
        return build(parse(part, graphs))
    try:
        return fabric(f"{part}-1" if f"{part}-N" in FABRICS and part not in FABRICS else part)
    except SynthError as error:
        raise InvalidRecipe("recipe", f"a part of Boxes: {error.rule}") from None


def _canonical(part: str, depth: int) -> str:
    """Return a part in canonical form."""
    if is_boxes(part):
        return str(parse_boxes(part, depth + 1))
    # A recipe of named graphs keeps their names.
    return str(parse(part)) if "(" in part and "@" not in part else part


def _split(text: str) -> Iterator[str]:
    """Yield the parts of a text between commas outside parentheses."""
    depth, start = 0, 0
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth < 0:
            break
        if character == "," and depth == 0:
            yield text[start:at]
            start = at + 1
    if depth:
        raise InvalidRecipe("recipe", "the parentheses of Boxes must match")
    yield text[start:]


def _options(parts: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in parts:
        name, _, value = (piece.strip() for piece in part.partition("="))
        if name not in _OPTIONS:
            raise InvalidRecipe("recipe", f"an option of Boxes {one_of(name, _OPTIONS)}")
        if name in found:
            raise InvalidRecipe("recipe", f"{name} of Boxes must be given once")
        found[name] = value
    return found


def _positive(name: str, text: str) -> Fraction:
    rate = Fraction(text) if _RATE.fullmatch(text) else Fraction(0)
    if rate <= 0:
        kind = "rate" if name == "cable" else "number of microseconds"
        rule = f"{name} of Boxes must be a positive {kind} such as 50, 12.5 or 25/2; not {text!r}"
        raise InvalidRecipe("recipe", rule)
    return rate


def _rule(text: str) -> Ports:
    if text not in list(Ports):
        raise InvalidRecipe("recipe", f"ports of Boxes {one_of(text, Ports)}")
    return Ports(text)
