"""patch-progress/1: progress of a plan from observations of its panels, with deviations."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import Field

from topoloom.app.documents.base import Digest, Document, Identity, Presented

if TYPE_CHECKING:
    from topoloom.synth.wiring.devices import Script
    from topoloom.synth.wiring.operations.plan_progress import Standing
    from topoloom.synth.wiring.plans.panel_actions import Step
    from topoloom.synth.wiring.plant import Pair


class Seen(NamedTuple):
    """Observation of a panel: plugged pairs, pairs without light, intended stage."""

    pairs: "frozenset[Pair]"
    dark: "frozenset[Pair]"
    stage: int | None


class SeenPair(Document):
    """A pair with the host ports at its ends."""

    a: str = Field(description="port on the A side")
    b: str = Field(description="port on the B side")
    label: str = Field(description="node:port--node:port, or the panel ports")


class PanelProgress(Document):
    """Progress of an observed panel."""

    device: str = Field(description="name of the panel")
    stage: int = Field(
        description="the stage in progress, or the last complete stage if the next has not begun",
        ge=0,
    )
    stages_done: int = Field(description="number of complete stages, from the first", ge=0)
    exact: bool = Field(description="whether the panel is exactly in the state after that stage")
    moves_left: int = Field(
        description="moves from the current wiring to the end of the plan, including the repair",
        ge=0,
    )
    missing: list[SeenPair] = Field(
        description="pairs of the state after that stage that are not plugged"
    )
    outdated: list[SeenPair] = Field(
        description="plugged pairs that the plan removes by the end of that stage"
    )
    unexpected: list[SeenPair] = Field(description="plugged pairs in no state of the plan")
    unrelated: list[SeenPair] = Field(
        description="pairs of other users, on ports that the plan does not need; they stay"
    )
    dark: list[SeenPair] = Field(description="correct pairs without light")
    ahead: list[str] = Field(description="completed moves of later stages, as in repair")
    repair: list[str] = Field(
        description="fewest moves to the state after that stage, such as remove 3A-9B"
    )


class PatchProgress(Document):
    """patch-progress/1."""

    schema_: Literal["patch-progress/1"] = Field(alias="schema", description="patch-progress/1")
    id: Identity = Field(description="id of the plan")
    plan_id: Digest = Field(description="digest of the plan")
    version: int = Field(description="increases with every observation; the ETag", ge=0)
    state: Literal["planned", "under-way", "done"] = Field(
        description="under-way: the plan locks its plant for other plans"
    )
    stages: int = Field(description="number of stages of the plan", ge=0)
    stages_done: int = Field(description="stages that are complete on every panel with moves", ge=0)
    moves_left: int = Field(description="moves to the end of the plan, from the observations", ge=0)
    panels: list[PanelProgress] = Field(description="observed panels")
    unseen: list[str] = Field(description="panels with moves and without an observation")


def of(
    identity: str,
    version: int,
    state: str,
    script: "Script",
    standings: "Mapping[int, Standing]",
) -> Presented:
    """Return the document; panels without an observation count as being in their initial state."""
    rows = [_panel(script, panel, found) for panel, found in sorted(standings.items())]
    unseen = [panel for panel in script.panels if panel not in standings]
    left = sum(_size(script, panel) for panel in unseen)
    done = [script.of_panel(panel)[0][0] - 1 for panel in unseen]
    done += [standings[panel].stages_done for panel in script.panels if panel in standings]
    return {
        "schema": "patch-progress/1",
        "id": identity,
        "plan_id": script.plan_id,
        "version": version,
        "state": state,
        "stages": len(script.steps),
        "stages_done": min(done, default=len(script.steps)),
        "moves_left": left + sum(found.left for found in standings.values()),
        "panels": rows,
        "unseen": [script.plant.panels[panel].id for panel in unseen],
    }


def _size(script: "Script", panel: int) -> int:
    return sum(len(step.removes) + len(step.adds) for _, step in script.of_panel(panel))


def _panel(script: "Script", panel: int, found: "Standing") -> dict[str, Any]:
    def named(pairs: "Sequence[Pair]") -> list[dict[str, str]]:
        rows = []
        for pair in pairs:
            one, other = map(script.plant.port_name, script.plant.ends(pair))
            rows.append({"a": one, "b": other, "label": script.label(pair)})
        return rows

    def moves(step: "Step") -> list[str]:
        rows = [f"remove {script.plant.pair_name(pair)}" for pair in step.removes]
        return rows + [f"add {script.plant.pair_name(pair)}" for pair in step.adds]

    return {
        "device": script.plant.panels[panel].id,
        "stage": found.stage,
        "stages_done": found.stages_done,
        "exact": found.exact,
        "moves_left": found.left,
        "missing": named(found.missing),
        "outdated": named(found.outdated),
        "unexpected": named(found.unexpected),
        "unrelated": named(found.unrelated),
        "dark": named(found.dark),
        "ahead": moves(found.ahead),
        "repair": moves(found.repair),
    }


def write_seen(seen: Mapping[int, Seen]) -> str:
    """Return observations as JSON text: port numbers, by panel number."""
    return json.dumps(
        {
            str(panel): [
                sorted([pair.a, pair.b, int(pair in one.dark)] for pair in one.pairs),
                one.stage,
            ]
            for panel, one in sorted(seen.items())
        },
        separators=(",", ":"),
    )


def read_seen(text: str) -> dict[int, Seen]:
    """Return the observations in a text of `write_seen`.

    >>> read_seen('{"0":[[[3,1,1]],2]}')[0].stage
    2
    """
    from topoloom.synth.wiring.plant import Pair

    found = {}
    for name, (rows, stage) in json.loads(text).items():
        pairs = {Pair(int(name), a, b): bool(dark) for a, b, dark in rows}
        lost = frozenset(pair for pair, dark in pairs.items() if dark)
        found[int(name)] = Seen(frozenset(pairs), lost, stage)
    return found
