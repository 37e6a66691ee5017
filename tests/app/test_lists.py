"""Lists of what is stored: filtered, sorted, cut into pages and into members."""

from datetime import UTC, datetime
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from tests.app.stored import get_or_compute
from topoloom.app.requests.listing import ListRequest
from topoloom.app.requests.options.listing import SortName
from topoloom.app.requests.options.option import choices
from topoloom.app.store.artifacts import KINDS, Computed
from topoloom.app.store.database import migrate, open_engine
from topoloom.app.store.document_store import Store
from topoloom.app.store.index_metadata import facts_of, families_in, sortable
from topoloom.app.store.listing import SORTS, InvalidCursor, Wanted

FRACTIONS = st.fractions(0, 10**6, max_denominator=10**9)


@given(FRACTIONS, FRACTIONS)
def test_texts_of_bandwidths_are_in_the_order_of_the_numbers(one, other):
    assert (sortable(one) < sortable(other)) == (one < other)
    assert (sortable(one) == sortable(other)) == (one == other)
    assert len(sortable(one)) == len(sortable(other)) == 53


def frontier(nodes, degree, points, links="unidirectional"):
    """Return the question and the answer of a made-up frontier."""
    entries = [
        {"topology_id": f"{index:064x}", "name": "x", "recipe": f"{family}({index})"}
        | {"nodes": nodes, "degree": degree, "steps": steps, "bandwidth": str(bandwidth)}
        | {"transpose": {"steps": steps, "bandwidth": str(bandwidth)}}
        for index, (family, steps, bandwidth) in enumerate(points)
    ]
    question = {"nodes": nodes, "degree": degree, "links": links, "max_steps": len(points)}
    return question, lambda identity: Computed.json({"id": identity, "frontier": entries}, {})


@pytest.fixture
def store(engine):
    return Store(engine)


POINT = st.tuples(
    st.sampled_from(["Torus", "Circulant", "Lift"]),
    st.integers(1, 5),
    st.fractions(Fraction(1, 2), 2, max_denominator=6),
)
FRONTIERS = st.lists(
    st.tuples(st.integers(2, 9), st.integers(1, 4), st.lists(POINT, min_size=1, max_size=3)),
    min_size=1,
    max_size=12,
    unique_by=lambda one: (one[0], one[1], len(one[2])),
)


def pages(store, kind, wanted, size):
    """Return the ids of all pages, one after the other."""
    seen, cursor = [], None
    while True:
        entries, cursor = store.page(kind, size, cursor, wanted)
        assert len(entries) <= size
        seen += [entry.id for entry in entries]
        if cursor is None:
            return seen


@pytest.mark.slow
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    frontiers=FRONTIERS,
    size=st.integers(1, 5),
    sort=st.sampled_from(choices(SortName)),
    nodes=st.tuples(st.none() | st.integers(2, 9), st.none() | st.integers(2, 9)),
    bandwidth=st.none() | st.fractions(Fraction(1, 2), 2, max_denominator=6),
    family=st.none() | st.sampled_from(["Torus", "Circulant", "Lift"]),
)
def test_pages_hold_what_is_wanted_once_in_the_order_asked_for(
    tmp_path_factory, frontiers, size, sort, nodes, bandwidth, family
):
    engine = open_engine(f"sqlite:///{tmp_path_factory.mktemp('lists') / 'x.db'}")
    migrate(engine)
    store = Store(engine)
    made = []
    for one in frontiers:
        found = get_or_compute(store, "frontier", *frontier(*one))
        points = one[2]
        values = {"nodes": one[0], "degree": one[1], "created": len(made)}
        values["steps"] = min(steps for _, steps, _ in points)
        values["bandwidth"] = min(bandwidth for *_, bandwidth in points)
        made.append((found.id, values, {name for name, *_ in points}))
    ranges = {"nodes": nodes, "bandwidth": (None, bandwidth)}
    seen = pages(store, "frontier", Wanted(ranges, family=family, sort=sort), size)
    expected = {
        identity: values
        for identity, values, names in made
        if (nodes[0] is None or values["nodes"] >= nodes[0])
        and (nodes[1] is None or values["nodes"] <= nodes[1])
        and (bandwidth is None or values["bandwidth"] <= bandwidth)
        and (family is None or family in names)
    }
    assert sorted(seen) == sorted(expected)
    order = [expected[identity][sort.removeprefix("-")] for identity in seen]
    assert order == sorted(order, reverse=sort.startswith("-"))
    engine.dispose()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("sort", choices(SortName))
def test_what_has_no_such_number_comes_last_in_both_directions(store, sort):
    for n in range(3):
        get_or_compute(store, "frontier", *frontier(n + 2, 1, [("Torus", n + 1, Fraction(1))]))
        # A frontier that nobody can read has no numbers, and is listed all the same.
        get_or_compute(store, "frontier", {"n": n}, lambda i: Computed.json({"id": i}, {}))
    for size in (1, 2, 6):
        seen = pages(store, "frontier", Wanted(sort=sort), size)
        assert len(set(seen)) == len(seen) == 6
    entries, _ = store.page("frontier", 6, None, Wanted(sort=sort))
    if sort.removeprefix("-") != "created":
        assert ["nodes" in entry.request for entry in entries] == [True] * 3 + [False] * 3


@pytest.mark.parametrize("sort", ["-created", "nodes", "-bandwidth"])
def test_pages_do_not_shift_while_others_store_and_delete(store, sort):
    made = [
        get_or_compute(store, "frontier", *frontier(n, 1, [("Torus", n, Fraction(n))])).id
        for n in range(2, 8)
    ]
    first, cursor = store.page("frontier", 3, None, Wanted(sort=sort))
    store.delete("frontier", first[0].id)
    get_or_compute(store, "frontier", *frontier(5, 3, [("Torus", 1, Fraction(5))]))
    rest, _ = store.page("frontier", 10, cursor, Wanted(sort=sort))
    seen = [entry.id for entry in (*first, *rest)]
    assert len(set(seen)) == len(seen)
    assert set(seen) >= set(made)


def test_a_cursor_of_one_order_is_refused_in_another(store):
    for n in range(2, 5):
        get_or_compute(store, "frontier", *frontier(n, 1, [("Torus", n, Fraction(1))]))
    _, cursor = store.page("frontier", 1, None, Wanted(sort="nodes"))
    with pytest.raises(InvalidCursor, match="must be one of a list in this order"):
        store.page("frontier", 1, cursor, Wanted(sort="steps"))


def test_every_sort_has_an_index(store):
    with store.keeping.engine.connect() as connection:
        if connection.dialect.name != "sqlite":
            pytest.skip("SQLite tells its plan in words")
        for table in KINDS.values():
            for name in SORTS:
                column = {"created": "created_at"}.get(name, name)
                query = f"SELECT id FROM {table} WHERE {column} IS NOT NULL"
                query += f" ORDER BY {column} DESC, created_at DESC, id DESC"
                if name == "created":
                    query = f"SELECT id FROM {table} ORDER BY created_at DESC, id DESC"
                plan = connection.execute(text(f"EXPLAIN QUERY PLAN {query}")).all()
                assert "INDEX" in plan[0].detail and len(plan) == 1, (table, name)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({"nodes": 12}, {"circulant-12x4-c960"}),
        ({"nodes_min": 5, "nodes_max": 8}, {"biring-5x2-ab8c"}),
        ({"degree_min": 3}, {"circulant-12x4-c960", "dgx-a100-2"}),
        ({"steps": 2}, {"circulant-12x4-c960", "biring-5x2-ab8c"}),
        ({"bandwidth_max": "4/5"}, {"biring-5x2-ab8c"}),
        ({"family": "BiRing"}, {"biring-5x2-ab8c"}),
        ({"links": "bidirectional"}, {"biring-5x2-ab8c"}),
        ({"created_min": "2999-01-01"}, set()),
        ({"created_max": "2999-01-01T00:00:00+02:00", "nodes": 5}, {"biring-5x2-ab8c"}),
    ],
)
def test_topologies_are_found_by_what_they_are_and_cost(client, query, names):
    design = {"nodes": 12, "degree": 4, "collective": "allreduce", "bytes": "1MB"}
    assert client.post("/v1/designs", json=design).status_code == 201
    assert client.post("/v1/costs", json={"topology": {"recipe": "BiRing(5)"}}).status_code == 201
    assert client.post("/v1/topologies", json={"fabric": "dgx-a100-2"}).status_code == 201
    answer = client.get("/v1/topologies", params=query)
    assert {entry["summary"]["name"] for entry in answer.json()["items"]} == names


def test_schedules_have_the_size_and_families_of_their_topology(client):
    for recipe in ("BiRing(5)", "Torus(3, 4)"):
        asked = {"topology": {"recipe": recipe}, "collective": "allgather"}
        assert client.post("/v1/schedules", json=asked).status_code == 201
    for query in ({"nodes": 12}, {"family": "Torus"}, {"steps_min": 3}, {"degree": 4}):
        items = client.get("/v1/schedules", params=query).json()["items"]
        assert [entry["summary"]["name"].split("-")[0] for entry in items] == ["torus"]


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ({"nodes": "x"}, "/nodes"),
        ({"nodes": -1}, "/nodes"),
        ({"bandwidth": "1/0"}, "/bandwidth"),
        ({"created_min": "yesterday"}, "/created_min"),
        ({"created_max": "0001-01-01T00:00:00+23:00"}, "/created_max"),
        ({"sort": "name"}, "/sort"),
        ({"label": "not one"}, "/label"),
        ({"family": "Torus("}, "/family"),
        ({"fields": "id,,x"}, "/fields"),
        ({"fields": "nothing"}, "/fields"),
        ({"fields": "summary.nothing"}, "/fields"),
        ({"limit": 0}, "/limit"),
        ({"nodes": 3, "nodes_min": 2}, ""),
        ({"nodes_min": 3, "nodes_max": 2}, ""),
        ({"created_min": "2026-02-01", "created_max": "2026-01-01"}, ""),
    ],
)
def test_a_bad_filter_is_refused_by_its_name(client, query, pointer):
    refused = client.get("/v1/designs", params=query)
    assert refused.status_code == 422
    assert [error["pointer"] for error in refused.json()["errors"]] == [pointer]
    assert refused.json()["detail"].startswith(pointer or "query: ")


def test_only_the_members_asked_for_are_sent(client):
    design = {"nodes": 12, "degree": 4, "collective": "allreduce", "bytes": "1MB"}
    whole = client.post("/v1/designs", json=design).json()
    place = f"/v1/designs/{whole['id']}"
    part = client.get(place, params={"fields": "id,best.name,frontier.steps"})
    assert part.json() == {
        "id": whole["id"],
        "frontier": [{"steps": point["steps"]} for point in whole["frontier"]],
        "best": {"name": whole["best"]["name"]},
    }
    tags = {client.get(place).headers["ETag"], part.headers["ETag"]}
    assert len(tags) == 2
    again = client.get(
        place,
        params={"fields": "id,best.name,frontier.steps"},
        headers={"If-None-Match": part.headers["ETag"]},
    )
    assert again.status_code == 304
    listed = client.get("/v1/designs", params={"fields": "summary.name,pinned"}).json()
    assert listed["items"] == [{"summary": {"name": whole["best"]["name"]}, "pinned": False}]


def test_members_are_picked_of_json_only_and_not_of_the_largest(client, monkeypatch):
    made = client.post("/v1/topologies", json={"recipe": "BiRing(5)"}).headers["Location"]
    refused = client.get(made, params={"fields": "name", "format": "dot"})
    assert refused.json()["errors"][0]["pointer"] == "/fields"
    monkeypatch.setattr("topoloom.app.documents.sparse_fields.MAX_PICKED", 100)
    refused = client.get(made, params={"fields": "name"})
    assert refused.json()["type"] == "/problems/too-large"
    schedule = {"topology": {"recipe": "BiRing(5)"}, "collective": "allgather"}
    place = client.post("/v1/schedules", json=schedule).headers["Location"]
    monkeypatch.setattr("topoloom.app.documents.sparse_fields.MAX_PICKED", 10**6)
    part = client.get(place, params={"fields": "kind,steps.source"}).json()
    assert part["kind"] == "steps" and part["steps"][0][0].keys() == {"source"}


@pytest.mark.slow
def test_the_command_lists_by_the_same_filters(topoloom):
    for recipe in ("BiRing(5)", "Torus(3, 4)", "BiRing(7)"):
        assert topoloom("measure", recipe).code == 0
    shown = topoloom("list", "topologies", "--family", "BiRing", "--sort", "nodes", "--limit", "1")
    assert "BiRing(5)" in shown.out and "BiRing(7)" not in shown.out
    words = shown.err.split("more: topoloom ")[1].split()
    said = "list topologies --limit 1 --sort nodes --family BiRing --after"
    assert " ".join(words[:-1]) == said
    assert "BiRing(7)" in topoloom(*words).out
    shown = topoloom("list", "costs", "--bandwidth-max", "4/5", "--json", "--fields", "summary")
    assert shown.out.count("bandwidth") == 1
    assert topoloom("list", "costs", "--fields", "x", "--json").code == 2
    assert topoloom("list", "costs", "--nodes", "3", "--nodes-min", "2").code == 2


def test_facts_are_read_from_any_row_or_there_are_none():
    assert families_in("LineGraph(2, Product(UniRing(4), UniRing(8)))") == (
        "LineGraph",
        "Product",
        "UniRing",
    )
    for kind in KINDS:
        found = facts_of(kind, "5", "{}", "{}", "application/json+gzip", b"damaged")
        assert found.nodes is None and found.points == ()


def test_a_moment_without_a_zone_is_in_utc():
    said = ListRequest.model_validate({"created_min": "2026-01-31T10:00:00+02:00"})
    assert said.created_min == datetime(2026, 1, 31, 8, tzinfo=UTC).replace(tzinfo=None)
