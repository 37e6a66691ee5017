"""A design as a set of files that together serve all sizes, each by the fastest it can say."""

from itertools import pairwise

import pytest

import topoloom
from topoloom.schedules.errors import NotExportable
from topoloom.schedules.formats.inspection.check_program import program_violations
from topoloom.schedules.formats.targets.runtimes import RUNTIMES
from topoloom.synth.recipes.build import build

FORMS = [("msccl-xml", "azure"), ("msccl-xml", "msccl-a100"), ("mscclpp-json", "mscclpp-h100")]


@pytest.fixture(scope="module")
def designs():
    return {
        collective: topoloom.design(nodes, 3, collective, "1MiB", links=f"{links}directional")
        for collective, nodes, links in (
            ("allreduce", 8, "bi"),
            ("all-to-all", 12, "uni"),
            ("reduce-scatter", 12, "bi"),
        )
    }


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("form", "name"), FORMS)
@pytest.mark.parametrize("collective", ["allreduce", "all-to-all", "reduce-scatter"])
def test_every_size_has_one_file_which_is_the_fastest_that_can_be_written(
    designs, collective, form, name
):
    design, runtime = designs[collective], RUNTIMES[name]
    found = topoloom.files(design, form, runtime=name)
    assert {one.collective for one in found.files} == {collective}
    for before, after in pairwise(found.files):
        assert before.last_bytes == after.first_bytes - 1
        assert before.algorithm != after.algorithm
    (ways,) = design.co_design.candidates
    out = {algorithm for _, algorithm, _ in found.left_out}
    able = [way for way in ways if way.name not in out]
    assert {one.algorithm for one in found.files} <= {way.name for way in able}
    topology = build(design.co_design.measured.recipe)
    for one in found.files:
        assert program_violations(form, [one.text.encode()], topology, runtime) == []
        assert one.scheduler_multiple % one.multiple == 0
        ends = [max(1, one.first_bytes), one.last_bytes or 1 << 34]
        for size in (*ends, sum(ends) // 2):
            own = next(way for way in able if way.name == one.algorithm)
            assert own.seconds(size) == min(way.seconds(size) for way in able)


def test_a_set_has_the_allreduce_in_one_pass_for_small_data(designs):
    found = topoloom.files(designs["allreduce"], runtime="azure")
    assert [one.algorithm for one in found.files] == ["bfb-one-shot", "bfb"]
    assert found.left_out == ()
    assert found.files[0].first_bytes == 0 and found.files[-1].last_bytes is None


def test_a_set_is_for_the_sizes_that_were_asked_for(designs):
    whole = topoloom.files(designs["all-to-all"], runtime="azure").files
    assert len(whole) == 2
    border = whole[1].first_bytes
    below = topoloom.files(designs["all-to-all"], runtime="azure", max_bytes=border - 1).files
    assert [(one.algorithm, one.last_bytes) for one in below] == [(whole[0].algorithm, border - 1)]
    above = topoloom.files(designs["all-to-all"], runtime="azure", min_bytes=border + 5).files
    assert [(one.algorithm, one.first_bytes) for one in above] == [(whole[1].algorithm, border + 5)]


def test_a_budget_of_scratch_ends_the_last_file_and_it_is_said(designs):
    small, large = (
        topoloom.files(designs["reduce-scatter"], runtime="azure", scratch_budget=budget).files
        for budget in ("1MiB", "1GiB")
    )
    assert small[-1].last_bytes < large[-1].last_bytes


def test_what_is_no_program_or_no_run_time_of_it_is_refused(designs):
    for form, name, field in (
        ("json", None, "/format"),
        ("chakra-et", None, "/format"),
        ("msccl-xml", "mscclpp-b200", "/runtime"),
    ):
        with pytest.raises(NotExportable) as caught:
            topoloom.files(designs["allreduce"], form, runtime=name)
        assert caught.value.field == field
    with pytest.raises(ValueError, match="size: "):
        topoloom.files(designs["allreduce"], max_bytes="much")
