"""Kinds of single faults: alike ones leave the same, and none is left out."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topoloom.schedules.errors import NoSchedule, TooLarge
from topoloom.schedules.optimum.single_faults import FAULT_PARTS, fault_kinds
from topoloom.schedules.options import Options
from topoloom.schedules.trees.forestcoll import optimum
from topoloom.synth.errors import InvalidTopology, Unreachable
from topoloom.synth.fabrics import fabric
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.topology.degrade import degraded, joined_pairs
from topoloom.synth.topology.topology import Topology

GROUP = Options(participants=("0.gpu0", "0.gpu1", "1.gpu0"))


@st.composite
def fabrics(draw: st.DrawFn) -> Topology:
    """Draw up to seven nodes, some of them switches, on few kinds of two-way and one-way links."""
    count = draw(st.integers(2, 7))
    switches = draw(st.sets(st.integers(2, 6), max_size=3)) & set(range(count))
    pairs = [(i, j) for i in range(count) for j in range(count) if i != j]
    chosen = draw(st.lists(st.sampled_from(pairs), max_size=20))
    both = draw(st.booleans())
    links = [(s, t, draw(st.sampled_from([1, 2]))) for s, t in chosen]
    links += [(t, s, c) for s, t, c in links] if both else []
    return Topology(range(count), links, switches=switches)


def left(topology: Topology, lost: tuple[int | str, ...], options: Options) -> Fraction | None:
    """Return the algbw after a fault, None where there is none."""
    pairs, nodes = ([lost], []) if len(lost) == 2 else ([], [*lost])
    rest = degraded(topology, without_links=pairs, without_nodes=nodes)
    members = options.participants and [name for name in options.participants if name not in lost]
    try:
        return optimum(rest, participants=members).algbw
    except (InvalidTopology, NoSchedule, Unreachable):
        return None


def every_fault(topology: Topology) -> list[tuple[int | str, ...]]:
    pairs = {frozenset(link[:2]) for link in topology.links}
    return [tuple(sorted(pair)) for pair in pairs] + [(node,) for node in topology.nodes]


def require_all(topology: Topology, options: Options) -> None:
    """Every fault there is leaves what one of the kinds leaves, as often as that says."""
    kinds = fault_kinds(topology, options)
    said: dict[tuple[int, bool, Fraction | None], int] = {}
    for kind in kinds:
        is_switch = kind.lost[0] in topology.switches and len(kind.lost) == 1
        key = len(kind.lost), is_switch, left(topology, kind.lost, options)
        said[key] = said.get(key, 0) + kind.alike
    found: dict[tuple[int, bool, Fraction | None], int] = {}
    for lost in every_fault(topology):
        is_switch = lost[0] in topology.switches and len(lost) == 1
        key = len(lost), is_switch, left(topology, lost, options)
        found[key] = found.get(key, 0) + 1
    assert said == found


@settings(max_examples=60, deadline=None)
@given(fabrics())
def test_each_of_all_faults_leaves_what_its_kind_leaves(topology: Topology) -> None:
    require_all(topology, Options())


@pytest.mark.parametrize("options", [Options(), GROUP], ids=["all", "group"])
def test_faults_of_two_boxes_are_of_few_kinds_and_fewer_where_all_take_part(options) -> None:
    boxes = fabric("dgx-a100-2")
    require_all(boxes, options)
    kinds = fault_kinds(boxes, options)
    assert len(kinds) == (5 if options is not GROUP else 25)


def test_a_thousand_gpus_have_as_few_kinds_as_sixteen() -> None:
    assert len(fault_kinds(fabric("dgx-a100-128"))) == len(fault_kinds(fabric("dgx-a100-2")))


@pytest.mark.parametrize("part", FAULT_PARTS)
def test_only_parts_that_are_asked_for_are_lost(part) -> None:
    assert {kind.part for kind in fault_kinds(fabric("dgx-a100-2"), parts=[part])} == {part}


def test_more_pairs_than_the_limit_are_refused() -> None:
    complete = build(parse("Complete(300)"))
    assert joined_pairs(complete) == 44_850
    with pytest.raises(TooLarge, match="at most 20000"):
        fault_kinds(complete)
