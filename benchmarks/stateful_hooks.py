"""Hooks for schemathesis: valid bodies, and ids that exist.

A generator that knows only the schemas requests documents that do not exist and sends bodies that a
rule beyond the schema refuses, so that no sequence of requests gets far.  These hooks put a valid
question, sometimes with one spoiled value, into most bodies, and an id from an earlier answer into
most paths.  Loaded by ``st run`` through SCHEMATHESIS_HOOKS.
"""

import atexit
import json
import os
import random
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import schemathesis

HOLDS, SPOILT, KNOWN = 0.55, 0.2, 0.75
drawn = random.Random(os.environ.get("STATEFUL_SEED", "1"))
ids: defaultdict[str, list[str]] = defaultdict(list)
seen: Counter[str] = Counter()


def _cluster() -> dict[str, Any]:
    return {"nodes": drawn.randint(2, 40), "degree": drawn.randint(1, 6)}


def _topology() -> dict[str, Any]:
    n = drawn.randint(3, 24)
    named = [f"BiRing({n})", f"UniRing({n})", f"Complete({n})", f"GeneralizedKautz(3, {n})"]
    ways = [{"recipe": name} for name in named] + [{"fabric": "dgx-a100-2"}]
    return drawn.choice(ways + [{"id": known} for known in ids["topologies"][-3:]])


def _collective() -> str:
    return drawn.choice(["allgather", "reduce-scatter", "allreduce", "all-to-all"])


def _design() -> dict[str, Any]:
    return _cluster() | {
        "links": drawn.choice(["unidirectional", "bidirectional"]),
        "collective": _collective(),
        "bytes": drawn.choice([1024, "1MiB", 10**9]),
    }


def _session() -> dict[str, Any]:
    return {"min_lr": 1e-4, "max_lr": drawn.choice([1e-5, 1e-1]), "total_steps": 2000}


def _known(kind: str) -> str:
    return drawn.choice(ids[kind] or ["0" * 64])


QUESTIONS = {
    "designs": _design,
    "batch": lambda: {"designs": [_design() for _ in range(drawn.randint(0, 3))]},
    "topologies": _topology,
    "schedules": lambda: {"topology": _topology(), "collective": _collective()},
    "simulation": lambda: {"bytes": drawn.choice([1, 10**6])},
    "patch-plans": lambda: {"topology": _topology()},
    "sweeps": lambda: {"kind": "sizes", "nodes": ["3:9"], "degrees": [drawn.randint(1, 3)]},
    "lr-sessions": _session,
    "lease": lambda: {},
    "observations": lambda: {"lease": "a", "sequence": drawn.randint(0, 3), "losses": [1.5]},
    "frontiers": _cluster,
    "costs": lambda: {"topology": _topology()},
    "optima": lambda: {"topology": _topology()},
    "verify": lambda: {"schedule_id": _known("schedules")},
    "simulations": lambda: {"schedule_id": _known("schedules"), "bytes": 10**6},
    "comparisons": lambda: {"designs": ids["designs"][-drawn.randint(2, 3) :]},
}


def _spoilt(body: Any) -> Any:
    """Return the body with one of its values replaced by another."""
    field = drawn.choice(sorted(body) or ["lease"])
    wrong = [None, -1, 2**70, "", "\x00", [], {}, True, 1e308, [[[]]], "../../etc/passwd"]
    return body | {field: drawn.choice(wrong)}


def _collection(path: str) -> str:
    return path.split("/")[2]


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: Any) -> None:
    """Put valid questions and existing ids into most requests."""
    last = re.sub(r"/\{[^}]*\}", "", case.path).rsplit("/", 1)[1]
    luck = drawn.random()
    if case.method == "POST" and last in QUESTIONS and luck < HOLDS + SPOILT:
        body = QUESTIONS[last]()
        case.body = body if luck < HOLDS else _spoilt(body)
        case.media_type = "application/json"
    known = ids[_collection(case.path)] if case.path.startswith("/v1/") else []
    if "{id}" in case.path and known and drawn.random() < KNOWN:
        case.path_parameters = {**(case.path_parameters or {}), "id": drawn.choice(known)}


@schemathesis.hook
def after_call(context: Any, case: Any, response: Any) -> None:
    """Record the ids in the service's answers, and count the answers."""
    seen[f"{response.status_code}"] += 1
    place = next(iter(response.headers.get("location", ())), "")
    found = re.search(r"^/v1/([a-z-]+)/([^/?]+)$", place)
    if found:
        ids[found[1]].append(found[2])


@atexit.register
def _report() -> None:
    report = {"answers": seen, "documents": {kind: len(named) for kind, named in ids.items()}}
    if place := os.environ.get("STATEFUL_REPORT"):
        Path(place).write_text(json.dumps(report, sort_keys=True))
