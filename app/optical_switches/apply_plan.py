"""A plan carried out on switches, stage by stage; every stage can be taken back until its end.

In a stage all panels are changed, read back, and only then confirmed.  Whatever stops it
before (a refusal, a lost session, a kill) has all panels of the stage go back by themselves.
Stopped while panels are confirmed, some have the stage and some do not: the plan goes on from
there, as each panel is found after a whole number of stages.
"""

from collections.abc import Callable, Mapping

from topoloom.app.optical_switches.netconf import PanelFailed, Switch
from topoloom.synth.wiring.operations.plan_progress import stages_done, states
from topoloom.synth.wiring.plans.panel_actions import Script, Step

MOST_NAMED = 5
"""Pairs that one error names."""


class BaseChanged(PanelFailed):
    """A panel is as the plan has it after none of its stages."""


def carry_out(
    script: Script,
    switches: Mapping[int, Switch],
    *,
    commit: bool,
    seconds: int,
    say: Callable[[str], None],
) -> int:
    """Make the moves of a plan that are still to make, and return how many those were.

    Parameters
    ----------
    script : Script
    switches : mapping of panel to Switch
        One for every panel on which something moves.
    commit : bool
        False: have the switches check the edits, and change nothing.
    seconds : int
        After which an edit that was not confirmed goes back.
    say : callable
        Told of everything that was done, a line each.

    Raises
    ------
    BaseChanged
        A panel is not as after any stage; nothing was changed.
    PanelFailed
        A switch refuses, or cannot be reached any more; the stage was taken back.
    """
    done = {panel: _found(script, panel, switch) for panel, switch in switches.items()}
    left = {panel: _left(script, panel, done[panel]) for panel in switches}
    for panel, switch in switches.items():
        switch.check(step for _, step in left[panel])
        so_far = f"stage {done[panel]} of {len(script.steps)} is done"
        say(f"{switch.id}: {so_far}; {_told(left[panel])}")
    moves = sum(_size(step) for steps in left.values() for _, step in steps)
    if not commit:
        return moves
    for number in range(1, len(script.steps) + 1):
        steps = {
            panel: step for panel, row in left.items() for stage, step in row if stage == number
        }
        if steps:
            _stage(script, number, steps, switches, seconds, say)
    return moves


def _found(script: Script, panel: int, switch: Switch) -> int:
    seen = switch.pairs()
    done = stages_done(script, panel, seen)
    if done is None:
        base = states(script, panel)[0]
        differs = [f"{script.plant.pair_name(pair)} is missing" for pair in sorted(base - seen)]
        differs += [f"{script.plant.pair_name(pair)} is new" for pair in sorted(seen - base)]
        more = f", and {len(differs) - MOST_NAMED} more" if len(differs) > MOST_NAMED else ""
        raise BaseChanged(
            f"{switch.id}: the base of the plan has changed, make a new plan: "
            f"{', '.join(differs[:MOST_NAMED])}{more}"
        )
    return done


def _left(script: Script, panel: int, done: int) -> list[tuple[int, Step]]:
    return [(number, step) for number, step in script.of_panel(panel) if number > done]


def _size(step: Step) -> int:
    return len(step.removes) + len(step.adds)


def _told(left: list[tuple[int, Step]]) -> str:
    if not left:
        return "nothing is left to do"
    removes = sum(len(step.removes) for _, step in left)
    adds = sum(len(step.adds) for _, step in left)
    return f"it accepts what is left: {removes} removed, {adds} added"


def _stage(
    script: Script,
    number: int,
    steps: Mapping[int, Step],
    switches: Mapping[int, Switch],
    seconds: int,
    say: Callable[[str], None],
) -> None:
    """Change all panels of a stage, look whether they are so, and only then let them stay."""
    try:
        for panel, step in steps.items():
            switch = switches[panel]
            switch.change(step, seconds)
            say(f"{switch.id}: stage {number} is made, and goes back unless confirmed")
        for panel in steps:
            if switches[panel].pairs() != states(script, panel)[number]:
                raise PanelFailed(
                    f"{switches[panel].id}: is not as stage {number} has it; taken back"
                )
        for panel in steps:
            switches[panel].confirm()
            say(f"{switches[panel].id}: stage {number} is confirmed")
    except BaseException:
        for panel in steps:
            switches[panel].cancel()
        raise
