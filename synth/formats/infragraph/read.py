"""Read an infrastructure of InfraGraph: accelerators, and what joins them."""

from collections import defaultdict
from fractions import Fraction
from typing import NamedTuple

from topoloom.synth.formats.attributes import PLAIN, Attributes
from topoloom.synth.formats.infragraph.expand import COMPUTE, SWITCH, Expansion, Graph
from topoloom.synth.formats.infragraph.protobuf import TEXT, from_text
from topoloom.synth.formats.topology_draft import Draft, wrong
from topoloom.synth.formats.yaml_text import parse_yaml
from topoloom.synth.topology.latencies import latency_seconds
from topoloom.synth.topology.topology import NodeId, Topology


def read_infragraph(text: str, *, attributes: Attributes = PLAIN) -> Topology:
    """Return the topology of an infrastructure of InfraGraph, in YAML, JSON or protobuf text.

    Each ``xpu`` is a compute node.  Ports, NICs and other parts on a way vanish, and the slowest
    part of the way sets the capacity; the latencies of its parts add up.  Parts with several ways are switches; memory and other
    parts at the end of a way are left out.

    >>> from topoloom.synth.formats.infragraph.write import infragraph
    >>> pair = Topology("ab", [("a", "b", 25), ("b", "a", 25)], bandwidth_unit="GB/s")
    >>> read_infragraph(infragraph(pair)).links
    (Link(source='host.0', target='host.1', capacity=25), Link(source='host.1', target='host.0', capacity=25))
    """  # noqa: E501
    document = from_text(text) if TEXT.search(text) else parse_yaml(text)
    if not isinstance(document, dict):
        raise wrong("", "must be an infrastructure of InfraGraph: an object")
    graph = Expansion(document).graph
    ways = _ways(graph)
    names = _names(graph.kinds, {COMPUTE})
    draft = Draft()
    forwarding = {end for way in ways for end in way[:2]} - names.keys()
    for name, kind in graph.kinds.items():
        if kind == COMPUTE:
            draft.node(names[name], "/instances")
    switches = _names(graph.kinds, {graph.kinds[name] for name in forwarding})
    for name in graph.kinds:
        if name in forwarding:
            draft.node(switches[name], "/instances", switch=True)
    others = {graph.kinds[name] for name in forwarding} - {SWITCH}
    if others:
        kinds = ", ".join(sorted(others))
        draft.assume(f"Parts of kind {kinds} with several ways are read as switches.")
    silent = sum(way.gbps is None for way in ways)
    if silent:
        draft.assume(f"{silent} of {len(ways)} links state no rate: each has capacity 1.")
    if graph.unread:
        draft.assume("Rates in GT/s are not read: GT/s is no rate of bytes.")
    names |= switches
    for one, other, gbps, _ in ways:
        draft.cable(names[one], names[other], 1 if gbps is None else gbps / 8, "/edges")
    latencies = _latencies(ways, names)
    if not latencies and any(way.latency_us is not None for way in ways):
        draft.assume("Some links state no latency, or parallel links several: none is read.")
    name = document.get("name")
    unit = attributes.unit or draft.unit()
    topology = draft.build(name=name if isinstance(name, str) else "", unit=unit)
    return topology.with_latencies(latencies) if latencies else topology


def _latencies(ways: list["_Way"], names: dict[str, str]) -> dict[tuple[NodeId, NodeId], Fraction]:
    """Return the latencies of joined pairs, seconds; empty unless every pair has one."""
    found: dict[tuple[NodeId, NodeId], Fraction] = {}
    for one, other, _, latency in ways:
        if latency is None:
            return {}
        for pair in ((names[one], names[other]), (names[other], names[one])):
            seconds = latency_seconds("/links", latency)
            if found.setdefault(pair, seconds) != seconds:
                return {}
    return found


class _Way(NamedTuple):
    """A cable between two parts; a number is None where no part of the way states one."""

    one: str
    other: str
    gbps: Fraction | None
    latency_us: Fraction | None


def _ways(graph: Graph) -> list[_Way]:
    """Return the cables that are left: parts at the end of a way and parts on a way vanish.  O(E).

    Contraction keeps parallel ways apart.
    """
    ways = {at: _Way(*ends, *physical) for at, (ends, physical) in enumerate(graph.edges.items())}
    at_node: dict[str, set[int]] = defaultdict(set)
    for at, way in ways.items():
        at_node[way.one].add(at)
        at_node[way.other].add(at)
    waiting = [name for name, kind in graph.kinds.items() if kind != COMPUTE]
    while waiting:
        name = waiting.pop()
        held = sorted(at_node[name])
        passes = len(held) == 2 and graph.kinds[name] != SWITCH
        if not held or not (len(held) == 1 or passes):
            continue
        gone = [ways.pop(at) for at in held]
        ends = [way.other if way.one == name else way.one for way in gone]
        for at, end in zip(held, ends, strict=True):
            at_node[end].discard(at)
        at_node[name].clear()
        if passes and ends[0] != ends[1]:
            rates = [way.gbps for way in gone if way.gbps is not None]
            times = [way.latency_us for way in gone if way.latency_us is not None]
            latency = sum(times, Fraction(0)) if times else None
            ways[held[0]] = _Way(ends[0], ends[1], min(rates, default=None), latency)
            for end in ends:
                at_node[end].add(held[0])
        waiting += [end for end in ends if graph.kinds[end] != COMPUTE]
    return [ways[at] for at in sorted(ways)]


def _names(kinds: dict[str, str], wanted: set[str]) -> dict[str, str]:
    """Return short names of the parts of some kinds: that of the instance where it has one part.

    >>> _names({"host.0.xpu.0": "xpu", "host.0.port.0": "port"}, {"xpu"})
    {'host.0.xpu.0': 'host.0'}
    """
    owned: dict[str, list[str]] = defaultdict(list)
    for name, kind in kinds.items():
        if kind in wanted:
            owned[".".join(name.split(".")[:2])].append(name)
    return {
        name: instance if len(names) == 1 else name
        for instance, names in owned.items()
        for name in names
    }
