"""The atlas says what the search finds, and says it the same way twice."""

import doctest
from fractions import Fraction

import pytest

from benchmarks.atlas import tables
from benchmarks.atlas.survey import LINKS, PUBLISHED, survey
from topoloom.synth.evaluation.cost import Cost, Links, lower_bound
from topoloom.synth.evaluation.measure import measure
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.search.frontier import frontier

SIZES, DEGREES = (12, 4, 6, 13, 4), (4, 2)


@pytest.fixture(scope="module")
def found():
    return survey(SIZES, DEGREES)


@pytest.fixture(scope="module")
def text(found):
    return tables.page(found)


def rows(text, heading):
    """Return the cells of the table under a heading, empty sizes and bounds filled in."""
    _, _, chapter = text.partition(f"\n## {heading}\n")
    lines = chapter.partition("\n## ")[0].splitlines()
    table = [line.split("|")[1:-1] for line in lines if line.startswith("|")][2:]
    filled = []
    for cells in table:
        row = [cell.strip() for cell in cells]
        filled.append([*(filled[-1][:2] if not row[0] else row[:2]), *row[2:]])
    return filled


def cost(cell):
    steps, bandwidth = cell.split(", ")
    return Cost(int(steps), Fraction(bandwidth))


@pytest.mark.parametrize("links", Links)
@pytest.mark.parametrize("degree", DEGREES)
def test_every_row_states_what_its_recipe_measures(text, degree, links):
    table = rows(text, f"Degree {degree}, {LINKS[links]}")
    assert table
    for nodes, bounds, steps, bandwidth, rounded, transpose, recipe in table:
        topology = build(parse(recipe.strip("`")))
        assert topology.node_count == int(nodes)
        mark = f" {tables.MARK}"
        printed = Cost(int(steps.removesuffix(mark)), Fraction(bandwidth.removesuffix(mark)))
        assert printed == measure(topology)
        least = lower_bound(int(nodes), degree, links)
        assert cost(bounds) == least
        assert steps.endswith(mark) == (printed.steps == least.steps)
        assert bandwidth.endswith(mark) == (printed.bandwidth == least.bandwidth)
        assert rounded == f"{float(printed.bandwidth):.4f}"
        turned = printed if transpose == "same" else cost(transpose)
        assert turned == measure(topology.transpose())


@pytest.mark.parametrize("links", Links)
@pytest.mark.parametrize("degree", DEGREES)
def test_every_point_of_every_size_above_the_degree_has_a_row(text, degree, links):
    printed = [(row[0], row[6]) for row in rows(text, f"Degree {degree}, {LINKS[links]}")]
    assert printed == [
        (str(nodes), f"`{point.recipe}`")
        for nodes in sorted(set(SIZES))
        if nodes > degree
        for point in frontier(nodes, degree, links, schedule="bfb").points
    ]


def test_the_summary_counts_the_sizes_at_which_bounds_are_met(text):
    for degree, kind, *counts in rows(text, "How often the bounds are met"):
        table = rows(text, f"Degree {degree}, {kind}")
        by_steps = {row[0] for row in table if tables.MARK in row[2]}
        by_bandwidth = {row[0] for row in table if tables.MARK in row[3]}
        by_both = {row[0] for row in table if tables.MARK in row[2] and tables.MARK in row[3]}
        sizes = {row[0] for row in table}
        assert counts == [str(len(them)) for them in (sizes, by_steps, by_bandwidth, by_both)]


def test_a_published_point_stands_beside_one_of_ours_that_is_no_worse():
    page = tables.page(survey([PUBLISHED.nodes], [PUBLISHED.degree]))
    heading = f"N = {PUBLISHED.nodes}, degree {PUBLISHED.degree}, beside the published frontier"
    table = rows(page, heading)
    assert tuple((cost(row[0]).steps, cost(row[0]).bandwidth) for row in table) == PUBLISHED.points
    for published, ours, recipe in table:
        measured = measure(build(parse(recipe.strip("`"))))
        assert cost(ours) == Cost(measured.steps, round(measured.bandwidth, 3))
        assert cost(ours).steps <= cost(published).steps
        assert cost(ours).bandwidth <= cost(published).bandwidth


def test_a_size_not_surveyed_is_not_compared(text):
    assert PUBLISHED.source not in text


def test_the_examples_of_the_generator_hold():
    assert doctest.testmod(tables) == (0, 1)


@pytest.mark.slow
def test_a_second_generation_by_several_processes_gives_the_same_bytes(found, tmp_path):
    pytest.importorskip("matplotlib", reason="the extra `plots` is not installed")
    from benchmarks.atlas.__main__ import write

    first = write(found, tmp_path / "first")
    second = write(survey(SIZES, DEGREES, processes=2), tmp_path / "second")
    assert [path.name for path in first] == ["atlas.md", "atlas-steps.svg", "atlas-excess.svg"]
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()
        assert one.suffix != ".svg" or "dc:date" not in one.read_text()
