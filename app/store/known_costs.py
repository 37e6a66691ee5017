"""Topologies with known costs, by size: one indexed query."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction

from sqlalchemy import ColumnElement, Engine, case, func, select

from topoloom.app.config import KERNEL_VERSION
from topoloom.app.store.owners import OPERATORS, seen_by
from topoloom.app.store.tables import PointRow
from topoloom.schedules.design.known_topologies import KnownTopology
from topoloom.synth.evaluation.cost import Cost

MAX_POINTS = 20_000
"""Most topologies that are read, those of fewest steps first."""

MAX_SOURCES = 5
"""Most source documents per cost."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A known topology; ``simple`` if a document states that it has no parallel links."""

    known: KnownTopology
    simple: bool


def stored_points(
    engine: Engine,
    sizes: tuple[int, int],
    degree: int,
    *,
    owner: str,
    two_way: bool,
    max_steps: int | None = None,
    max_bandwidth: Fraction | None = None,
) -> list[Stored]:
    """Return the stored topologies of these sizes that an owner sees, without their sources.

    Costs of other kernel versions are ignored.  With ``two_way``, only topologies that a document
    states to have a partner for every link.  Limits hold for the topology and for its transpose.
    """
    table = PointRow
    cost = (table.steps, table.bandwidth, table.transpose_steps, table.transpose_bandwidth)
    alike = (table.topology_id, table.nodes, table.within_steps, *cost)
    simple = func.max(case((table.parallel.is_(False), 1), else_=0))
    query = select(*alike, func.max(table.recipe), func.max(table.name), simple)
    query = query.where(table.degree == degree, table.nodes.between(*sizes))
    query = query.where(table.parallel.is_not(True), table.kernel_version == KERNEL_VERSION)
    query = query.where(*_seen(owner))
    if two_way:
        query = query.where(table.links == "bidirectional")
    if max_steps is not None:
        query = query.where(table.steps <= max_steps, table.transpose_steps <= max_steps)
    query = query.group_by(*alike).order_by(table.steps, table.topology_id).limit(MAX_POINTS)
    with engine.connect() as connection:
        rows = connection.execute(query).all()
    found: list[Stored] = []
    for identity, nodes, within, steps, much, back, back_much, recipe, name, plain in rows:
        costs = Cost(steps, Fraction(much)), Cost(back, Fraction(back_much))
        one = KnownTopology(nodes, degree, *costs, recipe, name, identity, within=within)
        if max_bandwidth is None or one.worse().bandwidth <= max_bandwidth:
            found.append(Stored(one, bool(plain)))
    return found


def _seen(owner: str) -> list[ColumnElement[bool]]:
    """Return the condition that an owner sees the document of a cost."""
    return [] if owner in OPERATORS else [seen_by(owner, PointRow.kind, PointRow.document_id)]


def documents_of(
    engine: Engine, topologies: Collection[str], owner: str
) -> dict[tuple[str, int | None], tuple[tuple[str, str], ...]]:
    """Return up to `MAX_SOURCES` documents that an owner sees for each cost of these topologies.

    Keys are the id of the topology, and the step limit of the slack schedule or None.
    """
    table = PointRow
    number = func.row_number().over(
        partition_by=(table.topology_id, table.within_steps),
        order_by=(table.kind.desc(), table.document_id),
    )
    what = (table.topology_id, table.within_steps)
    ranked = select(*what, table.kind, table.document_id, number.label("number"))
    ranked = ranked.where(table.topology_id.in_(topologies), *_seen(owner)).subquery()
    shown = (ranked.c.topology_id, ranked.c.within_steps, ranked.c.kind, ranked.c.document_id)
    query = select(*shown).where(ranked.c.number <= MAX_SOURCES).order_by(ranked.c.number)
    found: defaultdict[tuple[str, int | None], list[tuple[str, str]]] = defaultdict(list)
    with engine.connect() as connection:
        for topology, within, kind, identity in connection.execute(query):
            found[topology, within].append((kind, identity))
    return {cost: tuple(documents) for cost, documents in found.items()}
