"""The document of a topology: what is read, and what is refused at which place."""

import copy
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import for_every
from topoloom.synth.errors import InvalidTopology, SynthError
from topoloom.synth.recipes.topology_document import MAX_LINKS, MAX_NODES, topology_from_document
from topoloom.synth.topology.topology import Link

GOOD = {
    "schema": "topology/1",
    "name": "box",
    "bandwidth_unit": "GB/s",
    "nodes": [{"id": "g0", "kind": "compute"}, {"id": "g1"}, {"id": "s", "kind": "switch"}],
    "links": [
        {"source": "g0", "target": "s", "capacity": 300},
        {"source": "s", "target": "g1", "capacity": "601/2"},
        {"source": "g1", "target": "g0"},
    ],
}


def test_the_documented_form_is_read():
    topology = topology_from_document(GOOD)
    assert topology.name == "box"
    assert topology.bandwidth_unit == "GB/s"
    assert topology.switches == {"s"}
    assert topology.links == (
        Link("g0", "s", 300),
        Link("g1", "g0", 1),
        Link("s", "g1", Fraction(601, 2)),
    )


def test_unknown_keys_are_left_alone():
    document = {**GOOD, "comment": "x", "nodes": [{**n, "rack": 3} for n in GOOD["nodes"]]}
    assert topology_from_document(document) == topology_from_document(GOOD)


def _with(path, value):
    document = copy.deepcopy(GOOD)
    *way, last = path
    place = document
    for key in way:
        place = place[key]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return document


def _is_long(document):
    return isinstance(document, dict) and any(
        isinstance(part, list) and len(part) > 9 for part in document.values()
    )


@for_every(
    ("document", "field"),
    [
        (None, ""),
        ([], ""),
        ("topology/1", ""),
        (_with(["schema"], "topology/2"), "/schema"),
        (_with(["schema"], ...), "/schema"),
        (_with(["name"], 7), "/name"),
        (_with(["name"], "x" * 201), "/name"),
        (_with(["bandwidth_unit"], None), "/bandwidth_unit"),
        (_with(["nodes"], ...), "/nodes"),
        (_with(["nodes"], {}), "/nodes"),
        (_with(["nodes"], []), "/nodes"),
        (_with(["nodes"], [{"id": 0}] * (MAX_NODES + 1)), "/nodes"),
        (_with(["nodes", 1], "g1"), "/nodes/1"),
        (_with(["nodes", 1], {}), "/nodes/1"),
        (_with(["nodes", 1, "id"], "g0"), "/nodes/1/id"),
        (_with(["nodes", 1, "id"], "g" * 201), "/nodes/1/id"),
        (_with(["nodes", 1, "id"], [1]), "/nodes/1/id"),
        (_with(["nodes", 1, "id"], {}), "/nodes/1/id"),
        (_with(["nodes", 1, "id"], None), "/nodes/1/id"),
        (_with(["nodes", 1, "id"], 1.0), "/nodes/1/id"),
        (_with(["nodes", 1, "id"], 10**5000), "/nodes/1/id"),
        (_with(["nodes", 2, "id"], [1]), "/nodes/2/id"),
        (_with(["nodes", 1, "kind"], "router"), "/nodes/1/kind"),
        (_with(["nodes", 1, "kind"], None), "/nodes/1/kind"),
        (_with(["nodes", 1, "kind"], []), "/nodes/1/kind"),
        (_with(["links"], ...), "/links"),
        (_with(["links"], "none"), "/links"),
        (_with(["links"], [None] * (MAX_LINKS + 1)), "/links"),
        (_with(["links", 0], ["g0", "s"]), "/links/0"),
        (_with(["links", 0, "source"], ...), "/links/0/source"),
        (_with(["links", 0, "target"], ...), "/links/0/target"),
        (_with(["links", 0, "target"], "g9"), "/links/0/target"),
        (_with(["links", 0, "target"], []), "/links/0/target"),
        (_with(["links", 0, "source"], {}), "/links/0/source"),
        (_with(["links", 0, "target"], "g0"), "/links/0"),
        (_with(["links", 0, "capacity"], 0), "/links/0/capacity"),
        (_with(["links", 0, "capacity"], -3), "/links/0/capacity"),
        (_with(["links", 0, "capacity"], 2.5), "/links/0/capacity"),
        (_with(["links", 0, "capacity"], True), "/links/0/capacity"),
        (_with(["links", 0, "capacity"], None), "/links/0/capacity"),
        (_with(["links", 0, "capacity"], "0"), "/links/0/capacity"),
        (_with(["links", 0, "capacity"], "1/0"), "/links/0/capacity"),
        (_with(["links", 0, "capacity"], "-1/2"), "/links/0/capacity"),
        (_with(["links", 0, "capacity"], "1/2/3"), "/links/0/capacity"),
        (_with(["links", 0, "capacity"], " 1"), "/links/0/capacity"),
        (_with(["links", 0, "capacity"], "1\n"), "/links/0/capacity"),
        (_with(["links", 0, "capacity"], "٣"), "/links/0/capacity"),
        (_with(["links", 0, "capacity"], "fast"), "/links/0/capacity"),
        (_with(["links", 0, "capacity"], 10**30), "/links/0/capacity"),
        (_with(["links", 0, "capacity"], "9" * 31), "/links/0/capacity"),
    ],
)
def test_a_bad_document_is_refused_with_a_pointer_to_the_place(document, field):
    before = copy.deepcopy(document) if not _is_long(document) else None
    with pytest.raises(InvalidTopology) as caught:
        topology_from_document(document)
    assert caught.value.field == field
    assert caught.value.rule
    assert before is None or document == before


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)
PLACES = [
    ["name"],
    ["nodes"],
    ["nodes", 0],
    ["nodes", 0, "id"],
    ["nodes", 2, "id"],
    ["nodes", 0, "kind"],
    ["links"],
    ["links", 1],
    ["links", 1, "source"],
    ["links", 1, "capacity"],
]


@given(st.sampled_from(PLACES), json_values)
def test_any_json_in_any_place_is_read_or_refused(place, value):
    try:
        topology_from_document(_with(place, value))
    except SynthError as error:
        assert isinstance(error, InvalidTopology)
