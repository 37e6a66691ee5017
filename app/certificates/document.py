"""certificate/1: the labels by which a graph costs what is said of it, both ways."""

from typing import Any

from topoloom.app.certificates.check import MAX_NODES
from topoloom.synth.errors import NotMeasurable
from topoloom.synth.slack import Labels, eager, labels
from topoloom.synth.topology.topology import Topology


def document_of(topology: Topology, steps: int | None) -> dict[str, Any]:
    """Return the certificate of a graph: by labels within ``steps``, or by broadcast if None.

    Raises
    ------
    NotMeasurable
        More than `MAX_NODES` nodes, or labels do not serve the graph (`synth.slack.labels`).
    OutOfDomain
        Fewer steps than the diameter, or too many.
    """
    if topology.node_count > MAX_NODES:
        raise NotMeasurable("/nodes", f"a certificate is of at most {MAX_NODES} nodes")
    turned = topology.transpose()
    ways = {"allgather": topology, "reduce_scatter": turned}
    made = {way: eager(on) if steps is None else labels(on, steps) for way, on in ways.items()}
    ends = zip(topology.sources.tolist(), topology.targets.tolist(), strict=True)
    links = zip(ends, topology.capacities, strict=True)
    about = {"recipe": str(topology.recipe)} if topology.recipe is not None else {}
    return {
        "schema": "certificate/1",
        "topology": {"digest": topology.digest, **about},
        "nodes": topology.node_count,
        "links": [[*pair] if one == 1 else [*pair, str(one)] for pair, one in links],
        **{way: _direction(some) for way, some in made.items()},
    }


def _direction(made: Labels) -> dict[str, Any]:
    (whole,) = made.unfolded()
    return {
        "steps": made.cost.steps,
        "bandwidth": str(made.cost.bandwidth),
        "loads": [str(load) for load in made.loads],
        "arrival": [row.astype("uint8").tobytes().hex() for row in whole],
    }
