"""Progress of every panel with a plan, computed from its plugged pairs.

A plan leads a panel from state to state: the first is the base, and every stage leads to the next.
The moves of a stage come in any order, so a stage that is partly done is no fault.  Moves of later
stages that are made early are no fault either.  A fault is a pair that no state of the plan holds,
or the loss of a pair that the plan leaves alone.
"""

from collections.abc import Iterator, Set
from dataclasses import dataclass

from topoloom.synth.wiring.plans.panel_actions import Script, Step
from topoloom.synth.wiring.plant import Pair
from topoloom.synth.wiring.plant.free_ports import is_reserved


def states(script: Script, panel: int) -> tuple[frozenset[Pair], ...]:
    """Return the pairs of a panel before the plan and after each of its stages.

    >>> from topoloom.synth.topology.topology import Topology
    >>> from topoloom.synth.wiring import plan_moves, smallest_plant, to_document
    >>> from topoloom.synth.wiring.devices import read_script
    >>> ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    >>> script = read_script(to_document(plan_moves(ring, smallest_plant(ring))))
    >>> [len(state) for state in states(script, 0)]
    [0, 3]
    """
    state = _base(script, panel)
    found = [state]
    for changed in changes(script, {panel}):
        state = state ^ changed
        found.append(state)
    return tuple(found)


def changes(script: Script, panels: Set[int]) -> Iterator[frozenset[Pair]]:
    """Yield, for every stage, the pairs of some panels that the stage removes or adds."""
    for step in script.steps:
        moved = set(step.removes) ^ set(step.adds)
        yield frozenset(pair for pair in moved if pair.panel in panels)


def stages_done(script: Script, panel: int, seen: Set[Pair]) -> int | None:
    """Return the number of stages after which exactly these pairs are plugged on a panel.

    Stages that do not touch the panel do not change the state; the largest number is returned.
    None means that the panel is in no state of the plan.
    """
    found = states(script, panel)
    return max((number for number, state in enumerate(found) if state == seen), default=None)


def undone(script: Script) -> Script:
    """Return the plan backwards: from its final wiring, the last stage first, to its base.

    >>> from topoloom.synth.topology.topology import Topology
    >>> from topoloom.synth.wiring import plan_moves, smallest_plant, to_document
    >>> from topoloom.synth.wiring.devices import read_script
    >>> ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    >>> script = read_script(to_document(plan_moves(ring, smallest_plant(ring))))
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
class Difference:
    """Differences between observed pairs and the end of a stage.

    Attributes:
        missing: Pairs that the plan wants from then on, and that are not plugged.
        outdated: Pairs that the plan removes by then, and that are still plugged.
        unexpected: Plugged pairs that no state of the plan holds.
    """

    missing: tuple[Pair, ...]
    outdated: tuple[Pair, ...]
    unexpected: tuple[Pair, ...]

    @property
    def extra(self) -> tuple[Pair, ...]:
        """All plugged pairs that must go: outdated and unexpected ones, sorted."""
        return tuple(sorted(self.outdated + self.unexpected))

    @property
    def repair(self) -> Step:
        """The fewest moves to the end of the stage; moves of later stages stay as they are."""
        return Step(self.extra, self.missing)


@dataclass(frozen=True, slots=True)
class Standing(Difference):
    """Progress of a panel: the difference from the end of its stage, and later moves.

    Attributes:
        stage: The stage under way, or the last complete stage if the next one has not begun; 0
            before all.
        stages_done: Stages from the first on whose moves are all made on this panel.
        ahead: Moves of stages after ``stage`` that are made already.
        unrelated: Foreign pairs, which stay: no state holds them, and none of their ports is
            needed.
        dark: Wanted pairs that are plugged and carry no light.
        left_of: Moves of every stage that are left to make.
        left: Moves from the plugged pairs to the end of the plan, the repair included.
    """

    stage: int
    stages_done: int
    ahead: Step
    unrelated: tuple[Pair, ...]
    dark: tuple[Pair, ...]
    left_of: tuple[int, ...]
    left: int

    @property
    def exact(self) -> bool:
        """Whether the panel is exactly in the state after ``stage`` stages."""
        return not (self.missing or self.extra or self.ahead.removes or self.ahead.adds)


def standing(
    script: Script,
    panel: int,
    seen: Set[Pair],
    dark: Set[Pair] = frozenset(),
    stage: int | None = None,
) -> Standing:
    """Return the progress of a panel with a plan.

    Args:
        seen: All pairs that are plugged there.
        dark: Those of them that carry no light.
        stage: The stage whose end ``seen`` is compared with.  The default is the last stage that
            has begun, of the stages with the fewest contradictions.  A pair contradicts a stage if
            the pair is neither as before the stage nor as after it.

    O(pairs and moves of the panel), plus a pass over the moves of the plan.

    Of three cables one is in place, one is missing, and one is in a wrong port:

    >>> from topoloom.synth.topology.topology import Topology
    >>> from topoloom.synth.wiring import plan_moves, smallest_plant, to_document
    >>> from topoloom.synth.wiring.devices import read_script
    >>> ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    >>> script = read_script(to_document(plan_moves(ring, smallest_plant(ring))))
    >>> found = standing(script, 0, {Pair(0, 0, 1), Pair(0, 2, 2)})
    >>> found.stage, found.missing, found.unexpected
    (1, (Pair(panel=0, a=1, b=2), Pair(panel=0, a=2, b=0)), (Pair(panel=0, a=2, b=2),))
    >>> found.stages_done, found.left
    (0, 3)
    """
    if stage is None:
        stage = _under_way(script, panel, seen)
    state, removed, removes, adds = _around(script, panel, stage)
    missing, outdated = state - removes - seen, seen & removed
    strangers = seen - state - removed - adds
    unexpected = _of_the_plan(script, strangers, state | removed | adds)
    left = _left(script, panel, stage, missing | outdated, seen - outdated - unexpected | missing)
    return Standing(
        missing=tuple(sorted(missing)),
        outdated=tuple(sorted(outdated)),
        unexpected=tuple(sorted(unexpected)),
        stage=stage,
        stages_done=next((done for done, moves in enumerate(left) if moves), len(left)),
        ahead=Step(tuple(sorted(state & removes - seen)), tuple(sorted(seen & adds))),
        unrelated=tuple(sorted(strangers - unexpected)),
        dark=tuple(sorted(dark & seen & (state | adds))),
        left_of=tuple(left),
        left=len(missing | outdated | unexpected) + sum(left[stage:]),
    )


def _base(script: Script, panel: int) -> frozenset[Pair]:
    return frozenset(pair for pair in script.base.pairs if pair.panel == panel)


def _under_way(script: Script, panel: int, seen: Set[Pair]) -> int:
    """Return the last stage that has begun, of those that contradict the fewest pairs."""
    differs = set(_base(script, panel) ^ seen)
    fewest, found = len(differs), 0
    for number, changed in enumerate(changes(script, {panel}), start=1):
        made = differs & changed
        contradict = len(differs) - len(made)
        if contradict <= fewest and (made or not changed):
            fewest, found = contradict, number
        differs.symmetric_difference_update(changed)
    return found


def _around(
    script: Script, panel: int, stage: int
) -> tuple[Set[Pair], Set[Pair], Set[Pair], Set[Pair]]:
    """Return the pairs after a stage, those gone by then, the later removes and the later adds.

    The later adds leave out pairs that an earlier state holds.
    """
    state, removed = set(_base(script, panel)), set[Pair]()
    removes, adds = set[Pair](), set[Pair]()
    for number, step in script.of_panel(panel):
        if number <= stage:
            state.difference_update(step.removes)
            state.update(step.adds)
            removed.update(step.removes)
        else:
            removes.update(step.removes)
            adds.update(step.adds)
    return state, removed - state, removes, adds - state - removed


def _of_the_plan(script: Script, strangers: Set[Pair], held: Set[Pair]) -> Set[Pair]:
    """Return the pairs that are the plan's to remove.

    They are on ports of the plan's hosts, or on ports that a state of the plan needs.  Foreign
    pairs are not among them, and of pairs on reserved ports only those on needed ports.
    """
    plant = script.plant
    needed = {port for pair in held for port in plant.ends(pair)} if strangers else set()
    found = set()
    for pair in strangers - plant.present.foreign:
        ends = set(plant.ends(pair))
        kept = any(is_reserved(plant, port) for port in ends)
        if ends & needed or (ends & script.peers.keys() and not kept):
            found.add(pair)
    return found


def _left(
    script: Script, panel: int, stage: int, unmade: Set[Pair], repaired: Set[Pair]
) -> list[int]:
    """Return the moves of every stage that are left to make on a panel.

    Up to ``stage`` they are those of ``unmade`` pairs; later stages begin at ``repaired``.
    """
    left = [0] * len(script.steps)
    plugged = set(repaired)
    for number, step in script.of_panel(panel):
        removes, adds = set(step.removes), set(step.adds)
        if number <= stage:
            left[number - 1] = len((removes | adds) & unmade)
        else:
            left[number - 1] = len(removes & plugged) + len(adds - plugged)
            plugged = plugged - removes | adds
    return left
