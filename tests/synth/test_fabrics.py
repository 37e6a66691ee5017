import re
from fractions import Fraction
from pathlib import Path

import networkx as nx
import pytest
from scipy.sparse.csgraph import shortest_path

from tests.cases import for_every
from topoloom.schedules.trees.forestcoll import optimum
from topoloom.synth.errors import InvalidRecipe
from topoloom.synth.fabrics import FABRICS, fabric
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.topology.topology import Topology

NUMBERS = {
    "switch-N-D": ["2-1", "4-3"],
    "boardfly-G": ["2", "5", "36"],
    "fat-tree-K": ["2", "4", "6"],
    "dragonfly-A-P-H-G": ["4-2-2-9", "2-1-1-3", "4-1-2-5", "3-2-1-1", "1-1-1-2"],
    "rail-N-K": ["2-1", "4-3"],
    "rail-only-N-K": ["2-1", "4-3"],
    "tpu-v4-AxBxC": ["4x4x4", "4x4x8", "4x8x12"],
    "tpu-v5p-AxBxC": ["4x4x4", "8x8x8"],
    "tpu-v4-AxBxC-twisted": ["4x4x8", "4x8x8"],
    "tpu-v5p-AxBxC-twisted": ["4x4x8", "4x8x8"],
    "dgx-spark-N": ["2", "3", "8"],
    "dgx-spark-chain-N": ["2", "8"],
    "mac-studio-mesh-N": ["2", "7"],
    "mac-studio-ring-N": ["3", "9"],
    "tpu-v5e-AxB": ["1x2", "2x4", "8x16", "16x16"],
}
NETWORKS = ("boardfly", "switch", "fat-tree", "dragonfly")


def names_of(known):
    """Return names that this entry of the catalogue stands for."""
    match = re.fullmatch(r"([^A-Z]*)[A-Z].*?(-twisted)?", known)
    if match is None:
        return [known]
    return [match[1] + numbers + (match[2] or "") for numbers in NUMBERS.get(known, ["1", "3"])]


NAMES = [name for known in FABRICS for name in names_of(known)]


@for_every("name", NAMES)
def test_every_fabric_is_connected_both_ways_and_carries_its_name(name: str) -> None:
    topology = fabric(name)
    topology.require_connected()
    assert topology.is_bidirectional
    assert not topology.has_parallel_links or name.startswith(("dragonfly", "switch"))
    assert topology.name == name
    unit = "link" if name.startswith(NETWORKS) else "GB/s"
    assert topology.bandwidth_unit == unit


@for_every(
    ("name", "inside"),
    [
        ("dgx-1v", 150),
        ("dgx-a100-1", 300),
        ("dgx-a100-2", 325),
        ("dgx-h100-1", 450),
        ("dgx-h100-4", 500),
        ("gb200-nvl72", 900),
        ("mi250-1", 350),
        ("mi250-2", 366),
        ("mi300x", 448),
        ("mi300x-2", 498),
        ("dgx-2", 150),
        ("gh200-nvl32", 450),
        ("gb200-nvl72-1", 900),
        ("gb200-nvl72-2", 950),
        ("ndv2-1", 150),
        ("ndv2-3", Fraction(325, 2)),
        ("tpu-v4-4x4x8", 300),
        ("tpu-v4-4x8x8-twisted", 300),
        ("tpu-v5p-4x4x4", 600),
        ("tpu-v5p-4x4x8-twisted", 600),
        ("tpu-v5e-16x16", 200),
        ("trainium2", 512),
        ("trainium2-ultra", 640),
        ("rail-4-8", 500),
        ("rail-only-4-8", 500),
    ],
)
def test_every_gpu_of_a_fabric_has_its_published_bandwidth(name: str, inside: int) -> None:
    topology = fabric(name)
    total: dict[object, Fraction] = {}
    for source, _, capacity in topology.links:
        total[source] = total.get(source, Fraction(0)) + capacity
    assert {total[gpu] for gpu in topology.compute_nodes} == {inside}


def test_boxes_have_the_ids_of_the_topology_format() -> None:
    nodes = fabric("dgx-a100-2").nodes
    assert {"0.gpu0", "1.gpu7", "0.nvswitch", "1.nvswitch"} <= set(nodes)


@pytest.mark.parametrize(
    "name",
    [
        *("", "dgx", "dgx-a100", "dgx-a100-0", "dgx-a100-01", "dgx-a100-1025", "dgx-a100-N"),
        *("dgx-1v-1", "tpu-v4", "tpu-v4-4x4", "tpu-v4-4x4x4x4", "rail-4", "dragonfly-4-2-2"),
        *("fat-tree-", "fat-tree-1100", "fat-tree--4", "fat-tree-4 ", "FAT-TREE-4", "fat-tree-٤"),
    ],
)
def test_an_unknown_fabric_is_refused_and_a_command_that_lists_all_is_named(name: str) -> None:
    with pytest.raises(InvalidRecipe, match="`topoloom catalog fabrics` lists all"):
        fabric(name)


def test_the_error_of_an_unknown_fabric_ends_with_a_suggestion() -> None:
    rule = "no fabric is called 'fat-tree-x'; .* letter; did you mean fat-tree-K[?]$"
    with pytest.raises(InvalidRecipe, match=rule):
        fabric("fat-tree-x")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("fat-tree-3", "K of fat-tree-K must be even"),
        ("fat-tree-200", "at most 65536 nodes"),
        ("dragonfly-2-1-1-4", "G of dragonfly-A-P-H-G must be at most A H . 1 = 3"),
        ("dragonfly-1000-1000-1-1", "at most 65536 nodes"),
        ("rail-1-8", "N of rail-N-K must be at least 2"),
        ("rail-only-1024-1024", "at most 65536 nodes"),
        ("tpu-v4-2x2x1", "A of tpu-v4-AxBxC must be a multiple of 4"),
        ("tpu-v4-4x4x20", "C of tpu-v4-AxBxC must be a multiple of 4, at most 16"),
        ("tpu-v4-8x4x4", "C of tpu-v4-AxBxC must be the longest side"),
        ("tpu-v4-4x4x4-twisted", "must be 2 A"),
        ("tpu-v5p-4x8x16-twisted", "must be 2 A"),
        ("tpu-v5p-16x16x28", "at most 24"),
        ("tpu-v5e-3x4", "A of tpu-v5e-AxB must be 1, 2, 4, 8 or 16"),
        ("tpu-v5e-8x4", "at least A"),
        ("tpu-v5e-1x1", "more than 1"),
    ],
)
def test_numbers_outside_the_domain_are_named_with_their_rule(name: str, words: str) -> None:
    with pytest.raises(InvalidRecipe, match=words) as caught:
        fabric(name)
    assert caught.value.field == "/name"


@pytest.mark.parametrize(
    ("name", "algbw"),
    [
        ("dgx-1v", Fraction(1200, 7)),
        ("dgx-2", 160),
        ("dgx-a100-1", Fraction(2400, 7)),
        ("dgx-a100-2", Fraction(1040, 3)),
        ("dgx-a100-4", Fraction(800, 3)),
        ("dgx-h100-1", Fraction(3600, 7)),
        ("dgx-h100-2", Fraction(1600, 3)),
        ("mi250-1", Fraction(2400, 7)),
        ("mi300x", 512),
        ("mi300x-2", Fraction(16 * 498, 15)),
        ("gb200-nvl72", Fraction(72 * 900, 71)),
        ("gh200-nvl32", Fraction(32 * 450, 31)),
        # All of the other box comes in through one NIC.
        ("ndv2-2", Fraction(16 * 25, 2 * 8)),
        ("trainium2", Fraction(16 * 512, 15)),
        ("tpu-v4-4x4x4", Fraction(64 * 300, 63)),
        ("fat-tree-4", Fraction(16, 15)),
        ("rail-4-8", Fraction(32 * 500, 31)),
        ("rail-only-4-8", Fraction(32 * 500, 31)),
    ],
)
def test_the_optimum_of_a_fabric_is_the_published_or_the_closed_form(name, algbw) -> None:
    assert optimum(fabric(name)).algbw == algbw


PUBLISHED = [
    # Throughput of allgather in GB/s, and trees per root where that is known too.
    ("dgx-1v", 171.43, 6),
    ("dgx-a100-1", 342.857, 1),
    ("dgx-a100-2", 346.667, 13),
    ("dgx-a100-3", 300.0, 1),
    ("dgx-a100-4", 266.667, None),
    ("dgx-a100-8", 228.571, 1),
    ("dgx-a100-16", 213.333, None),
    ("dgx-a100-128", 201.575, None),
    ("dgx-h100-1", 514.286, 1),
    ("dgx-h100-2", 533.333, 2),
    ("dgx-h100-4", 516.129, 10),
    ("dgx-h100-8", 457.143, 1),
    ("mi250-1", 342.857, 3),
    ("mi250-2", 354.13, 83),
    ("mi300x", 512.0, 1),
    ("gb200-nvl72", 912.676, 1),
    ("tpu-v4-4x4x4", 304.762, 2),
]


@pytest.mark.parametrize(("name", "algbw", "trees"), PUBLISHED)
def test_the_optimum_is_that_of_the_forestcoll_reference(name, algbw, trees) -> None:
    found = optimum(fabric(name))
    assert float(found.algbw) == pytest.approx(algbw, rel=2e-5)
    assert trees in (None, found.trees_per_root)


def test_a_square_torus_of_50_gb_per_second_reaches_what_the_reference_does() -> None:
    torus = build(parse("Torus(4, 4)"))
    links = [link._replace(capacity=50) for link in torus.links]
    found = optimum(Topology(torus.nodes, links))
    assert (found.algbw, found.trees_per_root) == (Fraction(640, 3), 4)
    # The same shape with faster links.
    assert optimum(fabric("trainium2")).algbw == found.algbw * Fraction(128, 50)


def longest_way(name: str) -> int:
    return nx.diameter(nx.DiGraph(fabric(name).to_networkx()))


@pytest.mark.parametrize(
    ("name", "diameter"),
    [
        ("tpu-v4-4x4x8", 8),
        # Camarero et al., table 1: floor(3 a / 2) for both cubic lattices of side a = k.
        ("tpu-v4-4x4x8-twisted", 6),
        ("tpu-v4-4x8x8", 10),
        ("tpu-v4-4x8x8-twisted", 6),
        ("tpu-v5e-4x8", 10),
        ("trainium2-ultra", 6),
        ("fat-tree-4", 6),
        ("dragonfly-4-2-2-9", 5),
        ("rail-only-3-4", 4),
    ],
)
def test_the_longest_way_through_a_network_is_the_textbook_s(name: str, diameter: int) -> None:
    assert longest_way(name) == diameter


@pytest.mark.parametrize("name", ["tpu-v4-4x4x8-twisted", "tpu-v5p-4x8x8-twisted"])
def test_a_twisted_torus_looks_the_same_from_every_chip(name: str) -> None:
    graph = fabric(name).to_networkx()
    tables = [nx.single_source_shortest_path_length(graph, node) for node in list(graph)[:20]]
    assert len({tuple(sorted(table.values())) for table in tables}) == 1
    assert {degree for _, degree in graph.out_degree()} == {6}


@pytest.mark.parametrize(("a", "h"), [(4, 1), (4, 3), (2, 1), (2, 3)])
def test_every_two_groups_of_a_dragonfly_are_joined_by_equally_many_links(a, h) -> None:
    for g in range(2, a * h + 2):
        between: dict[frozenset[str], int] = {}
        for source, target, _ in fabric(f"dragonfly-{a}-1-{h}-{g}").links:
            groups = frozenset(str(end).partition(".")[0] for end in (source, target))
            between[groups] = between.get(groups, 0) + (len(groups) == 2)
        counts = {count for groups, count in between.items() if len(groups) == 2}
        assert counts == {2 * (a * h // (g - 1))}


def test_every_fabric_is_documented() -> None:
    text = (Path(__file__).parent.parent.parent / "docs" / "reference" / "fabrics.md").read_text()
    for name in FABRICS:
        assert f"`{name}`" in text


def test_boardfly_has_the_stated_chips_and_hops_and_says_what_is_assumed() -> None:
    topology = fabric("boardfly-32")
    assert len(topology.compute_nodes) == 1024
    assert len(fabric("boardfly-36").compute_nodes) == 1152
    graph = topology.to_networkx()
    links = nx.to_scipy_sparse_array(nx.DiGraph(graph))
    assert shortest_path(links, unweighted=True).max() == 7
    assert len(topology.assumed) == 5
    # A ring in each block, 11 copper links of each block, and a cable between every two groups.
    assert topology.link_count == 2 * (256 * 4 + 32 * 8 * 11 // 2 + 32 * 31 // 2)
    assert {graph.out_degree(chip) for chip in topology.nodes} == {5, 6}


def test_one_switch_gives_every_host_its_links() -> None:
    topology = fabric("switch-3-2")
    assert topology.link_count == 12
    assert len(topology.switches) == 1
