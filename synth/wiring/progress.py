"""How far every panel is with a plan, by what is plugged there."""

from collections.abc import Set

from synth.wiring.devices.script import Script, Step
from synth.wiring.plant import Pair

__all__ = ["stages_done", "states", "undone"]


def states(script: Script, panel: int) -> tuple[frozenset[Pair], ...]:
    """Return what is plugged on a panel before the plan and after each of its stages.

    >>> from synth.topology import Topology
    >>> from synth.wiring import plan_moves, sized, to_document
    >>> from synth.wiring.devices import read_script
    >>> ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    >>> script = read_script(to_document(plan_moves(ring, sized(ring))))
    >>> [len(state) for state in states(script, 0)]
    [0, 3]
    """
    state = frozenset(pair for pair in script.base.pairs if pair.panel == panel)
    found = [state]
    for step in script.steps:
        adds = (pair for pair in step.adds if pair.panel == panel)
        state = state.difference(step.removes).union(adds)
        found.append(state)
    return tuple(found)


def stages_done(script: Script, panel: int, seen: Set[Pair]) -> int | None:
    """Return after how many stages a panel looks like this; None if it never does.

    Stages that do not touch the panel do not change its looks; the most stages are returned.
    """
    found = states(script, panel)
    return max((number for number, state in enumerate(found) if state == seen), default=None)


def undone(script: Script) -> Script:
    """Return the plan backwards: from its final wiring, the last stage first, to its base.

    >>> from synth.topology import Topology
    >>> from synth.wiring import plan_moves, sized, to_document
    >>> from synth.wiring.devices import read_script
    >>> ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    >>> script = read_script(to_document(plan_moves(ring, sized(ring))))
    >>> undone(script).final == script.base, undone(undone(script)) == script
    (True, True)
    """
    return Script(
        script.plan_id,
        script.plant,
        tuple(Step(step.adds, step.removes) for step in reversed(script.steps)),
        script.final,
        script.base,
        script.links,
        script.peers,
    )
