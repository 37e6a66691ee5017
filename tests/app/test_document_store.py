import json

import pytest

from tests.app.stored import get_or_compute
from topoloom.app.store import artifacts as artefacts_module
from topoloom.app.store.artifacts import Computed, canonical, key
from topoloom.app.store.database import open_database
from topoloom.app.store.document_store import Store
from topoloom.app.store.listing import InvalidCursor


@pytest.fixture
def store(engine):
    return Store(engine)


def answer(**facts):
    return lambda identity: Computed.json({"id": identity, **facts}, {"facts": len(facts)})


def refuse(identity):
    raise AssertionError("must not be computed again")


def test_a_repeated_question_is_not_computed_again(store):
    first = get_or_compute(store, "design", {"nodes": 8}, answer(x=1))
    again = get_or_compute(store, "design", {"nodes": 8}, refuse)
    assert first.fresh and not again.fresh
    assert first.document() == again.document() == {"id": first.id, "x": 1}
    assert (first.digest, first.summary) == (again.digest, again.summary)


def test_the_order_of_a_requests_keys_does_not_matter(store):
    first = get_or_compute(store, "design", {"a": 1, "b": 2}, answer())
    assert get_or_compute(store, "design", {"b": 2, "a": 1}, refuse).id == first.id


def test_answers_are_found_after_a_restart(tmp_path):
    url = f"sqlite:///{tmp_path / 'x.db'}"
    engine = open_database(url)
    stored = get_or_compute(Store(engine), "topology", {"recipe": "X()"}, answer(y=[1, 2]))
    engine.dispose()
    engine = open_database(url)
    assert Store(engine).get("topology", stored.id).text() == stored.text()
    engine.dispose()


def test_nothing_is_stored_on_error(store):
    def fail(identity):
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        get_or_compute(store, "design", {"nodes": 8}, fail)
    assert store.page("design", 10, None) == ([], None)
    assert get_or_compute(store, "design", {"nodes": 8}, answer()).fresh


def test_kinds_and_kernel_versions_have_ids_of_their_own(monkeypatch):
    before = key("design", {"nodes": 8})
    assert before != key("frontier", {"nodes": 8})
    monkeypatch.setattr(artefacts_module, "KERNEL_VERSION", "another")
    assert before != key("design", {"nodes": 8})


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8])
def test_pages_hold_every_entry_once_newest_first(store, size):
    made = [get_or_compute(store, "design", {"n": n}, answer()).id for n in range(7)]
    seen, cursor = [], None
    while True:
        entries, cursor = store.page("design", size, cursor)
        seen += [entry.id for entry in entries]
        if cursor is None:
            break
    assert seen == made[::-1]


@pytest.mark.parametrize("cursor", ["", "x", "é", "AAAA", "bm90IGEgZGF0ZXxpZA"])
def test_a_made_up_cursor_is_refused(store, cursor):
    with pytest.raises(InvalidCursor):
        store.page("design", 1, cursor)


def test_canonical_json_is_ascii_and_refuses_what_json_has_not():
    assert canonical({"b": "é", "a": [1, None]}) == '{"a":[1,null],"b":"\\u00e9"}'
    assert json.loads(canonical({"b": "é"})) == {"b": "é"}
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical(float("nan"))


def test_the_same_document_has_the_same_bytes():
    assert answer(x=1)("id") == answer(x=1)("id")
