"""How far every panel is with a plan, by what is plugged there."""

from collections.abc import Set
from dataclasses import dataclass

from synth.wiring.devices.script import Script, Step
from synth.wiring.plant import Pair

__all__ = ["Standing", "stages_done", "standing", "states", "undone"]


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


@dataclass(frozen=True, slots=True)
class Standing:
    """A panel beside the state of a plan that it is nearest to: after ``stage`` stages.

    ``missing`` should be plugged then and is not, ``extra`` is plugged and should not be, and
    through ``dark`` of what should be plugged no light goes.  ``exact`` panels have neither
    missing nor extra pairs.  ``left`` counts the moves from that state to the end of the plan.
    """

    stage: int
    missing: tuple[Pair, ...]
    extra: tuple[Pair, ...]
    dark: tuple[Pair, ...]
    left: int

    @property
    def exact(self) -> bool:
        """Whether the panel is as the plan has it after a whole number of stages."""
        return not (self.missing or self.extra)


def standing(
    script: Script,
    panel: int,
    seen: Set[Pair],
    dark: Set[Pair] = frozenset(),
    stage: int | None = None,
) -> Standing:
    """Return how far a panel is, and the smallest repair that brings it to a whole stage.

    Parameters
    ----------
    script : Script
    panel : int
    seen : set of Pair
        All that is plugged there.
    dark : set of Pair
        Those of them through which no light goes.
    stage : int, optional
        What it is held against; left out, the state that needs fewest moves, of several the last.

    Examples
    --------
    >>> from synth.topology import Topology
    >>> from synth.wiring import plan_moves, sized, to_document
    >>> from synth.wiring.devices import read_script
    >>> ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    >>> script = read_script(to_document(plan_moves(ring, sized(ring))))
    >>> found = standing(script, 0, {Pair(0, 0, 1), Pair(0, 1, 2), Pair(0, 2, 2)})
    >>> found.stage, found.missing, found.extra
    (1, (Pair(panel=0, a=2, b=0),), (Pair(panel=0, a=2, b=2),))
    """
    known = states(script, panel)
    if stage is None:
        stage = min(range(len(known)), key=lambda n: (len(known[n] ^ seen), -n))
    wanted = known[stage]
    left = sum(
        len(step.removes) + len(step.adds)
        for number, step in script.of_panel(panel)
        if number > stage
    )
    return Standing(
        stage,
        tuple(sorted(wanted - seen)),
        tuple(sorted(seen - wanted)),
        tuple(sorted(wanted & seen & dark)),
        left,
    )
