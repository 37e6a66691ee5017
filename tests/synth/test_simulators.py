"""Files for simulators: read back by other readers, they are the fabric that was written."""

import tomllib
from collections import Counter
from fractions import Fraction

import pytest
from google.protobuf import json_format, text_format
from hypothesis import given
from hypothesis import strategies as st

import topoloom
from tests.synth.format_files import text_of
from tests.synth.simulator_readers import (
    astra_sim_cables,
    htsim_cables,
    infragraph_graph,
    ns3_cables,
)
from topoloom.synth.errors import InvalidTopology
from topoloom.synth.fabrics import fabric
from topoloom.synth.formats import WRITERS, read
from topoloom.synth.formats.cables import LinkModel, cables_of, hosts_first
from topoloom.synth.formats.infragraph.protobuf import infrastructure
from topoloom.synth.formats.simulators.files import SIMULATOR_FILES, simulator_file
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.topology.topology import Topology

MODEL = LinkModel(Fraction(1, 2), Fraction(800))
PRODUCTS = {
    "BiRing(8)": ["Ring"],
    "Complete(5)": ["FullyConnected"],
    "Hypercube(3)": ["FullyConnected"] * 3,
    "Torus(4, 5)": ["Ring", "Ring"],
    "Torus(3, 4, 2)": ["FullyConnected", "Ring", "FullyConnected"],
    "gb200-nvl72": ["Switch"],
    "tpu-v4-4x4x4": ["Ring"] * 3,
}
NO_PRODUCTS = ("Circulant(9, 1, 2)", "dgx-1v", "dgx-a100-2")
FABRICS = ("Torus(4, 5)", "dgx-1v", "dgx-a100-2", "gb200-nvl72", "mac-studio-mesh-4")


def topology_of(name):
    return build(parse(name)) if "(" in name else fabric(name)


def leaf_spine(leaves, hosts, spines, bundle, down=100, up=100):
    switches = [f"l{at}" for at in range(leaves)] + [f"s{at}" for at in range(spines)]
    cables = [(f"h{at}", f"l{at // hosts}", down) for at in range(leaves * hosts)]
    cables += [(f"l{leaf}", f"s{top}", up) for leaf in range(leaves) for top in range(spines)
               for _ in range(bundle)]  # fmt: skip
    nodes = [f"h{at}" for at in range(leaves * hosts)] + switches
    both = cables + [(other, one, rate) for one, other, rate in cables]
    return Topology(nodes, both, switches=switches, bandwidth_unit="Gbit/s")


def numbered_cables(topology, model=MODEL):
    """Return the cables between the numbers of the nodes, hosts first."""
    number = {at: new for new, at in enumerate(hosts_first(topology))}
    return Counter(
        (*sorted((number[one], number[other])), gbps)
        for one, other, gbps in cables_of(topology, "", model)
    )


@pytest.mark.parametrize("name", FABRICS)
def test_infragraph_in_protobuf_is_that_in_json_for_its_own_messages(name, tmp_path):
    messages = pytest.importorskip("infragraph.infragraph_pb2")
    topology = topology_of(name)
    whole, text = (WRITERS[form](topology) for form in ("infragraph", "infragraph-text"))
    message = text_format.Parse(text, messages.Infrastructure())
    assert message == json_format.Parse(whole, messages.Infrastructure())
    binary = tmp_path / "fabric.pb"
    binary.write_bytes(message.SerializeToString())
    assert topoloom.read(binary) == read(text) == read(whole)


def test_the_messages_are_those_of_infragraphs_package():
    messages = pytest.importorskip("infragraph.infragraph_pb2")
    pairs, seen = [(infrastructure().DESCRIPTOR, messages.Infrastructure.DESCRIPTOR)], set()
    while pairs:
        ours, theirs = pairs.pop()
        seen.add(ours.name)
        fields = theirs.fields_by_name
        assert {one.name for one in ours.fields} == set(fields)
        for one in ours.fields:
            other = fields[one.name]
            assert (one.number, one.type, one.is_repeated) == (
                other.number, other.type, other.is_repeated,
            )  # fmt: skip
            if one.enum_type:
                values = [{v.name: v.number for v in e.enum_type.values} for e in (one, other)]
                assert values[0] == values[1]
            if one.message_type and one.message_type.name not in seen:
                pairs.append((one.message_type, other.message_type))
    assert len(seen) == 20


@pytest.mark.parametrize("name", FABRICS)
def test_ns3_has_every_cable_with_its_rate(name):
    topology = topology_of(name)
    head, switches, cables = ns3_cables(WRITERS["ns3"](topology), ("nodes", "switches", "links"))
    assert int(head["nodes"]) == topology.node_count
    assert switches == [*range(len(topology.compute_nodes), topology.node_count)]
    assert cables == numbered_cables(topology, LinkModel())


@pytest.mark.parametrize(
    ("name", "servers"),
    [("dgx-a100-2", (8, 2)), ("gb200-nvl72", (72, 1)), ("dgx-1v", (1, 0)), ("Torus(4, 5)", (1, 0))],
)
def test_simai_has_the_nvswitches_of_equal_servers(name, servers):
    topology = topology_of(name)
    fields = ("nodes", "gpus", "nvswitches", "switches", "links", "type")
    head, switches, cables = ns3_cables(simulator_file("simai", topology, MODEL), fields)
    assert (int(head["gpus"]), int(head["nvswitches"])) == servers
    assert head["type"] == "NONE"
    assert len(switches) == len(topology.switches)
    assert sum(cables.values()) * 2 == topology.link_count
    for server in range(servers[1]):
        switch = len(topology.compute_nodes) + server
        hosts = {one for one, other, _ in cables if other == switch}
        assert hosts == {*range(server * servers[0], (server + 1) * servers[0])}


@pytest.mark.parametrize(("name", "kinds"), PRODUCTS.items())
def test_astra_sim_builds_the_product_that_the_fabric_is(name, kinds):
    topology = topology_of(name)
    text = simulator_file("astra-sim", topology, MODEL)
    cables, switches = astra_sim_cables(text)
    own = numbered_cables(topology)
    if switches:
        ((hosts, gbps),) = switches
        assert hosts == tuple(range(len(topology.compute_nodes)))
        assert {round(rate, 6) for *_, rate in own} == {gbps}
    else:
        assert cables == Counter({(*ends, round(rate, 6)): n for (*ends, rate), n in own.items()})
    assert sorted(kinds) == sorted(text.split("topology: [")[1].split("]")[0].split(", "))


@pytest.mark.parametrize("name", NO_PRODUCTS)
def test_a_fabric_that_is_no_product_is_refused_for_astra_sim(name):
    with pytest.raises(InvalidTopology, match="write ns3, which takes any fabric"):
        WRITERS["astra-sim"](topology_of(name))


@given(st.permutations(range(6)))
def test_astra_sim_takes_a_ring_in_the_order_of_its_hosts_only(order):
    ring = [(order[at], order[(at + 1) % 6]) for at in range(6)]
    topology = Topology(range(6), ring + [pair[::-1] for pair in ring])
    in_order = {frozenset(pair) for pair in ring} == {
        frozenset((at, (at + 1) % 6)) for at in range(6)
    }
    try:
        text = WRITERS["astra-sim"](topology)
    except InvalidTopology:
        assert not in_order
    else:
        expected = Counter({ends: n for (*ends_, _), n in numbered_cables(topology).items()
                            for ends in [tuple(ends_)]})  # fmt: skip
        assert Counter({(one, other): n for (one, other, _), n in astra_sim_cables(text)[0].items()
                        }) == expected  # fmt: skip


@pytest.mark.parametrize("numbers", [(2, 4, 2, 2), (4, 2, 2, 1), (3, 8, 2, 1), (2, 2, 1, 1)])
def test_htsim_builds_the_two_tiers(numbers):
    topology = leaf_spine(*numbers)
    assert htsim_cables(simulator_file("htsim", topology, LinkModel())) == numbered_cables(
        topology, LinkModel()
    )


@pytest.mark.parametrize("name", ["fat-tree-2", "fat-tree-4", "fat-tree-6"])
def test_htsim_builds_the_three_tiers_of_a_fat_tree(name):
    topology = topology_of(name)
    text = simulator_file("htsim", topology, LinkModel(node_gbps=Fraction(100)))
    assert htsim_cables(text) == numbered_cables(topology, LinkModel(node_gbps=Fraction(100)))


@given(st.permutations(range(8)))
def test_a_fat_tree_is_written_in_the_order_of_its_pods_and_leaves_only(order):
    tree = leaf_spine(4, 2, 2, 1)
    hosts = [f"h{at}" for at in order]
    shuffled = Topology([*hosts, *sorted(tree.switches)], tree.links, switches=tree.switches,
                        bandwidth_unit="Gbit/s")  # fmt: skip
    in_order = all(order[at] // 2 == order[at + 1] // 2 for at in range(0, 8, 2))
    try:
        WRITERS["htsim"](shuffled)
    except InvalidTopology:
        assert not in_order
    else:
        assert in_order


def test_cores_that_pods_group_differently_are_no_fat_tree():
    tree = fabric("fat-tree-4")
    swapped = {("0.aggregation0", "core1"): "core2", ("0.aggregation1", "core2"): "core1"}
    links = [
        (swapped.get((other, one), one), swapped.get((one, other), other))
        for one, other, _ in tree.links
    ]
    with pytest.raises(InvalidTopology, match="cores alike"):
        WRITERS["htsim"](Topology(tree.nodes, links, switches=tree.switches))


def test_phantora_has_the_numbers_of_the_two_tiers():
    text = WRITERS["phantora"](leaf_spine(2, 4, 3, 2, 100, 50))
    document = tomllib.loads(text)
    assert document["topology"] == {
        "type": "TwoLayerMultiPath",
        "args": {
            "nspines": 3,
            "nracks": 2,
            "rack_size": 4,
            "host_bw": 100,
            "rack_uplink_port_bw": 100,
            "load_balancer_type": "EcmpEverything",
        },
    }
    assert document["host_mapping"] == [f"h{at}" for at in range(8)]


@pytest.mark.parametrize("form", ["htsim", "phantora"])
@pytest.mark.parametrize("name", ["dgx-1v", "dgx-a100-2", "gb200-nvl72", "dragonfly-4-2-2-9"])
def test_other_fabrics_are_refused_by_the_files_of_fat_trees(form, name):
    with pytest.raises(InvalidTopology, match="leaves of equally many hosts"):
        WRITERS[form](topology_of(name))


def test_phantora_takes_two_tiers_only():
    with pytest.raises(InvalidTopology, match="must have two tiers"):
        WRITERS["phantora"](fabric("fat-tree-4"))


@pytest.mark.parametrize(
    ("topology", "model"),
    [
        (leaf_spine(2, 2, 2, 1), LinkModel(Fraction(1, 3000))),
        (leaf_spine(2, 2, 2, 1, Fraction(25, 2)), LinkModel()),
        (leaf_spine(2, 3, 2, 1), LinkModel()),
        (leaf_spine(2, 4, 2, 1, 100, 200), LinkModel()),
    ],
)
def test_htsim_refuses_numbers_that_it_cannot_hold(topology, model):
    with pytest.raises(InvalidTopology, match="htsim"):
        simulator_file("htsim", topology, model)


@pytest.mark.parametrize("form", SIMULATOR_FILES)
@pytest.mark.parametrize("name", ["UniRing(4)", "Kautz(2, 2)"])
def test_one_way_links_are_refused(form, name):
    with pytest.raises(InvalidTopology, match="must have as much capacity back"):
        WRITERS[form](topology_of(name))


@pytest.mark.parametrize("form", SIMULATOR_FILES)
def test_a_fabric_without_links_or_hosts_is_refused(form):
    for topology in (Topology("ab", []), Topology("ab", [("a", "b"), ("b", "a")], switches="ab")):
        with pytest.raises(InvalidTopology):
            WRITERS[form](topology)


@pytest.mark.parametrize("name", FABRICS)
def test_infragraph_reads_back_to_the_same_fabric(name):
    topology = topology_of(name)
    again = read(WRITERS["infragraph"](topology))
    assert again.bandwidth_unit == "GB/s"
    assert not again.assumed
    assert numbered_cables(again, LinkModel()) == numbered_cables(topology, LinkModel())


@pytest.mark.parametrize("name", FABRICS)
def test_the_service_of_infragraph_makes_the_same_graph(name):
    topology = topology_of(name)
    graph = infragraph_graph(simulator_file("infragraph", topology, MODEL))
    kinds = Counter(kind for _, kind in graph.nodes(data="type"))
    assert kinds["xpu"] == len(topology.compute_nodes)
    assert kinds["switch"] == len(topology.switches)
    cables = [link for *_, link in graph.edges(data="link") if link != "internal"]
    assert len(cables) * 2 == topology.link_count


def test_infragraph_reads_what_its_service_reads():
    text = text_of("two-boxes.infragraph.yaml")
    graph = infragraph_graph(text)
    topology = read(text)
    assert len(topology.compute_nodes) == sum(kind == "xpu" for _, kind in graph.nodes(data="type"))
    rates = {(str(s), str(t)): rate for s, t, rate in topology.links}
    # A card and its port vanish between the switch of a box and the leaf.
    assert rates["box.1", "leaf.0"] == Fraction("26.5625")
    assert rates["box.1.gpu.0", "box.1"] == 64


@pytest.mark.parametrize(
    ("change", "field", "rule"),
    [
        (("leaf[0]", "spine[0]"), "/edges/0/ep2/instance", "must be an instance"),
        (('"port[0:2]"', '"port[7]"'), "/edges/0/ep2", "indices below 4"),
        (("card[0].port[0]", "fan[0]"), "/edges/0/ep1", "'fan' is none"),
        (("one2one\n    link: cable", "star\n    link: cable"), "/edges/0/scheme", "one2one or"),
        (("link: cable", "link: rope"), "/edges/0/link", "name of a link"),
        (("device: leaf, count: 1", "device: leaf, count: 0"), "/instances/1/count", "from 1 to"),
        (("212.5", "-1"), "/links/0/physical/bandwidth/gigabits_per_second", "must be a number"),
        (("name: box, device: box", "name: b.x, device: box"), "/instances/0/name", "hold no ."),
    ],
)  # fmt: skip
def test_an_error_of_infragraph_names_its_place_and_rule(change, field, rule):
    text = text_of("two-boxes.infragraph.yaml").replace(*change)
    with pytest.raises(InvalidTopology, match=rule) as caught:
        read(text, "infragraph")
    assert caught.value.field == field


def test_a_device_inside_itself_is_refused():
    text = text_of("two-boxes.infragraph.yaml").replace("{name: card, choice", "{name: box, choice")
    with pytest.raises(InvalidTopology, match="nested at most 5 deep"):
        read(text, "infragraph")


@pytest.mark.slow
def test_slices_that_stand_for_a_huge_graph_are_refused():
    text = text_of("two-boxes.infragraph.yaml").replace(
        "device: box, count: 2", "device: box, count: 99999"
    )
    with pytest.raises(InvalidTopology, match="in all"):
        read(text, "infragraph")


def test_what_a_topology_does_not_state_is_in_the_file():
    for form in ("astra-sim", "ns3", "simai", "infragraph"):
        text = WRITERS[form](topology_of("Torus(4, 5)"))
        assert "Every link has a latency of 10 us (alpha_us)." in text
        assert "A unit of capacity is 25 Gbit/s (node_gbps)." in text
        assert "node_gbps" not in WRITERS[form](topology_of("mac-studio-mesh-3"))
