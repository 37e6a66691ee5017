"""Boxes of dumps: what they say of one box, and copies of it joined through its NICs."""

import re
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topoloom.schedules.trees.forestcoll import optimum
from topoloom.synth.errors import InvalidTopology
from topoloom.synth.fabrics import fabric
from topoloom.synth.formats import read
from topoloom.synth.formats.machines.box import dealt
from topoloom.synth.formats.machines.gpu_models import BOARDS
from topoloom.synth.formats.machines.unlisted_nvlinks import PLATFORMS, cables, nvlinks

DATA = Path(__file__).parent / "data"


def text_of(name: str) -> str:
    return (DATA / name).read_text()


def notes_of(topology) -> list[str]:
    return [assumption.text for assumption in topology.assumed]


def links_of(topology):
    return {(link.source, link.target): link.capacity for link in topology.links}


@pytest.mark.parametrize(
    ("name", "options", "known"),
    [
        ("nic-per-gpu.nvidia-smi.txt", {"network": "planes:2", "nic_bandwidth": 25}, "dgx-a100-2"),
        ("hgx-h100.nccl.xml", {"network": "planes:2"}, "dgx-h100-2"),
        ("hgx-h100.nccl.xml", {"network": "planes:2", "boxes": 4}, "dgx-h100-4"),
        ("hgx-h100.nccl.xml", {"network": "rails", "boxes": 3}, "rail-3-8"),
        ("hgx-h100.nccl.xml", {"network": "rail-only", "boxes": 3}, "rail-only-3-8"),
        ("cloud-h100.nccl.xml", {"network": "planes:2"}, "dgx-h100-2"),
        ("cloud-v100.nccl.xml", {}, "ndv2-2"),
        (
            "mi300x.rocm-smi.txt",
            {"link_bandwidth": 64, "nics": "8", "nic_bandwidth": 50},
            "mi300x-2",
        ),
        ("dgx-1v.nvidia-smi.txt", {"nics": "mlx5_0", "nic_bandwidth": Fraction(25, 2)}, "ndv2-2"),
    ],
)
def test_copies_of_a_box_are_the_cluster_known_by_name(name, options, known) -> None:
    topology = read(text_of(name), **{"boxes": 2} | options)
    named = fabric(known)
    assert len(topology.compute_nodes) == len(named.compute_nodes)
    assert optimum(topology).algbw == optimum(named).algbw


def test_ids_of_copies_begin_with_the_box_and_nics_have_their_names() -> None:
    topology = read(text_of("hgx-h100.nccl.xml"), boxes=2)
    links = links_of(topology)
    assert links["1.gpu3", "1.mlx5_3"] == links["1.mlx5_3", "fabric"] == 50
    assert links["0.gpu3", "0.nvswitch"] == 450
    named = read(text_of("nic-per-gpu.nvidia-smi.txt"), boxes=2, nic_bandwidth=25)
    assert links_of(named)["0.GPU7", "0.mlx5_7"] == 25


def test_one_box_has_no_nics_because_they_lead_nowhere() -> None:
    for name in ("hgx-h100.nccl.xml", "nic-per-gpu.nvidia-smi.txt"):
        alone = read(text_of(name))
        assert alone == read(text_of(name), boxes=1)
        assert len(alone.switches) == 1


@pytest.mark.parametrize(
    ("name", "nvlinks", "per_gpu"),
    [
        ("cloud-v100.nccl.xml", "dgx-1v", 150),
        ("cloud-a100.nccl.xml", "switch:300", 300),
        ("cloud-h100.nccl.xml", "switch:450", 450),
    ],
)
def test_nvlinks_that_a_file_lacks_are_those_known_of_the_machine_and_said(name, nvlinks, per_gpu):
    topology = read(text_of(name))
    notes = notes_of(topology)
    assert any(nvlinks in note for note in notes)
    assert sum(value for (one, _), value in links_of(topology).items() if one == "gpu0") == per_gpu


def test_gpus_without_numbers_are_numbered_by_their_bus_ids() -> None:
    box = (
        '<system version="1"><cpu numaid="0">'
        '<pci busid="0002:00:00.0" class="0x030200"/><pci busid="0001:00:00.0" class="0x030200"/>'
        '<pci busid="0003:00:00.0" class="0x030000" vendor="0x1a03"/></cpu></system>'
    )
    topology = read(box, nvlink="none")
    notes = notes_of(topology)
    assert topology.nodes == ("gpu0", "gpu1", "cpu0")
    assert any("bus ids" in note for note in notes)
    with pytest.raises(InvalidTopology, match="/nvlink: must be given"):
        read(box)


def test_devices_of_no_class_are_those_of_the_cloud_whose_bus_ids_they_have() -> None:
    topology = read(text_of("cloud-bare.nccl.xml"), boxes=2)
    notes = notes_of(topology)
    assert any("g5.48xlarge" in note for note in notes)
    assert len(topology.compute_nodes) == 16
    # Four GPUs of each box meet the other twelve over 6 GB/s between its sockets.
    cut = optimum(topology)
    assert cut.algbw == 8


def test_pcie_is_taken_in_where_it_is_asked_for_and_limits_what_it_limits() -> None:
    text = text_of("cloud-a100.nccl.xml")
    plain, through = read(text, boxes=2), read(text, boxes=2, pcie="always")
    links = links_of(through)
    # 16 lanes of generation 4 are 24 GB/s in practice, more than the NIC; two GPUs share it.
    assert links["0.gpu0", "0.pci ffff:ff:01.0"] == links["0.nic0", "0.pci ffff:ff:01.0"] == 24
    assert links["0.nic0", "fabric"] == Fraction(25, 2)
    assert ("0.gpu0", "0.nic0") in links_of(plain)
    assert "0.cpu0" in through.switches - plain.switches


def test_nics_without_gpudirect_hang_from_their_cpu() -> None:
    text = text_of("hgx-h100.nccl.xml")
    direct = read(text, boxes=2, pcie="always")
    staged = read(text.replace('gdr="1"/>', 'gdr="0"/>'), boxes=2, pcie="always")
    notes = notes_of(staged)
    assert ("0.mlx5_0", "0.cpu0") in links_of(staged)
    assert ("0.mlx5_0", "0.cpu0") not in links_of(direct)
    assert any("GPUDirect" in note for note in notes)


def test_nics_that_are_fewer_than_gpus_are_shared_by_those_near_them() -> None:
    links = links_of(read(text_of("dgx-a100.nvidia-smi.txt"), boxes=2, nic_bandwidth=25))
    for gpu in range(8):
        near = {other for (one, other) in links if one == f"0.GPU{gpu}" and "mlx5" in other}
        assert near == {f"0.mlx5_{gpu // 2}"}


def test_oversubscription_takes_its_share_above_the_leaves() -> None:
    text = text_of("hgx-h100.nccl.xml")
    rails = links_of(read(text, boxes=4, network="rails", oversubscription=2))
    assert rails["rail0", "spine"] == 4 * 50 // 2
    one = links_of(read(text, boxes=4, oversubscription=Fraction(4, 3)))
    assert (one["2.mlx5_0", "2.leaf"], one["2.leaf", "fabric"]) == (50, 300)
    planes = links_of(read(text, boxes=4, network="planes:2", oversubscription=2))
    assert planes["3.leaf1", "plane1"] == 100


@pytest.mark.parametrize("factor", [2, 4])
def test_many_boxes_are_held_up_by_what_leaves_them(factor: int) -> None:
    text = text_of("hgx-h100.nccl.xml")
    topology = read(text, boxes=4, oversubscription=factor)
    # All of a box but its own shards must come in over the leaf: 24 shards over 400 / factor.
    assert optimum(topology).algbw == Fraction(32 * 400, 24 * factor)


def test_a_gpu_that_lost_its_nvlinks_is_reached_over_pcie_and_said() -> None:
    text = text_of("lost-nvlinks.nvidia-smi.txt")
    topology = read(text)
    notes = notes_of(topology)
    links = links_of(topology)
    assert any("GPU7" in note for note in notes)
    assert links["GPU0", "NVSwitch0"] == 300
    assert {value for (one, _), value in links.items() if one == "GPU7"} == {12}
    # The seven others send it all they have over the one cable it has.
    assert optimum(topology).algbw == Fraction(8 * 12, 7)
    joined = read(text, boxes=2, nic_bandwidth=25, network="planes:2")
    assert optimum(joined).algbw < optimum(fabric("dgx-a100-2")).algbw


def test_a_gpu_that_lost_some_nvlinks_has_those_that_are_left() -> None:
    topology = read(text_of("half-nvlinks.nvidia-smi.txt"))
    notes = notes_of(topology)
    links = links_of(topology)
    assert (links["GPU5", "NVSwitch"], links["GPU4", "NVSwitch"]) == (150, 300)
    assert any("GPU5" in note for note in notes)
    assert optimum(topology).algbw == Fraction(8 * 150, 7)


def test_no_switch_gives_pairs_unlike_links_and_the_error_names_them() -> None:
    text = text_of("nic-per-gpu.nvidia-smi.txt").split("\n")
    text[1] = text[1].replace("NV12", "NV11", 1)
    text[2] = text[2].replace("NV12", "NV11", 1)
    with pytest.raises(InvalidTopology, match="GPU0 and GPU1 must have as many NVLinks"):
        read("\n".join(text))


def test_amd_smi_says_what_rocm_smi_does() -> None:
    amd, rocm = read(text_of("mi250.amd-smi.txt")), read(text_of("mi250.rocm-smi.txt"))
    assert nx.is_isomorphic(
        nx.DiGraph(amd.to_networkx()),
        nx.DiGraph(rocm.to_networkx()),
        edge_match=lambda one, other: one["capacity"] == other["capacity"],
    )
    # One hop is said of every pair; weights tell the direct ones where no bandwidth does.
    text = text_of("mi250.amd-smi.txt")
    bare = text[: text.index("NUMA BW TABLE:")] if "NUMA BW" in text else text
    assert {frozenset(pair) for pair in links_of(read(bare))} == {
        frozenset(pair) for pair in links_of(amd)
    }


NO_NICS = {"boxes": 2, "nic_bandwidth": 50}
WRONG = {
    "too many boxes": ({"boxes": 1025}, "/boxes"),
    "no box": ({"boxes": 0}, "/boxes"),
    "no such network": ({"boxes": 2, "network": "mesh"}, "/network"),
    "more planes than NICs": ({"boxes": 2, "network": "planes:9"}, "/network"),
    "undersubscription": ({"boxes": 2, "oversubscription": Fraction(1, 2)}, "/oversubscription"),
    "no spine": ({"boxes": 2, "network": "rail-only", "oversubscription": 2}, "/oversubscription"),
    "no such NIC": ({"boxes": 2, "nics": "mlx5_9"}, "/nics"),
    "a NIC twice": ({"boxes": 2, "nics": "mlx5_0,mlx5_0"}, "/nics"),
    "a number where there are names": ({"boxes": 2, "nics": "4"}, "/nics"),
    "no bandwidth": ({"boxes": 2, "nic_bandwidth": 0}, "/nic_bandwidth"),
    "PCIe at times": ({"pcie": "sometimes"}, "/pcie"),
    "no such NVLinks": ({"nvlink": "fast"}, "/nvlink"),
    "NVLinks of nothing": ({"nvlink": "switch:0"}, "/nvlink"),
}


@pytest.mark.parametrize(("options", "place"), WRONG.values(), ids=list(WRONG))
def test_a_plan_that_does_not_fit_the_box_is_refused(options, place) -> None:
    with pytest.raises(InvalidTopology) as caught:
        read(text_of("hgx-h100.nccl.xml"), **options)
    assert caught.value.field == place


@pytest.mark.parametrize(
    ("name", "options", "place"),
    [
        ("mi300x.rocm-smi.txt", NO_NICS, "/nics"),
        ("mi300x.rocm-smi.txt", NO_NICS | {"nics": "0"}, "/nics"),
        ("mi300x.rocm-smi.txt", {"boxes": 2, "nics": "8"}, "/nic_bandwidth"),
        ("nic-per-gpu.nvidia-smi.txt", {"boxes": 2}, "/nic_bandwidth"),
        ("pcie-box.nccl.xml", {"nvlink": "dgx-1v"}, "/nvlink"),
    ],
)
def test_what_a_dump_lacks_must_be_said(name, options, place) -> None:
    with pytest.raises(InvalidTopology) as caught:
        read(text_of(name), **options)
    assert caught.value.field == place


@given(st.integers(1, 40), st.integers(1, 40))
def test_every_gpu_and_every_nic_gets_an_even_share(gpus: int, nics: int) -> None:
    pairs = dealt(gpus, nics)
    for side, count, other in ((0, gpus, nics), (1, nics, gpus)):
        shares = [sum(pair[side] == index for pair in pairs) for index in range(count)]
        assert min(shares) >= 1
        assert max(shares) - min(shares) <= 1
        assert max(shares) <= -(-max(other, count) // count)


@pytest.mark.parametrize("platform", PLATFORMS, ids=lambda platform: platform.name)
def test_what_is_known_of_a_cloud_fits_its_gpus(platform) -> None:
    gpus = {f"gpu{index}": "" for index in range(len(platform.gpus))}
    found = cables(nvlinks(platform.nvlinks), gpus, "nvswitch")
    assert bool(found) == (platform.nvlinks != "none")
    same = [other for other in PLATFORMS if other.gpus == platform.gpus]
    assert same == [platform]


@pytest.mark.parametrize("board", {board.name: board for board in BOARDS.values()}.values())
def test_what_is_known_of_a_board_fits_so_many_gpus(board) -> None:
    for count, said in board.nvlinks.items():
        gpus = {f"gpu{index}": "" for index in range(count)}
        assert all(one in gpus for one, *_ in cables(nvlinks(said), gpus, "nvswitch"))


def test_nics_that_are_no_gpus_nearest_are_left_out_unless_the_user_names_them() -> None:
    rows = text_of("nic-per-gpu.nvidia-smi.txt").split("\n\n", 1)[0].split("\n")
    # A ninth NIC, across the sockets from every GPU: storage.
    head = rows[0].replace("\tCPU", "\tNIC8\tCPU")
    body = ["\t".join([*row.split("\t")[:17], "SYS", *row.split("\t")[17:]]) for row in rows[1:]]
    text = "\n".join([head, *body, "NIC8" + "\tSYS" * 16 + "\tX"]) + "\n"
    topology = read(text, boxes=2, nic_bandwidth=25)
    notes = notes_of(topology)
    assert any("NIC8" in note for note in notes)
    assert "0.NIC8" not in topology.switches
    assert "0.NIC8" in read(text, boxes=2, nic_bandwidth=25, nics="NIC0,NIC8").switches
    names = ",".join(f"NIC{index}" for index in range(8))
    chosen = read(text, boxes=2, nic_bandwidth=25, nics=names, network="planes:2")
    assert "nics" not in {assumption.option for assumption in chosen.assumed}
    assert optimum(chosen).algbw == optimum(fabric("dgx-a100-2")).algbw


def test_a_dump_of_several_hosts_is_not_copied() -> None:
    text = text_of("pcie-box.nccl.xml").replace('numaid="1"', 'numaid="1" host_hash="0x2"')
    with pytest.raises(InvalidTopology, match="/boxes: must be left out"):
        read(text, boxes=2)


def cells(counts: dict[tuple[int, int], int], gpus: int) -> str:
    """Return what nvidia-smi prints of GPUs with so many NVLinks between pairs."""
    rows = [
        " ".join("X" if i == j else f"NV{counts[min(i, j), max(i, j)]}" for j in range(gpus))
        for i in range(gpus)
    ]
    head = " ".join(f"GPU{index}" for index in range(gpus))
    return "\n".join([head, *(f"GPU{index} {row}" for index, row in enumerate(rows))])


@given(st.integers(3, 8), st.integers(1, 18), st.sampled_from([None, "mesh", "switch"]))
def test_a_uniform_matrix_is_a_mesh_where_a_board_is_and_a_switch_elsewhere(
    gpus: int, count: int, stated: str | None
) -> None:
    text = cells(dict.fromkeys(combinations(range(gpus), 2), count), gpus)
    topology = read(text, nvlink=stated, link_bandwidth=25)
    fits = count * (gpus - 1) <= 18
    mesh = stated == "mesh" if stated else fits and count <= 6
    expected = count * 25 * (gpus - 1 if mesh else 1)
    # In both each GPU takes in the shards of all others over what it has.
    assert optimum(topology).algbw == Fraction(gpus * expected, gpus - 1)
    assert bool(topology.switches) is not mesh
    noted = "nvlink" in {assumption.option for assumption in topology.assumed}
    assert noted == (stated is None and fits)


def test_a_matrix_that_no_switch_gives_is_joined_pair_by_pair_without_a_word() -> None:
    text = cells({(0, 1): 2, (0, 2): 1, (1, 2): 3}, 3)
    topology = read(text, link_bandwidth=25)
    assert not topology.switches
    assert not topology.assumed


@pytest.mark.parametrize(
    ("named", "per_link"),
    [
        ("GPU 0: NVIDIA B200 (UUID: GPU-1)", 50),
        ("GPU 0: Tesla P100-SXM2-16GB (UUID: GPU-1)", 20),
        ("| 0 NVIDIA RTX A6000 Off |", Fraction(225, 16)),
        ("GPU 0: NVIDIA A100\nGPU 1: NVIDIA H100", 25),
        ("L4 cache: 4090 KiB", 25),
    ],
)
def test_a_gpu_model_that_the_text_names_gives_the_rate_of_its_nvlinks(named, per_link) -> None:
    topology = read(f"{named}\n\n{cells({(0, 1): 4}, 2)}")
    assert links_of(topology)["GPU0", "GPU1"] == 4 * per_link
    assert {assumption.option for assumption in topology.assumed} == {"link_bandwidth"}


def test_one_gpu_without_gpudirect_has_the_pcie_of_its_own_way_alone() -> None:
    text = text_of("hgx-h100.nccl.xml")
    one = re.sub(r'(<gpu dev="3"[^>]*) gdr="1"', r'\1 gdr="0"', text)
    narrow = one.replace('link_width="16"', 'link_width="8"')
    assert one != text
    healthy, staged = links_of(read(text, boxes=2)), links_of(read(narrow, boxes=2))
    slower = {ends for ends, value in staged.items() if value < healthy[ends]}
    assert {end for ends in slower for end in ends if "gpu" in end} == {"0.gpu3", "1.gpu3"}
    # Eight lanes of generation 5, in practice.
    assert {staged[ends] for ends in slower} == {24}
    tree = links_of(read(narrow, boxes=2, pcie="always"))
    assert tree["0.gpu3", "0.cpu0"] == 24
    assert ("0.gpu2", "0.cpu0") not in tree


@pytest.mark.parametrize(
    ("options", "algbw"),
    [
        ({}, 24),
        ({"pcie": "gen4x16"}, 48),
        ({"pcie_bandwidth": Fraction(63, 2)}, 63),
        ({"pcie": "gen4x16", "cpu_bandwidth": 16}, 32),
        ({"pcie": "gen4x16", "boxes": 2, "nic_bandwidth": Fraction(25, 2)}, 25),
    ],
)
def test_pcie_and_cpus_are_as_fast_as_the_user_states(options, algbw) -> None:
    text = "     GPU0 GPU1 NIC0\nGPU0 X SYS SYS\nGPU1 SYS X SYS\nNIC0 SYS SYS X\n"
    assert optimum(read(text, **options)).algbw == algbw


def test_a_nic_across_cpus_from_every_gpu_is_no_rail_unless_all_are() -> None:
    rows = "GPU0 GPU1 NIC0 NIC1\nGPU0 X SYS {} SYS\nGPU1 SYS X SYS SYS\nNIC0 {} SYS X SYS\n"
    rows += "NIC1 SYS SYS SYS X\n"
    some = read(rows.replace("{}", "PIX"), boxes=2, nic_bandwidth=25)
    assert "0.NIC1" not in some.switches
    none = read(rows.replace("{}", "SYS"), boxes=2, nic_bandwidth=25)
    assert {"0.NIC0", "0.NIC1"} <= none.switches
