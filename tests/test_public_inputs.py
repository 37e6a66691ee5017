"""What users posted in public, and the right value of each, from a network stated by hand.

The inputs are typed anew: names, addresses and affinities are replaced.  ``source`` is the public
report that the facts come from.  A row without options has the value of the stated guess and the
option that changes the guess; a row with options has the value of the machine.
"""

from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import topoloom
from tests.cases import for_every
from tests.stated_networks import Network, allgather, boxes, cables, mesh, sockets, star
from topoloom.synth.errors import InvalidPlant, InvalidTopology
from topoloom.synth.formats import read
from topoloom.synth.wiring.plant.readers import read_plant_text

INPUTS = Path(__file__).parent / "public_inputs"

A6000 = 14.0625
"""GB/s per direction of one NVLink of an RTX 3090 or RTX A6000."""


class Row(NamedTuple):
    """One input: ``assumed`` are options that must be offered, ``said`` words of the notes."""

    file: str
    source: str
    network: Network
    value: str
    assumed: str
    said: str
    options: dict[str, Any]


def row(*stated: Any, assumed: str = "", said: str = "", **options: Any) -> Row:
    """Return a case."""
    return Row(*stated, assumed, said, options)


CUBE = (
    "0-1:1 0-2:1 0-3:2 0-6:2 1-2:2 1-3:1 1-7:2 2-3:2 "
    "2-4:1 3-5:1 4-5:2 4-6:1 4-7:2 5-6:2 5-7:1 6-7:1"
)
AZURE = (
    "0-1:2 0-2:1 0-3:2 0-6:1 1-2:2 1-3:1 1-7:1 2-3:1 "
    "2-4:2 3-5:2 4-5:1 4-6:1 4-7:2 5-6:2 5-7:1 6-7:2"
)
P100 = "0-1 0-2 0-3 0-4 1-2 1-3 1-5 2-3 2-6 3-7 4-5 4-6 4-7 5-6 5-7 6-7"
EIGHT_DIES = "0-1 0-2 0-6 1-3 1-5 2-3 2-4 3-7 4-5 4-6 5-7 6-7"
SIXTEEN_DIES = (
    "0-1 0-3:4 0-4:2 1-2:4 1-3 1-6 2-3 2-7:2 3-5 4-5:4 4-13 5-12 5-14 6-7:4 6-12 6-14 7-15 "
    "8-9 8-10 8-11:4 8-14 9-10:4 9-11 9-12 10-13:2 11-15:2 12-13:4 14-15:4"
)
ABILENE = "0-1 0-2 1-10 2-9 3-4 3-6 4-5 4-6 5-8 6-7 7-8 7-10 8-9 9-10"
PAIRS = ((0, 1), (2, 3))
HALVES = (range(4), range(4, 8))
LOST = "0-near 1-near 2-near 3-near near-far 4-far 5-far 6-far 7-far"


def lost(pcie: float, link: float) -> Network:
    """Eight B200 of which GPU 2 has PCIe alone."""
    return cables(LOST, pcie) + [cable for cable in star(8, 18 * link) if cable[0] != 2]


def pairs(nvlink: float, pcie: float, cpu: float) -> Network:
    return cables("0-1 2-3", nvlink) + sockets(*PAIRS, pcie=pcie, cpu=cpu)


def three_cards() -> Network:
    """The NIC shares the host bridge of GPU 2."""
    return cables("0-node:12 1-node:12 2-phb:12 phb-node:12 phb-fabric:12 0-1:100")


def twin(box: Network, first: int) -> Network:
    """A second box like the first, joined to the same fabric."""

    def name(end: int | str) -> int | str:
        return end + first if isinstance(end, int) else end if end == "fabric" else f"twin-{end}"

    return [(name(one), name(other), rate) for one, other, rate in box]


NVIDIA = [
    row("dgx2-v100.txt", "NVIDIA/nccl-tests#78: 16 V100, NVSwitch", star(16, 6 * 25), "160",
        assumed="link_bandwidth", said="25 GB/s"),
    row("dgx2-v100.txt", "the same; V100: 25 GB/s a link", star(16, 150), "160", nvlink="link:25"),
    row("dgx-a100-storage-nics.txt", "NVIDIA/nccl#1505: DGX A100, four of 12 NICs at no GPU",
        star(8, 300), "2400/7", assumed="link_bandwidth"),
    row("dgx-a100-storage-nics.txt", "the same, two of them: eight NICs of 25 GB/s each",
        boxes(2, 8, "star", 300, 25), "1040/3", said="mlx5_4", boxes=2, nic_bandwidth=25),
    row("h100-four-nv6.txt", "NVIDIA/nccl#1617: four H100 joined pair by pair",
        mesh(4, 150), "600", assumed="link_bandwidth nvlink"),
    row("h100-four-nv6.txt", "the same, two of them", boxes(2, 4, "mesh", 150, 50), "400",
        boxes=2, nic_bandwidth=50),
    row("gb200-bare.txt", "NVIDIA/k8s-test-infra#371: GB200", star(4, 18 * 25), "600",
        assumed="link_bandwidth", said="B200: 50"),
    row("gb200-bare.txt", "the same; GB200: 50 GB/s a link", star(4, 900), "1200",
        nvlink="link:50"),
    row("gb200-named.txt", "sgl-project/sglang#11208: GB200", star(4, 900), "1200",
        assumed="link_bandwidth", said="GB200"),
    row("b200-lost-gpu.txt", "vllm-project/vllm#16336: B200, one without NVLinks",
        lost(12, 25), "96/7", assumed="link_bandwidth pcie_bandwidth", said="GPU2"),
    row("b200-lost-gpu.txt", "the same; PCIe 5 x16", lost(48, 50), "384/7",
        nvlink="link:50", pcie="gen5x16", cpu_bandwidth=48),
    row("a100-two-blank.txt", "vllm-project/vllm#19607: two A100 of eight",
        mesh(2, 300), "600", assumed="link_bandwidth"),
    row("a100-two-blank.txt", "the same, two pods, each with the two NICs beside its GPUs",
        boxes(2, 2, "mesh", 300, 25), "100", boxes=2, nic_bandwidth=25),
    row("a100-two-named-nics.txt", "InternLM/lmdeploy pull 1944: two A100, old heading",
        mesh(2, 300), "600", assumed="link_bandwidth"),
    row("a100-two-named-nics.txt", "the same, two pods", boxes(2, 2, "mesh", 300, 25), "100",
        said="mlx5_0", boxes=2, nic_bandwidth=25),
    row("a800-nine-nics.txt", "vllm-project/vllm#31884: A800 (8 links)", star(8, 200),
        "1600/7", assumed="link_bandwidth"),
    row("a800-nine-nics.txt", "the same, the switch stated", star(8, 200), "1600/7",
        nvlink="switch:200"),
    row("a800-nine-nics.txt", "the same, two of them: NIC0 is at no GPU",
        boxes(2, 8, "star", 200, 25), "240", said="mlx5_bond_0", boxes=2, nic_bandwidth=25),
    row("k80-soc.txt", "tensorflow README of GPUDirect, 2016: SOC is the old name of SYS",
        sockets(*PAIRS, pcie=12, cpu=12), "16", assumed="pcie_bandwidth"),
    row("power9-nv3.txt", "public notes on AC922: three NVLinks a pair",
        pairs(75, 12, 12), "24", assumed="pcie_bandwidth cpu_bandwidth"),
    row("power9-nv3.txt", "the same; NVLinks to the CPUs too, 64 GB/s between these",
        pairs(75, 75, 64), "128", nvlink="link:25", pcie_bandwidth=75, cpu_bandwidth=64),
    row("power9-nv3.txt", "the same, two of them: NICs of 100 Gbit/s behind 12 GB/s of PCIe",
        pairs(75, 12, 12) + cables("cpu0-fabric:12 cpu1-fabric:24")
        + twin(pairs(75, 12, 12) + cables("cpu0-fabric:12 cpu1-fabric:24"), 4), "32",
        boxes=2, nic_bandwidth=Fraction(25, 2)),
    row("v100-cloud-sys.txt", "aliyun gpushare documents: V100 cubes", cables(CUBE, 25), "1200/7",
        assumed="link_bandwidth"),
    row("v100-cloud-node.txt", "rapidsai/ucx-py#311: V100 cubes of ND v2",
        cables(AZURE, 25), "1200/7", assumed="link_bandwidth"),
    row("p100-soc.txt", "Sheffield DGX-1 lab, heading mended: P100 cubes", cables(P100, 25),
        "800/7", assumed="link_bandwidth"),
    row("p100-soc.txt", "the same; P100: 20 GB/s a link", cables(P100, 20), "640/7",
        nvlink="link:20"),
    row("bridged-pairs-nv4.txt", "public vLLM environment report: bridges, two sockets",
        pairs(100, 12, 12), "24", assumed="link_bandwidth pcie_bandwidth cpu_bandwidth"),
    row("bridged-pairs-nv4.txt", "the same as RTX A6000, PCIe 4, 20 GB/s between CPUs",
        pairs(4 * A6000, 24, 20), "40", nvlink="link:14.0625", pcie="gen4x16", cpu_bandwidth=20),
    row("three-one-bridge.txt", "public NCCL report: three cards, a bridge of two",
        star(3, 12) + cables("0-1", 100), "18", assumed="link_bandwidth pcie_bandwidth",
        said="GPU2"),
    row("three-one-bridge.txt", "the same, two of them", three_cards() + twin(three_cards(), 3),
        "72/5", boxes=2, nic_bandwidth=25),
    row("four-bridges-two-sockets.txt", "public forum report: eight cards, bridges of two",
        cables("0-1 2-3 4-5 6-7", 100) + sockets(*HALVES, pcie=12, cpu=12), "24",
        assumed="link_bandwidth pcie_bandwidth cpu_bandwidth"),
    row("four-bridges-two-sockets.txt", "the same as A40; PCIe 4 x16, 10 GB/s between CPUs",
        cables("0-1 2-3 4-5 6-7", 4 * A6000) + sockets(*HALVES, pcie=24, cpu=10), "20",
        nvlink="14.0625", pcie="gen4x16", cpu_bandwidth=10),
    row("nv12-pairs-pxb.txt", "public course notes: A100 PCIe under PCIe switches",
        star(4, 12) + cables("0-1 2-3", 300), "48", assumed="link_bandwidth pcie_bandwidth"),
    row("rtx3090-bridge.txt", "turboderp-org/exllamav2#91: RTX 3090, bridge",
        mesh(2, 100), "200", assumed="link_bandwidth"),
    row("rtx3090-bridge.txt", "the same; 112.5 GB/s of four links, both ways together",
        mesh(2, 4 * A6000), "225/2", nvlink="link:14.0625"),
    row("two-matrices.txt", "jdh4/della-gpu-A100: matrices of several machines in one text",
        sockets(*PAIRS, pcie=12, cpu=12), "16", assumed="pcie_bandwidth", said="line 11"),
    row("columns-left-out.txt", "public course notes: eight A40, further columns abbreviated",
        cables("0-1 2-3 4-5 6-7", 100) + sockets(*HALVES, pcie=12, cpu=12), "24"),
    row("one-bridged-pair.txt", "public test data of an RTX 2080 Ti server: one bridge of two",
        star(4, 12) + cables("1-2", 50), "16", assumed="link_bandwidth pcie_bandwidth",
        said="GPU0, GPU3"),
    row("rtx4090-nics-at-one.txt", "NVIDIA/go-gpuallocator#17: eight RTX 4090",
        star(8, 12), "96/7", assumed="pcie_bandwidth"),
    row("rtx4090-nics-at-one.txt", "the same; PCIe 4 x16", star(8, 24), "192/7",
        pcie_bandwidth=24),
    row("five-cards.txt", "noonghunna/club-3090#46: RTX 4090 and 5090 mixed",
        star(5, 12), "15", assumed="pcie_bandwidth cpu_bandwidth"),
    row("five-cards.txt", "the same; PCIe 4 x16", star(5, 24), "30", pcie="gen4x16"),
    row("l40s-four.txt", "warpem/miss-alignment#106: L40S",
        sockets(*PAIRS, pcie=12, cpu=12), "16", assumed="pcie_bandwidth cpu_bandwidth"),
    row("l40s-four.txt", "the same; PCIe 4 x16, 10 GB/s between CPUs",
        sockets(*PAIRS, pcie=24, cpu=10), "20", pcie="gen4x16", cpu_bandwidth=10),
    row("indented-wrapped-legend.txt", "noonghunna/club-3090#1125: two cards",
        star(2, 12), "24", assumed="pcie_bandwidth"),
    row("clock-like-a-model.txt", "vLLM environment report: a clock of 5090 MHz is no RTX 5090",
        star(2, 12), "24", assumed="pcie_bandwidth"),
    row("rtx-pro-6000-x8.txt", "local-inference-lab/rtx6kpro#15: PCIe 5 x8",
        star(2, 12), "24", assumed="pcie_bandwidth"),
    row("rtx-pro-6000-x8.txt", "the same; PCIe 5 x8", star(2, 24), "48", pcie="gen5x8"),
    row("pix-pxb-sys.txt", "lattice/quda#669: eight GPUs, PCIe 3", star(8, 12), "96/7",
        assumed="pcie_bandwidth cpu_bandwidth"),
    row("pix-pxb-sys.txt", "the same; 5 GB/s between CPUs", sockets(*HALVES, pcie=12, cpu=5), "10",
        pcie_bandwidth=12, cpu_bandwidth=5),
    row("h20-named.txt", "sgl-project/sglang pull 11052: H20", star(8, 450), "3600/7",
        assumed="link_bandwidth", said="H20"),
    row("a100-four-mesh.txt", "public JUWELS Booster job logs: A100", mesh(4, 100), "400",
        assumed="link_bandwidth nvlink"),
    row("a100-four-mesh.txt", "the same, two nodes, a NIC a GPU", boxes(2, 4, "mesh", 100, 25),
        "200", boxes=2, nic_bandwidth=25),
    row("a100-four-two-nics.txt", "public notes on an A100 cluster: two NICs a node",
        mesh(4, 100), "400", assumed="link_bandwidth nvlink"),
    row("a100-four-two-nics.txt", "the same, two nodes",
        mesh(4, 100) + mesh(4, 100, first=4)
        + cables("0-a 1-a 2-b 3-b 4-c 5-c 6-d 7-d a-fabric b-fabric c-fabric d-fabric", 25),
        "100", boxes=2, nic_bandwidth=25),
    row("a100-pcie-pairs.txt", "public report on A100 PCIe with bridges: PCIe 4 by the name",
        pairs(300, 24, 24), "48", assumed="link_bandwidth pcie_bandwidth cpu_bandwidth",
        said="A100"),
    row("a100-pcie-pairs.txt", "the same; PCIe 4 x16, 40 GB/s between CPUs", pairs(300, 24, 40),
        "80", nvlink="link:25", pcie_bandwidth=24, cpu_bandwidth=40),
    row("rtx4090-five-three.txt", "public notes on a 4U server: two PCIe switches",
        sockets(range(5), range(5, 8), pcie=12, cpu=12), "96/7", assumed="pcie_bandwidth"),
    row("rtx4090-five-three.txt", "the same; PCIe 4 x16, 10 GB/s between CPUs",
        sockets(range(5), range(5, 8), pcie=24, cpu=10), "16",
        pcie_bandwidth=24, cpu_bandwidth=10),
    row("no-indent-numa-na.txt", "vllm-project/vllm#11122: heading not indented",
        star(8, 12), "96/7", assumed="pcie_bandwidth"),
    row("nics-cut-short.txt", "vllm-project/vllm#14537: not all NICs shown",
        star(8, 450), "3600/7", assumed="link_bandwidth"),
    row("affinity-glued.txt", "vllm-project/vllm#17516: affinities run together",
        star(8, 450), "3600/7", assumed="link_bandwidth"),
    row("h20-five-nics.txt", "vllm-project/vllm#15098: H20", star(8, 450), "3600/7",
        assumed="link_bandwidth"),
    row("pdsh-prefix.txt", "a public habit of clusters: pdsh names the node in every line",
        mesh(4, 100), "400", assumed="link_bandwidth nvlink"),
    row("a100-six-of-eight.txt", "NVIDIA/kubevirt-gpu-device-plugin#133: part of a box",
        star(6, 300), "360", assumed="link_bandwidth"),
]  # fmt: skip

NCCL = [
    row("dgx1v-four-of-eight.nccl.xml", "NVIDIA/nccl#671: links to GPUs that are not listed",
        cables("0-1:1 0-2:1 0-3:2 1-2:2 1-3:1 2-3:2", 25), "400/3"),
    row("a100-four-of-eight.nccl.xml", "NVIDIA/nccl#1125: four A100 of NVSwitch",
        star(4, 300), "400"),
    row("v100-two-nvswitch.nccl.xml", "NVIDIA/nccl#507: PCI devices without vendor",
        star(2, 150), "300"),
    row("h100-uneven-switches.nccl.xml", "aliyun/SimAI#128: 4 + 5 + 5 + 4 links",
        star(3, 450), "675"),
    row("h100-uneven-switches.nccl.xml", "the same, two boxes: 400 Gbit/s a NIC",
        boxes(2, 3, "star", 450, 50), "300", boxes=2),
    row("h100-hidden-switches.nccl.xml", "NVIDIA/nccl#1182: a VM hides NVSwitches",
        star(4, 450), "600"),
    row("rtx4090-six-numaid-minus-one.nccl.xml", "NVIDIA/nccl#814: desktop, numaid -1",
        star(6, 24), "144/5"),
    row("gb10-single.nccl.xml", "NVIDIA/nccl pull 2202: PCIe 2 x1 to the NIC",
        cables("0-fabric 1-fabric", 0.375), "3/4", boxes=2, nics="wlan0"),
    row("dcu-two.rccl.xml", "ROCm/rccl#1185: accelerators of another maker",
        star(2, 24), "48"),
    row("mi50-square.rccl.xml", "ROCm/rccl model topo_4p1h: MI50", cables("0-1 0-2 1-3 2-3", 46),
        "368/3"),
    row("mi210-three-pcie.rccl.xml", "ROCm/rccl model topo_3p_pcie: 16 GB/s between CPUs",
        cables("0-a 1-b 2-b a-b:2/3", 24), "24", assumed="cpu_bandwidth"),
    row("mi210-three-pcie.rccl.xml", "the same, 40 GB/s between CPUs",
        cables("0-a 1-b 2-b a-b:5/3", 24), "36", cpu_bandwidth=40),
    row("mi250-eight.rccl.xml", "ROCm/rccl model topo_8p_90a", cables(EIGHT_DIES, 50), "1200/7"),
    row("mi300a-four.rccl.xml", "ROCm/rccl model topo_4p_940", mesh(4, 64), "256"),
    row("mi250x-sixteen-vm.rccl.xml", "ROCm/rccl model topo_16p1h_vm", cables(SIXTEEN_DIES, 50),
        "2400/7"),
]  # fmt: skip

AMD = [
    row("mi100-two-hives.rocm.txt", "sgl-project/sglang#5775: MI100, two groups of four",
        mesh(4, 50) + mesh(4, 50, first=4) + star(8, 12), "96",
        assumed="link_bandwidth pcie_bandwidth"),
    row("mi100-two-hives.rocm.txt", "the same; MI100: 46 GB/s a link, PCIe 4 x16",
        mesh(4, 46) + mesh(4, 46, first=4) + star(8, 24), "1296/7",
        link_bandwidth=46, pcie="gen4x16"),
    row("two-hives-numa.rocm.txt", "public report on eight MI210: bridges of four, two CPUs",
        mesh(4, 50) + mesh(4, 50, first=4) + sockets(*HALVES, pcie=12, cpu=12), "24",
        assumed="link_bandwidth pcie_bandwidth"),
    row("two-hives-numa.rocm.txt", "the same; PCIe 4 x16, 40 GB/s between CPUs",
        mesh(4, 50) + mesh(4, 50, first=4) + sockets(*HALVES, pcie=24, cpu=40), "80",
        link_bandwidth=50, pcie_bandwidth=24, cpu_bandwidth=40),
    row("mi300a-two.rocm.txt", "public sglang report on MI300A: 64 GB/s a link", mesh(2, 64), "128",
        assumed="link_bandwidth"),
    row("mi300a-two.rocm.txt", "the same; two links a pair", mesh(2, 128), "256",
        link_bandwidth=128),
    row("four-own-numa.rocm.txt", "public report on a node with four APUs", mesh(4, 50), "200",
        assumed="link_bandwidth"),
    row("four-own-numa.rocm.txt", "the same as MI300A", mesh(4, 128), "512", link_bandwidth=128),
    row("numa-without-brackets.rocm.txt", "public user guide of an MI210 system", mesh(4, 50),
        "200", assumed="link_bandwidth"),
    row("four-pcie.rocm.txt", "ROCm/rocm_smi_lib#108: PCIe alone", star(4, 12), "16",
        assumed="pcie_bandwidth"),
    row("four-pcie.rocm.txt", "the same; PCIe 4 x16", star(4, 24), "32", pcie="gen4x16"),
    row("eight-types-only.rocm.txt", "sgl-project/sglang report on MI300X", mesh(8, 64), "512",
        assumed="link_bandwidth", said="MI300X"),
    row("mi355x-zero-rates.amd.txt", "Oracle cloud guide to MI355X: all rates 0", mesh(8, 64),
        "512", assumed="link_bandwidth", said="MI300X"),
    row("mi355x-zero-rates.amd.txt", "the same; MI355X: 76.8 GB/s a link",
        mesh(8, Fraction(384, 5)), "3072/5", link_bandwidth=Fraction(384, 5)),
    row("mi300x-rates.amd.txt", "ROCm/amdsmi change log: 50 GB/s stated", mesh(8, 50), "400"),
    row("radeon-two.amd.txt", "ROCm/legacy-rocm-build#6074: two Radeon", star(2, 12), "24",
        assumed="pcie_bandwidth"),
]  # fmt: skip

GRAPHS = [
    row("arpanet-1969.gml", "Internet Topology Zoo: ARPANET of December 1969",
        cables("0-1 0-2 0-3 1-2"), "4/3", assumed="capacity_attribute"),
    row("heanet-parallel.gml", "Internet Topology Zoo: HEAnet, pairs with two links",
        cables("0-3 0-6 1-2 1-3 1-6 2-3 3-4 3-5:2 3-6:2 4-6 5-6"), "7/3",
        assumed="capacity_attribute directed"),
    row("snap-undirected.txt", "Stanford Network Analysis Project: a comment states the direction",
        mesh(3, 1), "3", assumed="capacity_attribute"),
    row("napnet.graphml", "Internet Topology Zoo: NapNet",
        cables("0-1 0-3 1-3 1-4 2-3 3-4 3-5"), "6/5", assumed="capacity_attribute",
        said="LinkLabel"),
    row("two-routers.clab.yml", "srl-labs/containerlab, srlceos01", cables("0-1"), "2",
        assumed="capacity_attribute", kind_attribute="kind", switch_values=["linux"]),
    row("abilene.gml", "Internet Topology Zoo: Abilene", cables(ABILENE), "11/5",
        assumed="capacity_attribute", said="LinkLabel"),
]  # fmt: skip

ROWS = [*NVIDIA, *NCCL, *AMD, *GRAPHS]


@for_every("found", ROWS)
def test_a_public_input_has_the_rate_of_the_network_stated_by_hand(found: Row):
    assert allgather(found.network) == Fraction(found.value)
    text = (INPUTS / found.file).read_text()
    topology = read(text, **found.options)
    assert topoloom.optimum(topology).algbw == Fraction(found.value)
    offered = {assumption.option for assumption in topology.assumed}
    assert {*found.assumed.split()} <= offered
    assert not offered & {*found.options}
    assert found.said in " ".join(assumption.text for assumption in topology.assumed)


REFUSED = [
    ("glued-all.txt", "/line/1", "run together", "Sheffield DGX-1 lab, as published"),
    ("glued-heading-and-rows.txt", "/line/1", "NIC1NIC2", "vllm-project/vllm#13855"),
    ("glued-heading.txt", "/line/2", "NIC1NIC2", "sgl-project/sglang#3685"),
    ("cut-after-three-rows.txt", "/line/1", "GPU3", "a paste that ends too early"),
    ("cut-in-a-row.txt", "/line/5", "a cell for each of 4", "a paste that ends within a row"),
    ("p2p-status.txt", "", "topo -p2p", "noonghunna/club-3090#1140"),
    ("nv-sign-as-cell.txt", "/line/2", "NV#", "a public script's sample"),
    ("musa-topology.txt", "/line/2", "MPB", "sgl-project/sglang pull 10023"),
    ("diagonal-of-one.rocm.txt", "/line/4", "'1'", "a public page with a damaged table"),
    ("bare-devices.nccl.xml", "/line/1", "<gpu>", "aws/aws-ofi-nccl#466"),
    ("abilene-mininet.txt", "", "docs/reference/fabrics.md", "public Mininet topologies"),
    ("four-cities.sndlib.txt", "", "docs/reference/fabrics.md", "public SNDlib instances"),
    ("three-racks.slurm.conf", "/line/1", "rack-az-1", "stackhpc/ansible-slurm-appliance: part"),
    ("three-routers.netlab.yml", "", "YAML", "ipspace/netlab, docs/links.md"),
    ("nccl-log.txt", "", "NCCL", "NVIDIA/nccl-tests#307"),
    ("lstopo.txt", "", "hwloc", "open-mpi/hwloc pull 406"),
]


@pytest.mark.parametrize(
    ("file", "field", "words", "source"), REFUSED, ids=[refused[0] for refused in REFUSED]
)
def test_a_damaged_or_foreign_input_is_refused_at_its_place(file, field, words, source):
    with pytest.raises(InvalidTopology) as refused:
        read((INPUTS / file).read_text())
    assert refused.value.field == field
    assert words in str(refused.value)


PLANTS = [
    ("netbox-dcim.csv", "netbox-community/netbox tests: import columns", "h0 h1", "1 2", 0, 1),
    ("netbox-import.csv", "netbox-community/netbox#2899: types of NetBox 2",
     "rtr1 rtr2", "E1 E2", 0, 1),
    ("netbox-pipe-types.csv", "netbox-community/netbox#5210: types as exported",
     "h0 h1", "1 2", 0, 1),
    ("netbox-trunk.csv", "a public script for patch panels", "", "trunk1 trunk2 trunk3", 3, None),
]  # fmt: skip


@pytest.mark.parametrize(("file", "source", "hosts", "ports", "trunks", "moves"), PLANTS)
def test_a_public_cable_list_is_the_plant_that_it_lists(file, source, hosts, ports, trunks, moves):
    plant = read_plant_text((INPUTS / file).read_text())
    assert [host.id for host in plant.hosts] == hosts.split()
    assert list(plant.panels[0].a) == ports.split()
    assert len(plant.trunks) == trunks
    if moves is not None:
        assert topoloom.plan_moves("UniRing(2)", plant=plant).moves == moves


REFUSED_PLANTS = [
    ("netbox-direct.csv", "past every panel", "netbox-community/netbox#2692"),
    ("netbox-ids.csv", "ids", "netbox-community/netbox#5270"),
    ("sonic-ocs.json", "SONiC", "sonic-net/sonic-mgmt: cross-connects of a CONFIG_DB"),
]


@pytest.mark.parametrize(("file", "words", "source"), REFUSED_PLANTS)
def test_a_plant_that_cannot_be_read_is_refused_for_what_it_is(file, words, source):
    with pytest.raises(InvalidPlant) as refused:
        read_plant_text((INPUTS / file).read_text())
    assert words in str(refused.value)
