"""Output of ``nvidia-smi topo -m`` that was pasted, quoted, wrapped or spoilt on the way."""

import re

import pytest

from tests.synth.format_files import text_of
from topoloom.synth.errors import InvalidTopology
from topoloom.synth.formats import detect, read

BOX = text_of("nic-per-gpu.nvidia-smi.txt")
MATRIX = BOX.partition("\n\n")[0]


def wrapped(width: int) -> str:
    lines = [line.expandtabs().rstrip() for line in BOX.split("\n")]
    cut = (line[at : at + width] for line in lines for at in range(0, len(line) or 1, width))
    return "\n".join(cut)


def underlined(text: str) -> str:
    head, _, rows = text.partition("\n")
    return "\n".join(["\x1b[4m" + head + "\x1b[0m\x1b[K", rows])


PASTED = {
    "mail that quotes": "\n".join("> " + line for line in BOX.split("\n")),
    "mail that quotes a quote": "\n".join(" >> " + line for line in BOX.split("\n")),
    "Markdown": f"My box:\n```text\n{BOX}```\nAny idea?",
    "Markdown without an empty line": f"```\n{MATRIX}\n```\nAny idea?",
    "a session": f"me@box:~$ nvidia-smi topo -m\n{BOX}me@box:~$ ",
    "a session without legend": f"$ nvidia-smi topo -m\n{MATRIX}\nme@box:~$ ",
    "lines of pdsh": "\n".join(f"node-1.lab: {line}".rstrip() for line in BOX.split("\n")),
    "escape codes": underlined(BOX),
    "ends of lines of Windows": BOX.replace("\n", "\r\n"),
    "blanks that do not break": re.sub("[ \t]", "\xa0", BOX),
    "one blank for every tab": re.sub("[ \t]+", " ", BOX),
    "a heading without a blank before": BOX.lstrip(),
    "indented": "\n".join("    " + line for line in BOX.split("\n")),
    "a terminal of 80 columns": wrapped(80),
    "a terminal of 64 columns": wrapped(64),
}


@pytest.mark.parametrize("text", PASTED.values(), ids=list(PASTED))
def test_what_pasting_does_to_a_matrix_is_undone(text: str) -> None:
    assert detect(text) == "nvidia-smi"
    options = {"boxes": 2, "nic_bandwidth": 25}
    # The legend gives NICs their names.
    assert read(text, **options) == read(BOX if "Legend" in text else MATRIX, **options)


@pytest.mark.parametrize("name", ["mi300x.rocm-smi.txt", "mi250.amd-smi.txt"])
def test_what_pasting_does_to_tables_of_amd_is_undone(name: str) -> None:
    text = text_of(name)
    quoted = "\n".join(f"> {line}" for line in f"```\n{text}\n```".split("\n"))
    assert detect(quoted) == detect(text)
    assert read(quoted.replace("\n", "\r\n")) == read(text)


HEAD = "\tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\n"
ROWS = (
    "GPU0\t X \tNV4\tPIX\tSYS\t0-15\n"
    "GPU1\tNV4\t X \tSYS\tPIX\t16-31\n"
    "NIC0\tPIX\tSYS\t X \tSYS\n"
    "NIC1\tSYS\tPIX\tSYS\t X \n"
)
SPOILT = {
    "two headings run together": (HEAD.replace("NIC0\t", "NIC0") + ROWS, 1, "NIC0NIC1"),
    "headings of other names": (
        (HEAD + ROWS).replace("NIC0\tNIC1", "eth0eth1").replace("NIC", "eth"),
        1,
        "eth0eth1 is two names",
    ),
    "a heading without its last name": (HEAD.replace("\tNIC1", "") + ROWS, 1, "one is missing"),
    "a prompt before the heading": (
        "$ topo\n" + HEAD.replace("1\tNIC0", "1NIC0") + ROWS,
        2,
        "GPU1NIC0",
    ),
    "two cells run together": (
        HEAD + ROWS.replace("PIX\tSYS\t0", "PIXSYS\t0"),
        2,
        "a cell must be",
    ),
    "a row that lost a cell": (HEAD + ROWS.replace("NIC1\tSYS", "NIC1"), 5, "a cell for each"),
    "a row that was cut off": (HEAD + ROWS[:-20], 1, "a row for NIC1"),
}


@pytest.mark.parametrize(("text", "line", "words"), SPOILT.values(), ids=list(SPOILT))
def test_a_spoilt_matrix_is_blamed_at_its_own_line(text: str, line: int, words: str) -> None:
    with pytest.raises(InvalidTopology) as caught:
        read(text, "nvidia-smi", boxes=2, nic_bandwidth=25)
    assert caught.value.field == f"/line/{line}"
    assert words in caught.value.rule
