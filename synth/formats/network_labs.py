"""Labs of virtual networks: containerlab's YAML or JSON, and the JSON of NVIDIA Air."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from topoloom.synth.formats.attributes import PLAIN, Attributes
from topoloom.synth.formats.graph_draft import GraphDraft
from topoloom.synth.formats.topology_draft import list_at, object_at, wrong
from topoloom.synth.formats.yaml_text import parse_yaml
from topoloom.synth.topology.topology import Topology

HOST_KINDS = ("linux", "host", "rare-host")
"""Kinds of containerlab that are hosts; every other kind is a network operating system."""
HOST_SYSTEMS = ("generic", "ubuntu", "debian", "centos", "rocky", "fedora", "alpine")
"""How the operating systems of hosts begin in NVIDIA Air."""


def containerlab(text: str, *, attributes: Attributes = PLAIN) -> Topology:
    """Return the topology of a lab of containerlab, in YAML or JSON.

    Unless options state otherwise, nodes of kind ``linux`` are compute nodes, others switches.  A
    link is a cable, with its capacity in ``vars``.  Links to the management network or to the
    machine are left out.  Source: containerlab.dev, "Topology definition file".

    >>> made = containerlab('''
    ... topology:
    ...   nodes: {leaf: {kind: nokia_srlinux}, h1: {kind: linux}, h2: {kind: linux}}
    ...   links: [{endpoints: ["leaf:e1", "h1:e1"]}, {endpoints: ["leaf:e2", "h2:e1"]}]''')
    >>> made.compute_nodes, made.link_count
    (('h1', 'h2'), 4)
    """
    document = object_at(parse_yaml(text), "")
    topology = object_at(document.get("topology"), "/topology")
    usual = object_at(topology.get("defaults", {}), "/topology/defaults").get("kind")
    nodes: dict[str, _Node] = {}
    for name, given in object_at(topology.get("nodes"), "/topology/nodes").items():
        place = f"/topology/nodes/{_shown(name)}"
        data = {"kind": usual, **object_at(given or {}, place)}
        if not isinstance(data["kind"], str):
            raise wrong(f"{place}/kind", "must be a text, here or in defaults")
        nodes[str(name)] = _Node(place, data["kind"] in HOST_KINDS, data)
    rule = f"Nodes of kind {' or '.join(HOST_KINDS)} are compute nodes, others switches."
    draft = _draft(nodes, attributes, rule)
    for index, link in enumerate(list_at(topology.get("links", []), "/topology/links")):
        place = f"/topology/links/{index}"
        row = object_at(link, place)
        ends = [_end(end, place) for end in _ends(row, place)]
        if all(end in nodes for end in ends):
            data = object_at(row.get("vars") or {}, f"{place}/vars")
            draft.edge(ends[0], ends[1], place, _plain(data))
        else:
            _require_outside(ends, nodes, place)
            draft.assume(f"The link {index} leaves the lab: it is left out.")
    return draft.build({"name": document.get("name")})


def air(text: str, *, attributes: Attributes = PLAIN) -> Topology:
    """Return the topology of a lab of NVIDIA Air, in JSON.

    A node whose operating system begins as in `HOST_SYSTEMS` is a compute node, every other a
    switch.  Links to ``exit`` and similar words leave the lab.  Source: NVIDIA Air, "Custom
    topology", JSON format.

    >>> made = air('{"title": "t", "content": {"nodes": {"l": {"os": "cumulus-vx-5"}, '
    ...            '"a": {"os": "ubuntu2204"}, "b": {"os": "ubuntu2204"}}, "links": '
    ...            '[[{"interface": "e1", "node": "a"}, {"interface": "s1", "node": "l"}], '
    ...            '[{"interface": "e1", "node": "b"}, {"interface": "s2", "node": "l"}]]}}')
    >>> sorted(made.switches)
    ['l']
    """
    document = object_at(parse_yaml(text), "")
    content = object_at(document.get("content"), "/content")
    nodes: dict[str, _Node] = {}
    for name, data in object_at(content.get("nodes"), "/content/nodes").items():
        place = f"/content/nodes/{_shown(name)}"
        system = object_at(data, place).get("os")
        if not isinstance(system, str):
            raise wrong(f"{place}/os", "must be a text")
        nodes[str(name)] = _Node(place, system.startswith(HOST_SYSTEMS), data)
    rule = "Nodes with the operating system of a server are compute nodes, others switches."
    draft = _draft(nodes, attributes, rule)
    for index, link in enumerate(list_at(content.get("links"), "/content/links")):
        place = f"/content/links/{index}"
        pair = list_at(link, place)
        ends = [end.get("node") if isinstance(end, dict) else None for end in pair]
        if len(ends) != 2:
            raise wrong(place, "must have two ends")
        if None in ends:
            draft.assume(f"The link {index} leaves the lab: it is left out.")
        elif any(end not in nodes for end in ends):
            raise wrong(place, "must join nodes of the lab")
        else:
            draft.edge(str(ends[0]), str(ends[1]), place, {})
    return draft.build({"name": document.get("title")})


class _Node(NamedTuple):
    """A node of a lab: its place, whether it is a host by default, and its own data."""

    place: str
    is_host: bool
    data: Mapping[str, Any]


def _draft(nodes: Mapping[str, _Node], attributes: Attributes, rule: str) -> GraphDraft:
    """Return a draft with the nodes; their kinds follow the rule unless an attribute is stated."""
    draft = GraphDraft(attributes, directed=False, default=False, kinds=True)
    for name, node in nodes.items():
        usual = {"kind": "compute" if node.is_host else "switch"}
        draft.node(name, node.place, usual if attributes.kind is None else node.data)
    if attributes.kind is None:
        draft.assume(rule, "kind_attribute")
    return draft


def _ends(row: dict[Any, Any], place: str) -> list[Any]:
    ends = row.get("endpoints")
    if ends is None and "endpoint" in row:
        ends = [row["endpoint"], row.get("type", "host")]
    ends = list_at(ends, f"{place}/endpoints")
    if len(ends) != 2:
        raise wrong(f"{place}/endpoints", "must be two ends")
    return ends


def _end(end: Any, place: str) -> str:
    """Return the node of an end, ``node:interface`` or an object."""
    node = end.get("node") if isinstance(end, dict) else end
    if not isinstance(node, str):
        raise wrong(f"{place}/endpoints", "must name nodes, such as leaf1:eth1")
    return node.partition(":")[0]


def _require_outside(ends: list[str], nodes: Mapping[str, object], place: str) -> None:
    """Raise unless the ends that are no nodes are containerlab's words for the outside."""
    for end in ends:
        if end not in nodes and end not in ("host", "mgmt-net", "macvlan", "vxlan", "dummy"):
            raise wrong(f"{place}/endpoints", f"must name nodes of the lab; not {end[:50]!r}")


def _plain(data: dict[Any, Any]) -> dict[str, Any]:
    """Return the data with decimals as texts: capacities are exact."""
    return {str(k): str(v) if isinstance(v, float) else v for k, v in data.items()}


def _shown(name: Any) -> str:
    """Return a name as a token of a place: its plain characters."""
    return "".join(sign for sign in str(name)[:50] if sign.isalnum() or sign in "._-") or "_"
