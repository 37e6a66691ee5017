"""Progress of patch plans: stored observations, with one plan under way per plant."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from topoloom.app.documents.base import Presented
from topoloom.app.documents.patch_plan import script_of
from topoloom.app.documents.patch_progress import Seen, of, read_seen, write_seen
from topoloom.app.requests.patch_plans import ObservationRequest
from topoloom.app.store.artifacts import Artefact, canonical
from topoloom.app.store.errors import BaseTaken, ChangedMeanwhile
from topoloom.app.store.patch_progress import PatchStore, Progress
from topoloom.synth.errors import InvalidWiring

if TYPE_CHECKING:
    from topoloom.synth.wiring.devices import Script
    from topoloom.synth.wiring.operations.plan_progress import Standing
    from topoloom.synth.wiring.plant import Pair


def progress(store: PatchStore, artefact: Artefact) -> tuple[Presented, int]:
    """Return the patch-progress/1 document of a stored plan, and its version."""
    return _presented(script_of(artefact), store.get(artefact.id))


def observe(
    store: PatchStore, artefact: Artefact, version: int, request: ObservationRequest
) -> tuple[Presented, int]:
    """Store observations of panels, and return the progress of the plan and its version.

    Args:
        version: The version of the progress that the observer knows.

    Raises:
        ChangedMeanwhile: Another observation was stored since that version.
        BaseTaken: Another plan is under way on the same plant.
        InvalidWiring: The observed wiring is impossible.
    """
    script, before = script_of(artefact), store.get(artefact.id)
    _require_version(before, version)
    seen = read_seen(before.seen) | _seen(script, read_seen(before.seen), request)
    done = _state(script, _standings(script, seen), before.version + 1) == "done"
    site = None if done else _site(script, before.owner)
    after = replace(before, site=site, version=before.version + 1, seen=write_seen(seen))
    if not store.replace(before, after):
        holder = None if site is None else store.holder(site)
        if holder not in (None, artefact.id):
            raise BaseTaken(f"the plan {holder} is under way on the same plant")
        raise ChangedMeanwhile(f"is not {version} any more")
    return _presented(script, after)


def give_up(store: PatchStore, artefact: Artefact) -> None:
    """Delete the progress of a plan, and release its plant for another plan."""
    store.forget(artefact.id)


def _require_version(known: Progress, version: int) -> None:
    if known.version != version:
        raise ChangedMeanwhile(f"must be {known.version}, the present version; not {version}")


def _seen(
    script: "Script", known: Mapping[int, Seen], request: ObservationRequest
) -> dict[int, Seen]:
    """Return the observed panels of a request, with those read from neighbors last."""
    from topoloom.synth.wiring.plant.lldp_neighbors import Neighbour, pairs_of_neighbours

    if request.stage is not None and request.stage > len(script.steps):
        raise InvalidWiring("/stage", f"must be at most {len(script.steps)}")
    found = {
        panel: _panel(script, panel, name, request)
        for name in request.panels or ()
        for panel in (_number(script, name),)
    }
    if request.text is not None:
        found |= _read(script, request.text, request.stage)
    told = [
        Neighbour(
            (row.host, row.port), None if row.peer is None else (row.peer, row.peer_port or "")
        )
        for row in request.neighbours or ()
    ]
    if told:
        plugged: dict[int, frozenset[Pair]] = {}
        for panel in range(len(script.plant.panels)):
            one = found.get(panel) or known.get(panel)
            base = (pair for pair in script.base.pairs if pair.panel == panel)
            plugged[panel] = frozenset(base) if one is None else one.pairs
        joined = pairs_of_neighbours(script.plant, plugged, told)
        found |= {panel: Seen(pairs, frozenset(), request.stage) for panel, pairs in joined.items()}
    if not found:
        raise InvalidWiring("", "must have panels, text or neighbours")
    return found


def _read(script: "Script", text: str, stage: int | None) -> dict[int, Seen]:
    """Return the panels that a text of devices describes."""
    from topoloom.synth.wiring.devices.wiring_reader import read_wiring

    seen = read_wiring({"text": text}, script.plant, script.base)
    if seen.commanded:
        raise InvalidWiring("/text", "must state pairs; holds commands")
    rows = {
        panel: [frozenset(pair for pair in pairs if pair.panel == panel)
                for pairs in (seen.present.pairs, seen.dark)]
        for panel in seen.panels
    }  # fmt: skip
    return {panel: Seen(plugged, dark, stage) for panel, (plugged, dark) in rows.items()}


def _number(script: "Script", name: str) -> int:
    number = script.plant.panel_index.get(name)
    if number is None:
        raise InvalidWiring("/panels", f"there is no panel {name[:80]!r}")
    return number


def _panel(script: "Script", panel: int, name: str, request: ObservationRequest) -> Seen:
    from topoloom.synth.wiring.plant.current_wiring import read_present

    rows = (request.panels or {})[name]
    try:
        pairs = read_present([row.on(name) for row in rows], script.plant).pairs
        dark = read_present([row.on(name) for row in rows if not row.light], script.plant).pairs
    except InvalidWiring as error:
        place = name.replace("~", "~0").replace("/", "~1")
        raise InvalidWiring(f"/panels/{place}{error.field}", error.rule) from None
    return Seen(frozenset(pairs), frozenset(dark), request.stage)


def _standings(script: "Script", seen: Mapping[int, Seen]) -> "dict[int, Standing]":
    from topoloom.synth.wiring.operations.plan_progress import standing

    return {
        panel: standing(script, panel, one.pairs, one.dark, one.stage)
        for panel, one in seen.items()
    }


def _state(script: "Script", standings: "Mapping[int, Standing]", version: int) -> str:
    done = all(panel in standings and not standings[panel].left for panel in script.panels)
    # A link without light is not wired, even if the plan keeps its pair.
    done = done and not any(pair in script.links for one in standings.values() for pair in one.dark)
    return "done" if done else "under-way" if version else "planned"


def _presented(script: "Script", known: Progress) -> tuple[Presented, int]:
    standings = _standings(script, read_seen(known.seen))
    state = _state(script, standings, known.version)
    return of(known.plan_id, known.version, state, script, standings), known.version


def _site(script: "Script", owner: str) -> str:
    """Return the digest of a plant of an owner, which does not depend on its wiring."""
    from topoloom.synth.wiring.plant import plant_digest

    made = script.plant.uniform
    if made is None:
        known = {"plant": [script.plant.name, plant_digest(script.plant)]}
    else:
        known = {"panels": [made.layout.value, made.hosts, made.lanes]}
    if owner:
        known["owner"] = [owner]
    return hashlib.sha256(canonical(known).encode()).hexdigest()
