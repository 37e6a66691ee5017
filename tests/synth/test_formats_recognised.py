"""Files that are no topology to read are named for what they are, with what to give instead."""

import random
import re

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import for_every
from tests.synth.format_files import FILES, text_of
from topoloom.synth.errors import InvalidTopology
from topoloom.synth.formats import READABLE, detect, read
from topoloom.synth.formats.detection import marked_as
from topoloom.synth.formats.unsupported_kinds import FOREIGN, LOOSE

DUMP = "NCCL_TOPO_DUMP_FILE"
SMI = "nvidia-smi topo -m"
AMD = "--showtopo"
VERIFY = "topoloom verify"
LINKS = "edge list"
PLANT = "--plant"
NETWORKX = "networkx"

SAMPLES = {
    # kind: (a small file of it, words that the refusal must have)
    "PDF": ("%PDF-1.7\n%âãÏÓ\n", "PDF"),
    "binary": ("\x7fELF\x02\x01\x01\x00", "UTF-8"),
    "NCCL graph file": (
        '<?xml version="1.0"?>\n<graphs version="1"><graph id="0"/></graphs>',
        DUMP,
    ),
    "MSCCL XML": ('<algo name="ring" proto="Simple" nchannels="1"/>', VERIFY),
    "nvidia-smi -q -x": ("<nvidia_smi_log><driver_version/></nvidia_smi_log>", SMI),
    "HTML": ("<!DOCTYPE html>\n<html lang='en'><head><title>Not found</title>", "raw file"),
    "drawing": ('<mxfile host="app"><diagram/></mxfile>', LINKS),
    "schedule/1": ('{"schema": "schedule/1", "kind": "trees", "trees": []}', VERIFY),
    "plant/1": ("schema: plant/1\nname: hall\n", PLANT),
    "Topoloom document": ('{"id": "x", "schema": "design/1"}', "topology/1"),
    "msccl-tools algorithm": ('{"msccl_type": "algorithm", "name": "a"}', "ncclize"),
    "TACCL profile": ('{"name": "n", "node_betas_list": [23, 46]}', "ndv2"),
    "TE-CCL schedule": ('{"1-Epoch_Duration": 4e-09, "7-Flows": []}', VERIFY),
    "MSCCL++ JSON": ('{"name": "x", "gpus": [{"id": 0, "threadblocks": []}]}', VERIFY),
    "Chakra trace": ('{"nodes": [{"id": 1, "ctrl_deps": []}]}', VERIFY),
    "profile": ('{"traceEvents": []}', SMI),
    "ASTRA-sim JSON": ('{"topology-name": "Hierarchical", "dimensions-count": 2}', "recipe"),
    "LLDP JSON": ('{"lldp": {"interface": [{"eth0": {"chassis": {}}}]}}', LINKS),
    "NetBox JSON": ('{"count": 1, "results": [{"id": 4, "a_terminations": []}]}', PLANT),
    "containerlab JSON": ('{"name": "lab", "type": "clab", "clab": {}, "nodes": {}}', "clab.yml"),
    "EC2 topology": ('{"Instances": [{"NetworkNodes": ["nn-1", "nn-2"]}]}', LINKS),
    "SONiC": ('{"DEVICE_METADATA": {}, "PORT": {}}', LINKS),
    "Kubernetes JSON": ('{"apiVersion": "v1", "kind": "Pod"}', "Kubernetes"),
    "AMD JSON": ('[{"gpu": 0, "links": [{"gpu": 1, "link_type": "XGMI"}]}]', AMD),
    "Cytoscape": ('{"data": [], "elements": {"nodes": [], "edges": []}}', NETWORKX),
    "adjacency JSON": ('{"directed": false, "nodes": [], "adjacency": [[]]}', NETWORKX),
    "NCCL log with topology": (
        "box:7:7 [0] NCCL INFO === System : maxBw 24.0 totalBw 24.0 ===\n",
        "=== System",
    ),
    "RCCL log": ("RCCL version 2.20.5-develop\nbox:1:1 [0] NCCL INFO Channel 00/02\n", DUMP),
    "NCCL log": ("box:7:7 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\n", DUMP),
    "nccl-tests": ("# nThread 1 nGpus 8 minBytes 8\n#  out-of-place\n", DUMP),
    "NCCL tuner": ("# mine\nallreduce,0,65536,tree,simple,2,-1,-1\n", VERIFY),
    "nvidia-smi topo -p2p": (" \tGPU0\tGPU1\n GPU0\tX\tOK\n GPU1\tOK\tX\n", SMI),
    "nvidia-smi": ("+-----+\n| NVIDIA-SMI 550.54     Driver Version: 550.54 |\n+-----+\n", SMI),
    "nvidia-smi -q": ("\n==============NVSMI LOG==============\n\nTimestamp : now\n", SMI),
    "nvidia-smi list": ("GPU 0: H100 (UUID: GPU-1)\nGPU 1: H100 (UUID: GPU-2)\n", SMI),
    "rocm-smi": ("==== ROCm System Management Interface ====\nGPU[0] : Temp: 40\n", AMD),
    "amd-smi": ("GPU: 0\n    ASIC:\n        MARKET_NAME: MI300X\n", AMD),
    "hwloc": ("Machine (2015GB total)\n  Package L#0\n    NUMANode L#0 (P#0)\n", "--of xml"),
    "lspci": ("17:00.0 3D controller: NVIDIA Corporation (rev a1)\n", SMI),
    "ibstat": ("CA 'mlx5_0'\n\tCA type: MT4129\n\tNumber of ports: 1\n", SMI),
    "numactl": ("available: 2 nodes (0-1)\nnode distances:\nnode 0 1\n  0: 10 21\n", SMI),
    "iblinkinfo": ("CA: h0 mlx5_0:\n 0x02 4 1[ ] ==( 4X 53.125 Gbps Active/ LinkUp)==> 9\n", LINKS),
    "opensm subnet list": ("{ CA Ports:01 SystemGUID:0002 NodeGUID:0002 PortGUID:0002 }\n", LINKS),
    "LLDP": ("-----\nLLDP neighbors:\n-----\nInterface:    eth0, via: LLDP\n", LINKS),
    "Slurm configuration": ("ClusterName=lab\nNodeName=gpu[1-4] Gres=gpu:8\n", "topology.conf"),
    "ASTRA-sim": ("topology: [ Ring, Switch ]\nnpus_count: [ 4, 8 ]\n", "recipe"),
    "htsim topology": ("Nodes 8\nTiers 3\nPodsize 4\n\nTier 0\nRadix_Down 2\n", "fat-tree-4"),
    "GOAL": ("num_ranks 2\nrank 0 {\nl1: send 8b to 1 tag 1\n}\nrank 1 {\n}\n", VERIFY),
    "Kubernetes": ("apiVersion: v1\nkind: Pod\nmetadata:\n  name: x\n", "Kubernetes"),
    "Docker Compose": ("services:\n  web:\n    image: nginx\n", "Docker"),
    "ns-3 topology": ("3 1 2\n2\n0 2 400Gbps 0.0005ms 0\n1 2 400Gbps 0.0005ms 0\n", "ns-3"),
    "NetBox CSV": ("id,termination_a_type,termination_a_id\n1,dcim.interface,4\n", PLANT),
    "Pajek": ("*Vertices 2\n1 a\n2 b\n*Edges\n1 2\n", NETWORKX),
    "DIMACS": ("c mine\np edge 3 3\ne 1 2\ne 2 3\ne 3 1\n", NETWORKX),
    "GDF": ("nodedef>name VARCHAR\na\nb\nedgedef>node1,node2\na,b\n", NETWORKX),
    "TGF": ("1 a\n2 b\n#\n1 2\n2 1\n", "edgelist"),
    "LEDA": ("LEDA.GRAPH\nstring\nint\n-1\n2\n", NETWORKX),
    "program": ("#!/usr/bin/env python\nprint(1)\n", LINKS),
    "XML": ("<project><module/></project>", NETWORKX),
    "JSON object": ('{"hosts": ["a", "b"]}', "node-link"),
    "JSON list": ("[[0, 1], [1, 0]]", "node-link"),
    "log": ("2026-01-02 03:04:05 started\n2026-01-02 03:04:06 done\n", "a log"),
    "key = value": ("# mine\n[net]\nspeed = 25\nlanes=4\n", "key = value"),
    "YAML": ("hosts:\n  - a\nlinks: []\nspeed: 3\n", "YAML"),
    "CSV with a heading": ("host,port,speed\nh0,h1,25\nh1,h0,25\n", "source,target,capacity"),
}


def test_every_kind_that_is_recognised_has_a_sample() -> None:
    assert list(SAMPLES) == [kind.name for kind in (*FOREIGN, *LOOSE)]


@for_every("name", SAMPLES)
def test_a_file_is_named_for_what_it_is_with_what_to_give_instead(name: str) -> None:
    text, words = SAMPLES[name]
    kind = next(kind for kind in (*FOREIGN, *LOOSE) if kind.name == name)
    for given_text in (text, "\ufeff" + text.replace("\n", "\r\n")):
        with pytest.raises(InvalidTopology) as caught:
            detect(given_text)
        assert caught.value.field == ""
        assert caught.value.rule == kind.refusal
    assert words in kind.refusal
    assert len(kind.refusal) <= 200
    assert "\n" not in kind.refusal


@pytest.mark.parametrize("text", ["", "\n\n \t\n", "\ufeff"])
def test_an_empty_file_is_called_empty(text: str) -> None:
    with pytest.raises(InvalidTopology, match="is empty"):
        detect(text)


def test_a_configuration_in_sections_is_no_json() -> None:
    with pytest.raises(InvalidTopology, match="key = value"):
        detect("[metadata]\nname = x\n")
    with pytest.raises(InvalidTopology, match="/line/1: must be JSON"):
        detect("{'nodes': []}")


EDGE_LISTS = {
    "a directed ring": "h0 h1\nh1 h2\nh2 h0",
    "cables of networkx": "# mine\n0 1 {}\n1 2 {}\n2 0 {'weight': 3}\n",
    "capacities": "a b 25\nb a 25/2\n",
    "a heading": "source,target,capacity\na,b,25\nb,a,25\n",
    "a heading of other words": "Src Dst GB/s\na b 25\nb a 25\n",
    "capacities that are nodes, too": "0 1 1\n1 2 1\n2 0 1",
    "hosts on a switch": "h1 sw1\nh2 sw1\nh3 sw1\n",
    "ports of NICs": "0.gpu0 mlx5_0 25\nmlx5_0 0.gpu0 25\n",
    "one link with data": "a b {'capacity': 3}",
    "a heading above a capacity that is no number": "source,target,speed\na,b,100G\nb,a,nan",
    "words that meet": "alice bob\nbob carol\ncarol alice\n",
}


@pytest.mark.parametrize("text", EDGE_LISTS.values(), ids=list(EDGE_LISTS))
def test_what_looks_like_links_is_an_edge_list(text: str) -> None:
    assert detect(text) == "edgelist"


@given(st.integers(3, 12), st.booleans(), st.randoms(use_true_random=False))
def test_every_connected_graph_that_networkx_writes_is_an_edge_list(
    nodes: int, data: bool, rng: random.Random
) -> None:
    graph = nx.random_labeled_tree(nodes, seed=rng.randrange(2**32))
    nx.set_edge_attributes(graph, 25, "capacity")
    named = nx.relabel_nodes(graph, {node: f"host-{node}" for node in graph})
    assert detect("\n".join(nx.generate_edgelist(named, data=data))) == "edgelist"


NOT_LINKS = {
    "one pair of words": ("hello world", "in two links"),
    "settings of two words": ("Port 22\nUser git\nGroup git\n", "must join all nodes"),
    "switched settings": ("Compression yes\nForward yes\n", "'yes'"),
    "a word in three places": ("run it now\nstop it now\n", "'now'"),
    "pairs that do not meet": ("h0 h1\nh2 h3\nh0 h4", "must join all nodes"),
    "a heading above a dash": ("Thanks go to these people\n\n- \n", "line 1 must be source"),
    "a list of neighbours": ("h0 h1 h2 h3\nh1 h0 h2 h3\n", "line 1 must be source"),
    "neighbours, or capacities": ("1 2 3\n2 3 4\n3 4 1\n4 1 2", "an adjacency list as well"),
    "a METIS graph": ("4 6\n2 3 4\n1 3 4\n1 2 4\n1 2 3\n", "as METIS"),
    "numbers and their powers": ("0, 0, 0\n1, 1, 1\n2, 4, 8\n", "two different nodes"),
    "a typing error": ("h0 h1 25\nh1 h0 2S", "line 2 must have a number"),
    "names without order": ("user nginx\ngroup nginx", "both a source and a target"),
}


@pytest.mark.parametrize(("text", "words"), NOT_LINKS.values(), ids=list(NOT_LINKS))
def test_lines_that_are_no_links_are_refused_with_the_reason(text: str, words: str) -> None:
    with pytest.raises(InvalidTopology, match=re.escape(words)):
        detect(text)
    assert detect(text, "mine.edgelist") == "edgelist"


WORDS = st.sampled_from(
    [
        "the",
        "a",
        "node",
        "link",
        "of",
        "and",
        "is",
        "at",
        "with",
        "for",
        "to",
        "it",
        "which",
        "each",
        "rate",
        "GPU",
        "NIC",
    ]
)
SENTENCES = st.lists(WORDS, min_size=4, max_size=15).map(
    lambda words: " ".join(words).capitalize() + "."
)
KEYS = st.sampled_from(
    [
        "port",
        "user",
        "host",
        "listen",
        "mode",
        "level",
        "worker-processes",
        "log.file",
        "cache_size",
    ]
)
VALUES = st.one_of(
    st.sampled_from(["on", "off", "yes", "no", "true", "auto", "/var/log/x.log", "info", "10M"]),
    st.integers(0, 9999).map(str),
)
SETTINGS = st.lists(
    st.tuples(KEYS, VALUES), min_size=1, max_size=20, unique_by=lambda pair: pair[0]
)


@st.composite
def prose(draw: st.DrawFn) -> str:
    """Sentences of plain words, wrapped at any width, as notes and mails have them."""
    words = " ".join(draw(st.lists(SENTENCES, min_size=1, max_size=6))).split()
    per_line = draw(st.integers(1, 12))
    lines = (" ".join(words[at : at + per_line]) for at in range(0, len(words), per_line))
    return "\n".join(lines)


@st.composite
def settings(draw: st.DrawFn) -> str:
    """Lines of keys and values, set apart in one of the ways that configurations have."""
    between = draw(st.sampled_from([" = ", "=", ": ", " "]))
    return "\n".join(f"{key}{between}{value}" for key, value in draw(SETTINGS))


@st.composite
def logs(draw: st.DrawFn) -> str:
    """Lines with a time and a level."""
    count = draw(st.integers(1, 10))
    begin = draw(st.sampled_from(["12:00:{:02}", "[{}]", "Jan 2 12:00:{:02} box", "I0102 {:02}"]))
    return "\n".join(f"{begin.format(n)} {draw(st.one_of(WORDS, SENTENCES))}" for n in range(count))


@given(st.one_of(prose(), settings(), logs()))
def test_prose_settings_and_logs_are_never_taken_for_links(text: str) -> None:
    with pytest.raises(InvalidTopology):
        detect(text)


TEXTS = {name: text_of(name) for name in FILES} | {
    name: text for name, (text, _) in SAMPLES.items()
}
ALIKE = [
    {"rocm-smi", "amd-smi"},
    {"msccl-tools", "taccl"},
    {"nvidia-smi-nvlink", marked_as(SAMPLES["nvidia-smi list"][0])},
]
"""Kinds of files that one reader reads."""


def own(form: str, marked: str | None) -> bool:
    """Return whether a text with this mark may be of a format."""
    return marked in (None, form) or any({form, marked} <= alike for alike in ALIKE)


@for_every("form", READABLE)
def test_a_reader_says_what_a_file_of_another_format_looks_like(form: str) -> None:
    for name, text in TEXTS.items():
        marked = marked_as(text)
        if own(form, marked):
            continue
        with pytest.raises(InvalidTopology) as caught:
            read(text, form)
        assert f"looks like {marked}" in caught.value.rule, name
        assert len(caught.value.rule) <= 400


@given(form=st.sampled_from(READABLE), name=st.sampled_from(sorted(TEXTS)), data=st.data())
def test_a_cut_file_of_any_format_is_read_or_refused_in_one_error(form, name, data) -> None:
    text = TEXTS[name]
    cut = text[: data.draw(st.integers(0, len(text)))]
    try:
        found = read(cut, form)
    except InvalidTopology as error:
        assert "\n" not in error.rule
        assert len(error.rule) <= 400
    else:
        assert found.node_count >= 1
        assert form not in ("edgelist", "adjlist") or own(form, marked_as(cut))
