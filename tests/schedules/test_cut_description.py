"""Cuts in words: nothing of them is lost, and what is alike is said once."""

import re
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from topoloom.schedules.optimum.cut_description import box_parts, crossings, id_ranges
from topoloom.schedules.trees.forestcoll import optimum
from topoloom.synth.fabrics import fabric
from topoloom.synth.topology.topology import Topology

IDS = st.one_of(
    st.integers(-3, 12),
    st.builds(
        "{}.{}{}".format,
        st.integers(0, 3),
        st.sampled_from(["gpu", "nic", "pci 0a:"]),
        st.integers(0, 9),
    ),
    st.sampled_from(["fabric", "plane0", "plane1", "", ".", "0.", "a\nb", "x9y10", "007"]),
)


@st.composite
def cuts(draw):
    nodes = draw(st.lists(IDS, min_size=2, max_size=12, unique_by=str))
    pairs = st.tuples(
        st.sampled_from(nodes), st.sampled_from(nodes), st.sampled_from([1, 25, Fraction(25, 2)])
    )
    links = draw(st.lists(pairs.filter(lambda link: link[0] != link[1]), max_size=30))
    switches = draw(st.sets(st.sampled_from(nodes)))
    inside = draw(st.sets(st.sampled_from(nodes)))
    return Topology(nodes, links, switches=switches), inside


@given(cuts(), st.booleans())
def test_the_groups_hold_every_link_that_crosses_and_no_other(cut, inward) -> None:
    topology, inside = cut
    groups = crossings(topology, inside, inward=inward)
    across = [
        link
        for link in topology.links
        if (
            (link.source in inside, link.target in inside)
            == ((False, True) if inward else (True, False))
        )
    ]
    assert sum(group.count for group in groups) == len(across)
    assert sum(group.count * group.capacity for group in groups) == sum(
        link.capacity for link in across
    )
    found = Counter()
    for group in groups:
        ends = [
            link
            for link in across
            if link.source in group.sources
            and link.target in group.targets
            and link.capacity == group.capacity
        ]
        assert len(ends) == group.count
        found.update(ends)
    assert found == Counter(across)


@given(cuts())
def test_the_parts_hold_every_node_once_and_say_which_are_missing(cut) -> None:
    topology, inside = cut
    found = box_parts(topology, inside)
    held = [node for part in found for node in (*part.compute, *part.switches)]
    assert sorted(map(str, held)) == sorted(map(str, inside))
    assert len({part.box for part in found}) == len(found)
    for part in found:
        assert not {*part.missing} & inside
        assert not {*part.missing, *part.compute} & topology.switches
        for node in (*part.compute, *part.missing, *part.switches):
            match = re.match(r"([0-9]+)\.", str(node))
            assert part.box == (match[1] if match else "")


@given(st.lists(IDS, max_size=20))
@example(["007", "8"])
@example(["a0", "a1", "a9", "a10"])
def test_a_list_of_ids_can_be_read_back(nodes) -> None:
    words = id_ranges(nodes)
    back = []
    for word in words.split(", ") if nodes else []:
        match = re.fullmatch(r"(.*?)([0-9]+)\.\.([0-9]+)", word, re.S)
        if match:
            back += [f"{match[1]}{number}" for number in range(int(match[2]), int(match[3]) + 1)]
        else:
            back.append(word)
    assert back == [str(node) for node in nodes]


@pytest.mark.parametrize(
    ("name", "inward", "said"),
    [
        ("dgx-a100-4", False, [("plane0..1", "0.gpu0..7", 8, 25)]),
        ("dgx-a100-2", True, [("0.gpu0", "0.nvswitch", 1, 300), ("0.gpu0", "plane0", 1, 25)]),
    ],
)
def test_the_bottleneck_of_a_fabric_is_said_as_a_person_would(name, inward, said) -> None:
    topology = fabric(name)
    cut = optimum(topology, inward=inward).bottleneck
    groups = crossings(topology, cut, inward=inward)
    assert [
        (id_ranges(g.sources), id_ranges(g.targets), g.count, g.capacity) for g in groups
    ] == said
