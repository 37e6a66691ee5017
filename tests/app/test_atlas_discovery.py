"""`topoloom atlas discover` keeps its finds, goes on from them, and refuses impossible sizes."""

import re

import pytest

from topoloom.synth.atlas.entries import Atlas
from topoloom.synth.families import FAMILIES
from topoloom.synth.recipes.operators import OPERATORS


@pytest.mark.slow
def test_finds_are_printed_and_kept_and_a_later_run_goes_on(topoloom, tmp_path):
    path = tmp_path / "finds.tsv"
    command = (
        "atlas",
        "discover",
        "--nodes",
        "10,12",
        "--degree",
        "3",
        "--seed",
        "4",
        "--atlas",
        str(path),
    )
    first = topoloom(*command, "--seconds", "0.5")
    assert first.code == 0
    kept = Atlas.load(path)
    assert len(first.out.splitlines()) == len(kept) > 0
    assert all(entry.recipe in first.out for entry in kept)
    second = topoloom(*command, "--seconds", "0.5")
    assert second.code == 0
    assert sum(Atlas.load(path).rounds.values()) > sum(kept.rounds.values())


def test_a_size_whose_bounds_are_met_ends_the_search_at_once(topoloom, tmp_path):
    found = topoloom(
        "atlas", "discover", "--nodes", "8", "--degree", "2", "--seconds", "200", "--seed", "1"
    )
    assert found.out.startswith(
        "8 hosts, 2 ports, unidirectional: 3 steps, T_B 7/8; transposed 3 steps, T_B 7/8; "
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--nodes", "8", "--degree", "2", "--seconds", "0"), "--seconds: must be above 0"),
        (("--nodes", "8", "--degree", "2", "--seconds", "nan"), "--seconds: must be above 0"),
        (("--nodes", "8", "--degree", "2", "--seconds", "1", "--seed", "-1"), "--seed: must not"),
        (("--nodes", "9-8", "--degree", "2", "--seconds", "1"), "--nodes: must increase"),
        (("--nodes", "8,", "--degree", "2", "--seconds", "1"), "--nodes: must be numbers"),
        (("--nodes", "9:8", "--degree", "2", "--seconds", "1"), "--nodes: must increase"),
        (("--nodes", "16385", "--degree", "2", "--seconds", "1"), "--nodes: must be at most"),
        (("--nodes", "1", "--degree", "2", "--seconds", "1"), "--nodes: must be from 2"),
        (("--nodes", "64", "--degree", "9", "--seconds", "1"), "--degree: must be from 1 to 8"),
        (("--nodes", "8", "--degree", "8", "--seconds", "1"), "--degree: must be below"),
        (
            ("--nodes", "9", "--degree", "3", "--seconds", "1", "--links", "bidirectional"),
            "--degree: must be at least 2, and even",
        ),
        (
            ("--nodes", "8", "--degree", "2", "--seconds", "1", "--links", "both"),
            "--links: must be one of unidirectional, bidirectional",
        ),
    ],
)
def test_what_cannot_be_searched_is_refused_in_one_line(topoloom, options, message):
    answer = topoloom("atlas", "discover", *options)
    assert answer.code == 2
    assert message in answer.err
    assert len(answer.err.splitlines()) == 1


def test_a_broken_file_of_finds_is_refused_and_left_as_it_is(topoloom, tmp_path):
    path = tmp_path / "finds.tsv"
    path.write_text("not an atlas\n")
    answer = topoloom(
        "discover", "--nodes", "8", "--degree", "2", "--seconds", "1", "--atlas", str(path)
    )
    assert answer.code == 2
    assert "line 1: must be 'topoloom atlas 1'" in answer.err
    assert path.read_text() == "not an atlas\n"


def test_families_lists_every_family_and_operator_with_its_arguments_and_source(topoloom):
    _, *lines = topoloom("catalog", "families").out.splitlines()
    listed = [tuple(re.split("  +", line, maxsplit=2)) for line in lines]
    for kind in (*FAMILIES, *OPERATORS):
        assert (kind.signature(), kind.title, kind.source) in listed
    named = {signature: title for signature, title, _ in listed}
    assert named["Torus(sides*)"] == "torus"
    assert named["LineGraph(times?, of)"].startswith("repeated line graph")
