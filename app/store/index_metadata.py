"""Facts of a document for lists, searches and retention, read from the document once.

The facts come from the request, the summary and, if these are not enough, the document.
This module uses no database: `app.store.indexing` writes the facts into a database.
"""

import json
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from topoloom.app.store.artifacts import PACKED_JSON, canonical, key_of

_WHOLE, _PLACES = 12, 40
_NAME = re.compile(r"([A-Za-z][A-Za-z0-9]{0,63})\(")
_SEARCHED = (
    "nodes",
    "degree",
    "links",
    "parallel_links",
    "vertex_transitive",
    "families",
    "schedule",
)
_FRONTIER = (*_SEARCHED, "max_steps")
"""Members of a design request that its frontier request shares."""


@dataclass(frozen=True, slots=True)
class KnownPoint:
    """A topology whose costs a document states; a member is None if the document lacks it.

    ``within_steps`` is None for costs by breadth-first broadcast, else the step limit of the
    slack schedule.
    """

    kernel_version: str
    topology_id: str
    name: str
    recipe: str | None
    nodes: int
    degree: int
    links: str
    parallel: bool | None
    steps: int
    bandwidth: str
    transpose_steps: int
    transpose_bandwidth: str
    within_steps: int | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of one document.

    ``refers_to`` are kinds and ids of the documents that it names.  A document about a topology
    inherits missing facts from the stored topology ``topology_id``.
    """

    nodes: int | None = None
    degree: int | None = None
    links: str | None = None
    steps: int | None = None
    bandwidth: Fraction | None = None
    topology_id: str | None = None
    families: tuple[str, ...] = ()
    refers_to: tuple[tuple[str, str], ...] = ()
    points: tuple[KnownPoint, ...] = ()


@dataclass(frozen=True, slots=True)
class _Row:
    """The parts of a row that hold facts; ``document`` decompresses the document."""

    kind: str
    kernel_version: str
    asked: Mapping[str, Any]
    summary: Mapping[str, Any]
    document: Callable[[], Mapping[str, Any]]


def facts_of(
    kind: str, kernel_version: str, request: str, summary: str, media_type: str, content: bytes
) -> Facts:
    """Return the facts of a document, given by the columns of its row.

    A damaged document, or a document of an earlier version without the expected members, has no
    facts; its id still finds it.
    """

    def document() -> Mapping[str, Any]:
        if media_type != PACKED_JSON:
            return {}
        return json.loads(zlib.decompress(content, wbits=31))

    try:
        row = _Row(kind, kernel_version, json.loads(request), json.loads(summary), document)
        return _READ[kind](row)
    except (LookupError, TypeError, ValueError, AttributeError, zlib.error):
        return Facts()


def sortable(value: Fraction) -> str:
    """Return a text that sorts as the number does.

    Exact for numbers from 0 to below 10**12: two different numbers have different texts if the
    product of their denominators is at most 10**40, and are never in the wrong order.

    >>> sortable(Fraction(277, 256))[:20]
    '000000000001.0820312'
    >>> sortable(Fraction(9)) < sortable(Fraction(1023, 102)) < sortable(Fraction(11))
    True
    """
    whole, rest = divmod(value.numerator * 10**_PLACES // value.denominator, 10**_PLACES)
    return f"{min(whole, 10**_WHOLE - 1):0{_WHOLE}d}.{rest:0{_PLACES}d}"


def families_in(recipe: str) -> tuple[str, ...]:
    """Return the families and operators that a recipe names, each once, sorted.

    >>> families_in("LineGraph(3, Circulant(16, 3, 4))")
    ('Circulant', 'LineGraph')
    """
    return tuple(sorted(set(_NAME.findall(recipe))))


def _design(row: _Row) -> Facts:
    document = row.document()
    best = document["best"]
    points = tuple(_points(document["frontier"], row))
    chosen = next(one for one in points if one.topology_id == best["topology_id"])
    frontier = {name: row.asked[name] for name in _FRONTIER if name in row.asked}
    schedules = [best.get("schedule"), *document.get("co_design", {}).get("schedules", ())]
    named = {("schedule", one["id"]) for one in schedules if one and one.get("id")}
    named |= {("topology", one.topology_id) for one in points}
    named.add(("frontier", key_of(row.kernel_version, "frontier", canonical(frontier))))
    return Facts(
        **_hosts(row.asked),
        steps=chosen.steps,
        bandwidth=Fraction(chosen.bandwidth),
        families=families_in(best["recipe"]),
        refers_to=tuple(sorted(named)),
        points=points,
    )


def _frontier(row: _Row) -> Facts:
    points = tuple(_points(row.document()["frontier"], row))
    return Facts(
        **_hosts(row.asked),
        steps=min(one.steps for one in points),
        bandwidth=min(Fraction(one.bandwidth) for one in points),
        families=families_in(" ".join(one.recipe or "" for one in points)),
        refers_to=tuple(sorted({("topology", one.topology_id) for one in points})),
        points=points,
    )


def _hosts(asked: Mapping[str, Any]) -> dict[str, Any]:
    return {name: asked[name] for name in ("nodes", "degree", "links")}


def _points(entries: list[Mapping[str, Any]], row: _Row) -> Iterator[KnownPoint]:
    links, parallel = row.asked["links"], row.asked.get("parallel_links")
    for entry in entries:
        yield _point(entry, row, entry["topology_id"], links, parallel)


def _point(
    entry: Mapping[str, Any], row: _Row, topology_id: str, links: str, parallel: bool | None
) -> KnownPoint:
    transpose = entry["transpose"]
    return KnownPoint(
        row.kernel_version,
        topology_id,
        entry.get("name", "")[:80],
        entry.get("recipe"),
        entry["nodes"],
        entry["degree"],
        links,
        parallel,
        entry["steps"],
        entry["bandwidth"],
        transpose["steps"],
        transpose["bandwidth"],
        entry.get("within_steps"),
    )


def _topology(row: _Row) -> Facts:
    healthy = row.summary.get("healthy")
    # The recipe comes from the request; the document, which may be large, is not read.
    recipe = row.asked.get("recipe") or ""
    return Facts(
        nodes=row.summary["nodes"],
        degree=row.summary.get("degree"),
        families=families_in(recipe),
        refers_to=(("topology", healthy),) if healthy else (),
    )


def _cost(row: _Row) -> Facts:
    document, topology = row.document(), row.asked["topology_id"]
    point = _point(document, row, topology, document["links"], None)
    return Facts(
        nodes=point.nodes,
        degree=point.degree,
        links=point.links,
        steps=point.steps,
        bandwidth=Fraction(point.bandwidth),
        topology_id=topology,
        refers_to=(("topology", topology),),
        points=(point,),
    )


def _about_topology(row: _Row) -> Facts:
    """Return the facts of an optimum, a schedule or a plan from its summary and topology."""
    topology, bandwidth = row.asked["topology_id"], row.summary.get("bandwidth")
    return Facts(
        steps=row.summary.get("steps"),
        bandwidth=None if bandwidth is None else Fraction(bandwidth),
        topology_id=topology,
        refers_to=(("topology", topology),),
    )


def _about_schedule(row: _Row) -> Facts:
    """Return the facts of a verification or a simulation: its topology, and its stored schedule."""
    topology, schedule = row.asked["topology_id"], row.asked.get("schedule_id")
    named = [("topology", topology)] + ([("schedule", schedule)] if schedule else [])
    return Facts(topology_id=topology, refers_to=tuple(sorted(named)))


def _sweep(row: _Row) -> Facts:
    """Return the facts of a sweep: the answers of its rows, and its topology."""
    named = {
        (_ANSWERS[member], one["answer_id"])
        for one in row.document()["rows"]
        for member in _ANSWERS.keys() & one.keys()
        if "answer_id" in one
    }
    topology = row.asked.get("topology_id")
    named |= {("topology", topology)} if topology else set()
    return Facts(refers_to=tuple(sorted(named)))


def _iteration(row: _Row) -> Facts:
    """Return the facts of an iteration: its hosts, and the families of its best topology."""
    return Facts(families=families_in(row.summary["name"]), **_hosts(row.asked))


def _box_design(row: _Row) -> Facts:
    """Return the facts of a design of boxes: its boxes, and its best topology."""
    return Facts(
        nodes=row.asked["nodes"],
        degree=row.asked["degree"],
        families=families_in(row.summary["name"]),
        refers_to=(("topology", row.document()["topology_id"]),),
    )


_ANSWERS = {"points": "frontier", "seconds": "design", "inverse_rate": "optimum"}
"""Member of a row of a sweep -> kind of its answer."""


def _naming(row: _Row) -> Facts:
    """Return the facts of a comparison or a drawing: the documents that its request names."""
    named = {(kind, one) for kind, ids in row.asked.get("of", {}).items() for one in ids}
    return Facts(refers_to=tuple(sorted(named)))


_READ: Mapping[str, Callable[[_Row], Facts]] = {
    "design": _design,
    "frontier": _frontier,
    "topology": _topology,
    "cost": _cost,
    "optimum": _about_topology,
    "schedule": _about_topology,
    "patch-plan": _about_topology,
    "verification": _about_schedule,
    "simulation": _about_schedule,
    "comparison": _naming,
    "plot": _naming,
    "sweep": _sweep,
    "iteration": _iteration,
    "box-design": _box_design,
}
