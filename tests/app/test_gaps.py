"""`topoloom sweep gaps`: the table over sizes is that of the frontiers, as text, CSV and plot."""

import csv
import io
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topoloom.synth.evaluation.cost import Cost, Links
from topoloom.synth.evaluation.gaps import MORE, gaps_of
from topoloom.synth.search.frontier import frontier

SHARES = st.fractions(0, 3, max_denominator=50)


@given(st.lists(st.builds(Cost, st.integers(0, 9), SHARES), max_size=6))
@pytest.mark.slow
def test_gaps_fall_as_more_steps_are_allowed_and_are_those_of_some_point(missed):
    gaps = gaps_of(missed)
    for more, share in enumerate(gaps.within):
        near = [cost.bandwidth for cost in missed if cost.steps <= more]
        assert share == (min(near) if near else None)
    best = {cost.steps for cost in missed if cost.bandwidth == 0}
    assert gaps.optimal_at == (min(best) if best else None)


def test_the_table_has_the_gaps_of_every_size_and_says_where_there_is_no_topology(topoloom):
    asked = ["sweep", "gaps", "--nodes", "6:9", "--degree", "3", "--links", "bidirectional"]
    rows = list(csv.DictReader(io.StringIO(topoloom(*asked, "--csv").out)))
    assert [int(row["nodes"]) for row in rows] == [6, 7, 8, 9]
    for row in rows:
        if int(row["nodes"]) % 2:
            assert "must be even" in row["problem"]
            continue
        found = frontier(int(row["nodes"]), 3, Links.BIDIRECTIONAL)
        gaps = gaps_of(point.gap(found.bounds) for point in found.points)
        assert int(row["bound_steps"]) == found.bounds.steps
        for more in range(MORE):
            assert Fraction(row[f"gap_{more}"]) == gaps.within[more]
    assert "must be even" in topoloom(*asked).out


def test_broadcast_alone_is_never_nearer_than_labels_too(topoloom):
    asked = ["sweep", "gaps", "--nodes", "23", "--nodes", "31", "--degree", "2", "--csv"]
    best, eager = (
        list(csv.DictReader(io.StringIO(topoloom(*asked, "--schedule", by).out)))
        for by in ("best", "bfb")
    )
    for one, other in zip(best, eager, strict=True):
        for more in range(MORE):
            if other[f"gap_{more}"]:
                assert Fraction(one[f"gap_{more}"]) <= Fraction(other[f"gap_{more}"])


@pytest.mark.slow
def test_it_is_drawn_and_a_bad_name_of_the_file_is_refused_first(topoloom, tmp_path):
    pytest.importorskip("matplotlib")
    plot = tmp_path / "gaps.svg"
    topoloom("sweep", "gaps", "--nodes", "6:8", "--degree", "2", "--plot", str(plot))
    assert "T_B over its bound" in plot.read_text()
    refused = topoloom("sweep", "gaps", "--nodes", "6:8", "--degree", "2", "--plot", "gaps.txt")
    assert (refused.code, refused.out) == (2, "")
    assert "must end in" in refused.err


@pytest.mark.parametrize("asked", [["--nodes", "6"], ["--degree", "2"], ["--nodes", "1:3"]])
def test_sizes_are_asked_for_as_sweeps_ask(topoloom, asked):
    refused = topoloom("sweep", "gaps", *asked)
    assert refused.code == 2
    assert refused.err.startswith("topoloom: ") and refused.err.count("\n") == 1
