"""A certificate proves a point of a frontier to whoever reads it; a wrong one does not."""

import copy
import gzip
import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.label_oracles import proved_cost
from topoloom.app.certificates import check
from topoloom.app.certificates.check import CertificateFailed, proved_claims
from topoloom.app.certificates.document import document_of
from topoloom.synth.edge_swaps.random_regular import random_regular
from topoloom.synth.errors import NotMeasurable
from topoloom.synth.evaluation.cost import Links
from topoloom.synth.evaluation.measure import measure
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.search.frontier import frontier
from topoloom.synth.topology.topology import Topology


def arrivals(part, nodes):
    """Return the labels of a direction, [owner][node]."""
    rows = [bytes.fromhex(text) for text in part["arrival"]]
    return [[rows[node][owner] for node in range(nodes)] for owner in range(nodes)]


@pytest.mark.parametrize(
    ("nodes", "degree", "links"),
    [(13, 3, Links.UNIDIRECTIONAL), (31, 4, Links.UNIDIRECTIONAL), (20, 3, Links.BIDIRECTIONAL)],
)
def test_every_point_of_a_frontier_is_proved(nodes, degree, links):
    for point in frontier(nodes, degree, links).points:
        document = document_of(build(point.recipe), point.within)
        proved_claims(document)
        assert Fraction(document["allgather"]["bandwidth"]) == point.cost.bandwidth
        assert Fraction(document["reduce_scatter"]["bandwidth"]) == point.transpose.bandwidth
        assert document["allgather"]["steps"] <= point.steps
        assert document["topology"]["recipe"] == str(point.recipe)


@pytest.mark.slow
@given(st.integers(5, 24), st.integers(2, 4), st.integers(0, 20), st.integers(0, 2))
def test_what_is_proved_is_what_a_slow_check_of_every_set_of_links_proves(n, d, seed, slack):
    graph = random_regular(max(n, d + 1), d, seed)
    document = document_of(graph, measure(graph).steps + slack)
    proved_claims(document)
    pairs = list(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True))
    turned = [pair[::-1] for pair in pairs]
    for links, part in ((pairs, document["allgather"]), (turned, document["reduce_scatter"])):
        loads = [Fraction(load) for load in part["loads"]]
        assert proved_cost(links, arrivals(part, graph.node_count), loads) == (
            part["steps"],
            Fraction(part["bandwidth"]),
        )


def test_links_of_unequal_capacities_are_proved_too():
    ring = [(k, (k + 1) % 5, 2 if k else 1) for k in range(5)] + [
        (k, (k - 1) % 5) for k in range(5)
    ]
    document = document_of(Topology(range(5), ring), 4)
    assert proved_claims(document)[0].startswith("allgather: ")
    assert any(len(link) == 3 for link in document["links"])


def fewer_loads(document):
    document["allgather"]["loads"][-1] = "1/7"


def less_bandwidth(document):
    document["reduce_scatter"]["bandwidth"] = "1/2"


def fewer_steps(document):
    document["allgather"]["steps"] -= 1


def earlier(document):
    rows = document["allgather"]["arrival"]
    last = f"{document['allgather']['steps']:02x}"
    node = next(u for u, row in enumerate(rows) if last in row)
    place = next(k for k in range(0, len(rows[node]), 2) if rows[node][k : k + 2] == last)
    rows[node] = rows[node][:place] + "01" + rows[node][place + 2 :]


def a_second_owner(document):
    rows = document["allgather"]["arrival"]
    rows[0] = "00" * document["nodes"]


def a_link_less(document):
    document["links"].pop()


def too_late(document):
    rows = document["allgather"]["arrival"]
    rows[0] = rows[0][:2] + "7f" + rows[0][4:]


def no_digits(document):
    document["allgather"]["arrival"][3] = "zz" * document["nodes"]


@pytest.mark.parametrize(
    "wrong",
    [fewer_loads, less_bandwidth, fewer_steps, earlier, a_second_owner, a_link_less, too_late,
     no_digits],
)  # fmt: skip
@pytest.mark.parametrize("steps", [None, 4])
def test_a_certificate_of_which_anything_is_changed_for_the_better_fails(wrong, steps):
    document = copy.deepcopy(document_of(build(parse("GeneralizedKautz(3, 20)")), steps))
    proved_claims(document)
    wrong(document)
    with pytest.raises(CertificateFailed):
        proved_claims(document)


SCALARS = st.none() | st.booleans() | st.integers(-3, 300) | st.text(max_size=5) | st.floats()
ANYTHING = st.recursive(
    SCALARS, lambda some: st.lists(some, max_size=3) | st.dictionaries(st.text(), some, max_size=3)
)
MEMBERS = ["schema", "nodes", "links", "allgather", "reduce_scatter"]
PARTS = ["steps", "bandwidth", "loads", "arrival"]


@given(st.sampled_from(MEMBERS), ANYTHING)
def test_whatever_a_certificate_holds_it_fails_with_a_reason(member, value):
    document = document_of(build(parse("UniRing(3)")), None) | {member: value}
    with pytest.raises(CertificateFailed):
        proved_claims(document)


@given(st.sampled_from(PARTS), ANYTHING)
def test_whatever_a_direction_of_a_certificate_holds_it_fails_with_a_reason(member, value):
    document = document_of(build(parse("UniRing(4)")), None)
    document["allgather"] = document["allgather"] | {member: value}
    if value != 3:
        with pytest.raises(CertificateFailed):
            proved_claims(document)


def test_the_checker_runs_alone(tmp_path):
    alone = tmp_path / "check.py"
    alone.write_text(Path(check.__file__).read_text())
    document = document_of(build(parse("Kautz(2, 2)")), 4)
    with gzip.open(tmp_path / "good.json.gz", "wt") as file:
        json.dump(document, file)
    document["allgather"]["bandwidth"] = "1/6"
    (tmp_path / "bad.json").write_text(json.dumps(document))
    (tmp_path / "none.json").write_text("{")
    for name, code, said in (
        ("good.json.gz", 0, "reduce-scatter: "),
        ("bad.json", 1, "not proved: /allgather: claims"),
        ("none.json", 2, ""),
    ):
        done = subprocess.run(
            [sys.executable, "-I", "-S", alone, tmp_path / name],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == code
        assert said in done.stdout


def test_the_command_line_writes_and_checks_them(topoloom, tmp_path):
    path = tmp_path / "point.json"
    made = topoloom(
        "certificate", "write", "RandomRegular(30, 3, 1)", "--steps", "5", "--out", str(path)
    )
    assert made.code == 0
    assert topoloom("certificate", "check", str(path)).code == 0
    path.write_text(path.read_text().replace('"29/30"', '"28/30"'))
    failed = topoloom("certificate", "check", str(path))
    assert failed.code == 1
    assert failed.out.startswith("not proved: /")
    path.write_text('{"schema": "schedule/1"}')
    other = topoloom("certificate", "check", str(path))
    assert (other.code, other.err) == (2, f"topoloom: {path}: must be a certificate/1 document\n")
    refused = topoloom("certificate", "write", "RandomRegular(30, 3, 1)", "--steps", "2")
    assert refused.code == 2
    assert "steps" in refused.err


@pytest.mark.parametrize("load", ["1e99999999", "1/0", "-1", "9" * 4301, "3.5", 10**30, True, None])
def test_a_number_that_is_not_exact_or_too_large_fails_at_once(load):
    with pytest.raises(CertificateFailed, match="64 bits"):
        check._fraction(load, "/loads/0")


def test_a_certificate_is_refused_where_it_would_be_too_large():
    with pytest.raises(NotMeasurable, match="at most 2048"):
        document_of(build(parse("UniRing(2049)")), None)
