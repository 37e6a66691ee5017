"""The files that reading is tried on, and the format of each."""

from pathlib import Path

DATA = Path(__file__).parent / "data"
FILES = {
    "dgx-1v.nccl.xml": "nccl-xml",
    "hgx-h100.nccl.xml": "nccl-xml",
    "mi300x.rccl.xml": "nccl-xml",
    "pcie-box.nccl.xml": "nccl-xml",
    "dgx-1v.nvidia-smi.txt": "nvidia-smi",
    "dgx-a100.nvidia-smi.txt": "nvidia-smi",
    "pcie-box.nvidia-smi.txt": "nvidia-smi",
    "mi210-bridges.rocm-smi.txt": "rocm-smi",
    "mi250.rocm-smi.txt": "rocm-smi",
    "mi300x.rocm-smi.txt": "rocm-smi",
    "ring.matrix.txt": "matrix",
    "square.matrix.csv": "matrix",
    "star.node-link.json": "node-link",
    "multi.node-link.json": "node-link",
    "star.graphml": "graphml",
    "pair.yed.graphml": "graphml",
    "ring.edgelist.txt": "edgelist",
    "networkx.edgelist.txt": "edgelist",
    "circulant.adjlist": "adjlist",
    "circulant.d6": "digraph6",
    "cloud-a100.nccl.xml": "nccl-xml",
    "cloud-bare.nccl.xml": "nccl-xml",
    "cloud-h100.nccl.xml": "nccl-xml",
    "cloud-v100.nccl.xml": "nccl-xml",
    "cycle.undirected-adjlist.txt": "undirected-adjlist",
    "full.mtx": "matrix-market",
    "half-nvlinks.nvidia-smi.txt": "nvidia-smi",
    "lost-nvlinks.nvidia-smi.txt": "nvidia-smi",
    "mi250.amd-smi.txt": "amd-smi",
    "nic-per-gpu.nvidia-smi.txt": "nvidia-smi",
    "petersen.g6": "graph6",
    "petersen.s6": "sparse6",
    "ring.mtx": "matrix-market",
    "hub.msccl-tools.json": "msccl-tools",
    "quad.taccl.json": "taccl",
    "routers.gml": "gml",
    "star.gexf": "gexf",
    "tree.slurm.conf": "slurm",
    "torus.slurm.yaml": "slurm-yaml",
    "leaf-spine.dot": "dot",
    "lab.air.dot": "dot",
    "lab.clab.yml": "containerlab",
    "lab.air.json": "air",
    "two-boxes.infragraph.yaml": "infragraph",
    "two-boxes.infragraph.textproto": "infragraph",
    "subnet.ibnetdiscover.txt": "ibnetdiscover",
    "quad.nvlink-status.txt": "nvidia-smi-nvlink",
    "pairs.hwloc.xml": "hwloc-xml",
    "mesh.npu-smi.txt": "npu-smi",
    "ndv2.teccl.json": "teccl",
    "ring.sccl.json": "msccl-tools",
    "weighted.multiline-adjlist.txt": "multiline-adjlist",
}
SAID = ("undirected-adjlist", "multiline-adjlist")
"""Formats that nothing tells: the user does."""
ROUTERS = {"capacity_attribute": "speed", "kind_attribute": "type", "switch_values": ["router"]}


def text_of(name: str) -> str:
    return (DATA / name).read_text()
