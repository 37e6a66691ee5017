import copy
import json
import zlib

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cases import for_every
from tests.schedule_documents import to_document
from tests.schedule_oracles import (
    bidirectional_ring,
    direct_topologies,
    every_schedule,
    shortest_steps,
    two_boxes,
)
from topoloom.schedules.errors import InvalidSchedule
from topoloom.schedules.formats.schedule import read as schedule_reading
from topoloom.schedules.formats.schedule.binary import pack, unpack
from topoloom.schedules.formats.schedule.read import from_document
from topoloom.schedules.formats.schedule.write import write
from topoloom.schedules.model.schedule import (
    SEND,
    Collective,
    SequenceSchedule,
    StepSchedule,
    TreeSchedule,
)
from topoloom.schedules.verify import violations
from topoloom.synth.topology.topology import Topology

RING = bidirectional_ring(4)
BOXES = two_boxes()


def same(one, other):
    if isinstance(one, SequenceSchedule):
        return (
            isinstance(other, SequenceSchedule)
            and (one.collective, one.topology) == (other.collective, other.topology)
            and len(one.parts) == len(other.parts)
            and all(map(same, one.parts, other.parts))
        )
    if isinstance(one, TreeSchedule):
        return one == other
    return (
        isinstance(other, StepSchedule)
        and (one.collective, one.topology, one.ranks, one.chunks_per_shard)
        == (other.collective, other.topology, other.ranks, other.chunks_per_shard)
        and len(one.steps) == len(other.steps)
        and all(
            a.dtype == b.dtype == SEND and np.array_equal(a, b)
            for a, b in zip(one.steps, other.steps, strict=True)
        )
    )


@st.composite
def schedules(draw):
    topology = draw(st.one_of(direct_topologies(5), st.just(BOXES)))
    weights = tuple(draw(st.lists(st.integers(1, 10**12), min_size=1, max_size=3)))
    made = every_schedule(topology, draw(st.integers(1, 4)), weights)
    return made[draw(st.sampled_from(sorted(made)))], topology


@settings(max_examples=80, deadline=None)
@given(schedules())
def test_a_schedule_written_and_read_is_the_same(pair):
    schedule, topology = pair
    document = json.loads(json.dumps(to_document(schedule)))
    assert same(schedule, from_document(document, topology))


@settings(max_examples=80, deadline=None)
@given(schedules())
def test_the_stream_holds_the_same_document(pair):
    schedule, _ = pair
    assert json.loads("".join(write(schedule))) == to_document(schedule)


@settings(max_examples=80, deadline=None)
@given(schedules())
def test_a_schedule_packed_and_unpacked_is_the_same(pair):
    schedule, _ = pair
    assert same(schedule, unpack(pack(schedule)))
    assert pack(schedule) == pack(unpack(pack(schedule)))


def test_a_long_step_is_streamed_in_several_pieces():
    schedule = shortest_steps(bidirectional_ring(6), 4000)
    pieces = list(write(schedule))
    assert max(map(len, pieces)) < 2_000_000 < sum(map(len, pieces))
    assert json.loads("".join(pieces)) == to_document(schedule)


def test_the_document_has_the_shape_of_the_format():
    topology = Topology(["a", 1], [("a", 1), ("a", 1), (1, "a")])
    document = to_document(shortest_steps(topology, 2))
    send = {"source": 1, "target": "a", "shard": 1, "first": 0, "count": 1, "op": "copy"}
    assert document == {
        "schema": "schedule/1",
        "kind": "steps",
        "collective": "allgather",
        "topology": topology.digest,
        "chunks_per_shard": 2,
        "steps": document["steps"],
    }
    assert send in document["steps"][0]
    links = [row.get("link") for row in document["steps"][0]]
    assert sorted(links, key=str) == [0, 1, None, None]


BAD = [
    (("schema",), "schedule/2", "/schema"),
    (("kind",), "stairs", "/kind"),
    (("kind",), [], "/kind"),
    (("collective",), "gossip", "/collective"),
    (("collective",), 7, "/collective"),
    (("topology",), None, "/topology"),
    (("topology",), "x" * 1000, "/topology"),
    (("chunks_per_shard",), 0, "/chunks_per_shard"),
    (("chunks_per_shard",), True, "/chunks_per_shard"),
    (("chunks_per_shard",), 2.0, "/chunks_per_shard"),
    (("chunks_per_shard",), 2**31, "/chunks_per_shard"),
    (("steps",), None, "/steps"),
    (("steps",), {}, "/steps"),
    (("steps", 1), 3, "/steps/1"),
    (("steps", 1, 2), [], "/steps/1/2"),
    *[
        (("steps", 1, 2, field), value, f"/steps/1/2/{field}")
        for field, values in {
            "source": [None, 4, -1, True, 1.0, "1", [], {}, 2**70],
            "target": [None, 4, False],
            "shard": [None, 4, 0.0],
            "first": [None, -1, 0.0, True, "0", 2**31, 10**400, float("nan"), []],
            "count": [None, 0, -1, 1.0, True, 2**31],
            "link": [None, -1, 0.5, 2**31, "0"],
            "op": [None, 0, "Copy", [], "add"],
        }.items()
        for value in values
    ],
]


@for_every(("path", "value", "field"), BAD)
def test_a_bad_document_of_steps_is_refused_with_its_place(path, value, field):
    document = to_document(shortest_steps(RING, 2))
    for prefix in ("", "/parts/1"):
        broken = copy.deepcopy(document)
        at = broken
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = value
        if prefix:
            if path == ("schema",):
                continue
            head = {key: document[key] for key in ("schema", "topology", "collective")}
            broken = head | {"kind": "sequence", "parts": [document, broken]}
        with pytest.raises(InvalidSchedule) as caught:
            from_document(broken, RING)
        assert caught.value.field == prefix + field


@pytest.mark.parametrize(
    "path, value, field",
    [
        (("trees_per_root",), 0, "/trees_per_root"),
        (("trees_per_root",), 2**62 + 1, "/trees_per_root"),
        (("trees",), "abc", "/trees"),
        (("trees", 3), None, "/trees/3"),
        (("trees", 3, "root"), "nobody", "/trees/3/root"),
        (("trees", 3, "root"), [], "/trees/3/root"),
        (("trees", 3, "weight"), 0, "/trees/3/weight"),
        (("trees", 3, "weight"), 1.0, "/trees/3/weight"),
        (("trees", 3, "edges"), {}, "/trees/3/edges"),
        (("trees", 3, "edges", 1), [], "/trees/3/edges/1"),
        (("trees", 3, "edges", 1), ["0.gpu0"], "/trees/3/edges/1"),
        (("trees", 3, "edges", 1), ["0.gpu0"] * 1000, "/trees/3/edges/1"),
        (("trees", 3, "edges", 1, 1), "nobody", "/trees/3/edges/1/1"),
        (("trees", 3, "edges", 1, 1), 1.5, "/trees/3/edges/1/1"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_bad_document_of_trees_is_refused_with_its_place(path, value, field):
    document = to_document(every_schedule(BOXES)["trees-allgather"])
    at = document
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    with pytest.raises(InvalidSchedule) as caught:
        from_document(document, BOXES)
    assert caught.value.field == field


@pytest.mark.parametrize("document", [None, 3, [], "schedule/1", {}, {"schema": []}])
def test_what_is_no_schedule_at_all_is_refused(document):
    with pytest.raises(InvalidSchedule):
        from_document(document, RING)


def test_a_sequence_holds_no_sequences_and_not_endless_parts():
    document = to_document(every_schedule(RING)["steps-allreduce"])
    with pytest.raises(InvalidSchedule) as caught:
        from_document(document | {"parts": [document]}, RING)
    assert caught.value.field == "/parts/0/kind"
    with pytest.raises(InvalidSchedule) as caught:
        from_document(document | {"parts": document["parts"] * 100}, RING)
    assert caught.value.field == "/parts"


def test_too_many_sends_are_refused(monkeypatch):
    monkeypatch.setattr(schedule_reading, "MAX_SENDS", 10)
    with pytest.raises(InvalidSchedule) as caught:
        from_document(to_document(shortest_steps(RING, 2)), RING)
    assert caught.value.field == "/steps"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)


@pytest.mark.slow
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_whatever_the_reader_lets_through_the_checker_can_judge(data):
    topology = data.draw(st.sampled_from([RING, BOXES]))
    made = every_schedule(topology)
    document = to_document(made[data.draw(st.sampled_from(sorted(made)))])
    for _ in range(data.draw(st.integers(1, 3))):
        at = document
        while True:
            keys = sorted(at) if isinstance(at, dict) else range(len(at))
            if not keys:
                break
            key = data.draw(st.sampled_from(keys))
            if isinstance(at[key], dict | list) and data.draw(st.integers(0, 5)):
                at = at[key]
                continue
            ids = st.sampled_from(topology.nodes)
            at[key] = data.draw(JSON | ids | st.integers(0, 3) | st.just(at[key]))
            break
    try:
        schedule = from_document(document, topology)
    except InvalidSchedule as error:
        assert error.field == "" or error.field.startswith("/")
    else:
        for violation in violations(schedule, topology):
            assert violation.sentence


def test_an_id_that_is_no_rank_is_never_written():
    gather = shortest_steps(RING)
    gather.steps[0]["target"][0] = -1
    with pytest.raises(InvalidSchedule):
        to_document(gather)
    with pytest.raises(InvalidSchedule):
        list(write(gather))


def damaged(data):
    start = schedule_mark(data)
    raw = zlib.decompress(data[start:])
    yield b""
    yield data[:-1]
    yield data + b"x"
    yield b"x" + data
    yield data[:start] + zlib.compress(raw[:-1])
    yield data[:start] + zlib.compress(raw + b"\0")
    yield data[:start] + zlib.compress(b"\xff" * 8)
    yield data[:start] + zlib.compress(raw.replace(b"allgather", b"allgossip"))
    yield data[:start] + zlib.compress(raw.replace(b'"kind"', b'"kinx"'))
    yield data[:start] + zlib.compress(raw.replace(b'"|u1"', b'"|O1"'))
    for at in range(start, len(data), 7):
        yield data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :]


def schedule_mark(data):
    return data.index(b"\n") + 1


@pytest.mark.parametrize("name", ["steps-allgather", "trees-allgather"])
def test_damaged_bytes_are_refused(name):
    packed = pack(every_schedule(RING)[name])
    for broken in damaged(packed):
        with pytest.raises(InvalidSchedule):
            unpack(broken)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 255))
def test_packed_bytes_with_a_right_checksum_but_wrong_content_never_crash(at, value):
    packed = pack(every_schedule(RING)["steps-allreduce"])
    start = schedule_mark(packed)
    raw = bytearray(zlib.decompress(packed[start:]))
    raw[at % len(raw)] = value
    try:
        schedule = unpack(packed[:start] + zlib.compress(bytes(raw)))
    except InvalidSchedule:
        return
    assert schedule.collective in Collective


def test_packed_trees_whose_counts_do_not_add_up_are_refused():
    packed = pack(every_schedule(RING)["trees-allgather"])
    start = schedule_mark(packed)
    raw = zlib.decompress(packed[start:])
    size = int.from_bytes(raw[:4], "little")
    roots, weights, counts, _, _ = json.loads(raw[4 : 4 + size])["arrays"]
    assert {kind for kind, _ in (roots, weights, counts)} == {"|u1"}
    edges = 4 + size + roots[1] + weights[1]
    for first, by in ((edges, 1), (edges, -1), (edges + counts[1], 1), (edges + counts[1], -1)):
        changed = bytearray(raw)
        changed[first] += by
        with pytest.raises(InvalidSchedule, match="count"):
            unpack(packed[:start] + zlib.compress(bytes(changed)))


def test_a_weight_beyond_64_bits_is_not_packed():
    trees = every_schedule(RING, weights=(2**64,))["trees-allgather"]
    with pytest.raises(InvalidSchedule):
        pack(trees)
