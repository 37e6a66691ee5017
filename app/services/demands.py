"""Whose data a collective moves, and for whom: names told apart, questions put the same way."""

from fractions import Fraction
from typing import Any

from app.schemas import ForestRequest
from synth.topology import Topology

__all__ = ["FOREST_ONLY", "asked_of", "options_of"]

FOREST_ONLY = tuple(ForestRequest.model_fields)
"""What only forestcoll can be asked for."""


def asked_of(request: ForestRequest, topology: Topology) -> dict[str, Any]:
    """Return what was asked of forestcoll, as plain JSON, with ids as the topology has them.

    A text stands for an integer id of the same digits, since topologies have no two such
    ids; names of no node are left as they are.
    """
    asked = request.canonical_part(FOREST_ONLY)
    if not asked.keys() & {"root", "shards", "participants"}:
        return asked
    ids = {str(node): node for node in topology.nodes}
    if "root" in asked:
        asked["root"] = ids.get(str(asked["root"]), asked["root"])
    if "participants" in asked:
        asked["participants"] = [ids.get(str(name), name) for name in asked["participants"]]
    for shard in asked.get("shards", ()):
        shard["rank"] = ids.get(str(shard["rank"]), shard["rank"])
    return asked


def options_of(asked: dict[str, Any]) -> dict[str, Any]:
    """Return what the generators take, from what is stored of the question."""
    options = {name: asked[name] for name in FOREST_ONLY if name in asked}
    if "max_gap" in options:
        options["max_gap"] = Fraction(options["max_gap"])
    if "shards" in options:
        options["shards"] = {shard["rank"]: shard["size"] for shard in options["shards"]}
    return options
