"""What the benchmark's tables say of runs is decided right."""

import json
import sys

import pytest

pytest.importorskip("torch", reason="the extra `execute` is not installed")
pytest.importorskip("sklearn", reason="the extra `tune` is not installed")

from benchmarks import bench_learning_rate
from benchmarks.learning_rate import tasks
from benchmarks.learning_rate.report import forecast_table, report


def row(method, rate, seed, final, looks=(), **more):
    return {
        "task": "digits CNN", "method": method, "rate": rate, "seed": seed, "steps": 40,
        "final": final, "spent": 40, "seconds": 1.0, "looks": list(looks), "losses": [],
        "rates": [rate],
    } | more  # fmt: skip


FALLING = [[10, 0.9], [20, 0.7], [30, 0.5], [35, 0.45], [40, 0.4]]
ROWS = [
    row("cosine", 0.1, 0, 0.4, FALLING),
    row("cosine", 0.1, 1, 0.6, FALLING),
    row("cosine", 1.0, 0, 0.1, FALLING),
    row("cosine", 1.0, 1, None, FALLING),
    row("WSD", 0.1, 0, 0.7, [[20, 0.8], [40, 0.7]]),
    row("topoloom", 0.0, 0, 0.3, [[21, 0.44], [44, 0.3]], spent=44, rates=[0.2]),
]


def test_a_schedule_is_reported_at_its_best_rate_and_divergence_counts_against_it():
    line = next(line for line in report(ROWS).splitlines() if line.startswith("| cosine"))
    assert line == "| cosine | 0.1 | 0.5000 ± 0.1414 | 2 x 40 | 35 | 1.0 |"


def test_steps_to_target_count_all_that_were_run():
    table = report(ROWS)
    assert "target 0.4500" in table
    assert "| topoloom | 0.2 | 0.3000 | 44 | 21 | 1.0 |" in table
    assert "| WSD | 0.1 | 0.7000 | 1 x 40 | never | 1.0 |" in table


def test_forecasts_are_judged_on_curves_of_one_rate():
    flat = [row("constant", 0.1, 0, 1.0, losses=[1.0] * 500), row("cosine", 0.1, 0, 1.0)]
    line = forecast_table(flat).splitlines()[2]
    assert line.startswith("| 100 | 8 | 0.000 / 0.000 | 0.000 / 0.000 | 0.000 / 0.000 |")


def test_no_run_is_wanted_twice():
    for small in (True, False):
        keys = list(bench_learning_rate.wanted(2, 40, 3, ablations=not small))
        assert len(keys) == len(set(keys))
        assert {key[0] for key in keys} == set(tasks.TASKS)


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
    assert "1/1 digits CNN, topoloom" in capsys.readouterr().out
