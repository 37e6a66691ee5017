from fractions import Fraction

import pytest

from synth.errors import InvalidRecipe
from synth.fabrics import FABRICS, fabric

NAMES = [name.replace("-N", f"-{boxes}") for name in FABRICS for boxes in (1, 3)]


@pytest.mark.parametrize("name", sorted(set(NAMES)))
def test_every_fabric_is_connected_both_ways_and_carries_its_name(name: str) -> None:
    topology = fabric(name)
    topology.require_connected()
    assert topology.is_bidirectional
    assert topology.name == name
    assert topology.bandwidth_unit == "GB/s"


@pytest.mark.parametrize(
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
    "name", ["", "dgx", "dgx-a100", "dgx-a100-0", "dgx-a100-01", "dgx-a100-1025", "dgx-a100-N"]
)
def test_an_unknown_fabric_is_refused_and_the_known_ones_are_listed(name: str) -> None:
    with pytest.raises(InvalidRecipe, match="dgx-a100-N"):
        fabric(name)
