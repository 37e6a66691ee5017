"""Boxes of accelerators: what a text composes, its optima, and the rules of its parts."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topoloom
from tests.cases import for_every
from tests.flow_oracles import flow_rate
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.optimum.collective_optimum import collective_optimum
from topoloom.schedules.options import Options
from topoloom.schedules.verify import require_valid, tree_inverse_rate
from topoloom.synth.boxes.box_fabric import Ports, box_fabric
from topoloom.synth.boxes.cable_classes import CableCounts, cable_counts
from topoloom.synth.boxes.expression import parse_boxes, topology_of_boxes
from topoloom.synth.boxes.racks import racks_of
from topoloom.synth.errors import InvalidRecipe, OutOfDomain, Unreachable
from topoloom.synth.fabrics import fabric
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.topology.topology import Topology

BETWEEN = ("BiRing(4)", "Circulant(5, 1, 2)", "Complete(4)", "Torus(3, 3)", "Kautz(2, 2)")


def best(topology: Topology, collective: Collective = Collective.ALLGATHER) -> Fraction:
    return collective_optimum(topology, collective, Options()).algbw


def test_two_boxes_of_two_accelerators_with_one_cable_are_limited_by_the_cable() -> None:
    topology = topology_of_boxes("Boxes(Complete(2), Complete(2))")
    assert [str(node) for node in topology.nodes] == ["0.0", "0.1", "1.0", "1.1"]
    assert Counter(topology.links) == Counter(
        [(f"{b}.{i}", f"{b}.{1 - i}", 1) for b in (0, 1) for i in (0, 1)]
        + [("0.0", "1.0", 1), ("1.0", "0.0", 1)]
    )
    # Two of four shards cross a cable of rate 1/2: M / 2 bytes take M.
    slow = topology_of_boxes("Boxes(Complete(2), Complete(2), cable=1/2)")
    found = collective_optimum(slow, Collective.ALLGATHER, Options())
    assert found.algbw == 1
    assert found.passes[0].bottleneck.capacity == Fraction(1, 2)
    assert found.passes[0].bottleneck.compute_inside == 2


@for_every("rate", ["1", "2", "9"])
def test_a_faster_cable_moves_the_limit_into_the_box(rate: str) -> None:
    # Accelerator 1 of a box receives three of four shards over one link of rate 1.
    topology = topology_of_boxes(f"Boxes(Complete(2), Complete(2), cable={rate})")
    assert best(topology) == Fraction(4, 3)


def test_each_box_gets_all_data_of_the_others_through_its_cables() -> None:
    # 15 of 16 boxes send their shares into a box over 8 cables of 50 GB/s.
    topology = topoloom.build("Boxes(dgx-h100, Circulant(16, 1, 2, 3, 4))")
    assert best(topology) == Fraction(16, 15) * 400
    assert best(topology, Collective.ALLREDUCE) == Fraction(16, 15) * 200


@for_every("between", BETWEEN)
def test_every_cable_of_the_topology_between_boxes_joins_the_same_boxes(between: str) -> None:
    outer = build(parse(between))
    topology = box_fabric(fabric("mi300x"), outer, cable=50)
    found = Counter(
        (int(str(link.source).split(".")[0]), int(str(link.target).split(".")[0]), link.capacity)
        for link in topology.links
        if str(link.source).split(".")[0] != str(link.target).split(".")[0]
    )
    assert found == Counter((link.source, link.target, 50) for link in outer.links)
    assert topology.is_bidirectional == outer.is_bidirectional


@for_every("between", BETWEEN)
@for_every("rule", list(Ports))
def test_accelerators_have_equal_numbers_of_cables_within_one(rule: Ports, between: str) -> None:
    outer = build(parse(between))
    topology = box_fabric(build(parse("Complete(3)")), outer, ports=rule)
    extra = topology.out_degrees - 2
    assert extra.max() - extra.min() <= 1
    assert extra.sum() == outer.link_count


@for_every(
    ("ports", "degree", "used"),
    [
        ("even", 2, [0, 4]),
        ("even", 8, list(range(8))),
        ("round-robin", 2, [0, 1]),
        ("even", 16, [at // 2 for at in range(16)]),
        ("round-robin", 16, [at % 8 for at in range(16)]),
    ],
)
def test_ports_are_on_the_accelerators_of_their_rule(ports, degree, used) -> None:
    assert [Ports(ports).accelerator(port, degree, 8) for port in range(degree)] == used


def test_switches_between_boxes_stay_switches_and_the_rates_of_links_multiply() -> None:
    topology = topology_of_boxes("Boxes(mi300x, fat-tree-2, cable=25/2)")
    assert sorted(map(str, topology.switches)) == sorted(map(str, fabric("fat-tree-2").switches))
    leaving = {link for link in topology.links if link.source in topology.switches}
    assert {link.capacity for link in leaving} == {Fraction(25, 2)}


def test_limits_and_multicast_of_a_box_hold_in_every_box() -> None:
    sharp = topology_of_boxes("Boxes(dgx-h100-sharp, BiRing(3), cable=50)")
    assert sorted(map(str, sharp.multicast)) == ["0.nvswitch", "1.nvswitch", "2.nvswitch"]
    limited = Topology("ab", ["ab", "ba"], shared=[(["ab", "ba"], 1)])
    shared = box_fabric(limited, build(parse("BiRing(3)"))).shared
    assert [one.links[0] for one in shared] == [(f"{b}.a", f"{b}.b") for b in range(3)]


def test_boxes_of_boxes_name_each_level() -> None:
    topology = topology_of_boxes("Boxes(Boxes(Complete(2), Complete(3)), BiRing(4))")
    assert len(topology.compute_nodes) == 24
    assert topology.nodes[:3] == ("0.0.0", "0.0.1", "0.1.0")


@settings(max_examples=25)
@given(st.data())
def test_optima_of_random_boxes_are_those_of_a_linear_program(data: st.DataObject) -> None:
    box = data.draw(st.sampled_from(["UniRing(2)", "Complete(2)", "Complete(3)", "dgx-spark-2"]))
    between = data.draw(
        st.sampled_from(["BiRing(3)", "Complete(3)", "UniRing(3)", "UniRing(2, 2)"])
    )
    rate = data.draw(st.fractions(Fraction(1, 3), 3, max_denominator=3))
    rule = data.draw(st.sampled_from(list(Ports)))
    topology = topology_of_boxes(f"Boxes({box}, {between}, cable={rate}, ports={rule})")
    sizes = dict.fromkeys(topology.compute_nodes, 1)
    for collective, passes in ((Collective.ALLGATHER, "o"), (Collective.REDUCE_SCATTER, "i")):
        found = float(best(topology, collective))
        assert found == pytest.approx(flow_rate(topology, sizes, passes), rel=1e-6)


@for_every("box", ["dgx-h100", "mi300x"])
def test_schedules_over_boxes_are_valid_and_reach_the_optimum(box: str) -> None:
    topology = topology_of_boxes(f"Boxes({box}, Circulant(5, 1, 2), cable=50)")
    schedule = topoloom.schedule(topology, "allreduce")
    require_valid(schedule, topology)
    rate = topoloom.optimum(topology, "allreduce").algbw
    inverse = sum(tree_inverse_rate(part, topology) for part in schedule.parts)
    assert len(topology.compute_nodes) / inverse == rate


@for_every("box", ["mi300x", "dgx-1v"])
def test_a_simulated_schedule_of_large_data_takes_the_time_of_the_optimum(box: str) -> None:
    topology = topology_of_boxes(f"Boxes({box}, Circulant(5, 1, 2), cable=50)")
    schedule = topoloom.schedule(topology, "allgather")
    rate = topoloom.optimum(topology).algbw
    found = topoloom.simulate(schedule, topology, size=10**12)
    assert float(found.seconds) == pytest.approx(10**12 / (float(rate) * 10**9), rel=0.01)


def test_cables_within_a_rack_are_copper_and_others_are_optics() -> None:
    topology = topology_of_boxes("Boxes(mi300x, BiRing(8))")
    fours = ((0, 1, 2, 3), (4, 5, 6, 7))
    assert cable_counts(topology) == CableCounts(8 * Fraction(28), Fraction(0), Fraction(8))
    assert cable_counts(topology, fours) == CableCounts(8 * Fraction(28), Fraction(6), Fraction(2))
    assert cable_counts(topology, (tuple(range(8)),)).optics == 0
    assert cable_counts(topology, fours).cost(Fraction(1, 2), Fraction(10)) == 23


@for_every("between", ["BiRing(8)", "Torus(3, 4)", "CompleteBipartite(4)", "Kautz(2, 3)"])
@for_every("size", [1, 2, 3, 5, 12])
def test_racks_hold_each_box_once_and_at_most_their_size(size: int, between: str) -> None:
    outer = build(parse(between))
    racks = racks_of(outer, size)
    assert sorted(box for rack in racks for box in rack) == list(range(outer.node_count))
    assert max(map(len, racks)) <= size
    assert len(racks) == -(-outer.node_count // size)


@for_every(("between", "size"), [("BiRing(6)", 3), ("Circulant(8, 1, 2)", 4), ("Torus(2, 4)", 4)])
def test_racks_of_small_topologies_hold_as_many_cables_as_any_racks(between, size) -> None:
    outer = build(parse(between))
    topology = box_fabric(build(parse("Complete(2)")), outer)
    halves = (
        (one, tuple(sorted(set(range(outer.node_count)) - set(one))))
        for one in combinations(range(outer.node_count), size)
    )
    most = max(cable_counts(topology, racks).copper for racks in halves)
    assert cable_counts(topology, racks_of(outer, size)).copper == most


def test_racks_of_no_boxes_are_refused() -> None:
    with pytest.raises(OutOfDomain, match="boxes_per_rack"):
        racks_of(build(parse("BiRing(4)")), 0)


@for_every(
    "text",
    [
        "Boxes(dgx-h100, Circulant(16, 1, 2, 3, 4))",
        "Boxes(Boxes(Complete(4), Complete(8)), Complete(9), cable=25/2, ports=round-robin)",
        "Boxes(@box.json, Torus(4, 4), cable=50)",
        "Boxes(dgx-h100, Torus(4, 4), latency=7/2)",
    ],
)
def test_the_text_of_parsed_boxes_is_canonical(text: str) -> None:
    assert str(parse_boxes(text)) == text
    assert str(parse_boxes(text.replace(" ", "").replace("(", " ( ").replace("Boxes (", "Boxes(")))


@for_every(
    ("text", "rule"),
    [
        ("Boxes(dgx-h100)", "must have a box and a topology between boxes"),
        ("Boxes(, BiRing(4))", "must have a box and a topology between boxes"),
        ("Boxes(dgx-h100, BiRing(4)", "must match"),
        ("Boxes(dgx-h100, BiRing(4)))", "must match"),
        ("Boxes(dgx-h100, BiRing(4), 50)", "must be one of cable, ports, latency; not '50'"),
        ("Boxes(dgx-h100, BiRing(4), cable=-1)", "cable of Boxes must be a positive rate"),
        ("Boxes(dgx-h100, BiRing(4), cable=1/0)", "cable of Boxes must be a positive rate"),
        ("Boxes(dgx-h100, BiRing(4), ports=any)", "must be one of even, round-robin; not 'any'"),
        ("Boxes(dgx-h100, BiRing(4), cable=5, cable=6)", "cable of Boxes must be given once"),
        ("Boxes(dgx-h100, BiRing(4), latency=0)", "latency of Boxes must be a positive number"),
        ("Boxes(Complete(4), BiRing(4), latency=5)", "the links of Complete(4) state no latencies"),
        ("Boxes(dgx-1v, BiRing(4))", "must state cable=RATE: the catalogue states no NIC"),
        ("Boxes(dgx-z100, BiRing(4))", "did you mean"),
        ("Boxes(dgx-h100, mac-studio-ring-4, cable=9)", "cable must be absent"),
        ("Boxes(Complete(4), mac-studio-ring-4)", "must have one unit"),
        ("Boxes(dgx-h100, @file)", "no graph is called @file"),
        ("Boxes(dgx-h100, Bi)", "a part of Boxes: no fabric is called 'Bi'"),
    ],
)
def test_a_text_that_breaks_the_grammar_is_refused_with_the_rule(text: str, rule: str) -> None:
    with pytest.raises(InvalidRecipe) as refused:
        topology_of_boxes(text)
    assert rule in refused.value.rule


def hop_us(text: str, source: str, target: str, **graphs: Topology) -> Fraction:
    """Return the latency of a hop along given nodes."""
    latencies = topology_of_boxes(text, graphs).latencies
    path = [source, *target.split()]
    return sum((latencies[pair] for pair in pairwise(path)), Fraction(0)) * 10**6


def test_boxes_of_the_catalogue_have_the_latencies_of_its_hops() -> None:
    nccl, rccl = "Boxes(dgx-h100, BiRing(4))", "Boxes(mi300x, BiRing(4))"
    assert hop_us(nccl, "0.gpu0", "0.nvswitch 0.gpu1") == Fraction("0.6")
    assert hop_us(nccl, "0.gpu0", "1.gpu4") == 5
    assert hop_us(rccl, "1.gpu0", "1.gpu1") == Fraction("0.9")
    assert hop_us(rccl, "0.gpu0", "1.gpu4") == Fraction("10.5")
    # A hop over a switch between boxes has the same latency, half on each cable.
    assert hop_us("Boxes(dgx-h100, switch-4-2)", "0.gpu0", "switch 3.gpu4") == 5
    assert hop_us("Boxes(dgx-h100, BiRing(4), latency=3.5)", "0.gpu0", "1.gpu4") == Fraction(7, 2)


def test_latencies_of_files_are_those_of_the_links() -> None:
    pairs = [("a", "b"), ("b", "a")]
    fast = Topology("ab", pairs, latencies=dict.fromkeys(pairs, Fraction(1, 10**6)))
    slow = Topology("ab", pairs, latencies=dict.fromkeys(pairs, Fraction(9, 10**6)))
    given = {"box": fast, "far": slow}
    assert hop_us("Boxes(@box, @far)", "0.a", "0.b", **given) == 1
    assert hop_us("Boxes(@box, @far)", "0.a", "1.a", **given) == 9
    # The latency of the cables is unknown, and all links state a latency, or none does.
    assert topology_of_boxes("Boxes(@box, BiRing(3))", given).latencies == {}
    assert hop_us("Boxes(@box, BiRing(3), latency=4)", "0.a", "1.b", **given) == 4


def test_boxes_that_cannot_reach_each_other_are_refused() -> None:
    lone = Topology("abc", ["ab", "bc"])
    with pytest.raises(Unreachable):
        topology_of_boxes("Boxes(@lone, BiRing(3))", {"lone": lone})


def test_limits_that_cables_share_are_refused() -> None:
    limited = Topology("ab", ["ab", "ba"], shared=[(["ab", "ba"], 1)])
    with pytest.raises(OutOfDomain, match="no limits that links share"):
        box_fabric(fabric("dgx-h100-1"), limited)


def test_too_many_boxes_and_too_few_are_refused_before_the_construction() -> None:
    with pytest.raises(OutOfDomain, match="at most 65536 nodes"):
        topology_of_boxes("Boxes(gb200-nvl72, BiRing(30000))")
    with pytest.raises(OutOfDomain, match="at least two compute nodes"):
        box_fabric(fabric("mi300x"), Topology("a", []))
    with pytest.raises(InvalidRecipe, match="nest at most"):
        parse_boxes("Boxes(" * 6 + "mi300x" + ", BiRing(3))" * 6)
