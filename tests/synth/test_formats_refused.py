"""A file that is wrong or too large is refused in one error that says where and why."""

import pytest

from tests.cases import for_every
from tests.synth.format_files import text_of
from topoloom.synth.errors import InvalidTopology
from topoloom.synth.formats import MAX_CHARACTERS, read


@pytest.mark.parametrize(
    ("text", "form", "options", "place", "words"),
    [
        ("a b {}", None, {"capacity_attribute": "w"}, "/line/1", "attribute 'w'"),
        (text_of("star.gexf"), None, {"capacity_attribute": "w"}, "/line/15", "attribute 'w'"),
        (text_of("routers.gml"), None, {"kind_attribute": "type"}, "/line/6", "'host' is not"),
        ("0 1\n1 0", "matrix", {"kind_attribute": "x"}, "/kind_attribute", "is only for"),
        ("Bw", "graph6", {"capacity_attribute": "x"}, "/capacity_attribute", "is only for"),
        ("Bw", "graph6", {"boxes": 2}, "/boxes", "is only for nccl-xml"),
        ("a b", "edgelist", {"unit": "x" * 201}, "", "printable"),
    ],
)
def test_an_option_that_does_not_fit_is_refused(text, form, options, place, words) -> None:
    with pytest.raises(InvalidTopology, match=words) as caught:
        read(text, form, **options)
    assert caught.value.field == place


HEAD = "\tGPU0\tGPU1\tGPU2\n"
ROCM = "== Link Type between two GPUs ==\n"
XML = '<system><cpu numaid="0" arch="x86_64">{}</cpu></system>'
GPU = '<pci busid="0000:{0}:00.0"><gpu dev="{0}" sm="{1}">{2}</gpu></pci>'
LINK = '<nvlink target="0000:{}:00.0" count="{}" tclass="{}"/>'


def box(first: str, second: str = "", sm: str = "80") -> str:
    return XML.format(GPU.format(1, sm, first) + "\n" + GPU.format(2, sm, second))


BAD = {
    # name: (format, text, place, words)
    "unknown format": ("yaml", "a: b", "/format", "must be one of json"),
    "matrix of three rows of two": ("matrix", "0 1\n1 0\n1 1", "/line/1", "must have 3 cells"),
    "matrix with a negative cell": ("matrix", "0 -1\n1 0", "/line/1", "'-1' is not"),
    "matrix with NaN": ("matrix", "0 1\nnan 0", "/line/2", "'nan' is not"),
    "matrix with infinity": ("matrix", "0 1\n1e999 0", "/line/2", "'1e999' is not"),
    "matrix with a loop": ("matrix", "0 1\n1 5", "/line/2", "diagonal"),
    "matrix with a repeated name": ("matrix", ",a,a\na,0,1\na,1,0", "/line/3", "unique"),
    "huge number": ("edgelist", "a b 1\nb a " + "9" * 31, "/line/2", "30 digits"),
    "number over zero": ("edgelist", "a b 1/0", "/line/1", "'1/0' is not"),
    "negative link": ("edgelist", "a b 1\nb a -3", "/line/2", "'-3' is not"),
    "zero link": ("edgelist", "a b 1\nb a 0", "/line/2", "must be positive"),
    "four cells": ("edgelist", "a b 1\nb a 1 7", "/line/2", "source, target"),
    "a link to itself": ("edgelist", "a b 1\nb b 1", "/line/2", "two different nodes"),
    "no JSON": ("node-link", '{"nodes": [\n}', "/line/2", "must be JSON"),
    "a name twice": ("node-link", '{"nodes": [], "links": [], "nodes": []}', "", "'nodes' twice"),
    "JSON without nodes": ("node-link", "{}", "/nodes", "must be a list"),
    "JSON without links": ("node-link", '{"nodes": [{"id": 1}]}', "/links", "must be a list"),
    "a node without id": ("node-link", '{"nodes": [{}], "links": []}', "/nodes/0/id", "string"),
    "NaN in JSON": (
        "node-link",
        '{"nodes": [{"id": 1}, {"id": 2}], "links": [{"source": 1, "target": 2, "capacity": NaN}]}',
        "/links/0/capacity",
        "positive number",
    ),
    "an end that is no node": (
        "node-link",
        '{"nodes": [{"id": 1}], "links": [{"source": 1, "target": 2}]}',
        "/links/0/target",
        "id of a node",
    ),
    "deep JSON": ("node-link", '{"nodes":' + "[" * 200_000, "", "nest"),
    "wrong root": ("graphml", "<system/>", "/line/1", "root"),
    "two graphs": ("graphml", "<graphml><graph/>\n<graph/></graphml>", "/line/1", "one graph"),
    "hyperedge": (
        "graphml",
        "<graphml><graph>\n<hyperedge/></graph></graphml>",
        "/line/2",
        "hyper",
    ),
    "broken XML": ("graphml", "<graphml>\n<graph>", "/line/2", "well-formed"),
    "entities": (
        None,
        '<!DOCTYPE graphml [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><graphml>&b;</graphml>',
        "/line/1",
        "no DOCTYPE",
    ),
    "an external entity": (
        "nccl-xml",
        '<?xml version="1.0"?>\n<!DOCTYPE s [<!ENTITY x SYSTEM "file:///etc/hostname">]><s>&x;</s>',
        "/line/2",
        "no DOCTYPE",
    ),
    "deep XML": ("nccl-xml", "<system>" + "\n<pci>" * 5000, "/line/65", "64 deep"),
    "no GPU": ("nccl-xml", "<system/>", "/line/1", "must hold a <gpu>"),
    "no bus": ("nccl-xml", XML.format("<pci><gpu dev='0'/></pci>"), "/line/1", "busid"),
    "a link of no class": (
        "nccl-xml",
        box(LINK.format(2, 1, "0x55")),
        "/line/1",
        "tclass of <nvlink>",
    ),
    "links of one side": (
        "nccl-xml",
        box(LINK.format(2, 2, "0x030200"), LINK.format(1, 1, "0x030200")),
        "/line/1",
        "agree both ways",
    ),
    "very many links": (
        "nccl-xml",
        box(LINK.format(2, 10**9, "0x030200")),
        "/line/1",
        "at most 1000",
    ),
    "a GPU too old": (
        "nccl-xml",
        box(LINK.format(2, 1, "0x030200"), sm="35"),
        "/line/1",
        "at least 60",
    ),
    "two GPUs of one number": (
        "nccl-xml",
        XML.format(GPU.format(1, 80, "") + "\n" + GPU.format(1, 80, "").replace("0000", "0001")),
        "/line/2",
        "unique",
    ),
    "GML without a graph": ("gml", "node [ id 1 ]", "", "one graph"),
    "GML cut short": ("gml", "graph [\nnode [ id 1", "/line/2", "must not end"),
    "GML with too many brackets": ("gml", "graph [ ] ]", "/line/1", "] must end"),
    "GML of nobody": ("gml", "graph [\nnode [ label 1 ] ]", "/line/2", "id of its own"),
    "GML with a stranger": (
        "gml",
        "graph [ node [ id 1 ]\nedge [ source 1 target 2 ] ]",
        "/line/2",
        "ids of nodes",
    ),
    "GML with a node for a number": ("gml", "graph [ node 1 ]", "/line/1", "followed by ["),
    "deep GML": ("gml", "graph [" + "\na [" * 5000, "/line/64", "64 deep"),
    "nodes in nodes": (
        "gexf",
        '<gexf><graph><nodes><node id="a"><nodes/></node></nodes></graph></gexf>',
        "/line/1",
        "no graph of its own",
    ),
    "GEXF of entities": (
        "gexf",
        '<!DOCTYPE gexf [<!ENTITY a "aaaa">]><gexf>&a;</gexf>',
        "/line/1",
        "no DOCTYPE",
    ),
    "no matrix market": ("matrix-market", "%%MatrixMarket vector", "/line/1", "must be %%"),
    "complex numbers": (
        "matrix-market",
        "%%MatrixMarket matrix coordinate complex general\n1 1 0",
        "/line/1",
        "must be %%",
    ),
    "a matrix that is not square": (
        "matrix-market",
        "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 2 3",
        "/line/2",
        "square",
    ),
    "an entry outside": (
        "matrix-market",
        "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 3 3",
        "/line/3",
        "from 1 to 2",
    ),
    "entries that are missing": (
        "matrix-market",
        "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 3",
        "/line/2",
        "2 entries; there are 1",
    ),
    "a graph of too many nodes": ("graph6", "~~~~~~~~", "/line/1", "from 1 to 4096"),
    "a graph cut short": ("graph6", "Z?", "/line/1", "a bit for each pair"),
    "a graph too long": ("graph6", "B????", "/line/1", "last pair"),
    "no digraph": ("digraph6", "Bw", "/line/1", "begins with"),
    "an edge to itself": ("sparse6", ":A`", "/line/1", "two different nodes"),
    "a node with two lines": ("adjlist", "a b\na c", "/line/2", "had its line"),
    "a link to oneself in a list": ("adjlist", "a b a", "/line/1", "two different nodes"),
    "too few targets": ("multiline-adjlist", "a 2\nb", "/line/2", "2 lines of targets"),
    "no heading": ("nvidia-smi", "GPU1 X\n", "", "heading"),
    "a missing row": ("nvidia-smi", HEAD + "GPU0\tX\tNV1\tNV1\n", "/line/1", "row for GPU1"),
    "a missing cell": ("nvidia-smi", HEAD + "GPU0\tX\tNV1\n", "/line/2", "a cell for each"),
    "an unknown cell": ("nvidia-smi", HEAD + "GPU0\tX\tNV1\tWIFI\n", "/line/2", "'WIFI'"),
    "a stranger": ("nvidia-smi", HEAD + "GPU7\tX\tNV1\tNV1\n", "/line/2", "'GPU7'"),
    "unlike both ways": (
        "nvidia-smi",
        "\tGPU0\tGPU1\nGPU0\tX\tNV1\nGPU1\tNV2\tX\n",
        "/line/3",
        "same cell both ways",
    ),
    "X elsewhere": ("nvidia-smi", "\tGPU0\tGPU1\nGPU0\tX\tX\nGPU1\tX\tX\n", "/line/2", "X must"),
    "no link types": ("rocm-smi", "== Numa Nodes ==\n", "", "Link Type"),
    "an unknown type": (
        "rocm-smi",
        ROCM + "GPU0 GPU1\nGPU0 0 WIFI\n",
        "/line/3",
        "'WIFI'",
    ),
    "too few types": ("rocm-smi", ROCM + "GPU0 GPU1\nGPU0 0\n", "/line/3", "must have 2 cells"),
    "a control character": ("edgelist", "a\x01 b 1", "/line/1", "printable"),
    "a long id": ("edgelist", "a" * 201 + " b 1", "/line/1", "200 characters"),
}


@for_every(("form", "text", "place", "words"), BAD.values())
def test_a_wrong_file_is_one_error_that_names_the_place_and_the_rule(form, text, place, words):
    with pytest.raises(InvalidTopology) as caught:
        read(text, form)
    assert caught.value.field == place
    assert words in caught.value.rule


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("form", "text", "words"),
    [
        ("matrix", "0 1\n" * 5000, "from 1 to 4096 rows"),
        ("matrix", "0 " * 150_000, "200000 characters"),
        ("edgelist", "1 2\n" * 1_000_001, "1000000 lines"),
        ("nvidia-smi", "GPU0 " + " ".join(f"N{i}" for i in range(2000)), "1024"),
        ("graphml", "<graphml>" + "<a/>" * 1_000_001, "1000000 elements"),
        (None, "0" * (MAX_CHARACTERS + 1), "characters"),
        ("matrix-market", "%%MatrixMarket matrix array real general\n99999999 99999999", "square"),
        ("gml", "graph [" + " a 1" * 1_000_001, "2000000 words"),
        ("sparse6", ":~~????????", "65536 nodes"),
        ("digraph6", "&~Axx", "4096 nodes"),
        (
            "nccl-xml",
            '<system><cpu numaid="0">'
            + "".join(f'<pci busid="{i}" class="0x030200"/>' for i in range(1025))
            + "</cpu></system>",
            "1024 GPUs",
        ),
    ],
)
def test_what_is_too_large_is_refused(form, text, words) -> None:
    with pytest.raises(InvalidTopology, match=words):
        read(text, form)
