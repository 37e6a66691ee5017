"""What the benchmark's tables say of runs is decided right."""

import json
import math
import sys
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch", reason="the extra `execute` is not installed")
pytest.importorskip("sklearn", reason="the extra `tune` is not installed")

from benchmarks import bench_learning_rate
from benchmarks.learning_rate import tasks
from benchmarks.learning_rate.development_tasks import DEVELOPMENT
from benchmarks.learning_rate.discounts import Measured, between, rung_of, table
from benchmarks.learning_rate.further import final
from benchmarks.learning_rate.further_tasks import FURTHER
from benchmarks.learning_rate.methods import run
from benchmarks.learning_rate.plots import courses, finals
from benchmarks.learning_rate.report import (
    best_rate,
    equal_cost_table,
    forecast_table,
    report,
)
from benchmarks.learning_rate.unseen_report import unseen_table
from benchmarks.learning_rate.unseen_tasks import UNSEEN
from topoloom.learning_rate.state_machine.state import Attempt


def row(method, rate, seed, final, looks=(), **more):
    return {
        "task": "digits CNN", "method": method, "rate": rate, "seed": seed, "steps": 40,
        "final": final, "spent": 40, "seconds": 1.0, "looks": list(looks), "losses": [],
        "rates": [rate],
    } | more  # fmt: skip


FALLING = [[10, 0.9, 0.1], [20, 0.7, 0.2], [30, 0.5, 0.3], [35, 0.45, 0.4], [40, 0.4, 0.5]]
ROWS = [
    row("cosine", 0.1, 0, 0.4, FALLING),
    row("cosine", 0.1, 1, 0.6, FALLING),
    row("cosine", 1.0, 0, 0.1, FALLING),
    row("cosine", 1.0, 1, None, FALLING),
    row("WSD", 0.1, 0, 0.7, [[20, 0.8, 0.2], [40, 0.7, 0.4]]),
    row("topoloom", 0.0, 0, 0.3, [[22, 0.44, 0.3], [44, 0.3, 0.6]], spent=44, rates=[0.2]),
]


def test_a_schedule_is_reported_at_its_best_rate_and_divergence_counts_against_it():
    line = next(line for line in report(ROWS).splitlines() if line.startswith("| cosine"))
    assert line == ("| cosine | 2 | 0.1 | 0.5000 ± 0.1414 |  | 1 of 1 | 2 x 40 | 35 | 32 | 0.4 |")


def test_steps_to_target_count_all_that_were_run():
    table = report(ROWS)
    assert "target 0.4500" in table
    assert "| topoloom | 1 | 0.2 | 0.3000 | 1 of 1 | 1 of 1 | 44 | 22 | 20 | 0.3 |" in table
    assert "| WSD | 1 | 0.1 | 0.7000 | 0 of 1 |  | 1 x 40 | never | never | never |" in table


def test_a_rate_that_was_run_with_fewer_seeds_is_not_the_best():
    assert best_rate([*ROWS[:2], row("cosine", 3.0, 0, 0.01)]) == 0.1


def test_the_best_rate_of_the_first_seed_is_run_with_the_others():
    rows = [row("step", 0.1, 0, 0.5), row("step", 1.0, 0, 0.4), row("cosine", 3.0, 0, 0.1)]
    asked = ("digits CNN", "step", bench_learning_rate.BEST, 3, 40)
    assert bench_learning_rate.settled(asked, rows) == ("digits CNN", "step", 1.0, 3, 40)
    plain = ("digits CNN", "step", 0.3, 3, 40)
    assert bench_learning_rate.settled(plain, rows) == plain


def test_what_was_run_is_drawn(tmp_path):
    pytest.importorskip("matplotlib", reason="the extra `plots` is not installed")
    courses(ROWS, tmp_path / "courses.svg")
    finals(ROWS, tmp_path / "finals.svg")
    assert ">cosine (2 seeds)<" in (tmp_path / "courses.svg").read_text()
    assert ">topoloom<" in (tmp_path / "finals.svg").read_text()


@pytest.mark.slow
@pytest.mark.usefixtures("one_thread")
def test_a_probed_schedule_pays_for_finding_its_rate():
    tried = run("deep MLP", "cosine, probed", 0.0, 0, 50)
    assert tried.spent == 55 == tried.looks[-1][0]
    again = run("deep MLP", "cosine", tried.rates[0], 0, 50)
    assert again.final == tried.final


def test_a_packaged_method_may_be_probed_too():
    pytest.importorskip("schedulefree", reason="compared with where it is installed")
    tried = run("deep MLP", "Schedule-Free, probed", 0.0, 0, 50)
    assert tried.spent == 55
    assert tried.rates[0] in tasks.TASKS["deep MLP"].rates


def test_rivals_of_equal_cost_are_counted_seed_by_seed():
    rows = [
        *ROWS,
        row("topoloom", 0.0, 1, 0.5),
        row("linear, probed", 0.0, 0, 0.4),
        row("linear, probed", 0.0, 1, 0.2),
        row("step, probed", 0.0, 1, None),
    ]
    table = equal_cost_table(rows).splitlines()
    assert "| topoloom | 0.4000 |" in table
    assert "| linear, probed | 0.3000 (1 of 2) |" in table
    assert "| step, probed | none (1 of 1) |" in table
    assert "linear, probed" not in report(rows)


def unseen(method, rate, seed, final):
    return row(method, rate, seed, final, task="parity")


def test_the_start_is_an_opponent_on_unseen_tasks_and_part_of_a_grid_is_none():
    middle, low, high = UNSEEN["parity"].rates[:3]
    rows = [unseen("topoloom", 0.0, seed, 0.2) for seed in range(2)]
    rows += [unseen("WSD", middle, seed, final) for seed, final in enumerate((0.3, 0.1))]
    rows += [unseen("WSD", rate, 0, 0.05) for rate in (low, high)]
    rows += [unseen("cosine", middle, 0, 0.1)]
    line = unseen_table(rows).splitlines()[2]
    assert line.startswith("| parity | 0.2000 | 0.2000 (1 of 2) | 0.0500 (0 of 1) | not run |")


def test_a_mean_above_the_start_by_two_standard_errors_is_named():
    middle = UNSEEN["parity"].rates[0]
    ours = [unseen("topoloom", 0.0, seed, 0.3 + seed / 100) for seed in range(3)]
    starts = [unseen("WSD", middle, seed, 0.2) for seed in range(3)]
    assert "WSD, middle): parity." in unseen_table(ours + starts)
    assert "WSD, middle): none." in unseen_table(ours + [dict(s, final=0.4) for s in starts])


def test_forecasts_are_judged_on_curves_of_one_rate():
    flat = [row("constant", 0.1, 0, 1.0, losses=[1.0] * 500), row("cosine", 0.1, 0, 1.0)]
    line = forecast_table(flat).splitlines()[2]
    assert line.startswith("| 100 | 8 | 0.000 / 0.000 | 0.000 / 0.000 | 0.000 / 0.000 |")


def test_no_run_is_wanted_twice():
    for small in (True, False):
        keys = list(bench_learning_rate.wanted(3, 40, 3, ablations=not small))
        assert len(keys) == len(set(keys))
        assert {key[0] for key in keys} == set(tasks.TASKS)


@pytest.mark.slow
def test_it_goes_on_where_it_was_stopped(tmp_path, monkeypatch, capsys):
    wanted = [("digits CNN", "cosine", 0.01, 0, 40), ("digits CNN", "topoloom", 0.0, 0, 40)]
    monkeypatch.setattr(bench_learning_rate, "wanted", lambda *_, **__: iter(wanted))
    out = tmp_path / "rows.jsonl"
    out.write_text(json.dumps(row("cosine", 0.01, 0, 0.5, FALLING)) + '\n{"task": "digi')
    monkeypatch.setattr(sys, "argv", ["bench", "--out", str(out), "--small", "--steps", "40"])
    bench_learning_rate.main()
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert [line["method"] for line in lines] == ["cosine", "topoloom"]
    assert lines[0]["final"] == 0.5
    assert "2/2 digits CNN, topoloom" in capsys.readouterr().out


def trials(*ends):
    """Return trials of twelve steps at the rungs from the start on, which end at given losses."""
    return {
        rung: Attempt(1.0, "", "finished", 12, (end,) * 12, forecast=end)
        for rung, end in enumerate(ends)
    }


def test_the_rung_of_a_discount_is_below_the_least_of_a_parabola_and_not_below_the_start():
    known = trials(3.0, 2.0, 1.0, 2.0)  # least at rung 2
    assert [rung_of(known, discount) for discount in (0.0, 0.5, 3.0)] == [2.0, 1.5, 0.0]
    assert rung_of(trials(1.0, 2.0), 0.0) == 0.0


@given(st.lists(st.floats(0.1, 9.0), min_size=1, max_size=5))
def test_a_walk_by_validation_losses_ends_before_the_first_that_is_not_lower(losses):
    level = trials(*(1.0 for _ in losses))  # training losses tell nothing
    known = {
        rung: replace(level[rung], forecast=loss, evaluations=(loss,))
        for rung, loss in enumerate(losses)
    }
    lower = [after < before for before, after in pairwise(losses)]
    last = lower.index(False) if False in lower else len(lower)
    rung = rung_of(known, 0.0)
    assert rung == 0.0 if last == 0 else last - 1 <= rung <= last + 1


def test_the_loss_between_two_rungs_is_on_their_line_and_that_of_a_failed_run_is_none():
    assert between({0.0: 1.0, 1.0: 3.0}, 0.25) == 1.5
    assert between({0.0: 1.0, 1.0: math.inf}, 0.25) == math.inf
    assert between({0.0: 1.0, 1.0: 3.0}, 4.0) == 3.0


def test_a_discount_is_told_with_the_pairs_in_which_it_ends_lower():
    finals, ends = {0.0: 0.5, 1.0: 0.0, 2.0: -1.0}, {0.0: -2.0, 1.0: 0.0, 2.0: 0.0}
    one = Measured("any", trials(2.0, 1.0, 2.0), finals, ends, [0.25, -0.25], -0.1)
    lines = [line.split(" | ")[:2] for line in table([one]).splitlines()]
    assert ["| 0", "1 of 2"] in lines and ["| 1", "0 of 2"] in lines
    assert ["| least training loss", "0 of 2"] in lines and ["| best rate", "2 of 2"] in lines
    assert ["| topoloom", "1 of 2"] in lines


def test_no_task_of_development_is_one_of_those_that_measure():
    assert not set(DEVELOPMENT) & set(UNSEEN)
    assert not set(FURTHER) & (set(DEVELOPMENT) | set(UNSEEN))
    assert all(len(task.rates) == 5 for task in DEVELOPMENT.values())


@pytest.mark.slow
@pytest.mark.parametrize("method", ["WSD", "tune", "interval"])
def test_a_further_training_is_the_same_in_each_process_and_ends_trained(method):
    key = ("noisy labels", "usual", method, 0, 300)
    assert final(key) == final(key) and final(key)[0] < 0.6
