"""Independent verification of a schedule, chunk by chunk, against the topology alone.

The verifier knows nothing of the generators.  A schedule without violations has these properties:

* it names this topology, and its ranks are the topology's compute nodes;
* every send and every hop of a tree uses an existing link;
* nothing is sent before it is received, and nothing is received twice;
* the postcondition of its collective holds, with each contribution counted once.

`step_cost`, `tree_inverse_rate` and `route_inverse_rate` derive its cost from the sends.

An allreduce is a sequence of a reduce-scatter and an allgather of the same shards.  Parts that run
together must both be trees, so that slices of a shard can be pipelined.  Alternatively an
allreduce is one step schedule by which every rank gathers the whole contributions of all.  A single
tree schedule that claims to be an allreduce is a violation; so is a broadcast or a reduce in steps.
"""

from math import gcd

from topoloom.schedules.errors import InvalidSchedule, NoSchedule
from topoloom.schedules.model.schedule import (
    Collective,
    RouteSchedule,
    Schedule,
    SequenceSchedule,
    StepSchedule,
    TreeSchedule,
)
from topoloom.schedules.verify.costs import (
    step_cost,
    together_inverse_rate,
    tree_inverse_rate,
    tree_loads,
)
from topoloom.schedules.verify.findings import Findings, Violation
from topoloom.schedules.verify.routes import check_routes, route_inverse_rate, route_phases
from topoloom.schedules.verify.steps import check_steps
from topoloom.schedules.verify.trees import check_trees
from topoloom.synth.topology.topology import NodeId, Topology

__all__ = [
    "Violation",
    "require_valid",
    "route_inverse_rate",
    "route_phases",
    "step_cost",
    "together_inverse_rate",
    "tree_inverse_rate",
    "tree_loads",
    "violations",
]

_SEQUENCES = {
    Collective.ALLGATHER: [Collective.ALLGATHER],
    Collective.REDUCE_SCATTER: [Collective.REDUCE_SCATTER],
    Collective.ALLREDUCE: [Collective.REDUCE_SCATTER, Collective.ALLGATHER],
    Collective.BROADCAST: [Collective.BROADCAST],
    Collective.REDUCE: [Collective.REDUCE],
    Collective.ALL_TO_ALL: [Collective.ALL_TO_ALL],
}


def violations(schedule: Schedule, topology: Topology, *, limit: int = 100) -> list[Violation]:
    """Return the violations of a schedule; an empty list means that it is valid.

    Args:
        schedule: Built or read; may contain any numbers.
        topology: Topology to check against.
        limit: Maximum number of violations, at least 1.  Dependent checks stop at the first
            failure: chunks are not followed along sends that name no link.

    Raises:
        NoSchedule: ``limit`` is not positive.
        TooLarge: A step schedule needs more than `steps.MAX_STATE_BITS` of state, or
            `steps.MAX_LOOKS` accesses to it.

    Steps: O(S log S + N E) time for S sends, where E is the number of distinct
    chunk ranges; N E bits of memory.  Trees: O(hops).

    >>> import numpy as np
    >>> from topoloom.schedules.model.schedule import COPY, NO_LINK, SEND
    >>> pair = Topology(range(2), [(0, 1), (1, 0)])
    >>> send = lambda a, b: (a, b, a, 0, 1, NO_LINK, COPY)
    >>> def gather(*sends):
    ...     step = np.array(list(sends), dtype=SEND)
    ...     return StepSchedule(Collective.ALLGATHER, pair.digest, (0, 1), 1, (step,))
    >>> violations(gather(send(0, 1), send(1, 0)), pair)
    []
    >>> print(violations(gather(send(0, 1)), pair)[0])
    /steps: chunk 0 of shard 1 never arrives at rank 0
    """
    if limit < 1:
        raise NoSchedule("/limit", "must be at least 1")
    findings = Findings(limit)
    _check(schedule, topology, findings, "")
    return findings.found


def require_valid(schedule: Schedule, topology: Topology) -> None:
    """Raise unless the schedule is valid on the topology.

    Raises:
        InvalidSchedule: ``field`` is the place of the first violation, ``rule`` its text; up to two
            more follow.

    >>> pair = Topology(range(2), [(0, 1), (1, 0)])
    >>> require_valid(StepSchedule(Collective.ALLGATHER, "sha256:0", (0, 1), 1, ()), pair)
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.InvalidSchedule: /topology: is another topology than the given one
    """
    found = violations(schedule, topology, limit=3)
    if found:
        more = "".join(f"; {violation}" for violation in found[1:])
        raise InvalidSchedule(found[0].place, found[0].sentence + more)


def _check(schedule: Schedule, topology: Topology, findings: Findings, prefix: str) -> None:
    if schedule.topology != topology.digest:
        findings.add(f"{prefix}/topology", "is another topology than the given one")
        return
    if isinstance(schedule, SequenceSchedule):
        _check_sequence(schedule, topology, findings, prefix)
        return
    idle = set() if isinstance(schedule, StepSchedule) else set(schedule.idle)
    if schedule.ranks != tuple(node for node in topology.compute_nodes if node not in idle):
        # A document without participants has no member for its ranks.
        place = f"{prefix}/participants" if idle else prefix
        findings.add(place, "must have the compute nodes that take part as ranks, in order")
        return
    if isinstance(schedule, RouteSchedule):
        check_routes(schedule, topology, findings, prefix)
    elif schedule.collective is Collective.ALL_TO_ALL:
        findings.add(f"{prefix}/collective", "an all-to-all must be by routes")
    elif isinstance(schedule, TreeSchedule) and schedule.collective is Collective.ALLREDUCE:
        findings.add(f"{prefix}/collective", "an allreduce by trees must be a sequence of two")
    elif isinstance(schedule, TreeSchedule):
        check_trees(schedule, topology, findings, prefix)
    elif schedule.collective.has_root:
        findings.add(f"{prefix}/kind", f"a {schedule.collective} must be made of trees")
    else:
        check_steps(schedule, topology, findings, prefix)


def _check_sequence(
    schedule: SequenceSchedule, topology: Topology, findings: Findings, prefix: str
) -> None:
    wanted = _SEQUENCES[schedule.collective]
    if [part.collective for part in schedule.parts] != wanted:
        names = " and ".join(wanted)
        findings.add(f"{prefix}/parts", f"an {schedule.collective} sequence must be: {names}")
        return
    for index, part in enumerate(schedule.parts):
        if not isinstance(part, StepSchedule | TreeSchedule):
            findings.add(f"{prefix}/parts/{index}", "must be a step or a tree schedule")
            return
        if schedule.together and not isinstance(part, TreeSchedule):
            findings.add(f"{prefix}/parts/{index}", "must be by trees, where parts run together")
            return
        _check(part, topology, findings, f"{prefix}/parts/{index}")
    if len(set(map(_division, schedule.parts))) > 1:
        findings.add(f"{prefix}/parts", "must have the same ranks and the same shards")


def _division(part: StepSchedule | TreeSchedule) -> tuple[tuple[NodeId, ...], tuple[int, ...]]:
    """Return the ranks and the sizes of their shards, without a common factor."""
    if not isinstance(part, TreeSchedule):
        return part.ranks, (1,) * len(part.ranks)
    common = gcd(*part.sizes) or 1
    return part.ranks, tuple(size // common for size in part.sizes)
