"""Cases that run as one test are all run, and the one that fails is named."""

import pytest

from tests.cases import for_every


def test_every_case_of_every_decorator_is_run(tmp_path):
    met = []

    @for_every("digit", [1, 2])
    @for_every(("letter", "sign"), [("a", "+"), ("b", "-")])
    def run(tmp_path, digit, letter, sign):
        met.append((tmp_path, digit, letter, sign))

    run(tmp_path=tmp_path)
    expected = [(1, "a", "+"), (1, "b", "-"), (2, "a", "+"), (2, "b", "-")]
    assert met == [(tmp_path, *case) for case in expected]


def test_the_case_that_fails_is_named():
    @for_every("digit", [1, 2, 3])
    def run(digit):
        assert digit < 2

    with pytest.raises(AssertionError) as failed:
        run()
    assert failed.value.__notes__ == ["case: {'digit': 2}"]


def test_a_test_without_cases_fails():
    with pytest.raises(AssertionError, match="no case of digit"):
        for_every("digit", [])(lambda digit: None)()


@for_every("digit", range(3))
def test_the_fixtures_of_a_test_are_given(digit, tmp_path):
    assert tmp_path.is_dir()
