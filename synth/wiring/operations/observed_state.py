"""Comparison of the observed pairs of panels with the end of a plan.

The repair is the difference: pairs to remove, and missing pairs.  Foreign pairs on ports that the
plan does not use stay.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from itertools import chain

from topoloom.synth.wiring.operations.plan_progress import (
    Difference,
    Standing,
    changes,
    standing,
)
from topoloom.synth.wiring.plans.panel_actions import Script
from topoloom.synth.wiring.plant import Pair, Present


@dataclass(frozen=True, slots=True)
class Comparison(Difference):
    """Differences between observed panels and the end of a plan.

    Attributes:
        stages_done: Stages after which exactly these pairs are plugged, except foreign pairs.  None
            means that a stage is partly done, or that a pair is missing or unexpected.
        complete: Stages, from the first on, whose moves are all made on the observed panels.
        made, of_stage: Moves of the stage after these that are made, and all its moves, on the
            observed panels.
        dark: Pairs of links of the plan that are plugged and carry no light.
        unseen: Panels with moves that were not observed.
    """

    stages_done: int | None
    complete: int
    made: int
    of_stage: int
    dark: tuple[Pair, ...]
    unseen: tuple[int, ...]

    @property
    def matches(self) -> bool:
        """Whether the plan is done on all its panels, and its links carry light."""
        return not (self.missing or self.extra or self.dark or self.unseen)


def differences_from_plan(
    script: Script,
    observed: Present,
    panels: Iterable[int] | None = None,
    dark: Set[Pair] = frozenset(),
) -> Comparison:
    """Return the differences between observed pairs and the end of a plan.

    Args:
        observed: The plugged pairs.
        panels: The panels that were observed; by default all.
        dark: Plugged pairs that carry no light.

    >>> from topoloom.synth.topology.topology import Topology
    >>> from topoloom.synth.wiring import plan_moves, smallest_plant, to_document
    >>> from topoloom.synth.wiring.devices import read_script
    >>> ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    >>> script = read_script(to_document(plan_moves(ring, smallest_plant(ring))))
    >>> [differences_from_plan(script, now).stages_done for now in (Present(), script.final)]
    [0, 1]
    >>> found = differences_from_plan(script, Present.of([(0, 0, 1), (0, 1, 0)]))
    >>> found.missing, found.unexpected
    ((Pair(panel=0, a=1, b=2), Pair(panel=0, a=2, b=0)), (Pair(panel=0, a=1, b=0),))
    """
    looked = frozenset(range(len(script.plant.panels)) if panels is None else panels)
    seen: dict[int, set[Pair]] = defaultdict(set)
    for pair in observed.pairs:
        seen[pair.panel].add(pair)
    end = len(script.steps)
    found = {
        panel: standing(script, panel, seen[panel], dark & seen[panel], end)
        for panel in sorted(looked)
    }
    unrelated = {pair for one in found.values() for pair in one.unrelated}
    complete = min((one.stages_done for one in found.values()), default=end)
    return Comparison(
        tuple(chain.from_iterable(one.missing for one in found.values())),
        tuple(chain.from_iterable(one.outdated for one in found.values())),
        tuple(chain.from_iterable(one.unexpected for one in found.values())),
        _stage(script, {pair for panel in looked for pair in seen[panel]} - unrelated, looked),
        complete,
        *_made(script, found, complete),
        tuple(sorted(pair for one in found.values() for pair in one.dark if pair in script.links)),
        tuple(panel for panel in script.panels if panel not in looked),
    )


def _made(script: Script, found: Mapping[int, Standing], complete: int) -> tuple[int, int]:
    """Return the made moves and all moves of the first incomplete stage, on some panels."""
    if complete == len(script.steps):
        return 0, 0
    step = script.steps[complete]
    moves = sum(pair.panel in found for pair in (*step.removes, *step.adds))
    return moves - sum(one.left_of[complete] for one in found.values()), moves


def _stage(script: Script, seen: set[Pair], looked: frozenset[int]) -> int | None:
    """Return the last stage after which exactly this is plugged."""
    differs = seen.symmetric_difference(pair for pair in script.base.pairs if pair.panel in looked)
    done = None if differs else 0
    for number, changed in enumerate(changes(script, looked), start=1):
        differs.symmetric_difference_update(changed)
        if not differs:
            done = number
    return done
