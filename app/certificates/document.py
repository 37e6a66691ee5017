"""certificate/1: slack schedules that prove the cost of a graph, in both directions."""

from typing import Any

from topoloom.app.certificates.check import MAX_NODES
from topoloom.synth.errors import NotMeasurable
from topoloom.synth.slack import SlackSchedule, bfs_schedule, slack_schedule
from topoloom.synth.topology.topology import Topology


def document_of(topology: Topology, steps: int | None) -> dict[str, Any]:
    """Return the certificate of a graph: by slack schedules within ``steps``, or BFB if None.

    Raises:
        NotMeasurable: More than `MAX_NODES` nodes, or outside the domain of
            `synth.slack.slack_schedule`.
        OutOfDomain: ``steps`` is less than the diameter, or too large.
    """
    if topology.node_count > MAX_NODES:
        raise NotMeasurable("/nodes", f"must be at most {MAX_NODES} for a certificate")
    turned = topology.transpose()
    ways = {"allgather": topology, "reduce_scatter": turned}
    made = {
        way: bfs_schedule(on) if steps is None else slack_schedule(on, steps)
        for way, on in ways.items()
    }
    ends = zip(topology.sources.tolist(), topology.targets.tolist(), strict=True)
    links = zip(ends, topology.capacities, strict=True)
    recipe = {"recipe": str(topology.recipe)} if topology.recipe is not None else {}
    return {
        "schema": "certificate/1",
        "topology": {"digest": topology.digest, **recipe},
        "nodes": topology.node_count,
        "links": [[*pair] if one == 1 else [*pair, str(one)] for pair, one in links],
        **{way: _direction(some) for way, some in made.items()},
    }


def _direction(made: SlackSchedule) -> dict[str, Any]:
    (whole,) = made.unfolded()
    return {
        "steps": made.cost.steps,
        "bandwidth": str(made.cost.bandwidth),
        "loads": [str(load) for load in made.loads],
        "arrival": [row.astype("uint8").tobytes().hex() for row in whole],
    }
