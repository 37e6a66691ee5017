"""Files cut, repeated and written into at random, and any text at all."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synth.errors import InvalidTopology
from synth.formats import OPTIONS, READABLE, read
from synth.formats.dumps.cluster import PCIE_TAKEN
from synth.formats.read import DUMPS
from tests.synth.format_files import FILES, text_of

SPOILS = [
    *("", "\0", "\x1b[4m", "\n", "\t", " ", "-1", "NaN", "1e999999", "9" * 40, "1/0", "\ud800"),
    *(
        "<!DOCTYPE a [<!ENTITY b 'c'>]>",
        "&b;",
        f"&#{'1' * 4301};",
        f"&#x{'f' * 4301};",
        "9" * 4301,
        "<pci>" * 70,
        "]]>",
        '"',
        "{",
        "[" * 2000,
        "#",
    ),
    *("%%MatrixMarket", "graph [", "]", "~~~~", ":A`", "&", "99999999 99999999 9", "{'capacity': "),
    *("GPU0", "NV18", "XGMI", "X", "SYS", "x" * 300, "null", "true", ",", "١", "0x068000"),
]


@st.composite
def spoilt(draw: st.DrawFn, text: str) -> str:
    """Draw a text that was cut, repeated, or written into at a few places."""
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.sampled_from([0, 1, 2, 5, 20, 300, 10**6])))
        kind = draw(st.sampled_from(["write", "cut", "repeat", "swap"]))
        middle = {
            "write": draw(st.sampled_from(SPOILS)),
            "cut": "",
            "repeat": 2 * text[start:end],
            "swap": text[start:end][::-1],
        }[kind]
        text = text[:start] + middle + text[end:]
    return text


ATTRIBUTES = [
    {"capacity_attribute": "speed", "kind_attribute": "type", "switch_values": ["host"]},
    {"capacity_attribute": "weight"},
    {"kind_attribute": "label/~ x", "switch_values": ["A", "true", ""], "unit": "GB/s"},
    {"capacity_attribute": "id", "kind_attribute": "id", "switch_values": ["a", "sw", "1"]},
]


def require_read_or_refused(text: str, form: str | None, **options: object) -> None:
    try:
        topology = read(text, form, **options)
    except InvalidTopology as error:
        assert re.fullmatch(r"(/[\w.-]+)*", error.field)
        assert 0 < len(error.rule) <= 400
    else:
        assert topology.node_count >= 1
        assert all(capacity > 0 for capacity in topology.capacities)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", FILES)
@settings(max_examples=60)
@given(data=st.data())
def test_a_spoilt_file_is_read_or_refused_in_one_error(name: str, data: st.DataObject) -> None:
    text = data.draw(spoilt(text_of(name)))
    require_read_or_refused(text, FILES[name])
    require_read_or_refused(text, None)
    if FILES[name] in OPTIONS["kind_attribute"]:
        require_read_or_refused(text, FILES[name], **data.draw(st.sampled_from(ATTRIBUTES)))
    if FILES[name] in DUMPS:
        plan = {"boxes": 2, "nic_bandwidth": 25, "pcie": data.draw(st.sampled_from(PCIE_TAKEN))}
        require_read_or_refused(text, FILES[name], **plan, network="rails")


@pytest.mark.parametrize("form", READABLE)
@settings(max_examples=60)
@given(text=st.text(max_size=60) | st.text(alphabet="01 \n,<>/{}[]\"':agGPUXNV=#", max_size=80))
def test_any_text_at_all_is_read_or_refused_in_one_error(form: str, text: str) -> None:
    require_read_or_refused(text, form)
    require_read_or_refused(text, None)
