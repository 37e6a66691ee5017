"""Candidates side by side: chosen together, run by forks or one after the other, bit for bit."""

import math
import os
from dataclasses import replace

import pytest

pytest.importorskip("torch", reason="the extra `execute` is not installed")
pytest.importorskip("sklearn", reason="the extra `tune` is not installed")

import torch

from tests.learning_rate.trainers import Toy, options, trained
from topoloom.learning_rate import InProcess, Options, observe, start
from topoloom.learning_rate.callbacks import ResumableBatches, TuningCallback
from topoloom.learning_rate.callbacks.forks import Forks
from topoloom.learning_rate.errors import InvalidOptions
from topoloom.learning_rate.state_machine.candidate_rounds import begins_round, branches, has_ended

STEPS = 240
ASKED = {"total_steps": STEPS, "max_overhead": 0.3, "side_by_side": 3, "warmup_steps": 10}
pytestmark = [
    pytest.mark.usefixtures("one_thread"),
    pytest.mark.skipif(
        not hasattr(os, "fork") or torch.cuda.is_available(), reason="forks are of CPUs"
    ),
]


class Training:
    """A small regression with dropout, so that the generators' states matter."""

    def __init__(self):
        torch.manual_seed(1)
        self.model = torch.nn.Sequential(
            torch.nn.Linear(4, 8), torch.nn.Dropout(0.2), torch.nn.ReLU(), torch.nn.Linear(8, 1)
        )
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)
        self.inputs = torch.randn(64, 4)
        self.targets = self.inputs.sum(1, keepdim=True) + 0.1 * torch.randn(64, 1)
        self.batches = ResumableBatches(64, 8, seed=0)

    def evaluate(self):
        self.model.eval()
        with torch.no_grad():
            loss = torch.nn.functional.mse_loss(self.model(self.inputs), self.targets).item()
        self.model.train()
        return loss

    def step(self):
        batch = next(self.batches)
        loss = torch.nn.functional.mse_loss(self.model(self.inputs[batch]), self.targets[batch])
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss

    def run(self, processes, each_step=lambda callback: None, writer=None, **more):
        tuner = InProcess(Options(1e-4, 1.0, **{**ASKED, **more}))
        callback = TuningCallback(
            tuner, self.model, self.optimizer, data=self.batches, evaluate=self.evaluate,
            processes=processes, writer=writer,
        )  # fmt: skip
        steps = 0
        while callback.running:
            callback.step(self.step())
            each_step(callback)
            steps += 1
        return tuner.state, [p.detach().clone() for p in self.model.parameters()], steps


WAYS = {
    "topoloom": {},
    "late validation": {"validation": "late", "tau_min": 40, "tau_max": 80},
    "free": {"anchor": "none"},
    "paper": {"method": "paper", "tau_min": 40, "tau_max": 80, "candidates": 4},
}


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize("way", WAYS)
def test_forks_give_the_schedule_and_the_parameters_of_one_after_the_other(way):
    alone, parameters, all_steps = Training().run(1, **WAYS[way])
    forked, same, own_steps = Training().run(3, **WAYS[way])
    assert forked.to_json() == alone.to_json()
    assert all(torch.equal(a, b) for a, b in zip(parameters, same, strict=True))
    assert own_steps < all_steps == forked.spent, "trials were run elsewhere"


@pytest.mark.slow
def test_curves_are_the_trainers_and_have_the_steps_of_forks():
    class Curves(list):
        def add_scalar(self, tag, scalar_value, global_step):
            if os.getpid() != trainer:
                os._exit(9)
            self.append((tag, scalar_value, global_step))

    trainer, forked, alone = os.getpid(), Curves(), Curves()
    _, _, own_steps = Training().run(3, writer=forked, validation="late", tau_min=40, tau_max=80)
    Training().run(1, writer=alone, validation="late", tau_min=40, tau_max=80)
    assert forked == alone
    assert own_steps < len(alone) / 2


@pytest.mark.slow
def test_what_a_fork_that_died_would_have_told_the_trainer_finds_itself():
    trainer, whole = os.getpid(), Training().run(1)

    def dies(callback):
        if os.getpid() != trainer and callback.lr > 0.1:
            os._exit(9)

    state, parameters, _ = Training().run(3, dies)
    assert state.to_json() == whole[0].to_json()
    assert all(torch.equal(a, b) for a, b in zip(parameters, whole[1], strict=True))


@pytest.mark.slow
def test_a_loop_that_saves_itself_is_saved_by_the_trainer_alone(tmp_path):
    trainer, path = os.getpid(), tmp_path / "job.pt"

    def saves(callback):
        before = path.stat().st_mtime_ns if path.exists() else None
        callback.save(path)
        if os.getpid() != trainer and path.stat().st_mtime_ns != before:
            os._exit(9)

    state, _, steps = Training().run(3, saves)
    assert steps < state.spent
    assert path.exists()


def test_a_memory_that_holds_one_runs_them_one_after_the_other(monkeypatch):
    monkeypatch.setattr("topoloom.learning_rate.callbacks.forks._free_memory", lambda: 1)
    state, _, steps = Training().run(3)
    assert steps == state.spent


def test_candidates_of_a_round_are_told_in_any_order_as_in_theirs():
    state, toy = start(options({}, 2000, side_by_side=3, warmup_steps=0)), Toy(limit=2.0)
    while not begins_round(state):
        state = observe(state, toy.carry_out(state.action))
    told = {}
    for branch in reversed(branches(state)):
        rate, again = branch.attempts[-1].rate, Toy(limit=2.0)
        losses = []
        while not has_ended(branch):
            losses.append(again.carry_out(branch.action))
            branch = observe(branch, losses[-1])
        told[rate] = losses
    for losses in (told[rate] for rate in (state.attempts[-1].rate, *state.round)):
        for report in losses:
            state = observe(state, report)
        while state.action.do in ("save", "restore"):
            state = observe(state)
    whole, _ = trained(options({}, 2000, side_by_side=3, warmup_steps=0), Toy(limit=2.0))
    known = whole.history[0].attempts[: len(told)]
    assert [(a.rate, a.forecast) for a in state.attempts[: len(told)]] == [
        (a.rate, a.forecast) for a in known
    ]


@pytest.mark.parametrize("together", [2, 4, 8])
def test_a_round_keeps_to_the_purse_and_to_the_number_of_candidates(together):
    state, toy = trained(options({}, 2000, side_by_side=together, candidates=6))
    assert state.spent <= 2200
    assert all(len(stage.attempts) <= 6 for stage in state.history)
    rates = [a.rate for a in state.history[0].attempts]
    assert len(set(rates)) == len(rates)
    assert toy.run == state.spent


WRONG = {
    "none": (0, "at least 1"),
    "half": (1.5, "whole number"),
    "true": (True, "whole number"),
}


@pytest.mark.parametrize(("processes", "rule"), WRONG.values(), ids=WRONG)
def test_a_wrong_number_of_processes_is_refused(processes, rule):
    with pytest.raises(InvalidOptions, match=rule) as refused:
        Training().run(processes)
    assert refused.value.field == "/processes"


def test_a_tuner_that_is_elsewhere_has_no_forks():
    class Elsewhere:
        action = replace(start(Options(1e-3, 0.1, 100)).action)

    training = Training()
    with pytest.raises(InvalidOptions, match="not in process"):
        TuningCallback(Elsewhere(), training.model, training.optimizer, processes=2)


def test_no_side_by_side_no_forks(monkeypatch):
    monkeypatch.setattr(Forks, "round", lambda *_: pytest.fail("forked"))
    state, _, steps = Training().run(3, side_by_side=1)
    assert steps == state.spent and math.isfinite(state.rate)
