from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.cases import for_every
from topoloom.app.requests.base import parse_bytes
from topoloom.app.requests.designs import DesignRequest
from topoloom.app.requests.field_errors import field_errors
from topoloom.app.requests.topology_source import TopologySource

QUESTION = {"nodes": 12, "degree": 4, "collective": "allreduce", "bytes": "1MB"}


def ask(**changes):
    return DesignRequest.model_validate(QUESTION | changes)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1", 1),
        ("7B", 7),
        ("1KB", 10**3),
        ("1kb", 10**3),
        ("1MB", 10**6),
        ("1 GB", 10**9),
        ("2TB", 2 * 10**12),
        ("1KiB", 2**10),
        ("1mib", 2**20),
        ("3GiB", 3 * 2**30),
        ("1TiB", 2**40),
        # One letter is a power of 1024, as nccl-tests reads it.
        ("1K", 2**10),
        ("8m", 2**23),
        ("1 G", 2**30),
        ("1T", 2**40),
        (123, 123),
    ],
)
def test_sizes_are_read_with_binary_and_decimal_suffixes(text, size):
    assert parse_bytes(text) == size


@pytest.mark.parametrize(
    "text",
    ["", "0", 0, -1, "-1", "0MiB", "1.5MB", "1Ki", "1 XB", "MB", "1e6", True, None, 1.0, [], "١MB",
     "1MB\n", "9" * 13, 10**24 + 1],
)  # fmt: skip
def test_what_is_no_positive_size_is_refused(text):
    with pytest.raises(ValueError, match="must be"):
        parse_bytes(text)


@given(st.integers(1, 10**12 - 1), st.sampled_from(["", "B", "KB", "MiB", "TB", "M"]))
def test_a_suffix_multiplies(number, suffix):
    assert parse_bytes(f"{number}{suffix}") == number * parse_bytes(f"1{suffix}")


def test_units_are_converted_exactly():
    request = ask(node_gbps=0.1, alpha_us=0.7)
    assert request.bytes_per_second == Fraction(12_500_000)
    assert request.alpha_seconds == Fraction(7, 10**7)
    assert ask(node_gbps="0.1").bytes_per_second == request.bytes_per_second


@given(st.integers(1, 8), st.decimals(Decimal("0.001"), 10**8, places=3))
def test_the_rate_of_a_port_is_that_of_a_host_over_its_degree(degree, rate):
    by_port = ask(degree=degree, port_gbps=rate)
    assert by_port.canonical() == ask(degree=degree, node_gbps=rate * degree).canonical()
    assert by_port.bytes_per_second == Fraction(rate) * degree * 10**9 / 8


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"port_gbps": 25, "node_gbps": 100}, "must not be combined with node_gbps"),
        ({"port_gbps": 10**9}, "times degree must be at most 1000000000"),
    ],
)
def test_a_rate_of_a_port_is_refused_beside_that_of_a_host_and_above_the_limit(changes, rule):
    with pytest.raises(ValidationError) as caught:
        ask(**changes)
    assert [(one.pointer, one.detail) for one in field_errors(caught.value)] == [
        ("/port_gbps", rule)
    ]


def test_one_question_has_one_canonical_form():
    expected = {
        "nodes": 12,
        "degree": 4,
        "links": "unidirectional",
        "parallel_links": False,
        "vertex_transitive": False,
        "schedule": "best",
        "collective": "allreduce",
        "bytes": 10**6,
        "node_gbps": 100,
        "alpha_us": 10,
    }
    assert ask().canonical() == expected
    assert ask(bytes=10**6, node_gbps=100.0, alpha_us="10").canonical() == expected
    assert ask(node_gbps=Decimal("12.5")).canonical()["node_gbps"] == 12.5
    chosen = ask(families=["Torus", "BiRing", "Torus"], max_steps=9).canonical()
    assert chosen == {**expected, "families": ["BiRing", "Torus"], "max_steps": 9}


@given(st.floats(1e-6, 1e9) | st.decimals(Decimal("0.000001"), 10**9, allow_nan=False))
def test_what_is_stored_of_a_number_is_what_is_computed_with(value):
    request = ask(node_gbps=value)
    stored = request.canonical()["node_gbps"]
    assert DesignRequest.model_validate(request.canonical()) == request
    assert request.bytes_per_second == Fraction(Decimal(repr(stored))) * 10**9 / 8


@for_every(
    ("field", "value"),
    [
        ("nodes", 1),
        ("nodes", 0),
        ("nodes", -3),
        ("nodes", 12.5),
        ("nodes", "12"),
        ("nodes", True),
        ("nodes", 10**7),
        ("degree", 0),
        ("degree", None),
        ("links", "both"),
        ("collective", "gossip"),
        ("collective", "alltoall"),
        ("node_gbps", 0),
        ("node_gbps", -1),
        ("node_gbps", float("nan")),
        ("node_gbps", float("inf")),
        ("node_gbps", 10**12),
        ("node_gbps", True),
        ("alpha_us", 0),
        ("alpha_us", "NaN"),
        ("parallel_links", "yes"),
        ("surprise", 1),
    ],
)
def test_every_bad_value_is_refused_by_the_name_of_its_field(field, value):
    with pytest.raises(ValidationError) as caught:
        ask(**{field: value})
    assert [error["loc"] for error in caught.value.errors()] == [(field,)]


@pytest.mark.parametrize(
    "given", [{}, {"recipe": "A()", "fabric": "b"}, {"recipe": None}, {"x": 1}]
)
def test_a_topology_is_named_in_exactly_one_way(given):
    with pytest.raises(ValidationError):
        TopologySource.model_validate(given)
