"""patch-progress/1: how far a plan is by what was seen of its panels, and what is wrong there."""

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
    """What was seen of a panel: its pairs, those without light, the stage it was meant to be in."""

    pairs: "frozenset[Pair]"
    dark: "frozenset[Pair]"
    stage: int | None


class SeenPair(Document):
    """A pair, and what is cabled to its ends."""

    a: str = Field(description="port on the A side")
    b: str = Field(description="port on the B side")
    label: str = Field(description="node:port--node:port, or the ports of the panel")


class PanelProgress(Document):
    """A panel that was looked at."""

    device: str = Field(description="the panel")
    stage: int = Field(
        description="the stage under way there, or the last complete one if the next has not begun",
        ge=0,
    )
    stages_done: int = Field(
        description="stages, from the first on, whose moves are all made there", ge=0
    )
    exact: bool = Field(description="whether the panel is exactly in the state after that stage")
    moves_left: int = Field(
        description="moves from what is plugged to the end of the plan, the repair included", ge=0
    )
    missing: list[SeenPair] = Field(
        description="pairs that are wanted by the end of that stage and are not plugged"
    )
    outdated: list[SeenPair] = Field(
        description="pairs that the plan removes by the end of that stage and that are plugged"
    )
    unexpected: list[SeenPair] = Field(
        description="plugged pairs that the plan has neither before, nor after any stage"
    )
    unrelated: list[SeenPair] = Field(
        description="pairs of others, on ports that the plan does not need: they stay"
    )
    dark: list[SeenPair] = Field(description="pairs that are as they should be, without light")
    ahead: list[str] = Field(description="moves of later stages that are made, as in repair")
    repair: list[str] = Field(
        description="the fewest moves that bring it to the end of that stage, such as remove 3A-9B"
    )


class PatchProgress(Document):
    """patch-progress/1."""

    schema_: Literal["patch-progress/1"] = Field(alias="schema", description="patch-progress/1")
    id: Identity = Field(description="the plan")
    plan_id: Digest = Field(description="digest of the plan")
    version: int = Field(description="grows with every observation; the ETag", ge=0)
    state: Literal["planned", "under-way", "done"] = Field(
        description="under-way: it holds its plant, and no other plan may be carried out there"
    )
    stages: int = Field(description="stages of the plan", ge=0)
    stages_done: int = Field(description="stages that are complete on every panel that moves", ge=0)
    moves_left: int = Field(description="moves to the end of the plan, by what was seen", ge=0)
    panels: list[PanelProgress] = Field(description="panels that were looked at")
    unseen: list[str] = Field(description="panels that move and were not looked at yet")


def of(
    identity: str,
    version: int,
    state: str,
    script: "Script",
    standings: "Mapping[int, Standing]",
) -> Presented:
    """Return the document; panels not looked at are taken as the plan found them."""
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
    """Return what was seen as it is kept: numbers of ports, by number of panel."""
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
    """Return what `write_seen` kept.

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
