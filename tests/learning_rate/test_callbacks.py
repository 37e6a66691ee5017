"""Real training with PyTorch under the callback."""

import ast
import math
import random
import subprocess
import sys
from pathlib import Path

import pytest

from topoloom.learning_rate import InProcess, Options
from topoloom.learning_rate.callbacks import ResumableBatches, TuningCallback
from topoloom.learning_rate.errors import CannotRestore, InvalidOptions

torch = pytest.importorskip("torch", reason="the extra `execute` is not installed")
pytest.importorskip("sklearn", reason="the extra `tune` is not installed")

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "tuned_training.py"


class Training:
    """A small network with dropout, two groups of parameters, momentum, an average, a scaler."""

    def __init__(self, seed=0, folder=None, resume=None, **options):
        random.seed(seed)
        torch.manual_seed(seed)
        self.inputs = torch.randn(64, 5, generator=torch.Generator().manual_seed(0))
        self.targets = (self.inputs**2).sum(dim=1, keepdim=True)
        layers = torch.nn.Linear(5, 16), torch.nn.Tanh(), torch.nn.Dropout(0.1)
        self.model = torch.nn.Sequential(*layers, torch.nn.Linear(16, 1))
        groups = [{"params": self.model[0].parameters(), "lr": 0.1},
                  {"params": self.model[3].parameters(), "lr": 0.025}]  # fmt: skip
        self.optimizer = torch.optim.AdamW(groups)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=7)
        self.data = ResumableBatches(64, 8, seed)
        self.average = torch.optim.swa_utils.AveragedModel(self.model)
        asked = {"candidates": 3, "max_overhead": 0.3, **options}
        self.tuner = InProcess(Options(1e-4, 1.0, 240, **asked))
        self.rates, self.losses = [], []
        self.callback = TuningCallback(
            self.tuner, self.model, self.optimizer, scaler=self.scaler, data=self.data,
            others={"average": self.average}, evaluate=self.validation, folder=folder,
            resume=resume,
        )  # fmt: skip

    def validation(self):
        with torch.no_grad():
            return torch.nn.functional.mse_loss(self.model(self.inputs), self.targets).item()

    def step(self):
        batch = next(self.data)
        noise = random.random() * 1e-3  # Python's generator is part of the state too
        error = torch.nn.functional.mse_loss(self.model(self.inputs[batch]), self.targets[batch])
        loss = error + noise
        self.optimizer.zero_grad()
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.average.update_parameters(self.model)
        self.rates.append([group["lr"] for group in self.optimizer.param_groups])
        self.losses.append(loss.item())
        self.callback.step(loss)

    def run(self, steps=10**9):
        while self.callback.running and steps > 0:
            self.step()
            steps -= 1
        return self

    def parameters(self):
        parts = (self.model, self.average)
        return [value.clone() for part in parts for value in part.state_dict().values()]


def same(left, right):
    return all(torch.equal(a, b) for a, b in zip(left, right, strict=True))


WAYS = {
    "topoloom": {},
    "late validation": {"validation": "late", "tau_min": 30, "tau_max": 30},
    "paper": {"method": "paper", "tau_min": 60, "tau_max": 60, "max_overhead": None},
}


@pytest.mark.slow
@pytest.mark.one_in(4)
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("on_disk", [False, True], ids=["memory", "disk"])
def test_stopped_in_mid_candidate_and_resumed_it_is_the_undisturbed_run(way, on_disk, tmp_path):
    whole = Training(**way).run()
    folder = tmp_path / "slots" if on_disk else None
    cut = Training(folder=folder, **way)
    while not (cut.tuner.state.phase == "trial" and len(cut.tuner.state.attempts) == 2):
        cut.step()
    cut.step()
    cut.callback.save(tmp_path / "job.pt")
    before = len(cut.losses)
    cut.run(5)  # what ran after the save is lost
    again = Training(seed=3, folder=folder, **way)
    again.callback.load(tmp_path / "job.pt")
    again.rates, again.losses = [], []
    again.run()
    assert again.losses == whole.losses[before:]
    assert again.rates == whole.rates[before:]
    assert same(again.parameters(), whole.parameters())
    assert again.tuner.state.to_json() == whole.tuner.state.to_json()


@pytest.mark.slow
def test_a_killed_process_is_resumed_bit_for_bit(tmp_path):
    program = (
        "import os, signal, sys\n"
        "from tests.learning_rate.test_callbacks import Training\n"
        "t = Training(); t.run(35); t.callback.save(sys.argv[1]); t.run(3)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    path = tmp_path / "job.pt"
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], cwd=EXAMPLE.parent.parent, check=False
    )
    assert done.returncode == -9
    resumed = Training(seed=1)
    resumed.callback.load(path)
    assert same(resumed.run().parameters(), Training().run().parameters())


def test_every_candidate_starts_alike_and_sees_the_same_batches():
    training = Training()
    starts = []
    while training.callback.running and training.tuner.state.stage < 1:
        state = training.tuner.state
        if (
            state.phase == "trial"
            and not state.attempts[-1].steps
            and not training.callback._losses
        ):
            starts.append((training.parameters(), training.data.state_dict(), random.getstate()))
        training.step()
    assert len(starts) >= 2
    assert all(same(parameters, starts[0][0]) for parameters, _, _ in starts)
    assert all(start[1:] == starts[0][1:] for start in starts)


def test_parameter_groups_keep_their_ratios():
    training = Training().run()
    assert len({rate for rate, _ in training.rates}) > 20
    assert all(second == pytest.approx(0.25 * first) for first, second in training.rates)


@pytest.mark.slow
def test_the_rate_of_an_action_is_set_before_its_first_step():
    training = Training(method="paper", tau_min=60, tau_max=60, max_overhead=None)
    while training.callback.running:
        wanted = training.tuner.action.lr
        training.step()
        assert training.rates[-1][0] == wanted


def test_a_rate_kept_as_a_tensor_is_set_in_place():
    parameter = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.AdamW([parameter], lr=torch.tensor(0.1))
    model = torch.nn.Linear(1, 1)
    callback = TuningCallback(InProcess(Options(1e-3, 0.1, 500)), model, optimizer)
    assert isinstance(optimizer.param_groups[0]["lr"], torch.Tensor)
    assert float(optimizer.param_groups[0]["lr"]) == pytest.approx(callback.lr)


def test_a_loss_of_nan_in_training_is_survived():
    training = Training()
    training.targets = training.targets.clone()
    training.run(100)
    training.targets[0] = math.nan  # one batch of every epoch
    training.run()
    assert training.tuner.action.do == "stop"


@pytest.mark.slow
def test_a_checkpoint_that_cannot_be_restored_leaves_everything_as_it_was(tmp_path):
    training = Training().run(50)
    before, told = training.parameters(), training.tuner.state.to_json()
    Training().callback.save(tmp_path / "good.pt")
    whole = (tmp_path / "good.pt").read_bytes()
    (tmp_path / "cut.pt").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "text.pt").write_text("no checkpoint")
    torch.save({"model": 1}, tmp_path / "other.pt")
    changed = torch.load(tmp_path / "good.pt", weights_only=True)
    changed["now"]["parts"]["model"] = {"0.weight": torch.zeros(2, 2)}
    torch.save(changed, tmp_path / "shape.pt")
    for name in ("missing", "cut", "text", "other", "shape"):
        with pytest.raises(CannotRestore) as refused:
            training.callback.load(tmp_path / f"{name}.pt")
        assert refused.value.field in (f"/{name}", "/parts/model")
        assert same(training.parameters(), before)
        assert training.tuner.state.to_json() == told
    training.run()
    assert training.tuner.action.reason == "finished"


def test_other_parts_than_were_saved_are_refused(tmp_path):
    Training().callback.save(tmp_path / "job.pt")
    other = Training()
    bare = TuningCallback(InProcess(Options(1e-3, 0.1, 500)), other.model, other.optimizer)
    with pytest.raises(CannotRestore, match="must be average, data, model, optimizer, scaler"):
        bare.load(tmp_path / "job.pt")


def test_wrong_arguments_are_named():
    training = Training()
    tuner = InProcess(Options(1e-3, 0.1, 500))
    frozen = torch.optim.SGD(training.model.parameters(), lr=0.0)
    with pytest.raises(InvalidOptions, match="/optimizer"):
        TuningCallback(tuner, training.model, frozen)
    with pytest.raises(InvalidOptions, match="/others/data"):
        TuningCallback(tuner, training.model, training.optimizer, others={"data": training.data})
    with pytest.raises(InvalidOptions, match="/batch_size"):
        ResumableBatches(4, 5)
    with pytest.raises(InvalidOptions, match="the run has ended"):
        Training().run().callback.step(1.0)


def test_validation_without_a_function_for_it_is_refused():
    training = Training(method="paper", tau_min=60, tau_max=60, max_overhead=None)
    training.callback._evaluate = None
    with pytest.raises(InvalidOptions, match="/evaluate"):
        training.run()


def test_batches_of_an_epoch_hold_every_example_once():
    batches = ResumableBatches(10, 3, seed=1)
    epochs = [[next(batches) for _ in range(3)] for _ in range(4)]
    for epoch in epochs:
        flat = [index for batch in epoch for index in batch]
        assert len(set(flat)) == 9
    assert len({str(epoch) for epoch in epochs}) == 4
    with pytest.raises(CannotRestore, match="/data/size"):
        batches.load_state_dict({"epoch": 0, "position": 0, "seed": 1, "size": 11})


@pytest.mark.slow
def test_the_example_trains_and_adds_fewer_than_fifteen_lines(capsys):
    text = EXAMPLE.read_text()
    assert 0 < sum("# tuned" in line for line in text.split('"""', 2)[2].splitlines()) < 15
    ast.parse(text)
    namespace = {"__name__": "example"}
    exec(compile(text, str(EXAMPLE), "exec"), namespace)
    assert namespace["train"](steps=500) > 0.85
    assert "500 steps kept" in capsys.readouterr().out
