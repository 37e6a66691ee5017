"""All-to-all on a topology: the best there is, between two exact bounds."""

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from app.schemas import TopologySource
from app.services import topologies
from app.services.context import Context
from app.store import Artefact, Computed

if TYPE_CHECKING:
    from schedules.alltoall import AllToAll

__all__ = ["optimum", "point"]


def optimum(context: Context, source: TopologySource, *, field: str = "") -> Artefact:
    """Return the stored all-to-all/1 document: throughput, its bound, and the routings.

    The last of ``routings`` is the fastest for much data; the first takes the fewest hops.
    """
    loaded = topologies.load(context, source, field=field)
    topology = loaded.topology

    def compute(identity: str) -> Computed:
        from schedules.alltoall import optimum as find
        from schedules.alltoall import shortest
        from schedules.verify.costs import node_capacity

        found, near = find(topology), shortest(topology)
        lower = max(found.lower, near.lower)
        chosen = [near, found] if found.inverse_rate < near.inverse_rate else [near]
        best = chosen[-1]
        # From time per unit and unit of capacity to M / B.
        unit = node_capacity(topology) / best.compute_nodes
        document = {
            "schema": "all-to-all/1",
            "id": identity,
            "topology_id": loaded.id,
            "topology_digest": topology.digest,
            "name": topology.name,
            "collective": "all-to-all",
            "bandwidth_unit": topology.bandwidth_unit,
            "nodes": best.compute_nodes,
            "inverse_rate": str(best.inverse_rate),
            "lower_bound": str(lower),
            "bandwidth_bound": str(lower * unit),
            "proved": best.inverse_rate == lower,
            "gap": round(float(best.inverse_rate / lower - 1), 9),
            "algbw": round(float(best.compute_nodes / best.inverse_rate), 4),
            "routings": [_routing(one, unit) for one in chosen],
        }
        summary = {"name": topology.name, "inverse_rate": document["inverse_rate"]}
        return Computed.json(document, summary)

    asked = {"topology_id": loaded.id, "collective": "all-to-all"}
    return context.answer("optimum", asked, compute)


def point(context: Context, topology_id: str) -> dict[str, Any]:
    """Return what a point of a frontier says of all-to-all.

    ``bandwidth`` is the time on the wire in units of M / B, ``bound`` what no routing on
    this topology can undercut; ``proved`` tells whether they are equal.
    """
    document = optimum(context, TopologySource(id=topology_id)).document()
    best = document["routings"][-1]
    return {
        "bandwidth": best["bandwidth"],
        "bound": document["bandwidth_bound"],
        "proved": document["proved"],
        "routings": document["routings"],
    }


def _routing(found: "AllToAll", unit: Fraction) -> dict[str, Any]:
    return {
        "method": found.method,
        "steps": found.hops,
        "bandwidth": str(found.inverse_rate * unit),
    }
