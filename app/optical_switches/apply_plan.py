"""Apply a plan to switches, stage by stage, with rollback.

A stage changes all panels, reads them back, and then confirms the changes.  If anything stops the
stage before the confirmation (a refusal, a lost session, a kill), all its panels roll back by
themselves.  After a stop during the confirmation, some panels have the stage and some do not; the
next run continues, since each panel is at a whole number of stages.
"""

from collections.abc import Callable, Mapping

from topoloom.app.optical_switches.netconf import PanelFailed, Switch
from topoloom.synth.wiring.operations.plan_progress import stages_done, states
from topoloom.synth.wiring.plans.panel_actions import Script, Step

MOST_NAMED = 5
"""Limit of the pairs in an error message."""


class BaseChanged(PanelFailed):
    """A panel matches no stage of the plan."""


def carry_out(
    script: Script,
    switches: Mapping[int, Switch],
    *,
    commit: bool,
    seconds: int,
    say: Callable[[str], None],
) -> int:
    """Make the remaining moves of a plan; return their number.

    Args:
        switches: One switch for every panel with moves.
        commit: False: the switches only check the edits.
        seconds: Time until an unconfirmed edit rolls back.
        say: Called with a line for each completed operation.

    Raises:
        BaseChanged: A panel matches no stage; nothing was changed.
        PanelFailed: A switch refuses or is unreachable; the stage was rolled back.
    """
    done = {panel: _completed_stages(script, panel, switch) for panel, switch in switches.items()}
    left = {panel: _left(script, panel, done[panel]) for panel in switches}
    for panel, switch in switches.items():
        switch.check(step for _, step in left[panel])
        progress = f"stage {done[panel]} of {len(script.steps)} is done"
        say(f"{switch.id}: {progress}; {_remaining(left[panel])}")
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


def _completed_stages(script: Script, panel: int, switch: Switch) -> int:
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


def _remaining(left: list[tuple[int, Step]]) -> str:
    if not left:
        return "no moves left"
    removes = sum(len(step.removes) for _, step in left)
    adds = sum(len(step.adds) for _, step in left)
    return f"accepts the remaining moves: {removes} removed, {adds} added"


def _stage(
    script: Script,
    number: int,
    steps: Mapping[int, Step],
    switches: Mapping[int, Switch],
    seconds: int,
    say: Callable[[str], None],
) -> None:
    """Change all panels of a stage, verify the changes, then confirm them."""
    try:
        for panel, step in steps.items():
            switch = switches[panel]
            switch.change(step, seconds)
            say(f"{switch.id}: stage {number} is made, not confirmed")
        for panel in steps:
            if switches[panel].pairs() != states(script, panel)[number]:
                raise PanelFailed(
                    f"{switches[panel].id}: does not match stage {number}; rolled back"
                )
        for panel in steps:
            switches[panel].confirm()
            say(f"{switches[panel].id}: stage {number} is confirmed")
    except BaseException:
        for panel in steps:
            switches[panel].cancel()
        raise
