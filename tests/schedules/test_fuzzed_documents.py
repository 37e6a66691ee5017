"""Garbage in: the reader and the checker always say where it is, and never crash."""

import copy
import json
import math
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.schedule_documents import to_document
from tests.schedule_oracles import bidirectional_ring, every_schedule, two_boxes
from topoloom.schedules.errors import InvalidSchedule
from topoloom.schedules.formats.schedule.read import from_document
from topoloom.schedules.simulate import Network, simulate
from topoloom.schedules.verify import step_cost, tree_inverse_rate, violations
from topoloom.synth.topology.topology import Topology

RING = bidirectional_ring(4)
BOXES = two_boxes()
DOUBLE = Topology("ab", [("a", "b"), ("a", "b"), ("b", "a"), ("b", "a")])
SUBJECTS = [
    (topology, name, to_document(schedule))
    for topology in (RING, BOXES, DOUBLE)
    for name, schedule in sorted(every_schedule(topology).items())
]

NASTY = st.sampled_from(
    [
        None, True, False, -1, 0, 1, 2, 3, 2**31 - 1, 2**31, 2**62, 2**63, 2**64, 10**400, -(2**70),
        0.0, 1.0, 1.5, -0.0, math.nan, math.inf, 1e308, "", "0", "a", "copy", "reduce", "allgather",
        "reduce-scatter", "allreduce", "steps", "trees", "sequence", "schedule/1", "\ud800", "\x00",
        [], {}, [[]], [{}], {"": []}, [0, 1], ["0.gpu0", "0.nvswitch", "0.gpu1"],
        RING.digest, BOXES.digest, "sha256:0",
    ]
)  # fmt: skip
KEYS = st.sampled_from(
    ["schema", "kind", "collective", "topology", "steps", "trees", "parts", "chunks_per_shard",
     "trees_per_root", "root", "weight", "edges", "source", "target", "shard", "first", "count",
     "op", "link", "shards", "idle", "x"]
)  # fmt: skip


def containers(value, place=()):
    """All lists and objects inside a document, with their places."""
    found = []
    if isinstance(value, dict | list):
        found.append(value)
        for inner in value.values() if isinstance(value, dict) else value:
            found += containers(inner)
    return found


def damage(document, data):
    """Do one thing to a document that a careless program might do."""
    inside = containers(document)
    at = inside[data.draw(st.integers(0, len(inside) - 1))]
    keys = list(at) if isinstance(at, dict) else list(range(len(at)))
    action = data.draw(st.sampled_from(["set", "delete", "copy", "exchange", "add", "graft"]))
    if action == "add" or not keys:
        value = copy.deepcopy(data.draw(NASTY))
        if isinstance(at, dict):
            at[data.draw(KEYS)] = value
        else:
            at.insert(data.draw(st.integers(0, len(at))), value)
        return
    key, other = data.draw(st.sampled_from(keys)), data.draw(st.sampled_from(keys))
    if action == "set":
        at[key] = copy.deepcopy(data.draw(NASTY))
    elif action == "delete":
        del at[key]
    elif action == "copy":
        at[key] = copy.deepcopy(at[other])
    elif action == "exchange":
        at[key], at[other] = at[other], at[key]
    else:
        source = inside[data.draw(st.integers(0, len(inside) - 1))]
        at[key] = copy.deepcopy(source)


def is_a_place(document, pointer, *, may_miss_the_last):
    """Whether a pointer leads into the document; the last member may be one that is missing."""
    if pointer == "":
        return True
    if not pointer.startswith("/"):
        return False
    *way, last = pointer.split("/")[1:]
    at = document
    for part in way:
        if isinstance(at, list) and part.isdigit() and int(part) < len(at):
            at = at[int(part)]
        elif isinstance(at, dict) and part in at:
            at = at[part]
        else:
            return False
    if isinstance(at, list):
        return last.isdigit() and int(last) < len(at)
    return isinstance(at, dict) and (last in at or may_miss_the_last)


def judge(document, topology):
    """Read and check a document; everything that is wrong has a place in it and a sentence."""
    try:
        schedule = from_document(document, topology)
    except InvalidSchedule as error:
        assert is_a_place(document, error.field, may_miss_the_last=True), error
        assert error.rule
        return
    found = violations(schedule, topology)
    for violation in found:
        assert is_a_place(document, violation.place, may_miss_the_last=False), violation
        assert violation.sentence
    if found:
        return
    # What is valid has a cost and a time.
    for part in getattr(schedule, "parts", (schedule,)):
        cost = step_cost if hasattr(part, "steps") else tree_inverse_rate
        assert cost(part, topology)
    network = Network(Fraction(1), Fraction(1))
    assert simulate(schedule, topology, network, size_bytes=1, chunks=1).seconds >= 1


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_a_damaged_document_is_judged_with_a_place_in_it(data):
    topology, _, document = data.draw(st.sampled_from(SUBJECTS))
    document = copy.deepcopy(document)
    for _ in range(data.draw(st.integers(1, 4))):
        damage(document, data)
    judge(document, data.draw(st.sampled_from([topology, RING, BOXES])))


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_a_damaged_text_is_no_json_or_is_judged(data):
    topology, _, document = data.draw(st.sampled_from(SUBJECTS))
    text = json.dumps(document)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text) - 1))
        cut = data.draw(st.integers(0, 3))
        text = text[:at] + data.draw(st.sampled_from('0123456789-.e"[]{},: ax')) + text[at + cut :]
    try:
        broken = json.loads(text)
    except ValueError:
        return
    judge(broken, topology)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(
    st.recursive(
        NASTY | st.floats() | st.integers() | st.text(max_size=4),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6),
        max_leaves=12,
    )
)
def test_any_json_at_all_is_judged(document):
    judge(document, RING)
    judge({"schema": "schedule/1", "document": document}, RING)
    if isinstance(document, dict):
        judge(document | {"schema": "schedule/1", "kind": "steps", "collective": "allgather"}, RING)
        judge(document | {"schema": "schedule/1", "kind": "trees", "collective": "allgather"}, RING)


def test_the_subjects_are_of_all_kinds():
    kinds = {(topology.digest, name) for topology, name, _ in SUBJECTS}
    assert len(kinds) == len(SUBJECTS) == 6 + 3 + 6
