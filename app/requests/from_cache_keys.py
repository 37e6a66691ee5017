"""Restore the request of a stored document from its key.

The key is the canonical request, with ids of stored topologies as sources.  `_RESTORED` holds
the kinds whose keys differ further from their requests.
"""

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

Json: TypeAlias = Mapping[str, Any]


def request_of_key(
    kind: str, key: str, key_of: Callable[[str, str], str | None]
) -> tuple[str, Json | None]:
    """Return the operation and the body of the request with this key, as JSON.

    The body is None if the key has a digest in its place, or names a frontier that is gone.
    ``key_of`` returns the key of a stored document, given kind and id.

    >>> none = lambda kind, identity: None
    >>> request_of_key("cost", '{"topology_id": "ab12"}', none)
    ('cost', {'topology': {'id': 'ab12'}})
    >>> request_of_key("topology", '{"document": "sha256:…", "name": ""}', none)
    ('topology', None)
    >>> request_of_key("plot", '{"plot": "load", "of": {"schedule": ["ab12"]}}', none)
    ('plot-load', {'schedule_id': 'ab12'})
    """
    held = json.loads(key)
    operation = f"plot-{held['plot']}" if kind == "plot" else kind
    if operation == "plot-frontier":
        key_of_frontier = key_of("frontier", held["of"]["frontier"][0])
        return operation, None if key_of_frontier is None else json.loads(key_of_frontier)
    return operation, _RESTORED.get(operation, _with_source)(held)


def _with_source(key: Json) -> Json:
    if "topology_id" not in key:
        return key
    return {"topology": {"id": key["topology_id"]}} | _without(key, "topology_id")


def _topology(key: Json) -> Json | None:
    if "document" in key or "assumed" in key:
        return None
    if "changes" not in key:
        return key
    changes = {name: parts for name, parts in key["changes"].items() if parts}
    return {"id": key["topology_id"], "changes": changes}


def _patch_plan(key: Json) -> Json:
    if "plant" in key:
        return _with_source(key)
    pairs = [dict(zip(("panel", "a", "b"), pair, strict=True)) for pair in key["present"]]
    return _with_source({**key, "present": pairs})


def _of_schedule(key: Json) -> Json | None:
    if "schedule_id" not in key:
        return None
    return _with_source(_without(key, "simulation")) | key.get("simulation", {})


def _export(key: Json) -> Json:
    document = {"kind": key["of"], "id": key["id"], "format": key["format"]}
    return document | {"options": _without(key, "of", "id", "format")}


def _comparison(key: Json) -> Json:
    ((kind, ids),) = key["of"].items()
    compared = {"topology": {"id": ids[0]}} if kind == "topology" else {f"{kind}s": ids}
    return compared | _without(key, "of")


def _plot(key: Json) -> Json:
    ((kind, ids),) = key["of"].items()
    return {f"{kind}_id": ids[0]} | _without(key, "plot", "of")


def _without(key: Json, *names: str) -> dict[str, Any]:
    return {name: value for name, value in key.items() if name not in names}


_RESTORED: Mapping[str, Callable[[Json], Json | None]] = MappingProxyType(
    {
        "topology": _topology,
        "patch-plan": _patch_plan,
        "verification": _of_schedule,
        "simulation": _of_schedule,
        "export": _export,
        "comparison": _comparison,
        "plot-sizes": lambda key: key["request"],
        "plot-load": _plot,
        "plot-survey": _plot,
        "plot-iterations": _plot,
        "plot-tree": _plot,
    }
)
