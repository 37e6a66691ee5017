"""Files cut, repeated and written into at random, and any text at all."""

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cases import for_every
from tests.hostile_inputs import HOSTILE, spoilt
from tests.synth.format_files import FILES, text_of
from topoloom.synth.errors import InvalidTopology
from topoloom.synth.formats import OPTIONS, READABLE, read
from topoloom.synth.formats.machines.cluster_plan import PCIE_TAKEN
from topoloom.synth.formats.readers import DUMPS

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


def require_spoilt_read_or_refused(name: str, data: st.DataObject) -> None:
    text = data.draw(spoilt(text_of(name)))
    require_read_or_refused(text, FILES[name])
    require_read_or_refused(text, None)
    if FILES[name] in OPTIONS["kind_attribute"]:
        require_read_or_refused(text, FILES[name], **data.draw(st.sampled_from(ATTRIBUTES)))
    if FILES[name] in DUMPS:
        plan = {"boxes": 2, "nic_bandwidth": 25, "pcie": data.draw(st.sampled_from(PCIE_TAKEN))}
        require_read_or_refused(text, FILES[name], **plan, network="rails")


@pytest.mark.one_in(12)
@pytest.mark.parametrize("name", FILES)
@settings(max_examples=25)
@given(data=st.data())
def test_a_spoilt_file_is_read_or_refused_in_one_error(name: str, data: st.DataObject) -> None:
    require_spoilt_read_or_refused(name, data)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", FILES)
@settings(max_examples=2_000, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_spoilt_file_of_thousands_breaks_a_reader(name: str, data: st.DataObject) -> None:
    require_spoilt_read_or_refused(name, data)


@for_every("form", READABLE)
def test_a_hostile_text_alone_is_read_or_refused(form: str) -> None:
    for text in HOSTILE:
        require_read_or_refused(text, form)


@pytest.mark.parametrize("form", READABLE)
@settings(max_examples=60)
@given(text=st.text(max_size=60) | st.text(alphabet="01 \n,<>/{}[]\"':agGPUXNV=#", max_size=80))
@pytest.mark.one_in(7)
def test_any_text_at_all_is_read_or_refused_in_one_error(form: str, text: str) -> None:
    require_read_or_refused(text, form)
    require_read_or_refused(text, None)
