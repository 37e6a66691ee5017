"""patch-progress/1: how far a plan is by what was seen of its panels, and what is wrong there."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import Field

from app.documents.base import Digest, Document, Identity, Presented

if TYPE_CHECKING:
    from synth.wiring.devices import Script
    from synth.wiring.plant import Pair
    from synth.wiring.progress import Standing

__all__ = ["PatchProgress", "Seen", "of", "read_seen", "write_seen"]


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
    stage: int = Field(description="stages of the plan after which it is, or is nearest to", ge=0)
    exact: bool = Field(description="whether nothing is missing or unexpected there")
    moves_left: int = Field(description="moves from there to the end of the plan", ge=0)
    missing: list[SeenPair] = Field(description="pairs that should be plugged and are not")
    unexpected: list[SeenPair] = Field(description="pairs that are plugged and should not be")
    dark: list[SeenPair] = Field(description="pairs that are as they should be, without light")
    repair: list[str] = Field(
        description="the fewest moves that bring it to that stage, such as remove 3A-9B"
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
    stages_done: int = Field(description="stages that every panel which moves is after", ge=0)
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
    moving = [standings[panel].stage for panel in script.panels if panel in standings]
    left = sum(_size(script, panel) for panel in unseen)
    return {
        "schema": "patch-progress/1",
        "id": identity,
        "plan_id": script.plan_id,
        "version": version,
        "state": state,
        "stages": len(script.steps),
        "stages_done": _done(script, unseen, moving),
        "moves_left": left + sum(found.left for found in standings.values()),
        "panels": rows,
        "unseen": [script.plant.panels[panel].id for panel in unseen],
    }


def _done(script: "Script", unseen: Sequence[int], moving: Sequence[int]) -> int:
    first = [script.of_panel(panel)[0][0] - 1 for panel in unseen]
    return min([*first, *moving], default=len(script.steps))


def _size(script: "Script", panel: int) -> int:
    return sum(len(step.removes) + len(step.adds) for _, step in script.of_panel(panel))


def _panel(script: "Script", panel: int, found: "Standing") -> dict[str, Any]:
    def named(pairs: "Sequence[Pair]") -> list[dict[str, str]]:
        rows = []
        for pair in pairs:
            one, other = map(script.plant.port_name, script.plant.ends(pair))
            rows.append({"a": one, "b": other, "label": script.label(pair)})
        return rows

    repair = [f"remove {script.plant.pair_name(pair)}" for pair in found.extra]
    repair += [f"add {script.plant.pair_name(pair)}" for pair in found.missing]
    return {
        "device": script.plant.panels[panel].id,
        "stage": found.stage,
        "exact": found.exact,
        "moves_left": found.left,
        "missing": named(found.missing),
        "unexpected": named(found.extra),
        "dark": named(found.dark),
        "repair": repair,
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
    from synth.wiring.plant import Pair

    found = {}
    for name, (rows, stage) in json.loads(text).items():
        pairs = {Pair(int(name), a, b): bool(dark) for a, b, dark in rows}
        lost = frozenset(pair for pair, dark in pairs.items() if dark)
        found[int(name)] = Seen(frozenset(pairs), lost, stage)
    return found
