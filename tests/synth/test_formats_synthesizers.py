"""Topologies of msccl-tools, TACCL and Slurm: figures worked out by hand."""

from fractions import Fraction

import pytest

from tests.cases import for_every
from tests.synth.format_files import text_of
from topoloom.schedules.trees.forestcoll import optimum
from topoloom.synth.errors import InvalidTopology
from topoloom.synth.formats import read
from topoloom.synth.topology.topology import Topology


def test_switches_of_msccl_tools_are_limits_that_links_share() -> None:
    hub = read(text_of("hub.msccl-tools.json"))
    assert {link.capacity for link in hub.links} == {2}
    assert len(hub.shared) == 6
    # Each host sends and receives 3, as through a switch with cables of 3.
    ends = [(host, "hub", 3) for host in range(3)]
    star = Topology([0, 1, 2, "hub"], [*ends, *((b, a, c) for a, b, c in ends)], switches=["hub"])
    assert optimum(hub).algbw == optimum(star).algbw == Fraction(9, 2)


def test_the_row_of_a_matrix_is_the_target_and_the_column_the_source() -> None:
    text = '{"msccl_type": "topology", "name": "", "switches": [], "links": [[0, 0.5], [3, 0]]}'
    assert read(text).links == ((0, 1, 3), (1, 0, Fraction(1, 2)))
    text = '{"gpus_per_node": 2, "links": [[0, 1], [2, 0]], "betas": [[0, 8], [12.5, 0]]}'
    assert read(text).links == ((0, 1, 160), (1, 0, 125))


def test_lanes_and_betas_of_taccl_are_bandwidths_of_one_machine() -> None:
    quad = read(text_of("quad.taccl.json"))
    # Two lanes of 1 MB in 40 microseconds, or one lane of 1 MB in 50 microseconds.
    assert {(link.source, link.target): link.capacity for link in quad.links} == {
        **dict.fromkeys([(0, 1), (1, 0), (2, 3), (3, 2)], 50),
        **dict.fromkeys([(1, 2), (2, 1), (3, 0), (0, 3)], 20),
    }
    assert optimum(quad).algbw == 80
    assert quad.name == "quad"
    assert any("one MB" in one.text for one in quad.assumed)
    assert any("network between machines" in one.text for one in quad.assumed)
    lanes = read(text_of("quad.taccl.json"), capacity_attribute="links", unit="link")
    assert sorted(set(lanes.capacities)) == [1, 2]


def test_a_slurm_topology_is_a_tree_of_switches_over_hosts() -> None:
    tree = read(text_of("tree.slurm.conf"))
    assert tree.switches == {"leaf1", "leaf2", "spine"}
    pairs = {(link.source, link.target) for link in tree.links}
    assert pairs == {
        way
        for child, switch in [
            ("gpu01", "leaf1"),
            ("gpu02", "leaf1"),
            ("gpu5", "leaf1"),
            ("gpu03", "leaf2"),
            ("gpu04", "leaf2"),
            ("login", "leaf2"),
            ("leaf1", "spine"),
            ("leaf2", "spine"),
        ]
        for way in [(child, switch), (switch, child)]
    }
    assert {one.option for one in tree.assumed} == {"", "capacity_attribute"}


def test_what_scontrol_prints_is_the_same_topology() -> None:
    printed = (
        "SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=gpu[1-2] Switches=(null)\n"
        "SwitchName=leaf2 Level=0 LinkSpeed=1 Nodes=gpu[3-4]\n"
        "SwitchName=top Level=1 LinkSpeed=4 Nodes=gpu[1-4] Switches=leaf[1-2]\n"
    )
    written = (
        "SwitchName=leaf1 Nodes=gpu[1-2]\nSwitchName=leaf2 Nodes=gpu3,gpu4\n"
        "SwitchName=top Switches=leaf1,leaf2"
    )
    assert read(printed) == read(written)
    fast = read(printed, capacity_attribute="LinkSpeed", unit="GB/s")
    assert optimum(fast).algbw == 4 * Fraction(1, 3)
    assert {link.capacity for link in fast.links if "top" in link[:2]} == {4}


MSCCL = '{{"msccl_type": "topology", "name": "x", "links": {}, "switches": {}}}'
PROFILE = '{{"gpus_per_node": 2, "links": {}, "betas": {}}}'
PAIR = "[[0, 1], [1, 0]]"
BAD = {
    # name: (text, place, words)
    "no square": (MSCCL.format("[[0, 1], [1]]", "[]"), "/links/1", "2 numbers"),
    "no matrix": (MSCCL.format("[]", "[]"), "/links", "from 1 to 4096"),
    "a loop": (MSCCL.format("[[1, 1], [1, 0]]", "[]"), "/links/0/0", "two different nodes"),
    "a word": (MSCCL.format('[[0, "x"], [1, 0]]', "[]"), "/links/0/1", "'x' is not"),
    "a negative": (MSCCL.format("[[0, -1], [1, 0]]", "[]"), "/links/0/1", "'-1' is not"),
    "no switch": (MSCCL.format(PAIR, "[[0, 1]]"), "/switches/0", "sources, targets"),
    "no links of a switch": (
        MSCCL.format(PAIR, '[[[0], [0], 1, "s"]]'),
        "/switches/0/links",
        "must hold links",
    ),
    "no bandwidth of a switch": (
        MSCCL.format(PAIR, '[[[0], [1], 0, "s"]]'),
        "/switches/0/capacity",
        "positive",
    ),
    "betas of another size": (PROFILE.format(PAIR, "[[0]]"), "/betas", "2 rows"),
    "a link without beta": (PROFILE.format(PAIR, "[[0, 0], [1, 0]]"), "/betas/0/1", "positive"),
    "a name without end": ("SwitchName=a Nodes=b[1-2", "/line/1", "'b[1-2' is not"),
    "a falling range": ("#\nSwitchName=a Nodes=b[3-2]", "/line/2", "'3-2' is none"),
    "an open range": ("SwitchName=a Nodes=b[1-]", "/line/1", "'1-' is none"),
    "very many names": ("SwitchName=a Nodes=b[0-999],c[0-999]d[0-9999]", "/line/1", "at most"),
    "a very long range": ("SwitchName=a Nodes=b[1-999999999999]", "/line/1", "ascending"),
    "a switch twice": ("SwitchName=a Nodes=b\nSwitchName=a Nodes=c", "/line/2", "one line"),
    "a switch without a line": ("SwitchName=a Switches=b", "/line/1", "id of a node; 'b'"),
    "an unknown word": ("SwitchName=a Nodes=b Ports=3", "/line/1", "'Ports=3'"),
    "no name of a switch": ("SwitchName=a Nodes=b\nNodes=c", "/line/2", "SwitchName"),
    "a host that is a switch": ("SwitchName=a Nodes=a", "/line/1", ""),
}


@for_every(("text", "place", "words"), BAD.values())
def test_what_breaks_a_rule_is_blamed_at_its_place(text: str, place: str, words: str) -> None:
    with pytest.raises(InvalidTopology) as caught:
        read(text)
    assert caught.value.field == place
    assert words in caught.value.rule
