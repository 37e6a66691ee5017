"""JSON and YAML that name a member twice are refused: one of the two values would be lost."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topoloom.synth.errors import InvalidTopology
from topoloom.synth.formats.yaml_text import parse_yaml
from topoloom.synth.naming.unique_names import RepeatedName, unique_members

NAMES = st.text("abcdef", min_size=1, max_size=2).map(lambda name: f"n{name}")


class Members(list):
    """Members of an object as pairs, so that a name can be given twice."""


VALUES = st.recursive(
    st.integers(-9, 9) | st.booleans() | st.text("xyz", min_size=1, max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.lists(st.tuples(NAMES, inner), max_size=4).map(Members)
    ),
    max_leaves=20,
)


def text_of(value: object) -> str:
    if isinstance(value, Members):
        return "{" + ", ".join(f"{json.dumps(name)}: {text_of(one)}" for name, one in value) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(text_of, value)) + "]"
    return json.dumps(value)


def repeats(value: object) -> bool:
    parts = [one for _, one in value] if isinstance(value, Members) else value
    names = [name for name, _ in value] if isinstance(value, Members) else []
    return len(set(names)) < len(names) or (isinstance(parts, list) and any(map(repeats, parts)))


@given(VALUES)
def test_a_text_is_read_as_ever_or_names_a_member_twice(value):
    text = text_of(value)
    if not repeats(value):
        assert json.loads(text, object_pairs_hook=unique_members) == json.loads(text)
        assert parse_yaml(text) == json.loads(text)
        return
    with pytest.raises(RepeatedName, match=r"an object names 'n\w+' twice"):
        json.loads(text, object_pairs_hook=unique_members)
    with pytest.raises(InvalidTopology, match=r"/line/1: must be YAML: names 'n\w+' twice"):
        parse_yaml(text)


def test_a_merged_yaml_mapping_may_repeat_the_names_that_it_overrides():
    text = "base: &base {a: 1, b: 2}\nown:\n  <<: *base\n  b: 3\n"
    assert parse_yaml(text)["own"] == {"a": 1, "b": 3}
    with pytest.raises(InvalidTopology, match=re.escape("/line/5: must be YAML: names 'b' twice")):
        parse_yaml(f"{text}  b: 4\n")
