"""Which sizes of shards and groups of ranks are taken, and how the rest is refused."""

from fractions import Fraction

import pytest

from tests.cases import for_every
from tests.oracles import torus
from tests.schedule_documents import to_document
from tests.schedule_oracles import ring, two_boxes
from topoloom.schedules.errors import InvalidSchedule, NoSchedule, NotExportable, TooLarge
from topoloom.schedules.formats.msccl.write import render
from topoloom.schedules.formats.schedule.read import from_document
from topoloom.schedules.generate.collectives import make
from topoloom.schedules.trees.forestcoll import allgather, broadcast, optimum
from topoloom.schedules.verify import tree_inverse_rate, violations
from topoloom.synth.errors import Unreachable
from topoloom.synth.fabrics import fabric
from topoloom.synth.topology.topology import Topology

BOXES = fabric("dgx-a100-2")
PAIRS = ["0.gpu0", "0.gpu1", "1.gpu0", "1.gpu1"]


@for_every(
    ("options", "field", "rule"),
    [
        ({"shards": {"0.gpu9": 1}}, "shards", "no node"),
        ({"shards": {"0.nvswitch": 1}}, "shards", "is a switch"),
        ({"shards": {"0.gpu0": -1}}, "shards", "integer from 0"),
        ({"shards": {"0.gpu0": Fraction(1, 2)}}, "shards", "integer from 0"),
        ({"shards": {"0.gpu0": True}}, "shards", "integer from 0"),
        ({"shards": {"0.gpu0": 0}}, "shards", "above 0"),
        ({"shards": {}}, "shards", "above 0"),
        ({"shards": {"0.gpu0": 1, "0.gpu5": 1}, "participants": PAIRS}, "shards", "no part"),
        ({"participants": ["0.gpu0"]}, "participants", "at least two"),
        ({"participants": []}, "participants", "at least two"),
        ({"participants": ["0.gpu0", "0.gpu1", "0.gpu0"]}, "participants", "once"),
        ({"participants": ["0.gpu0", "1.nvswitch"]}, "participants", "is a switch"),
        ({"participants": ["0.gpu0", "somebody"]}, "participants", "no node"),
        ({"participants": [0, True]}, "participants", "no node"),
        ({"root": "0.gpu5", "participants": PAIRS}, "root", "no part"),
        ({"root": "0.gpu5", "shards": {"0.gpu5": 1}}, "shards", "together"),
        ({"trees_per_root": 0}, "trees_per_root", "at least 1"),
        ({"trees_per_root": 2, "max_gap": 1}, "max_gap", "together"),
        ({"max_gap": 0.5}, "max_gap", "fraction"),
        ({"max_gap": -1}, "max_gap", "negative"),
    ],
)
def test_a_wrong_request_is_refused_by_name(options, field, rule) -> None:
    with pytest.raises(NoSchedule, match=rule) as caught:
        optimum(BOXES, **options)
    assert caught.value.field == field
    if "root" not in options:
        with pytest.raises(NoSchedule, match=rule) as caught:
            allgather(BOXES, **options)
        assert caught.value.field == field
        if field in ("shards", "participants"):
            with pytest.raises(NoSchedule, match=rule) as caught:
                make(BOXES, "allreduce", "forestcoll", **options)
            assert caught.value.field == field


def test_a_group_must_reach_itself_and_no_one_else() -> None:
    links = [("a", "b"), ("b", "a"), ("b", "c")]
    topology = Topology("abc", links)
    assert violations(make(topology, "allreduce", "forestcoll", participants="ab"), topology) == []
    with pytest.raises(Unreachable, match="'c' must reach 'b'"):
        make(topology, "allgather", "forestcoll", participants="bc")
    assert optimum(topology, shards={"a": 2, "b": 1}).inverse_rate == 3
    with pytest.raises(Unreachable):
        make(topology, "reduce-scatter", "forestcoll", shards={"a": 2, "b": 1})


def test_breadth_first_broadcast_refuses_both() -> None:
    for options in ({"shards": {0: 1}}, {"participants": [0, 1]}):
        with pytest.raises(NoSchedule) as caught:
            make(ring(4), "allgather", "bfb", **options)
        assert caught.value.field.strip("/") in options


def test_numbers_beyond_62_bits_are_refused_at_once() -> None:
    with pytest.raises(TooLarge) as caught:
        optimum(ring(3), shards={0: 1 << 61, 1: (1 << 61) + 1})
    assert caught.value.field == "shards"
    huge = Topology(range(2), [(0, 1, (1 << 61) - 1), (1, 0, (1 << 61) - 3)])
    for topology, options in (
        (torus(3, 3), {"shards": {0: (1 << 61) - 1, 1: 1}}),
        (huge, {}),
        (huge, {"shards": {0: 7, 1: 3}}),
        (torus(3, 3), {"trees_per_root": 1 << 62}),
    ):
        with pytest.raises(TooLarge):
            optimum(topology, **options)
        with pytest.raises(TooLarge):
            allgather(topology, **options)


def test_large_sizes_take_no_longer_than_small_ones() -> None:
    sizes = {node: 10**9 + 7 * index for index, node in enumerate(range(16))}
    schedule = allgather(torus(4, 4), shards=sizes)
    assert violations(schedule, torus(4, 4)) == []
    best = optimum(torus(4, 4), shards=sizes)
    assert tree_inverse_rate(schedule, torus(4, 4)) == best.inverse_rate
    assert len(schedule.trees) < 1000


def test_what_msccl_programs_are_not_written_for_is_refused() -> None:
    for schedule, field in (
        (allgather(BOXES, shards={"0.gpu0": 1, "0.gpu1": 2}), "/shards"),
        (allgather(BOXES, participants=PAIRS), "/shards"),
        (broadcast(BOXES, "0.gpu0"), "/collective"),
    ):
        with pytest.raises(NotExportable) as caught:
            render(schedule, BOXES)
        assert caught.value.field == field


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"participants": PAIRS[:3] + PAIRS[:1]}, "/participants/3"),
        ({"participants": ["0.nvswitch"]}, "/participants/0"),
        ({"participants": []}, "/participants"),
        ({"participants": "0.gpu0"}, "/participants"),
        ({"shards": [{"rank": "0.gpu7", "size": 1}]}, "/shards/0/rank"),
        ({"shards": [{"rank": "0.gpu0", "size": 0}]}, "/shards/0/size"),
        ({"shards": [{"rank": "0.gpu0", "size": 1}] * 2}, "/shards/1/rank"),
        ({"shards": [3]}, "/shards/0"),
        ({"shards": []}, "/shards"),
        ({"collective": "broadcast"}, "/root"),
        ({"collective": "broadcast", "root": "0.gpu7"}, "/root"),
    ],
)
def test_a_document_that_divides_data_wrongly_is_refused(change, place) -> None:
    document = to_document(allgather(two_boxes(8), participants=PAIRS))
    with pytest.raises(InvalidSchedule) as caught:
        from_document(document | change, two_boxes(8))
    assert caught.value.field == place
