"""Read topology/1: untrusted JSON to a `Topology`, or one clear error.

`with_name_and_recipe` upgrades files and stored documents of earlier versions: without a
``recipe``, a name that is a recipe of a topology of this size is taken as the recipe, of any
length, and the topology gets the short name of `synth.recipes.build`.
"""

import re
from fractions import Fraction
from typing import Any

from topoloom.synth.errors import InvalidTopology, SynthError
from topoloom.synth.naming.short_names import short_name
from topoloom.synth.recipes.recipe import Recipe, parse
from topoloom.synth.topology.assumptions import Assumption, assumptions_from_document
from topoloom.synth.topology.latencies import latencies_from_rows
from topoloom.synth.topology.rates import unit_name
from topoloom.synth.topology.topology import MAX_RECIPE, Capacity, Link, NodeId, Topology

MAX_NODES = 100_000
MAX_LINKS = 4_000_000
MAX_TEXT = 200
"""Most characters of a name or unit in the input; output is shorter."""

_RATIO = re.compile(r"[0-9]{1,30}(/[0-9]{1,30})?")


def topology_from_document(document: Any, *, stored: bool = False) -> Topology:
    """Return the topology that a topology/1 document describes.

    Args:
        document: The parsed JSON: ``{"schema": "topology/1", "name", "recipe", "bandwidth_unit",
            "nodes": [{"id", "kind", "multicast"}], "links": [{"source", "target", "capacity",
            "latency_us"}], "shared": [{"links": [[source, target]], "capacity"}], "assumed":
            [{"text", "option"}]}``.  ``kind`` defaults to ``compute``, ``multicast`` (of switches)
            to false, ``capacity`` to 1, ``bandwidth_unit`` to ``link``, ``shared`` and
            ``latency_us`` to none; other keys are ignored.  A missing capacity is an assumption,
            and so is a missing unit of capacities other than 1.  ``recipe`` is optional; a recipe
            unknown to this version is ignored.
        stored: The unit stays as spelled, for the id depends on it.  Default: ``gbps`` is
            ``Gbit/s``.

    Raises:
        InvalidTopology: Names the offending place by JSON pointer and the rule.

    >>> topology_from_document({"schema": "topology/1", "nodes": [{"id": 0}, {"id": 1}],
    ...                         "links": [{"source": 0, "target": 1, "capacity": "3/2"}]}).links
    (Link(source=0, target=1, capacity=Fraction(3, 2)),)
    """
    if not isinstance(document, dict):
        raise InvalidTopology("", "must be a JSON object with schema topology/1")
    if document.get("schema") != "topology/1":
        raise InvalidTopology("/schema", 'must be "topology/1"')
    nodes = _list(document, "nodes", MAX_NODES)
    links = _list(document, "links", MAX_LINKS)
    ids = [_node_id(index, node) for index, node in enumerate(nodes)]
    switches = [node["id"] for index, node in enumerate(nodes) if _kind(index, node) == "switch"]
    unit = document.get("bandwidth_unit", "link")
    _require_text("/bandwidth_unit", unit, MAX_TEXT)
    rows = [_link(index, link) for index, link in enumerate(links)]
    topology = Topology(
        ids,
        rows,
        switches=switches,
        multicast=[node["id"] for index, node in enumerate(nodes) if _multicast(index, node)],
        shared=_shared(document.get("shared", [])),
        bandwidth_unit=unit if stored else unit_name(unit),
        assumed=[*assumptions_from_document(document.get("assumed", [])), *_assumed(document)],
    )
    # The ends of links are known to be ids now.
    latencies = latencies_from_rows(
        [row[:2] for row in rows], [link.get("latency_us") for link in links]
    )
    topology = topology.with_latencies(latencies) if latencies else topology
    return with_name_and_recipe(
        topology, document.get("name", ""), *_optional_member(document, "recipe")
    )


def _assumed(document: dict[str, Any]) -> list[Assumption]:
    """Return the assumed for missing members: capacities and their unit."""
    assumed = []
    links = document["links"]
    silent = sum("capacity" not in link for link in links)
    if silent:
        assumed.append(Assumption(f"{silent} of {len(links)} links state no capacity: each has 1."))
    unlike = any(link.get("capacity", 1) not in (1, "1") for link in links)
    if unlike and "bandwidth_unit" not in document:
        assumed.append(Assumption("No bandwidth_unit is stated: capacities count links."))
    return assumed


def with_name_and_recipe(topology: Topology, name: Any, *recipe: Any) -> Topology:
    """Return a topology under the name, and with the recipe, given in a file.

    Args:
        topology: The topology of the file.
        name, recipe: As given in the file; omit the recipe if the file has none.

    Raises:
        InvalidTopology: A value is no printable text, or too long.

    >>> ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    >>> with_name_and_recipe(ring, "my ring", "UniRing(3)").recipe == parse("UniRing(3)")
    True
    >>> with_name_and_recipe(ring, "my ring").recipe, with_name_and_recipe(ring, "UniRing(3)").name
    (None, 'uniring-3x1-8385')
    """
    if recipe:
        _require_text("/name", name, MAX_TEXT)
        _require_text("/recipe", recipe[0], MAX_RECIPE)
        return topology.renamed(name).with_recipe(_parsed(recipe[0]))
    _require_text("/name", name, MAX_RECIPE)
    recipe_in_name = _recipe_in_name(topology, name)
    if recipe_in_name is not None:
        short = short_name(recipe_in_name, topology.node_count, topology.degree)
        return topology.renamed(short).with_recipe(recipe_in_name)
    _require_text("/name", name, MAX_TEXT)
    return topology.renamed(name)


def _recipe_in_name(topology: Topology, name: str) -> Recipe | None:
    """Return the recipe in the name of a topology, as files of earlier versions have it."""
    # Imported here: such files are rare, and the import loads all families.
    from topoloom.synth.recipes.build import size

    recipe = _parsed(name) if name.endswith(")") else None
    try:
        fits = recipe and size(recipe) == (topology.node_count, topology.degree)
    except SynthError:
        return None
    return recipe if fits else None


def _parsed(text: str) -> Recipe | None:
    try:
        return parse(text)
    except SynthError:
        return None


def _optional_member(document: dict[str, Any], key: str) -> list[Any]:
    return [document[key]] if key in document else []


def _list(document: dict[str, Any], key: str, most: int) -> list[Any]:
    value = document.get(key)
    if not isinstance(value, list):
        raise InvalidTopology(f"/{key}", "must be a list")
    if not value and key == "nodes":
        raise InvalidTopology(f"/{key}", "must not be empty")
    if len(value) > most:
        raise InvalidTopology(f"/{key}", f"must have at most {most} entries")
    return value


def _require_text(place: str, value: Any, most: int) -> None:
    if not isinstance(value, str) or len(value) > most or not value.isprintable():
        raise InvalidTopology(place, f"must be a printable text of at most {most} characters")


def _node_id(index: int, node: Any) -> NodeId:
    if not isinstance(node, dict) or "id" not in node:
        raise InvalidTopology(f"/nodes/{index}", 'must be an object with an "id"')
    value = node["id"]
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise InvalidTopology(f"/nodes/{index}/id", "must be a string or an integer")
    if isinstance(value, int) and abs(value) >= 10**30:
        raise InvalidTopology(f"/nodes/{index}/id", "must have at most 30 digits")
    if isinstance(value, str) and (len(value) > 200 or not value.isprintable()):
        raise InvalidTopology(f"/nodes/{index}/id", "must be printable, at most 200 characters")
    return value


def _kind(index: int, node: dict[str, Any]) -> str:
    kind = node.get("kind", "compute")
    if kind not in ("compute", "switch"):
        raise InvalidTopology(f"/nodes/{index}/kind", 'must be "compute" or "switch"')
    return kind


def _multicast(index: int, node: dict[str, Any]) -> bool:
    value = node.get("multicast", False)
    if not isinstance(value, bool):
        raise InvalidTopology(f"/nodes/{index}/multicast", "must be true or false")
    if value and node.get("kind") != "switch":
        raise InvalidTopology(f"/nodes/{index}/multicast", "must be of a switch")
    return value


def _link(index: int, link: Any) -> Link:
    if not isinstance(link, dict):
        raise InvalidTopology(f"/links/{index}", "must be an object with source and target")
    for end in ("source", "target"):
        if end not in link:
            raise InvalidTopology(f"/links/{index}/{end}", "is missing")
    return Link(
        link["source"],
        link["target"],
        _capacity(f"/links/{index}/capacity", link.get("capacity", 1)),
    )


def _shared(value: Any) -> list[tuple[list[list[NodeId]], Capacity]]:
    if not isinstance(value, list) or len(value) > MAX_NODES:
        raise InvalidTopology("/shared", f"must be a list of at most {MAX_NODES} limits")
    limits = []
    for index, limit in enumerate(value):
        if not isinstance(limit, dict) or not isinstance(limit.get("links"), list):
            raise InvalidTopology(f"/shared/{index}", "must be an object with links and capacity")
        for place, pair in enumerate(limit["links"]):
            is_pair = isinstance(pair, list) and len(pair) == 2
            if not is_pair or any(type(node) not in (int, str) for node in pair):
                raise InvalidTopology(
                    f"/shared/{index}/links/{place}", "must be a source and a target"
                )
        place = f"/shared/{index}/capacity"
        limits.append((limit["links"], _capacity(place, limit.get("capacity"))))
    if sum(len(links) for links, _ in limits) > MAX_LINKS:
        raise InvalidTopology("/shared", f"must name at most {MAX_LINKS} links")
    return limits


def _capacity(place: str, value: Any) -> Capacity:
    if isinstance(value, int) and not isinstance(value, bool):
        if value >= 10**30:
            raise InvalidTopology(place, "must have at most 30 digits")
        return value
    if isinstance(value, str) and _RATIO.fullmatch(value):
        top, _, bottom = value.partition("/")
        if not bottom or int(bottom):
            return Fraction(int(top), int(bottom or 1))
    raise InvalidTopology(place, 'must be a positive integer or a text "p/q"')
